"""Vectors of three components and matrices of three rows.

A component may be a fraction, a float, an array of numpy or a builder's scalar.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Vector: TypeAlias = tuple[Any, Any, Any]
Matrix: TypeAlias = tuple[Vector, Vector, Vector]
"""Three rows."""

Entry = Callable[[int, int], Any]


def add(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def subtract(a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def scale(k: Any, a: Vector) -> Vector:
    """Return k a."""
    return (k * a[0], k * a[1], k * a[2])


def dot(a: Vector, b: Vector) -> Any:
    """Return the scalar product a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Return the vector product a x b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def apply(m: Matrix, a: Vector) -> Vector:
    """Return M a."""
    return (dot(m[0], a), dot(m[1], a), dot(m[2], a))


def apply_transposed(m: Matrix, a: Vector) -> Vector:
    """Return M^T a: with a rotation from body to world, the world vector a in body axes."""
    return apply(transpose(m), a)


# --- matrices ------------------------------------------------------------------------------


def matrix(entry: Entry) -> Matrix:
    """Return the matrix of entry(i, k)."""
    return (_row(entry, 0), _row(entry, 1), _row(entry, 2))


def _row(entry: Entry, i: int) -> Vector:
    return (entry(i, 0), entry(i, 1), entry(i, 2))


def symmetric(entry: Entry) -> Matrix:
    """Return the symmetric matrix of entry(i, k), which is called for i <= k only."""
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


def transpose(m: Matrix) -> Matrix:
    """Return M^T, the inverse of a rotation."""
    return (
        (m[0][0], m[1][0], m[2][0]),
        (m[0][1], m[1][1], m[2][1]),
        (m[0][2], m[1][2], m[2][2]),
    )


def product(a: Matrix, b: Matrix) -> Matrix:
    """Return A B."""
    c = transpose(b)
    rows = tuple((dot(row, c[0]), dot(row, c[1]), dot(row, c[2])) for row in a)
    return (rows[0], rows[1], rows[2])


def add_matrices(a: Matrix, b: Matrix) -> Matrix:
    """Return A + B."""
    return (add(a[0], b[0]), add(a[1], b[1]), add(a[2], b[2]))


def scale_matrix(k: Any, m: Matrix) -> Matrix:
    """Return k M."""
    return (scale(k, m[0]), scale(k, m[1]), scale(k, m[2]))


def skew(v: Vector, zero: Any = 0) -> Matrix:
    """Return the matrix [v x] with [v x] a = v x a."""
    return ((zero, -v[2], v[1]), (v[2], zero, -v[0]), (-v[1], v[0], zero))


def determinant(m: Matrix) -> Any:
    """Return the determinant, the volume of the box that the rows span."""
    return dot(m[0], cross(m[1], m[2]))
