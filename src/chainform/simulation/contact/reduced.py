"""S and b of rows while others hold whatever it takes.

w = S s + b, and w = 0 for the lasting rows l: their forces are -S_ll^-1 (S_lo s + b_l), so that for
all others

    w = (S - S_ol S_ll^-1 S_lo) s + b - S_ol S_ll^-1 b_l

Lasting rows may depend on each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.contact.null_space import least_solution

Array = NDArray[np.float64]


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
