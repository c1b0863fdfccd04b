"""What it means that a loop cannot go on, in words that name the cause where it can be found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, RunError
from chainform.mechanism import kinks_of, lacks_inertia, names_in
from chainform.model import Model
from chainform.pipeline import derive
from chainform.runtime import Key, LruCache
from chainform.simulation.equations.builder import Equations
from chainform.simulation.equations.evaluate import values_along
from chainform.simulation.machine.layout import Layout
from chainform.simulation.machine.linear import cholesky
from chainform.simulation.machine.records import NO_VALUE, NOT_SOLVED, TOO_SMALL

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

MODELS: LruCache[Model] = LruCache(16)
"""Mass matrices of recent mechanisms: each motion looks at its own at the start."""
ROUNDING = 1e-12
"""The share of a pivot of the mass matrix in its diagonal below which rounding decides it,"""
LIGHT = 1e-10
"""and the share of a pivot of the mass matrix in its diagonal below which no motion goes on."""
AFTER = 1e-6
"""How much later (s) laws are looked at that may have a value no more."""


class ValuelessEventError(RunError):
    """The law of an event, by its number, has no value after a time."""

    def __init__(self, number: int, t: float) -> None:
        super().__init__(
            f"the law has no value after t = {t:.9g} s",
            element="events",
            remedy="give a law that has a value wherever the motion goes, or end the motion "
            "before by another event",
        )
        self.number = number


class SmallStepError(RunError):
    """The steps of a motion became too short to go on."""


class UnsolvedError(RunError):
    """Equations have no solution: those of a step, or loops that cannot be closed."""


def cause(status: int, equations: Equations, t: float, y: Array, p: Array, step: float) -> RunError:
    """Return the error for a loop that came back with a status at a time and state."""
    blame = valueless_law(equations, t, y, p, step)
    if not blame:
        loose = unresisted_rate(equations, t, y, p)
        return failure_of(status, t) if loose is None else unresisted(equations, loose, t)
    return RunError(
        f"the force on {blame} has no finite value at t = {t:.9g} s, or just after",
        element="forces",
        remedy="give a law that has a value wherever the motion goes, or end the motion "
        "before by an event",
    )


def unresisted(equations: Equations, rate: int, t: float) -> RunError:
    """Return the error for a state in which neither mass nor a constraint resists a rate."""
    name = equations.mechanism.rates[rate]
    return RunError(
        f"nothing resists {name} at t = {t:.9g} s: the mass matrix is singular there",
        element=name,
        remedy="give what it moves mass or inertia, or hold it by a constraint; with Euler angles "
        "keep away from their pole, or take quaternions",
    )


def check_resistance(equations: Equations, t: float, y: Array, p: Array) -> None:
    """Refuse a state of a tree in which nothing but rounding resists a rate.

    Its accelerations would be finite, and noise.
    """
    loose = int(loose_rates(equations, t, y[None], p[None])[0])
    if loose >= 0:
        raise unresisted(equations, loose, t)


def loose_rates(equations: Equations, t: float, states: Array, p: Array) -> Whole:
    """Return for each state of a tree the first rate that nothing but rounding resists, or -1."""
    if equations.rows or not lacks_inertia(equations.mechanism):
        return np.full(len(states), -1, dtype=np.int64)
    return _first_loose(equations, t, states, p, ROUNDING)


def unresisted_rate(equations: Equations, t: float, y: Array, p: Array) -> int | None:
    """Return the first rate that no mass resists in a motion that no constraint holds, or None."""
    if bool(equations.rows) and bool(Layout(equations).part(p, "mask").any()):
        return None
    loose = int(_first_loose(equations, t, y[None], p[None], LIGHT)[0])
    return loose if loose >= 0 else None


def _first_loose(equations: Equations, t: float, states: Array, p: Array, share: float) -> Whole:
    """Return the first rate whose pivot is such a share of its entry of the mass matrix, or -1."""
    none = np.full(len(states), -1, dtype=np.int64)
    mechanism, n = equations.mechanism, equations.nv
    # An actuator that knows the motion of its joint may have an inertia of its own.
    if not n or any(actuator.velocity or actuator.position for actuator in mechanism.actuators):
        return none
    used = names_in(mechanism)
    free = [name for name in equations.parameters if name in used]
    given = {name: p[:, equations.parameters.index(name)] for name in free}
    try:
        model = MODELS.get(
            Key((tuple(free), mechanism.name, n), (mechanism,)),
            lambda: derive(mechanism, ["mass_matrix"], parameters=free or "numeric"),
        )
        inputs = model.graph.inputs.values()
        values = {k: v for k, v in given.items() if any(item.name == k for item in inputs)}
        is_timed = any(item.group == "t" for item in inputs)
        clock = np.full(len(states), t) if is_timed else None
        found = model.evaluate(q=states[:, : equations.nq], t=clock, values=values)["mass_matrix"]
    except Error:
        # What has no mass matrix has another cause.
        return none
    matrices = np.broadcast_to(found, (len(states), n, n)).reshape(len(states), n * n)
    failed = [cholesky(H.copy(), n, share) for H in matrices]
    return np.maximum(np.array(failed) - 1, -1)


def failure_of(status: int, t: float) -> RunError:
    """Return the error for a loop that came back with a status at a time."""
    if status == TOO_SMALL:
        return SmallStepError(
            f"the step became too small at t = {t:.9g} s",
            element="simulate",
            remedy="the equations are stiff or jump there: use method='cvode' (with loops or "
            "constraints 'ida'), a larger rtol, or a fixed step",
        )
    if status == NOT_SOLVED:
        return UnsolvedError(
            f"the equations of a step have no solution at t = {t:.9g} s",
            element="simulate",
            remedy="take a shorter step; where constraints move with time, let them move loops as "
            "far as these go; where a joint with Coulomb friction comes to rest, take verner65, or "
            "without=['friction']",
        )
    if status == NO_VALUE:
        return ValuelessEventError(0, t)
    return RunError(
        f"the motion has no finite value after t = {t:.9g} s",
        element="simulate",
        remedy="look at the state there: a singular position, a force that has no value, or "
        "an instability",
    )


JUMPS = (
    "; where a jump in the laws of an actuator holds the motion, make it steep in place of the "
    "jump: z/sqrt(z^2 + 1e-6) for sign(z)"
)


def runaway(equations: Equations, t: float, y: Array, step: float, left: float) -> RunError:
    """Return the error for a motion whose steps have become too short ever to come to its end."""
    rates = np.abs(y[equations.nq : equations.nq + equations.nv])
    fastest, mechanism = int(np.argmax(rates)), equations.mechanism
    has_kinks = any(kinks_of(actuator, mechanism) for actuator in mechanism.actuators)
    return RunError(
        f"at t = {t:.9g} s steps are {step:.2g} s long, and the rest would take {left / step:.1g}"
        f" of them; the rate of {mechanism.rates[fastest]} is {rates[fastest]:.3g}",
        element="simulate",
        remedy="the motion runs away, or is stiff: look at forces and controllers, take "
        "method='cvode', or end it by an event" + (JUMPS if has_kinks else ""),
    )


def valueless_law(equations: Equations, t: float, y: Array, p: Array, step: float) -> str:
    """Return the joint whose law of force has no finite value now or soon, or an empty text."""
    if "laws" not in equations.graph.outputs:
        return ""
    nq, nv = equations.nq, equations.nv
    times = t + np.array([0.0, min(abs(step), AFTER), AFTER])
    states = np.repeat(y[None], len(times), axis=0)
    given = {"t": times, "q": states[:, :nq], "qd": states[:, nq : nq + nv]}
    given["x"] = states[:, nq + nv :]
    values = dict(zip(equations.parameters, p.tolist(), strict=False))
    found = values_along(equations.graph, "laws", given, values)
    wrong = np.flatnonzero(~np.isfinite(found).all(axis=0))
    if not len(wrong) or not np.all(np.isfinite(y)):
        return ""
    names = [*equations.mechanism.rates, *equations.mechanism.signals]
    return names[int(wrong[0])]
