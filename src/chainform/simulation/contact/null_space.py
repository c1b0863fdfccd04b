"""Linear systems that may have no solution, or many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

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
    is_kept = values > RANK * max(float(values[0]), 1.0)
    along = left.T @ target
    x = across[is_kept].T @ (along[is_kept] / values[is_kept])
    missing = along[~is_kept]
    if not np.any(np.abs(missing) > AGREES * float(np.max(np.abs(along)))):
        return Solution(x / sizes)
    turned = left[:, ~is_kept].T @ across[~is_kept].T
    endless = across[~is_kept].T @ least_solution(turned, missing)
    return Solution(x / sizes, endless / sizes)


def least_solution(matrix: Array, right: Array) -> Array:
    """Return the solution of least size; where there is none, what comes nearest."""
    found = np.linalg.lstsq(matrix, right, rcond=RANK)
    return np.asarray(found[0], dtype=np.float64)
