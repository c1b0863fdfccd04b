"""Rows of forces: their kinds, bounds, planes and states, and projections onto the bounds.

`solve` takes linear systems that may have no solution, or many. `Reduced` has S and b of rows while
others hold whatever it takes: w = S s + b, and w = 0 for the lasting rows l: their forces are
-S_ll^-1 (S_lo s + b_l), so that for all others

    w = (S - S_ol S_ll^-1 S_lo) s + b - S_ol S_ll^-1 b_l

Lasting rows may depend on each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
SMALL = 1e-11
"""What counts as zero, against the size of the numbers that were added up."""
ENDLESS = 1e100
"""Forces that grow so large have no bound."""
LASTING, PUSH, JOINT, PLANE = "lasting", "push", "joint", "plane"


@dataclass(frozen=True)
class ForceRow:
    """One row: its sort, the bound of friction or its coefficient, and the place of its gap.

    `way` is the component of the unit vector in which a contact slides in any case; if it is
    `loose`, it breaks loose just now, and this is where the search for its way begins. A `spare`
    row of a plane is never held.
    """

    sort: str
    bound: float = 0.0
    gap: int = -1
    way: float = 0.0
    is_loose: bool = False
    is_spare: bool = False


@dataclass
class RowForces:
    """Forces s and accelerations w; rows that hold; the sides of rows at a bound of friction.

    Sides are the components of the unit vector of the force; 0 where friction is not at its bound.
    An acceleration below its `noise` is none.
    """

    s: Array
    w: Array
    holds: Flags
    sides: Array
    noise: Array


@dataclass
class Plane:
    """The rows of the plane of one contact, and how its way of sliding is found.

    `drag` is the force of friction for a push of 1 while it slides in a known way. `stiffness` is
    k = |w| / |s|; None as long as it is not known.
    """

    gap: int
    rows: list[int]
    friction: float
    is_moving: bool = False
    is_loose: bool = False
    stiffness: float | None = None
    turns: int = 0
    drag: Array = field(default_factory=lambda: np.zeros(0))


def planes_of(rows: Sequence[ForceRow]) -> dict[int, Plane]:
    """Return the planes of contacts by the places of their gaps."""
    planes: dict[int, Plane] = {}
    for place, row in enumerate(rows):
        if row.sort == PLANE:
            plane = planes.setdefault(row.gap, Plane(row.gap, [], row.bound))
            plane.rows.append(place)
            plane.is_moving |= row.way != 0 and not row.is_loose
            plane.is_loose |= row.way != 0 and row.is_loose
            plane.drag = np.append(plane.drag, -row.bound * row.way)
    return planes


def relaxed(
    S: Array, b: Array, rows: Sequence[ForceRow], start: Array, sweeps: int, share: float
) -> Array:
    """Return forces nearer to those that fit, by projecting them onto their bounds in turn.

    Without planes each projection lowers s.S s/2 + b.s, so that this comes as near as one likes.
    Each goes a share of its way.
    """
    s, own = start.copy(), np.diag(S)
    least = SMALL * float(np.max(own, initial=1e-300))
    planes = planes_of(rows)
    for _ in range(sweeps):
        for place, row in enumerate(rows):
            if row.sort == JOINT:
                w = float(S[place] @ s + b[place])
                free = s[place] - share * w / max(float(own[place]), least)
                s[place] = min(max(free, -row.bound), row.bound)
            elif row.sort == PUSH:
                _project_contact(S, b, s, place, planes.get(place), least, share)
        if not np.all(np.abs(s) < ENDLESS):
            return start
    return s


def _project_contact(
    S: Array, b: Array, s: Array, gap: int, plane: Plane | None, least: float, share: float
) -> None:
    """Set the forces of one contact to those that fit while all others stay."""
    w, ease = float(S[gap] @ s + b[gap]), float(S[gap, gap])
    if plane is not None and plane.is_moving:
        ease += float(S[gap, plane.rows] @ plane.drag)
        if ease <= least:
            # A push would bring more closing than opening: the contact is jammed.
            return
    s[gap] = max(s[gap] - share * w / max(ease, least), 0.0)
    if plane is None:
        return
    rows, bound = plane.rows, plane.friction * float(s[gap])
    if plane.is_moving:
        s[rows] = s[gap] * plane.drag
        return
    ease = max(float(np.trace(S[np.ix_(rows, rows)])), least)
    free = s[rows] - share * (S[rows] @ s + b[rows]) / ease
    s[rows] = free * min(1.0, bound / max(float(np.hypot.reduce(free)), 1e-300))


# --- linear systems ---------------------------------------------------------------------------


RANK = 1e-11
"""Singular values below this share of the largest are zero."""
AGREES = 1e-9
"""Right sides agree with rows that depend on each other up to this share of their size."""


@dataclass(frozen=True)
class Solution:
    """The solution x of least size, or what comes nearest.

    Where there is none, `endless` is the way in which x grows without end if the system is made
    to have one, (A + e) x = b for ever smaller e.
    """

    x: Array
    endless: Array | None = None


def solve(matrix: Array, right: Array, sizes: Array) -> Solution:
    """Solve A x = b for a square A.

    `sizes` are those of the rows, which may have different units: they are compared after division
    by them.
    """
    scaled, target = matrix / np.outer(sizes, sizes), right / sizes
    if len(right) == 1 and scaled[0, 0] > RANK:
        return Solution(right / matrix[0])
    left, values, across = np.linalg.svd(scaled)
    is_stored = values > RANK * max(float(values[0]), 1.0)
    along = left.T @ target
    x = across[is_stored].T @ (along[is_stored] / values[is_stored])
    missing = along[~is_stored]
    if not np.any(np.abs(missing) > AGREES * float(np.max(np.abs(along)))):
        return Solution(x / sizes)
    turned = left[:, ~is_stored].T @ across[~is_stored].T
    endless = across[~is_stored].T @ least_solution(turned, missing)
    return Solution(x / sizes, endless / sizes)


def least_solution(matrix: Array, right: Array) -> Array:
    """Return the solution of least size; where there is none, what comes nearest."""
    found = np.linalg.lstsq(matrix, right, rcond=RANK)
    return np.asarray(found[0], dtype=np.float64)


class Reduced:
    """What is left: S and b, zero for lasting rows, and the sizes of what was added up for them.

    `parts` are the sizes of the numbers of which b is the sum.
    """

    def __init__(self, S: Array, b: Array, lasting: Sequence[int], parts: Array) -> None:
        self.lasting = list(lasting)
        self.S, self.b = S.copy(), b.copy()
        self.S_parts, self.b_parts = np.abs(S), parts.copy()
        if self.lasting:
            self._eliminate(S, b)

    def _eliminate(self, S: Array, b: Array) -> None:
        inner = S[np.ix_(self.lasting, self.lasting)]
        right = np.column_stack([S[self.lasting], b[self.lasting]])
        self._share = least_solution(inner, right)
        taken = S[:, self.lasting] @ self._share
        sizes = np.abs(S[:, self.lasting]) @ np.abs(self._share)
        for matrix, less in ((self.S, -taken), (self.S_parts, sizes)):
            matrix += less[:, :-1]
        for column, less in ((self.b, -taken), (self.b_parts, sizes)):
            column += less[:, -1]
        for matrix in (self.S, self.S_parts):
            matrix[self.lasting], matrix[:, self.lasting] = 0.0, 0.0
        for column in (self.b, self.b_parts):
            column[self.lasting] = 0.0

    def whole(self, s: Array) -> Array:
        """Return the forces with those of lasting rows."""
        whole = s.copy()
        if self.lasting:
            whole[self.lasting] = 0.0
            whole[self.lasting] = -(self._share[:, :-1] @ whole + self._share[:, -1])
        return whole
