"""Exact three-vectors and matrices, and the few roots that exactness needs.

Vectors are tuples of three Fractions, matrices are tuples of three rows.
"""

from __future__ import annotations

import math
from fractions import Fraction

from chainform.mechanism.types import IDENTITY, Axis, Rotation

PRECISION = 240
"""Binary digits kept in intermediate results that cannot be rational."""


def dot(a: Axis, b: Axis) -> Fraction:
    """Return the scalar product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Axis, b: Axis) -> Axis:
    """Return the vector product a x b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def scale(a: Axis, factor: Fraction) -> Axis:
    """Return the vector multiplied by a number."""
    return (a[0] * factor, a[1] * factor, a[2] * factor)


def add(a: Axis, b: Axis) -> Axis:
    """Return the sum of two vectors."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def transpose(m: Rotation) -> Rotation:
    """Return the transposed matrix, for a rotation the inverse one."""
    return (
        (m[0][0], m[1][0], m[2][0]),
        (m[0][1], m[1][1], m[2][1]),
        (m[0][2], m[1][2], m[2][2]),
    )


def apply(m: Rotation, a: Axis) -> Axis:
    """Return the product of a matrix and a vector."""
    return (dot(m[0], a), dot(m[1], a), dot(m[2], a))


def multiply(a: Rotation, b: Rotation) -> Rotation:
    """Return the product of two matrices."""
    columns = transpose(b)
    return transpose((apply(a, columns[0]), apply(a, columns[1]), apply(a, columns[2])))


def add_matrices(a: Rotation, b: Rotation) -> Rotation:
    """Return the sum of two matrices."""
    return (add(a[0], b[0]), add(a[1], b[1]), add(a[2], b[2]))


def outer(a: Axis, b: Axis) -> Rotation:
    """Return the matrix a b^T."""
    return (scale(b, a[0]), scale(b, a[1]), scale(b, a[2]))


def scale_matrix(m: Rotation, factor: Fraction) -> Rotation:
    """Return the matrix multiplied by a number."""
    return (scale(m[0], factor), scale(m[1], factor), scale(m[2], factor))


def determinant(m: Rotation) -> Fraction:
    """Return the determinant, which is the product of the rows as a box."""
    return dot(m[0], cross(m[1], m[2]))


def is_rotation(m: Rotation) -> bool:
    """Tell whether the matrix is exactly orthogonal and right-handed."""
    return multiply(m, transpose(m)) == IDENTITY and determinant(m) == 1


def greatest_difference(a: Rotation, b: Rotation) -> Fraction:
    """Return the greatest absolute difference between entries of two matrices."""
    pairs = zip((x for row in a for x in row), (x for row in b for x in row), strict=True)
    return max(abs(x - y) for x, y in pairs)


def rounded(value: Fraction, bits: int = PRECISION) -> Fraction:
    """Return `value` rounded to a multiple of 2^-bits, so that intermediate results stay short."""
    return Fraction(round(value * (1 << bits)), 1 << bits)


def rounded_matrix(m: Rotation) -> Rotation:
    """Return the matrix with every entry rounded to the working precision."""
    rows = tuple((rounded(row[0]), rounded(row[1]), rounded(row[2])) for row in m)
    return (rows[0], rows[1], rows[2])


def square_root(value: Fraction) -> Fraction:
    """Return the square root of a positive number to about `PRECISION` significant bits.

    The result is exact when the root is rational.
    """
    above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if above**2 == value.numerator and below**2 == value.denominator:
        return Fraction(above, below)
    # sqrt(n/d) = sqrt(n d)/d; shifting n d by an even number of bits keeps the digits asked for.
    product = value.numerator * value.denominator
    shift = max(0, PRECISION - product.bit_length() // 2)
    return Fraction(math.isqrt(product << (2 * shift)), value.denominator << shift)


def rotation_of_quaternion(x: Fraction, y: Fraction, z: Fraction, w: Fraction) -> Rotation:
    """Return the rotation of the quaternion (x, y, z, w), which need not have unit length.

    Dividing by the squared length makes the matrix rational and exactly orthogonal for every
    rational quaternion but zero.
    """
    s = 2 / (x * x + y * y + z * z + w * w)
    return (
        (1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)),
        (s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w)),
        (s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y)),
    )


def rotation_between(a: Axis, b: Axis) -> Rotation:
    """Return the smallest rotation that takes the unit vector a to the unit vector b.

    It is rational when the vectors are: R = 1 + [v] + [v]^2 / (1 + a.b) with v = a x b. For
    opposite vectors it is the half turn about the coordinate axis farthest from a, made
    perpendicular to a.
    """
    cosine = dot(a, b)
    if cosine == -1:
        return _half_turn_across(a)
    v = cross(a, b)
    zero = Fraction(0)
    skew: Rotation = ((zero, -v[2], v[1]), (v[2], zero, -v[0]), (-v[1], v[0], zero))
    square = scale_matrix(multiply(skew, skew), 1 / (1 + cosine))
    return add_matrices(IDENTITY, add_matrices(skew, square))


def _half_turn_across(a: Axis) -> Rotation:
    farthest = min(range(3), key=lambda index: abs(a[index]))
    normal = add(IDENTITY[farthest], scale(a, -a[farthest]))
    return rotation_of_quaternion(*normal, Fraction(0))
