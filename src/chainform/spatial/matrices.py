"""Matrices of three rows, built entry by entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chainform.spatial.vectors import Matrix, Vector

Entry = Callable[[int, int], Any]


def matrix(entry: Entry) -> Matrix:
    """Return the matrix of entry(i, k)."""
    return (_row(entry, 0), _row(entry, 1), _row(entry, 2))


def _row(entry: Entry, i: int) -> Vector:
    return (entry(i, 0), entry(i, 1), entry(i, 2))


def symmetric(entry: Entry) -> Matrix:
    """Return the symmetric matrix of entry(i, k), which is asked for i <= k only."""
    upper = {(i, k): entry(i, k) for i in range(3) for k in range(i, 3)}
    return matrix(lambda i, k: upper[min(i, k), max(i, k)])


def column(m: Matrix, k: int) -> Vector:
    """Return column k."""
    return (m[0][k], m[1][k], m[2][k])


def unit(axis: int, size: Any, zero: Any) -> Vector:
    """Return `size` along a coordinate axis, `zero` across it."""
    return (
        size if axis == 0 else zero,
        size if axis == 1 else zero,
        size if axis == 2 else zero,
    )


def replaced(v: Vector, axis: int, value: Any) -> Vector:
    """Return a vector with another component along one axis."""
    return (
        value if axis == 0 else v[0],
        value if axis == 1 else v[1],
        value if axis == 2 else v[2],
    )
