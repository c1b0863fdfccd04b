"""Accelerations and forces of rows of constraints for many states at once, and their derivatives.

    M qdd - J^T s = b,    J qdd = c

Rows that do not hold are zero in J and c. Rows may depend on each other, and M may be singular in
directions that they hold: what the rows leave free is solved for (linear/implicit_equations.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
RANK = 1e-9
"""Singular values below this share of the largest count as zero."""
ROUNDING = 1e-13
"""Rows that are smaller, against the largest, are zero."""


@dataclass(frozen=True, eq=False)
class _Part:
    """Factors of some of the states, whose rows have the same rank."""

    which: NDArray[np.intp]
    free: Array
    inverse: Array
    inertia: Array
    lost: Array


class RowSolver:
    """Solves M qdd - J^T s = b, J qdd = c at states, given M (k, n, n) and J (k, m, n)."""

    def __init__(self, M: Array, J: Array) -> None:
        self.M, self.parts = M, list[_Part]()
        sizes = np.linalg.norm(J, axis=2, keepdims=True)
        least = ROUNDING * np.maximum(1.0, sizes.max(axis=1, keepdims=True, initial=0.0))
        self.factors = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > least)
        u, values, vh = np.linalg.svd(self.factors * J)
        largest = values.max(axis=1, keepdims=True, initial=0.0)
        ranks = np.sum(values > RANK * largest, axis=1)
        for rank in np.unique(ranks):
            which = np.flatnonzero(ranks == rank)
            right = np.swapaxes(vh[which], 1, 2)
            free = right[..., rank:]
            inverse = right[..., :rank] / values[which, None, :rank]
            inverse = inverse @ np.swapaxes(u[which][..., :rank], 1, 2)
            inertia = np.swapaxes(free, 1, 2) @ M[which] @ free
            self.parts.append(_Part(which, free, inverse, inertia, u[which][..., rank:]))

    def solve(self, b: Array, c: Array) -> tuple[Array, Array]:
        """Return qdd (k, n, columns) and s (k, m, columns); rows that do not hold have no force."""
        qdd, s = np.zeros(b.shape), np.zeros(c.shape)
        for part in self.parts:
            k, factors = part.which, self.factors[part.which]
            start = part.inverse @ (factors * c[k])
            right: Array = np.swapaxes(part.free, 1, 2) @ (b[k] - self.M[k] @ start)
            qdd[k] = start + part.free @ _solved(part.inertia, right)
            s[k] = factors * (np.swapaxes(part.inverse, 1, 2) @ (self.M[k] @ qdd[k] - b[k]))
        return qdd, s

    def undetermined(self, rows: Array) -> float:
        """Return how much of rows (k, e, m) times s rests on a choice among forces that fit."""
        found = [
            np.abs((rows[part.which] * np.swapaxes(self.factors[part.which], 1, 2)) @ part.lost)
            for part in self.parts
        ]
        return max((float(each.max(initial=0.0)) for each in found), default=0.0)


def _solved(matrix: Array, right: Array) -> Array:
    return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
