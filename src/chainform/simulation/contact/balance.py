"""Forces between parts that are at rest against each other, and the accelerations they leave.

H qdd = r + J^T s,    w = J qdd - gamma
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.contact.grip import Grasp, Rows, Terms

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
    def of(terms: Terms, rows: Rows) -> Balance:
        """Return the balance of rows."""
        free = np.asarray(np.linalg.solve(terms.H, terms.r), dtype=np.float64)
        grasp = rows.grasp(terms, terms.J @ free - terms.gamma)
        return Balance(grasp, free + grasp.effect, np.abs(free) + np.abs(grasp.effect))

    def is_idle(self, row: int) -> bool:
        """Whether a row that no force holds does not begin to move all the same."""
        moves = abs(self.grasp.found.w[self.grasp.rows.index(row)])
        return bool(moves <= NOISE * float(np.max(self.scale, initial=1e-300)))

    def sticks(self, row: int, *, is_breaking: bool) -> bool:
        """Whether friction keeps a row at rest: with force to spare, or just so.

        Where something breaks loose, what is at its bound just so goes along with it.
        """
        grasp = self.grasp
        if row in grasp.holds:
            return True
        is_spent = is_breaking and grasp.side(row) != 0
        return self.is_idle(row) and not is_spent and not grasp.depends(row)

    def returns(self, terms: Terms, row: int, way: float) -> bool:
        """Whether a row that was let go would move against the way it is to move."""
        size = np.abs(terms.J[row]) @ self.scale + abs(terms.gamma[row])
        moves = terms.J[row] @ self.acceleration - terms.gamma[row]
        return bool(way * moves < -NOISE * size)
