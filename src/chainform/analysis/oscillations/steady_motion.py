"""Equilibria and steady motions: states about which small motions have constant equations.

In a steady motion coordinates change at constant rates, and the equations of small motions do not
depend on them, as on the turn of a wheel or the place of a bicycle. Whether that is so is tried:
the equations are taken at some other instants of the motion, and must be the same there.

Some displacements may follow in directions that change, as the place of a wheel in a turn. They do
not count where nothing depends on them: the rest of the equations is constant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.implicit_equations import ImplicitEquations
from chainform.analysis.linear.linear_variables import operating_point
from chainform.analysis.linear.linearisation import whole_state
from chainform.analysis.linear.small_motion import SmallMotion
from chainform.analysis.oscillations.parameter_motions import closed_state, nearest_state
from chainform.analysis.results.displacement import displaced
from chainform.analysis.results.result import Result
from chainform.errors import RunError
from chainform.given import argument
from chainform.mechanism import Mechanism
from chainform.simulation import consistent_rates, rest_names

Array = NDArray[np.float64]
HELD = "drives that hold joints are constant forces here: what they hold may move"
AHEAD = (0.37, -1.23, 2.9)
"""How far along a motion its equations are taken again: rad, or parts of the fastest rate."""
SAME = 1e-8
"""Entries that differ by less, against the largest, are the same."""


@dataclass(frozen=True)
class SteadyMotion:
    """The small motion about a steady one; `varying` are places in z of what does not count."""

    small: SmallMotion
    varying: tuple[int, ...]

    @property
    def constant(self) -> list[int]:
        """The places in z whose equations are constant."""
        return [k for k in range(len(self.small.states)) if k not in self.varying]

    @property
    def residual(self) -> float:
        """What is left of the rates of rates and states, which would be zero."""
        drift = self.small.drift[len(self.small.independent.places) :]
        return float(np.max(np.abs(drift), initial=0.0))

    def notes(self) -> tuple[str, ...]:
        """Return what one should know of the result."""
        names = ", ".join(self.small.states[k] for k in self.varying)
        more = (f"of {names} there are no oscillations: they follow in directions that change",)
        held = np.any(self.small.point["tau"]) or np.any(self.small.point["force"])
        return (*(more if names else ()), *self.small.notes(), *((HELD,) if held else ()))


def steady_motion(
    equations: ImplicitEquations,
    state: Mapping[str, Any],
    inputs: Sequence[str] | None = None,
    independent: Sequence[str] | None = None,
    outputs: Sequence[str] = (),
    *,
    search: bool = False,
) -> SteadyMotion:
    """Return the small motion about a state; RunError where that is no steady one.

    With inputs and outputs it must be steady for these as well. With `search` it is the motion
    about the nearest steady one.
    """
    if search:
        state = closed_state(equations, state, independent)
    point = operating_point(equations, state)
    if search:
        point = nearest_state(SmallMotion(equations, point, None, independent), state)
    motion = SmallMotion(equations, point, inputs, independent)
    return checked(motion, outputs, with_inputs=inputs is not None)


def checked(
    motion: SmallMotion, outputs: Sequence[str] = (), *, with_inputs: bool = False
) -> SteadyMotion:
    """Return the small motion about a state; RunError where that is no steady one.

    Where nonholonomic constraints leave a choice of rates, those of places may change in a turn
    while those of wheels do not: the last coordinates are tried, too.
    """
    try:
        return _checked(motion, outputs, with_inputs=with_inputs)
    except RunError:
        names = motion.independent.names[::-1]
        if motion.named is not None or len(names) == len(motion.independent.rate_places):
            raise
        other = SmallMotion(motion.equations, motion.point, motion.wanted, names)
        try:
            return _checked(other, outputs, with_inputs=with_inputs)
        except RunError:
            pass
        raise


def _checked(motion: SmallMotion, outputs: Sequence[str], *, with_inputs: bool) -> SteadyMotion:
    count, mechanism = len(motion.independent.places), motion.mechanism
    if not motion.states:
        raise RunError(
            "the mechanism cannot move: loops and constraints leave no freedom",
            file=mechanism.file,
            element="state",
            remedy="check its loops and constraints: chainform.simulation.mobility shows the ranks",
        )
    left = np.abs(motion.drift[count:])
    worst = int(np.argmax(left)) if left.size else 0
    if left.size and not left[worst] <= motion.tolerance:
        name = motion.states[count + worst]
        raise RunError(
            f"the state is no equilibrium and no steady motion: d({name})/dt is "
            f"{motion.drift[count + worst]:.6g}",
            file=mechanism.file,
            element="state",
            remedy="search=True finds the one near by, cf.equilibria all of them; tau from inverse "
            "dynamics holds a pose",
        )
    if not np.any(np.abs(motion.point["qd"]) > 0) and not motion.depends_on_time:
        return SteadyMotion(motion, ())
    varying = {k for a in AHEAD for k in _varying(motion, a, outputs if with_inputs else None)}
    return SteadyMotion(motion, tuple(sorted(varying)))


def _measured(motion: SmallMotion, outputs: Sequence[str] | None) -> Array:
    """Return all that must stay the same: the drift, A, and with outputs B, C and D, too."""
    if outputs is None:
        return np.column_stack([motion.drift, motion.rates[:, : len(motion.states)]])
    rows = motion.outputs(outputs).rows
    still = np.concatenate([motion.drift, np.zeros(len(rows))])
    return np.column_stack([still, np.concatenate([motion.rates, rows])])


def _varying(motion: SmallMotion, ahead: float, outputs: Sequence[str] | None) -> list[int]:
    """Return the displacements whose equations are others further along, if they do not count."""
    qd, mechanism = motion.point["qd"], motion.mechanism
    fastest = float(np.max(np.abs(qd), initial=0.0))
    other = _further(motion, ahead / (fastest or 1.0))
    if other is not None and other.states == motion.states:
        own, there = (_measured(each, outputs) for each in (motion, other))
        limit = SAME * (1e-3 + np.max(np.abs(own), initial=0.0))
        rows = np.flatnonzero(np.any(np.abs(own - there) > limit, axis=1)).tolist()
        rest = np.delete(np.stack([own, there]), rows, axis=1)
        # Rates and outputs count in any case; the first column is the drift.
        is_left_out = all(k < len(motion.independent.places) for k in rows)
        if is_left_out and not np.any(np.abs(rest[:, :, [1 + k for k in rows]]) > limit):
            return rows
    on_time = motion.depends_on_time and fastest == 0.0
    moving = [n for n, v in zip(mechanism.rates, qd, strict=True) if v]
    what = "laws of time" if on_time else f"the rates of {', '.join(moving[:4])}"
    raise RunError(
        f"the state is no steady motion: with {what} the equations of small motions change",
        file=mechanism.file,
        element="state",
        remedy="periodic_motion has the multipliers of motions under laws of time"
        if on_time
        else "take coordinates on which they do not depend, or an equilibrium",
    )


def _further(motion: SmallMotion, time: float) -> SmallMotion | None:
    """Return the small motion some time later, with the same independent rates, if there is one."""
    point, mechanism, chosen = motion.point, motion.mechanism, motion.independent
    t = point["t"] + time
    q = displaced(mechanism, point["q"][None], time * point["qd"][None])[0]
    rates = [mechanism.rates[k] for k in chosen.rate_places]
    try:
        qd = consistent_rates(mechanism, q, point["qd"], rates, t=float(t[0]))
        further = {**point, "q": q, "qd": qd, "t": t}
        return SmallMotion(motion.equations, further, motion.wanted, chosen.in_order)
    except RunError:
        return None


# --- states that are given ----------------------------------------------------------------------

HOLDING = {"q": "q", "tau": "tau", "force": "forces"}
"""The parts of a state that results of statics have, and their names there."""


def given_states(
    mechanism: Mechanism, state: Any, parts: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the states that are given: one, or the rows of the result of a task, or its `row`."""
    if isinstance(state, str | PathLike):
        state = Result.load(cast("str", state))
    row = argument("row", parts.get("row"))
    parts = {name: part for name, part in parts.items() if name != "row"}
    states = [whole_state(own, parts) for own in _given(mechanism, state)]
    return [states[row.whole(1, len(states)) - 1]] if row.is_given else states


