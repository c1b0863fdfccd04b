"""Signals of actuators: laws, pieces in time, tables, or functions of Python, as forces are.

signals={"shoulder_motor": "12*sin(t)"}              by actuator, by signal or by joint
signals={"shoulder_motor": {"t": [0, 1], "values": [0, 24]}}
signals={"shoulder_motor": lambda t, q, qd: -3 * q[1]}
signals=lambda t, q, qd: -K @ q                      all signals at once
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, RunError
from chainform.given import argument
from chainform.mechanism import Mechanism
from chainform.simulation.drives.efforts import Efforts, Forces, Function, efforts_of, numbers_from

Array = NDArray[np.float64]


def signal_rates(mechanism: Mechanism) -> list[int]:
    """Return the rates of the joints that actuators drive, in the order of u."""
    return [actuator.rate for actuator in mechanism.actuators]


def with_signals(mechanism: Mechanism, efforts: Efforts, signals: Forces | None) -> Efforts:
    """Return efforts with signals, all names and laws checked.

    A signal stands at the rate of the joint that its actuator drives.
    """
    if signals is None:
        return efforts
    given = argument("signals", signals)
    if not mechanism.actuators:
        remedy = "describe [[actuators]] in the file, or give forces instead"
        raise given.error("signals are those of actuators, and the mechanism has none", remedy)
    if not isinstance(signals, Mapping) and callable(signals):
        return replace(efforts, signals=Efforts(whole=_spread(mechanism, signals)))
    joined = Efforts()
    remedy = 'write {"motor": "12*sin(t)"}, or give a function of (t, q, qd)'
    for name, entry in given.table(remedy=remedy).items():
        joined = _joined(joined, _signal(mechanism, name, entry.value))
    return replace(efforts, signals=joined)


def _signal(mechanism: Mechanism, name: str, given: Any) -> Efforts:
    joint = mechanism.rates[mechanism.actuators[signal_index(mechanism, name)].rate]
    try:
        return efforts_of(mechanism, {joint: given})
    except Error as error:
        error.element = f"signals, {name}"
        raise


def _joined(a: Efforts, b: Efforts) -> Efforts:
    twice = a.functions.keys() & b.functions.keys()
    twice |= _told(a) & _told(b)
    if twice:
        remedy = "name it once: by its actuator, itself, or its joint"
        raise RunError("a signal is given twice", element="signals", remedy=remedy)
    functions = {**a.functions, **b.functions}
    return Efforts((*a.laws, *b.laws), functions, tables=(*a.tables, *b.tables))


def _told(efforts: Efforts) -> set[int]:
    """Return the rates that laws and tables drive."""
    return {given.rate for given in (*efforts.laws, *efforts.tables)}


def signal_index(mechanism: Mechanism, name: str) -> int:
    """Return the place in u of a signal: by the name of its actuator, its own, or its joint."""
    for place, actuator in enumerate(mechanism.actuators):
        names = (actuator.name, mechanism.signals[place], mechanism.rates[actuator.rate])
        if name in names:
            return place
    known = [actuator.name for actuator in mechanism.actuators]
    raise argument("signals", name).unknown("actuator", known)


def _spread(mechanism: Mechanism, function: Function) -> Function:
    """Return a function of all rates for one of all signals."""
    rates = signal_rates(mechanism)

    def whole(t: float, q: Array, qd: Array) -> Array:
        values = np.zeros(mechanism.nv)
        values[rates] = numbers_from(function(t, q, qd), (len(rates),), "signals")
        return values

    return whole
