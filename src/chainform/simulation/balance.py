"""Forces between parts that are at rest against each other, and the accelerations they leave.

    H qdd = r + J^T s,    w = J qdd - gamma

Gaps push, s >= 0; joints with dry friction hold within their bounds; lasting rows do both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.complementarity import Bounded, depends, solve_bounded
from chainform.simulation.impacts import Terms

Array = NDArray[np.float64]

NOISE = 1e-9
"""Accelerations below this share of what they are the sum of count as none."""


@dataclass(frozen=True)
class Balance:
    """The forces of some rows, and the accelerations of the mechanism under them."""

    rows: list[int]
    S: Array
    found: Bounded
    acceleration: Array
    scale: Array
    """How large the accelerations of the rows are that forces and inertia give one by one."""

    @staticmethod
    def of(
        terms: Terms, rows: Sequence[int], pushing: Set[int], bounds: Mapping[int, float]
    ) -> Balance:
        """Return the balance of some rows, of which some push only and some have bounds."""
        chosen = list(rows)
        upper = np.array([bounds.get(row, np.inf) for row in chosen])
        lower = np.array([0.0 if row in pushing else -bounds.get(row, np.inf) for row in chosen])
        across, S = terms.compliance(chosen)
        free = np.linalg.solve(terms.H, terms.r)
        found = solve_bounded(S, terms.J[chosen] @ free - terms.gamma[chosen], lower, upper)
        scale = np.abs(free) + np.abs(across) @ np.abs(found.s)
        return Balance(chosen, S, found, free + across @ found.s, scale)

    @property
    def forces(self) -> dict[int, float]:
        """The forces by row."""
        return dict(zip(self.rows, self.found.s.tolist(), strict=True))

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

    def is_idle(self, row: int) -> bool:
        """Whether a row that no force holds does not begin to move all the same."""
        moves = abs(self.found.w[self.rows.index(row)])
        return bool(moves <= NOISE * float(np.max(self.scale, initial=1e-300)))

    def returns(self, terms: Terms, row: int, way: float) -> bool:
        """Whether a row that was let go would move against the way it is to move."""
        size = np.abs(terms.J[row]) @ self.scale + abs(terms.gamma[row])
        moves = terms.J[row] @ self.acceleration - terms.gamma[row]
        return bool(way * moves < -NOISE * size)
