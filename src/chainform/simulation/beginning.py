"""The state in which a motion begins, its loops closed; and what is known of them there.

What q0 and qd0 name in a table stays as it is, if the loops can be closed so; the rest follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.mechanism import Mechanism
from chainform.simulation.constraints.assembly import CLOSED, assemble, consistent_rates
from chainform.simulation.constraints.gaps import Gaps
from chainform.simulation.constraints.mobility import mobility
from chainform.simulation.initial import initial_state

Array = NDArray[np.float64]

NEAR_SINGULAR = 1e-3
"""Of the squares of singular values: a share of what it was at the start that is remarkable."""


@dataclass(frozen=True)
class Beginning:
    """A state at the start of a motion, and remarks on its loops and constraints."""

    q: Array
    qd: Array
    notes: tuple[str, ...] = ()


def beginning(
    mechanism: Mechanism,
    q0: Any,
    qd0: Any,
    t: float,
    fixed: Sequence[str] | None = None,
    *,
    remarks: bool = True,
) -> Beginning:
    """Return q and qd that loops and constraints allow, near those that were asked for.

    The coordinates in `fixed` are not moved; by default these are those that a table q0 names, as
    far as the loops can be closed so. Without `remarks` nothing is said of redundant equations.
    """
    state = initial_state(mechanism, q0, qd0)
    q, qd = state[: mechanism.nq], state[mechanism.nq :]
    if not mechanism.loops and not mechanism.constraints:
        return Beginning(q, qd)
    gaps, notes = Gaps(mechanism, t), list[str]()
    if not gaps.has_rows:
        return Beginning(q, qd)
    if np.max(np.abs(gaps.at(q)[0]), initial=0.0) > CLOSED:
        named = _names(q0) if fixed is None else [str(name) for name in fixed]
        try:
            q = assemble(mechanism, q, named, t=t)
        except RunError:
            if fixed is not None or not named:
                raise
            q = assemble(mechanism, q, t=t)
            notes.append(f"{', '.join(named)}: moved at the start, to close the loops")
    named = _names(qd0)
    if named:
        try:
            qd = consistent_rates(mechanism, q, qd, named, t=t)
        except RunError:
            qd = consistent_rates(mechanism, q, qd, t=t)
            notes.append(f"{', '.join(named)}: rates changed at the start, to keep loops closed")
    if remarks:
        notes += mobility(mechanism, q, t=t).notes
    return Beginning(q, qd, tuple(notes))


def _names(given: Any) -> list[str]:
    return [str(name) for name in cast("Mapping[str, Any]", given)] if _is_table(given) else []


def _is_table(given: Any) -> bool:
    return isinstance(given, Mapping)


@dataclass(frozen=True)
class Remarks:
    """Remarks on loops and constraints from the start of a motion on.

    `start` is what was noted of the rank at the start (loops/constrained.py); without it the rank
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