def _given(mechanism: Mechanism, state: Any) -> list[Any]:
    """Return the states that are given as a table, or by the rows of a result."""
    if not isinstance(state, Result):
        return [state]
    _check_equilibria(mechanism, state)
    states: list[dict[str, Any]] = []
    for row in range(len(state)):
        own = {g: state[name][row] for g, name in HOLDING.items() if name in state.arrays}
        if "x" in state.arrays:
            own["x"] = dict(zip(rest_names(mechanism), state["x"][row], strict=True))
        states.append(own)
    return states


def given_state(mechanism: Mechanism, state: Any, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state that is given, where there is one alone."""
    states = given_states(mechanism, state, parts)
    if len(states) > 1:
        message = f"there are {len(states)} equilibria"
        raise argument("row", None).error(message, f"choose one: row = 1 to {len(states)}")
    return states[0]


def _check_equilibria(mechanism: Mechanism, result: Result) -> None:
    """Refuse results that have no poses of the mechanism, and those in which contacts push."""
    given = argument("state", result.task)
    remedy = "give the result of equilibria, equilibrium_path or statics of the same mechanism"
    if "q" not in result.arrays or result["q"].shape[1:] != (mechanism.nq,) or not len(result):
        raise given.error(f"the {result.task} has no poses of {mechanism.name}", remedy)
    for name, array in result.arrays.items():
        if name.startswith("contact_force(") and np.any(array != 0):
            raise RunError(
                f"in some of the poses {name[14:-1]} touches, so that motions are not small there",
                element="state",
                remedy="give the state of an equilibrium in which nothing touches",
            )
