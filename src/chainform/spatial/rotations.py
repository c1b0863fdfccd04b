"""Rotation matrices: products, transposes, and Rodrigues' formula of finite rotation."""

from __future__ import annotations

from typing import Any

from chainform.spatial.vectors import Matrix, Vector, dot


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


def rodrigues(axis: Vector, cos: Any, sin: Any) -> Matrix:
    """Return the rotation about a unit axis by the angle with this cosine and sine.

    R = cos 1 + sin [e x] + (1 - cos) e e^T. The diagonal is written e_i^2 + (1 - e_i^2) cos,
    so that for a coordinate axis every entry is a number, the cosine or +- the sine.
    """

    def entry(i: int, j: int) -> Any:
        if i == j:
            square = axis[i] * axis[i]
            return square + (1 - square) * cos
        k = 3 - i - j
        signed = axis[k] if (j - i) % 3 == 2 else -axis[k]
        both = axis[i] * axis[j]
        return both - both * cos + signed * sin

    rows = tuple((entry(i, 0), entry(i, 1), entry(i, 2)) for i in range(3))
    return (rows[0], rows[1], rows[2])
