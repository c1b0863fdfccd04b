"""Forces or impulses of the rows of a mechanism that may hold, with friction where bodies touch.

A contact with the normal force s and the coefficient mu holds its place with a force of at most
mu s in each of the two directions of its plane (a pyramid in place of Coulomb's cone). What is not
held slides, with that force against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.simulation.contact.complementarity import (
    JOINT,
    LASTING,
    PLANE,
    PUSH,
    Balancing,
    Forces,
    Row,
    depends,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Terms:
    """H, r, J, gamma, residuals and relative speeds of all rows at one state."""

    H: Array
    r: Array
    J: Array
    gamma: Array
    residuals: Array
    speeds: Array

    @staticmethod
    def of(area: Array, n: int, m: int) -> Terms:
        """Return the parts of what the kernel `terms` gives."""
        ends = np.cumsum([n * n, n, m * n, m, m])
        H, r, J, gamma, residuals, speeds = np.split(area, ends)
        return Terms(H.reshape(n, n), r, J.reshape(m, n), gamma, residuals, speeds)

    def solved(self, rows: Array) -> Array:
        """Return H^-1 times the transpose of some rows."""
        return np.asarray(np.linalg.solve(self.H, rows.T), dtype=np.float64)


@dataclass(frozen=True)
class Gap:
    """The row of a gap and those of its plane, what it gives back, and its friction."""

    row: int
    beside: tuple[int, ...] = ()
    restitution: float = 0.0
    rest_speed: float = 0.0
    friction: float = 0.0

    @property
    def smooth(self) -> Gap:
        """The same without friction."""
        return replace(self, beside=())

    def bounces(self, speed: float) -> bool:
        """Whether it gives something back at a closing speed."""
        return self.restitution > 0 and -speed > self.rest_speed


@dataclass(frozen=True)
class Grasp:
    """Forces of all rows, what they do to the mechanism (H^-1 J^T s), and what holds."""

    rows: list[int]
    S: Array
    found: Forces
    forces: Array
    effect: Array
    is_jammed: bool = False
    """Whether nothing fits with friction in planes of contact, which was left out then."""

    @property
    def holds(self) -> set[int]:
        """The rows that a force keeps at rest."""
        return {row for row, holds in zip(self.rows, self.found.holds, strict=True) if holds}

    def side(self, row: int) -> float:
        """Return the sign of the friction of a row that slides, 0 if there is none."""
        return float(self.found.sides[self.rows.index(row)]) if row in self.rows else 0.0

    def depends(self, row: int) -> bool:
        """Whether a row stays at rest because of others."""
        place = self.rows.index(row)
        others = self.found.holds.copy()
        others[place] = False
        return depends(self.S, others, place)


@dataclass(frozen=True)
class Rows:
    """The rows that take part: lasting ones, gaps, and joints with the bounds of their friction.

    `ways` has 1 or -1 for rows of planes that slide in any case.
    """

    lasting: Sequence[int]
    gaps: Sequence[Gap]
    joints: Mapping[int, float]
    ways: Mapping[int, float]
    is_held: bool = False
    """Whether everything is to hold that can, even if it need not."""

    def grasp(self, terms: Terms, b: Array) -> Grasp:
        """Return the forces for w = S s + b, where b is that of all rows."""
        fitting = self.fitting(terms, b)
        if fitting is not None:
            return fitting
        smooth = replace(self, gaps=[gap.smooth for gap in self.gaps]).fitting(terms, b)
        if smooth is None:
            raise RunError(
                "no forces keep all contacts and sticking joints as they must be",
                element="stops",
                remedy="stops that work against each other cannot all be rigid: make one stiff",
            )
        return replace(smooth, is_jammed=True)

    def fitting(self, terms: Terms, b: Array) -> Grasp | None:
        """Return forces that fit, or None."""
        beside = rows_beside(terms, self.lasting, self.gaps, self.ways)
        planes = [(gap, row) for gap in self.gaps for row in gap.beside if row in beside]
        own = {gap.row: len(self.lasting) + i for i, gap in enumerate(self.gaps)}
        sorts = [Row(LASTING)] * len(self.lasting) + [Row(PUSH)] * len(self.gaps)
        sorts += [
            Row(PLANE, gap.friction, own[gap.row], self.ways.get(row, 0.0)) for gap, row in planes
        ]
        sorts += [Row(JOINT, bound) for bound in self.joints.values()]
        rows = [*self.lasting, *own, *(row for _, row in planes), *self.joints]
        J = terms.J[rows]
        across = terms.solved(J)
        S = J @ across
        found = Balancing(S, b[rows], sorts, self.is_held).found()
        if found is None:
            return None
        forces = np.zeros(len(b))
        forces[rows] = found.s
        return Grasp(rows, S, found, forces, across @ found.s)


def rows_beside(
    terms: Terms, lasting: Sequence[int], gaps: Sequence[Gap], ways: Mapping[int, float]
) -> set[int]:
    """Return the rows of planes that take part.

    All of them, unless they would do the work of a gap's own row: in a mechanism with few freedoms
    a foot that cannot slip cannot sink in either. Then those that tell nothing new are left out.
    """
    beside = [row for gap in gaps for row in gap.beside]
    if not beside:
        return set()
    own = [gap.row for gap in gaps]
    rows = [*lasting, *own, *beside]
    J = terms.J[rows]
    S = J @ terms.solved(J)
    is_own = np.array([row in own for row in rows])
    if not any(depends(S, ~is_own, int(place)) for place in np.flatnonzero(is_own)):
        return set(beside)
    chosen = np.array([row not in beside for row in rows])
    for place in np.flatnonzero(~chosen):
        chosen[place] = not depends(S, chosen, int(place))
    picked = {row for row, is_chosen in zip(rows, chosen, strict=True) if is_chosen} & {*beside}
    return picked | {row for row in beside if row in ways}
