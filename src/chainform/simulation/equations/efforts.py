"""Efforts and signals of a simulation: laws, pieces in time, tables, or functions of Python.

forces={"joint2": "673*t - 508"}                       a law
forces={"joint2": [{"until": 0.5, "law": "3*t"}, {"law": "0"}]}      pieces in time
forces={"joint2": {"t": [0, 1, 2], "values": [0, 5, 0]}}             a table, linear in between
forces={"joint2": lambda t, q, qd: -3 * q[1]}          a function for one joint
forces=lambda t, q, qd: -K @ q                         a function for all of them

A short table becomes pieces of a law. A long one would make a long program of that: it is looked
up, by the procedure in `machine/adapters.py`, before the equations are evaluated.

Signals of actuators are given as forces are:

signals={"shoulder_motor": "12*sin(t)"}              by actuator, by signal or by joint
signals={"shoulder_motor": {"t": [0, 1], "values": [0, 24]}}
signals={"shoulder_motor": lambda t, q, qd: -3 * q[1]}
signals=lambda t, q, qd: -K @ q                      all signals at once
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, RunError
from chainform.given import Given, argument, real_array
from chainform.mechanism import Force, Mechanism, constant_parts, number_of, reader_of

Array = NDArray[np.float64]
LONG = 32
"""From so many entries on a table is looked up."""
REMEDY = 'write {"t": [0, 1, 2], "values": [0, 5, 0]}'


@dataclass(frozen=True)
class Table:
    """Efforts of one rate at times that grow; outside them that of the nearest entry."""

    rate: int
    times: tuple[float, ...]
    values: tuple[float, ...]

    def at(self, t: Array) -> Array:
        """Return the efforts at times."""
        return np.interp(t, self.times, self.values)


def entries_of(given: Given) -> tuple[list[Fraction], list[Fraction]]:
    """Return times and efforts, checked."""
    table = given.table(("t", "values"), REMEDY)
    times, values = (_numbers(table.required(key, REMEDY)) for key in ("t", "values"))
    if len(times) != len(values) or not times:
        raise given.error("a table needs equally many numbers in t and values", REMEDY)
    for a, b in pairwise(times):
        if b <= a:
            message = f"the times of a table must grow, and {float(b):g} s follows {float(a):g} s"
            raise given.error(message, "sort them, each time once")
    return times, values


def _numbers(given: Given) -> list[Fraction]:
    numbers: list[Fraction] = []
    for entry in given.entries(remedy=REMEDY):
        with entry.translate_errors():
            number = number_of(entry.value)
        if not isinstance(number, Fraction):
            raise entry.error("a table is made of numbers", REMEDY)
        numbers.append(number)
    return numbers


def pieces_of(t: list[Fraction], v: list[Fraction]) -> list[dict[str, object]]:
    """Return a table as pieces in time."""
    pieces: list[dict[str, object]] = [{"until": t[0], "law": v[0]}]
    for i in range(len(t) - 1):
        slope = (v[i + 1] - v[i]) / (t[i + 1] - t[i])
        law = f"({v[i]}) + ({slope})*(t - ({t[i]}))"
        pieces.append({"until": t[i + 1], "law": law})
    return [*pieces, {"law": v[-1]}]


Function: TypeAlias = Callable[[float, Array, Array], Any]
Forces: TypeAlias = Mapping[str, Any] | Function


# --- efforts ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Efforts:
    """What drives a mechanism: laws by rate, long tables, and functions of Python.

    `functions` has those for single joints by rate; `whole` returns all of tau. `signals` are those
    of actuators, whose places in u stand for the rates.
    """

    laws: tuple[Force, ...] = ()
    functions: Mapping[int, Function] = field(default_factory=dict[int, Function])
    whole: Function | None = None
    signals: Efforts | None = None
    tables: tuple[Table, ...] = ()
    bends: tuple[float, ...] = ()
    """More times at which something acts in another way from then on (s)."""

    @property
    def has_tables(self) -> bool:
        """Whether long tables are looked up while the motion is computed."""
        return bool(self.tables) or (self.signals is not None and self.signals.has_tables)

    @property
    def come_from_outside(self) -> bool:
        """Whether some are put in from outside the equations, which cannot express them."""
        return self.has_functions or self.has_tables

    @property
    def has_functions(self) -> bool:
        """Whether Python is called while the motion is computed."""
        own = bool(self.functions) or self.whole is not None
        return own or (self.signals is not None and self.signals.has_functions)

    @property
    def breaks(self) -> list[float]:
        """The times at which a law begins or ends, so that no step goes over them."""
        times = {
            float(number)
            for force in self.laws
            for number in force.numbers
            if isinstance(number, Fraction)
        }
        times.update(self.bends, (time for table in self.tables for time in table.times))
        return sorted(times.union(self.signals.breaks if self.signals else ()))

    def values(self, t: float, q: Array, qd: Array, size: int) -> Array:
        """Return what the functions of Python give for all rates."""
        tau = np.zeros(size)
        if self.whole is not None:
            tau += numbers_from(self.whole(t, q, qd), (size,))
        for rate, function in self.functions.items():
            tau[rate] += numbers_from(function(t, q, qd), ())
        return tau

    def looked_up(self, t: Array, mechanism: Mechanism) -> Array:
        """Return what the tables give for all rates and signals at times, (m, nv + nu)."""
        found = np.zeros((len(t), mechanism.nv + len(mechanism.actuators)))
        for place, table in self.placed_tables(mechanism):
            found[:, place] += table.at(t)
        return found

    def placed_tables(self, mechanism: Mechanism) -> list[tuple[int, Table]]:
        """Return the tables, each with its place among all rates and signals."""
        placed = [(table.rate, table) for table in self.tables]
        tables = self.signals.tables if self.signals else ()
        return placed + [(mechanism.nv + table.rate, table) for table in tables]

    def signal_values(self, t: float, q: Array, qd: Array, mechanism: Mechanism) -> Array:
        """Return what the functions of Python give for all signals."""
        count = len(mechanism.actuators)
        return np.zeros(count) if self.signals is None else self.signals.values(t, q, qd, count)


def numbers_from(value: Any, shape: tuple[int, ...], where: str = "forces") -> Array:
    """Return what a function of Python gave; RunError where that is not what it should be."""
    wanted = f"{shape[0]} numbers in an array" if shape and shape[0] > 1 else "a number"
    try:
        found = None if value is None else real_array(where, value)
    except RunError:
        found = None
    if found is None or found.size != (shape[0] if shape else 1):
        kind = getattr(value, "dtype", type(value).__name__)
        given = f"{kind}" if found is None else f"the shape {found.shape}"
        raise RunError(
            f"a function of (t, q, qd) returned {given} in place of {wanted}",
            element=where,
            remedy=f"let it return {wanted}",
        )
    return found.reshape(shape)


def efforts_of(mechanism: Mechanism, forces: Forces | None) -> Efforts:
    """Return efforts with all names and laws checked."""
    if forces is None:
        return Efforts()
    if not isinstance(forces, Mapping) and callable(forces):
        return Efforts(whole=forces)
    laws: dict[str, object] = {}
    functions: dict[int, Function] = {}
    tables: list[Table] = []
    remedy = 'write {"joint1": "3*t"}, or give a function of (t, q, qd)'
    for joint, given in argument("forces", forces).table(remedy=remedy).items():
        if callable(given.value):
            functions[_rate(mechanism, joint, given)] = given.value
        elif given.is_table and given.has("values"):
            times, values = entries_of(given)
            if len(times) < LONG:
                laws[joint] = pieces_of(times, values)
            else:
                columns = (tuple(map(float, column)) for column in (times, values))
                tables.append(Table(_rate(mechanism, joint, given), *columns))
        else:
            laws[joint] = given.value
    read = _laws(replace(mechanism, forces=()), laws) if laws else ()
    return Efforts(read, functions, tables=tuple(tables))


def bends_of(mechanism: Mechanism, efforts: Efforts) -> list[float]:
    """Return the times of pieces of the file, and of pieces that are expressions, by its values."""
    given = (*mechanism.forces, *efforts.laws, *(efforts.signals or Efforts()).laws)
    times = (number for force in given for number in force.numbers)
    reader = reader_of(mechanism)
    known = (reader.known(time) for time in times)
    return [float(time) for time in known if time is not None]


def _rate(mechanism: Mechanism, joint: str, given: Given) -> int:
    with given.translate_errors():
        return mechanism.rate_index(joint)


def _laws(bare: Mechanism, laws: Mapping[str, object]) -> tuple[Force, ...]:
    known = {p.name: p.value for p in bare.parameters if p.value is not None}
    try:
        given = bare.with_forces(laws)
        for part in constant_parts(replace(given, actuators=()), known):
            part.check(known)
        return given.forces
    except Error as problem:
        # They are numbered there; whoever gave them knows them by their joints.
        for number, joint in enumerate(laws, 1):
            own = f"force 'force{number}'"
            problem.element = (problem.element or own).replace(own, f"forces, {joint[:60]}")
        raise


# --- signals ----------------------------------------------------------------------------------


def with_signals(mechanism: Mechanism, efforts: Efforts, signals: Forces | None) -> Efforts:
    """Return efforts with signals, all names and laws checked."""
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
    place = signal_index(mechanism, name)
    try:
        found = efforts_of(mechanism, {mechanism.rates[mechanism.actuators[place].rate]: given})
    except Error as error:
        error.element = f"signals, {name}"
        raise
    laws = tuple(replace(law, rate=place) for law in found.laws)
    tables = tuple(replace(table, rate=place) for table in found.tables)
    functions = [(place, function) for function in found.functions.values()]
    return Efforts(laws, dict(functions), tables=tables)


def _joined(a: Efforts, b: Efforts) -> Efforts:
    twice = a.functions.keys() & b.functions.keys()
    twice |= _given_rates(a) & _given_rates(b)
    if twice:
        remedy = "name it once: by its actuator, itself, or its joint"
        raise RunError("a signal is given twice", element="signals", remedy=remedy)
    functions = {**a.functions, **b.functions}
    return Efforts((*a.laws, *b.laws), functions, tables=(*a.tables, *b.tables))


def _given_rates(efforts: Efforts) -> set[int]:
    """Return the places of the signals that laws and tables give."""
    return {given.rate for given in (*efforts.laws, *efforts.tables)}


def signal_index(mechanism: Mechanism, name: str) -> int:
    """Return the place in u of a signal: by the name of its actuator, its own, or its joint."""
    actuators = mechanism.actuators
    known = [actuator.name for actuator in actuators]
    joints = ["" if a.weights else mechanism.rates[a.rate] for a in actuators]
    # A joint of the same name may belong to another actuator.
    for names in (known, mechanism.signals, joints):
        if name in names:
            return names.index(name)
    raise argument("signals", name).unknown("actuator", known)


def _spread(mechanism: Mechanism, function: Function) -> Function:
    """Return a function of all signals that is checked as one of signals."""
    count = len(mechanism.actuators)

    def whole(t: float, q: Array, qd: Array) -> Array:
        return numbers_from(function(t, q, qd), (count,), "signals")

    return whole
