"""The state in which a motion begins: near the given one, with closed loops.

What q0 and qd0 name in a table stays as it is, if the loops can be closed so; the rest follows.
Of an array everything may change. Whatever was given and is another now is named in a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.mechanism import Mechanism
from chainform.simulation.equations.assembly import (
    CLOSED,
    assemble,
    consistent_rates,
    mobility,
    rates_fit,
)
from chainform.simulation.equations.initial import initial_state
from chainform.simulation.equations.loop_constraints import ConstraintResiduals
from chainform.simulation.equations.motion_laws import (
    MotionLaw,
    check_independent,
    first_values,
    violation,
)

Array = NDArray[np.float64]

NEAR_SINGULAR = 1e-3
"""Of the squares of singular values: a share of what it was at the start that is remarkable."""
SAME = 1e-6
"""A smaller change (rad, m, and per s) of what was given is no remark."""


@dataclass(frozen=True)
class ConsistentState:
    """A state at the start of a motion, and remarks on its loops and constraints."""

    q: Array
    qd: Array
    notes: tuple[str, ...] = ()


def consistent_state(
    mechanism: Mechanism,
    q0: Any,
    qd0: Any,
    t: float,
    fixed: Sequence[str] | None = None,
    *,
    remarks: bool = True,
) -> ConsistentState:
    """Return q and qd that loops and constraints allow, near those that were given.

    The coordinates in `fixed` are not moved; by default these are those that a table q0 names, as
    far as the loops can be closed so. Without `remarks` there is no note on redundant equations.
    """
    state = initial_state(mechanism, q0, qd0)
    q, qd = state[: mechanism.nq], state[mechanism.nq :]
    fixed = (fixed,) if isinstance(fixed, str) else fixed
    for name in fixed or ():
        mechanism.coordinate_index(str(name))
    if not mechanism.loops and not mechanism.constraints:
        return ConsistentState(q, qd)
    gaps = ConstraintResiduals(mechanism, t)
    if not gaps.has_rows:
        return ConsistentState(q, qd)
    q, moved = _closed(gaps, q, q0, fixed)
    qd, changed = _fitting(gaps, q, qd, qd0)
    notes = [f"{moved}: moved at the start, to close the loops"] if moved else []
    notes += [f"{changed}: rates changed at the start, to keep loops closed"] if changed else []
    if remarks:
        notes += mobility(mechanism, q, t=t).notes
    return ConsistentState(q, qd, tuple(notes))


def state_of_motion(
    mechanism: Mechanism,
    laws: Sequence[MotionLaw],
    first: Mapping[str, Any],
    t: float,
    *,
    remarks: bool = True,
) -> ConsistentState:
    """Return the state at the start, where coordinates that follow laws are as these say.

    `first` has q0, qd0 and fixed. RunError where loops cannot be closed so.
    """
    q0, qd0 = first_values(mechanism, laws, first["q0"], first["qd0"], t)
    try:
        state = consistent_state(mechanism, q0, qd0, t, first["fixed"], remarks=remarks)
    except RunError as problem:
        raise (violation(problem, laws, t) if laws else problem) from None
    if laws:
        check_independent(mechanism, laws, state.q, t)
    notes = [f"motion of {law.coordinate}: {law.note}" for law in laws if law.note]
    return replace(state, notes=(*state.notes, *notes))


def _closed(
    gaps: ConstraintResiduals, q: Array, q0: Any, fixed: Sequence[str] | None
) -> tuple[Array, str]:
    """Return a closed pose near q, and the names of the given coordinates that moved."""
    if np.max(np.abs(gaps.at(q)), initial=0.0) <= CLOSED:
        return q, ""
    mechanism, own = gaps.mechanism, _names(q0)
    named = own if fixed is None else [str(name) for name in fixed]
    try:
        found = assemble(mechanism, q, named, t=gaps.t)
    except RunError:
        if fixed is not None or not named:
            raise
        found = assemble(mechanism, q, t=gaps.t)
    places = [mechanism.coordinate_index(name) for name in own]
    return found, _changed(mechanism.coordinates, q0, places, found - q)


def _fitting(gaps: ConstraintResiduals, q: Array, qd: Array, qd0: Any) -> tuple[Array, str]:
    """Return rates near qd that the rows allow, and the names of the given ones that changed."""
    mechanism, named = gaps.mechanism, _names(qd0)
    if not named and rates_fit(gaps, q, qd):
        return qd, ""
    try:
        found = consistent_rates(mechanism, q, qd, named, t=gaps.t)
    except RunError:
        if not named:
            raise
        found = consistent_rates(mechanism, q, qd, t=gaps.t)
    places = [mechanism.rate_index(name) for name in named]
    return found, _changed(mechanism.rates, qd0, places, found - qd)


def _changed(names: Sequence[str], given: Any, own: Sequence[int], change: Array) -> str:
    """Return which numbers changed of those that were given: in an array all, in a table `own`."""
    places = range(len(names)) if given is not None and not _is_table(given) else own
    return ", ".join(names[place] for place in places if abs(change[place]) > SAME)


def _names(given: Any) -> list[str]:
    return [str(name) for name in cast("Mapping[str, Any]", given)] if _is_table(given) else []


def _is_table(given: Any) -> bool:
    return isinstance(given, Mapping)


@dataclass(frozen=True)
class Remarks:
    """Remarks on loops and constraints from the start of a motion on.

    `start` is what was noted of the rank at the start (machine/constrained.py); without it the rank
    is not looked at later.
    """

    notes: tuple[str, ...] = ()
    start: Array | None = None

    def after(self, lowest: Array) -> tuple[str, ...]:
        """Return all remarks, given what was noted of the rank since."""
        if self.start is None or not len(lowest) or self.start[0] == 0 or lowest[0] == 0:
            return self.notes
        if lowest[2] < self.start[2]:
            return (*self.notes, f"singular position at t = {lowest[3]:.6g} s")
        if lowest[0] < NEAR_SINGULAR * self.start[0]:
            return (*self.notes, f"singular position near t = {lowest[1]:.6g} s")
        return self.notes


NO_REMARKS = Remarks()
