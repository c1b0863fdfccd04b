"""Forces between parts that are at rest against each other, and the accelerations they leave.

H qdd = r + J^T s,    w = J qdd - gamma
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.grip import Grasp, Rows, Terms

Array = NDArray[np.float64]

NOISE = 1e-9
"""Accelerations below this share of what they are the sum of count as none."""


@dataclass(frozen=True)
class Balance:
    """The forces of some rows, and the accelerations of the mechanism under them."""

    grasp: Grasp
    acceleration: Array
    scale: Array
    """How large accelerations are that forces and inertia give one by one."""

    @staticmethod
    def of(terms: Terms, rows: Rows, slips: Mapping[int, Array]) -> Balance:
        """Return the balance of rows, of which some contacts slide in any case."""
        free = np.asarray(np.linalg.solve(terms.H, terms.r), dtype=np.float64)
        grasp = rows.grasp(terms, terms.J @ free - terms.gamma, slips)
        return Balance(grasp, free + grasp.effect, np.abs(free) + np.abs(grasp.effect))

    def is_idle(self, row: int) -> bool:
        """Whether a row that no force holds does not begin to move all the same."""
        moves = abs(self.grasp.found.w[self.grasp.rows.index(row)])
        return bool(moves <= NOISE * float(np.max(self.scale, initial=1e-300)))

    def returns(self, terms: Terms, rows: tuple[int, ...], way: Array) -> bool:
        """Whether rows that were let go would move against the way they are to move."""
        J, gamma = way @ terms.J[list(rows)], way @ terms.gamma[list(rows)]
        size = np.abs(J) @ self.scale + abs(gamma)
        return bool(J @ self.acceleration - gamma < -NOISE * size)
