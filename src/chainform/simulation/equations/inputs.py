"""What drives a system: laws, controllers, samples that are held, functions of Python.

Laws and controllers become scalars of the graph. With `hold` they are sampled: the equations then
take tau and u from p, where the output `held` puts them. Functions of Python and long tables put
theirs there, too. Results of controllers that are sampled by themselves stand in p behind u.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.formulations import Actuated, rest_places
from chainform.graph import Scalar
from chainform.simulation.equations.builder import EquationBuilder, Equations
from chainform.simulation.equations.controllers import (
    ControlContext,
    Controller,
    SampledController,
    own_actuators,
)
from chainform.simulation.equations.efforts import Efforts
from chainform.simulation.equations.evaluate import values_along

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LawInputs:
    """tau and u as laws and controllers give them, and the actuators whose states they use.

    `owners` has the place of the controller of each state of controllers; the rates of these
    stand last in `extra` of the equations.
    """

    tau: list[Scalar]
    u: list[Scalar]
    sampled: list[Scalar]
    """What sampled controllers add to tau, then to u."""
    actuated: Actuated | None
    owners: tuple[int, ...]


def law_inputs(
    equations: EquationBuilder, efforts: Efforts, controllers: Sequence[Controller] = ()
) -> LawInputs:
    """Return what laws and controllers give; states of actuators and controllers are added."""
    mechanism, zero = equations.mechanism, equations.builder.number(0)
    actuators = mechanism.actuators
    actuated = None
    if actuators:
        first, count = len(equations.extra), len(rest_places(mechanism))
        actuated = Actuated(mechanism, equations.kinematics, range(first, first + count))
        equations.extra += [zero] * count
    signals = efforts.signals or Efforts()
    tau = equations.efforts(efforts.laws)
    u = equations.efforts(signals.laws, len(actuators))
    own, context = own_actuators(mechanism), ControlContext(equations, actuated)
    whole, sampled = [*tau, *u], [zero] * (len(tau) + len(u))
    owners: list[int] = []
    for number, controller in enumerate(controllers):
        into = sampled if isinstance(controller, SampledController) else whole
        before = len(equations.extra)
        for rate, value in controller.outputs(context).items():
            place = own.get(rate, rate)
            into[place] = into[place] + value
        owners += [number] * (len(equations.extra) - before)
    count = len(tau)
    return LawInputs(whole[:count], whole[count:], sampled, actuated, tuple(owners))


def put_inputs(
    equations: EquationBuilder,
    efforts: Efforts,
    controllers: Sequence[Controller] = (),
    *,
    hold: bool = False,
) -> list[Scalar]:
    """Return tau as scalars, and give the actuators their signals."""
    made = law_inputs(equations, efforts, controllers)
    tau, u, sampled, actuated = made.tau, made.u, made.sampled, made.actuated
    count, zero = len(tau), equations.builder.number(0)
    laws = [equations.builder.keep(value) for value in (*tau, *u)]
    equations.declare("laws", laws)
    given = [zero] * len(laws)
    if hold or efforts.come_from_outside:
        given = [equations.input("tau", i) for i in range(count)]
        given += [equations.input("u", k) for k in range(len(u))]
    whole = laws
    if efforts.come_from_outside or not hold:
        whole = [a + b for a, b in zip(given, laws, strict=True)]
    if hold:
        # What comes from outside is put just before where these go.
        equations.declare("held", whole)
    else:
        given = whole
    given = [equations.builder.keep(a + b) for a, b in zip(given, sampled, strict=True)]
    if actuated is not None:
        actuated.give(given[count:])
        equations.actuated = actuated
    return given[:count]


def inputs_along(
    equations: Equations,
    efforts: Efforts,
    t: Array,
    y: Array,
    values: Mapping[str, float] | None = None,
) -> Array:
    """Return tau and u, (m, nv + nu), at times and states (m, size): what acts there.

    `values` are those of free parameters.
    """
    mechanism, nq, nv = equations.mechanism, equations.nq, equations.nv
    given = {"t": t, "q": y[:, :nq], "qd": y[:, nq : nq + nv], "x": y[:, nq + nv :]}
    found = values_along(equations.graph, "laws", given, values)
    if efforts.has_tables:
        found += efforts.looked_up(t, mechanism)
    if efforts.has_functions:
        for row, (time, q, qd) in enumerate(zip(t, given["q"], given["qd"], strict=True)):
            # Copies, since a function may write into what it gets.
            now = (float(time), q.copy(), qd.copy())
            found[row, :nv] += efforts.values(*now, nv)
            found[row, nv:] += efforts.signal_values(float(time), q.copy(), qd.copy(), mechanism)
    return found
