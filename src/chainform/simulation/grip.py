"""Forces or impulses of rows that may hold, with friction where bodies touch.

    w = S s + b

Contacts push, joints with dry friction hold within bounds, lasting rows do both (see
complementarity.py). A contact with the normal force s and the coefficient mu holds its place with a
force of at most mu s in its plane. Where that is not enough it slides, and friction is mu s in a
direction that is known: the column of s gains what friction does, and the matrix is no longer
symmetric. There may be no solution then, for rough ground under a leaning rod (Painleve's paradox):
the contact is jammed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.complementarity import Bounded, depends, solve_bounded, solve_pivoting

Array = NDArray[np.float64]

CLOSE = 1e-13
"""The share by which a force may go beyond what friction holds."""


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

    def bounces(self, speed: float) -> bool:
        """Whether it gives something back at a closing speed."""
        return self.restitution > 0 and -speed > self.rest_speed


@dataclass(frozen=True)
class Grasp:
    """What rows do: forces of all of them, those that hold, and contacts that slide.

    `slips` has the direction of friction in the plane for each gap that slides, by its row.
    """

    rows: list[int]
    S: Array
    found: Bounded
    forces: Array
    effect: Array
    """H^-1 J^T s."""
    slips: Mapping[int, Array]
    is_jammed: bool = False
    """Whether nothing fits with the friction of contacts that slide, which was left out then."""

    @property
    def holds(self) -> set[int]:
        """The rows that a force keeps at rest."""
        return {row for row, holds in zip(self.rows, self.found.holds, strict=True) if holds}

    def depends(self, row: int) -> bool:
        """Whether a row stays at rest because of others."""
        place = self.rows.index(row)
        others = self.found.holds.copy()
        others[place] = False
        return depends(self.S, others, place)


@dataclass(frozen=True)
class Rows:
    """The rows that take part: lasting ones, gaps, and joints with the bounds of their friction."""

    lasting: Sequence[int]
    gaps: Sequence[Gap]
    joints: Mapping[int, float]

    def grasp(self, terms: Terms, b: Array, slips: Mapping[int, Array]) -> Grasp:
        """Return the forces for w = S s + b, b being that of all rows.

        `slips` names contacts that slide in any case. Others hold if friction is enough.
        """
        sliding = dict(slips)
        while True:
            found = self._grasp(terms, b, sliding)
            more = self._beyond(found)
            if not more:
                return found
            sliding |= more

    def _beyond(self, grasp: Grasp) -> dict[int, Array]:
        """Return the contacts that friction cannot hold, with the direction in which it tries."""
        beyond: dict[int, Array] = {}
        for gap in self.gaps:
            shear = grasp.forces[list(gap.beside)]
            size, most = float(np.linalg.norm(shear)), gap.friction * grasp.forces[gap.row]
            if gap.row not in grasp.slips and size > most * (1 + CLOSE):
                beyond[gap.row] = shear / size
        return beyond

    def _grasp(self, terms: Terms, b: Array, slips: Mapping[int, Array]) -> Grasp:
        sticking = [gap if gap.row not in slips else replace(gap, beside=()) for gap in self.gaps]
        beside = rows_beside(terms, self.lasting, sticking)
        rows = [*self.lasting, *(gap.row for gap in self.gaps), *sorted(beside), *self.joints]
        pushing = {gap.row for gap in self.gaps}
        upper = np.array([self.joints.get(row, np.inf) for row in rows])
        lower = np.array([0.0 if row in pushing else -self.joints.get(row, np.inf) for row in rows])
        J = terms.J[rows]
        across = terms.solved(J)
        S = J @ across
        sliding = [gap for gap in self.gaps if gap.row in slips]
        pull = np.array(
            [gap.friction * (slips[gap.row] @ terms.J[list(gap.beside)]) for gap in sliding]
        ).reshape(len(sliding), len(terms.H))
        drag = terms.solved(pull)
        found = solve_bounded(S, b[rows], lower, upper)
        pushes, is_jammed = np.zeros(len(sliding)), False
        if sliding:
            own = [rows.index(gap.row) for gap in sliding]
            changed = S.copy()
            changed[:, own] += J @ drag
            fitting = solve_pivoting(changed, b[rows], lower, upper, found)
            is_jammed = fitting is None
            found = fitting or found
            pushes = np.zeros(len(own)) if is_jammed else found.s[own]
        forces = np.zeros(len(b))
        forces[rows] = found.s
        for gap, push in zip(sliding, pushes, strict=True):
            forces[list(gap.beside)] = gap.friction * push * slips[gap.row]
        effect = across @ found.s + drag @ pushes
        return Grasp(rows, S, found, forces, effect, slips, is_jammed)


def rows_beside(terms: Terms, lasting: Sequence[int], gaps: Sequence[Gap]) -> set[int]:
    """Return the rows of planes that hold with their gaps.

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
    return {row for row, is_chosen in zip(rows, chosen, strict=True) if is_chosen} & {*beside}
