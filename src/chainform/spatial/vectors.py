"""Vectors of three components. A component may be a fraction, a float or a builder's scalar."""

from __future__ import annotations

from typing import Any, TypeAlias

Vector: TypeAlias = tuple[Any, Any, Any]
Matrix: TypeAlias = tuple[Vector, Vector, Vector]
"""Three rows."""


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
    return apply((_column(m, 0), _column(m, 1), _column(m, 2)), a)


def _column(m: Matrix, index: int) -> Vector:
    return (m[0][index], m[1][index], m[2][index])
