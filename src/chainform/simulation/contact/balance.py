"""Forces between parts that are at rest against each other, and the accelerations they leave.

H qdd = r + J^T s,    w = J qdd - gamma
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.contact.grip import Gap, Grasp, Rows, Terms

Array = NDArray[np.float64]

NOISE = 1e-9
"""Accelerations below this share of what they are the sum of count as none."""

HOP, SMALLEST_HOP = 0.1, 1e-13
"""A hop counts as none below this height over the square of the rest speed (s^2/m), and below this
height (m, rad).

With the usual rest speed that is 1e-9 m. After bounces that become lower this is where they end."""


@dataclass(frozen=True)
class Balance:
    """The forces of some rows, and the accelerations of the mechanism under them."""

    grasp: Grasp
    acceleration: Array
    scale: Array
    """How large accelerations are that forces and inertia give one by one."""

    @staticmethod
    def of(terms: Terms, rows: Rows, more: Array | float = 0.0) -> Balance:
        """Return the balance of rows; `more` is added to the accelerations that they have."""
        free = terms.solved(terms.r)
        parts = np.abs(terms.J) @ np.abs(free) + np.abs(terms.gamma) + np.abs(more)
        grasp = rows.grasp(terms, terms.J @ free - terms.gamma + more, parts)
        return Balance(grasp, free + grasp.effect, np.abs(free) + np.abs(grasp.effect))

    def is_idle(self, row: int) -> bool:
        """Whether a row that no force holds does not begin to move all the same."""
        found, place = self.grasp.found, self.grasp.rows.index(row)
        least = max(NOISE * float(np.max(self.scale, initial=1e-300)), float(found.noise[place]))
        return bool(abs(found.w[place]) <= least)

    def sticks(self, row: int, *, is_breaking: bool) -> bool:
        """Whether friction keeps a row at rest: with force to spare, or just so.

        Where something breaks loose, what is at its bound just so goes along with it.
        """
        grasp = self.grasp
        if row in grasp.holds:
            return True
        is_spent = is_breaking and grasp.side(row) != 0
        return self.is_idle(row) and not is_spent and grasp.take([row])

    def moves(self, terms: Terms, ways: Mapping[int, float]) -> int:
        """Return 1 if rows that were let go move in the ways they are to move, -1 if against them.

        Several rows are the components of one vector; 0 stands for no motion.
        """
        moves, size = 0.0, 1e-300
        for row, way in ways.items():
            moves += way * float(terms.J[row] @ self.acceleration - terms.gamma[row])
            size += abs(way) * float(np.abs(terms.J[row]) @ self.scale + abs(terms.gamma[row]))
        return int(np.sign(moves)) if abs(moves) > NOISE * size else 0

    def closes_again(self, terms: Terms, gap: Gap) -> bool:
        """Tell whether a gap that opens closes before it is open by a height worth noting."""
        speed = float(terms.speeds[gap.row])
        back = float(terms.gamma[gap.row] - terms.J[gap.row] @ self.acceleration)
        return speed**2 <= 2 * max(HOP * gap.rest_speed**2, SMALLEST_HOP) * back
