"""Axes and rotations that are exactly what they claim to be.

A file gives 0.70710678 for a cosine; taken literally, the matrix turns and also stretches a little.
Statements such as `H is symmetric and positive` would then hold only nearly. So every stored axis
has exactly unit length, every stored rotation is exactly orthogonal, both in rational numbers, and
both lie within 1e-15 of what was meant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from chainform.errors import ReadError
from chainform.mechanism.records import IDENTITY, ZERO, Axis, Rotation
from chainform.spatial import (
    add,
    add_matrices,
    cross,
    determinant,
    dot,
    product,
    quaternion_of,
    roll_pitch_yaw,
    rotation_of_quaternion,
    scale,
    scale_matrix,
    skew,
    transpose,
)

PRECISION = 240
"""Binary digits in intermediate results that cannot be rational."""

TOLERANCE = Fraction(1, 10**15)
"""The greatest distance, entry by entry, between what was meant and what is stored."""

ORTHOGONALITY = Fraction(1, 10**6)
"""The greatest entry of R^T R - 1 with which a matrix is still taken for a rotation."""

_ROUND_VALUES = tuple(Fraction(value, 2) for value in (-2, -1, 0, 1, 2))

_T = TypeVar("_T")


@lru_cache(maxsize=4096)
def exact_rotation(matrix: Rotation) -> tuple[Rotation, str | None]:
    """Return the exact rotation meant by `matrix`, and a remark when it differs from it.

    An exact rotation stays as it is. Otherwise entries within 1e-15 of 0, 1/2 or 1 (either sign)
    are set to these; if that is not enough, the rotation of a short rational quaternion within
    1e-15 of the nearest rotation is taken.
    """
    if is_rotation(matrix):
        return matrix, None
    _check_nearly_rotation(matrix)
    snapped = _snapped_matrix(matrix)
    if is_rotation(snapped):
        return snapped, "entries within 1e-15 of 0, 1/2 or 1 were set to these"
    meant = nearest_rotation(matrix)
    stored = _first(_rotations_near(meant), lambda r: greatest_difference(r, meant) <= TOLERANCE)
    return stored, "stored as the rotation of a rational quaternion, within 1e-15 of the nearest"


@lru_cache(maxsize=4096)
def exact_axis(vector: Axis) -> tuple[Axis, str | None]:
    """Return the exactly unit vector along `vector`, and a remark when it differs from it.

    The length is divided out exactly where it is rational. Otherwise the stored vector is a
    rational point of the unit sphere within 1e-15 of the direction meant.
    """
    square = dot(vector, vector)
    if square == 1:
        return vector, None
    if square == 0:
        raise ReadError(
            "the axis has no length", remedy="give the direction, for instance [0, 0, 1]"
        )
    length = square_root(square)
    unit = scale(1 / length, vector)
    if length * length == square:
        return unit, "the axis was divided by its length"
    snapped = _snapped(unit)
    if dot(snapped, snapped) == 1:
        return snapped, "entries within 1e-15 of 0, 1/2 or 1 were set to these"
    near = _first(_unit_vectors_near(unit), lambda a: _distance(a, unit) <= TOLERANCE)
    return near, "stored as an exactly unit rational vector, within 1e-15 of the direction given"


def rotation_of_angles(roll: Fraction, pitch: Fraction, yaw: Fraction) -> Rotation:
    """Return Rz(yaw) Ry(pitch) Rx(roll), the angles in rad, as in URDF.

    Sines and cosines are doubles; `exact_rotation` makes an exact rotation of the result.
    """
    turns = ((Fraction(math.cos(a)), Fraction(math.sin(a))) for a in (roll, pitch, yaw))
    return roll_pitch_yaw(*turns)


def exact_quaternion(x: Fraction, y: Fraction, z: Fraction, w: Fraction) -> Rotation:
    """Return the exact rotation of a quaternion (x, y, z, w) of any length but zero.

    Entries within 1e-15 of 0, 1/2 or 1 are set to these when the result is a rotation.
    """
    if not (x or y or z or w):
        raise ReadError(
            "the quaternion is zero", remedy="give [x, y, z, w], for instance [0,0,0,1]"
        )
    rotation = rotation_of_quaternion(x, y, z, w)
    snapped = _snapped_matrix(rotation)
    return snapped if is_rotation(snapped) else rotation


def nearest_rotation(matrix: Rotation) -> Rotation:
    """Return the orthogonal factor of the polar decomposition, to about seventy digits.

    Newton's iteration X <- (X + X^-T)/2 doubles the number of correct digits each time, and it
    starts with six.
    """
    x = rounded_matrix(matrix)
    for _ in range(6):
        cofactors = (cross(x[1], x[2]), cross(x[2], x[0]), cross(x[0], x[1]))
        inverse_transposed = scale_matrix(1 / determinant(x), cofactors)
        x = rounded_matrix(scale_matrix(Fraction(1, 2), add_matrices(x, inverse_transposed)))
    return x


def _check_nearly_rotation(matrix: Rotation) -> None:
    if greatest_difference(product(transpose(matrix), matrix), IDENTITY) > ORTHOGONALITY:
        raise ReadError(
            "the matrix is not a rotation: its columns are not orthogonal unit vectors",
            remedy="correct it (a rotation needs R^T R = 1 within 1e-6), or give rpy or quaternion",
        )
    if determinant(matrix) < 0:
        raise ReadError(
            "the matrix is left-handed: it mirrors instead of turning",
            remedy="change the sign of one column, or exchange two columns",
        )


def _snapped(vector: Axis) -> Axis:
    a, b, c = (
        next((r for r in _ROUND_VALUES if abs(entry - r) <= TOLERANCE), entry) for entry in vector
    )
    return (a, b, c)


def _snapped_matrix(matrix: Rotation) -> Rotation:
    return (_snapped(matrix[0]), _snapped(matrix[1]), _snapped(matrix[2]))


def _distance(a: Axis, b: Axis) -> Fraction:
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


def _first(candidates: Iterator[_T], fits: Callable[[_T], bool]) -> _T:
    """Return the first, hence shortest, candidate that fits; the last ones always do."""
    return next(candidate for candidate in candidates if fits(candidate))


def _rotations_near(meant: Rotation) -> Iterator[Rotation]:
    """Yield rotations of rational quaternions with more and more digits, closer and closer."""
    quaternion = quaternion_of(meant)
    greatest = max(quaternion, key=abs)
    for ratios in _short_ratios(tuple(component / greatest for component in quaternion)):
        x, y, z, w = ratios
        yield rotation_of_quaternion(x, y, z, w)


def _unit_vectors_near(unit: Axis) -> Iterator[Axis]:
    """Yield rational points of the unit sphere with more and more digits, closer and closer.

    They are images of rational points of a plane under the stereographic projection from the pole
    opposite to the greatest component.
    """
    pole = max(range(3), key=lambda index: abs(unit[index]))
    sign = 1 if unit[pole] > 0 else -1
    first, second = (pole + 1) % 3, (pole + 2) % 3
    height = 1 + abs(unit[pole])
    for u, v in _short_ratios((unit[first] / height, unit[second] / height)):
        s = 2 / (1 + u * u + v * v)
        entries = {pole: sign * (s - 1), first: s * u, second: s * v}
        yield (entries[0], entries[1], entries[2])


def _short_ratios(ratios: tuple[Fraction, ...]) -> Iterator[tuple[Fraction, ...]]:
    """Yield approximations of numbers within [-1, 1], each list longer and closer than the last.

    A single number that is neither 0 nor 1 has short continued fractions; several get one common
    power of two as denominator. Numbers below 1e-16 count as zero unless that is too coarse.
    """
    least = Fraction(1, 10**16)
    cleaned = tuple(ratio if abs(ratio) > least else Fraction(0) for ratio in ratios)
    if sum(abs(ratio) not in (0, 1) for ratio in cleaned) == 1:
        for bits in range(2, 60):
            yield tuple(ratio.limit_denominator(1 << bits) for ratio in cleaned)
    # Fewer than about 2^45 parts of the whole cannot come within 1e-15, but for a lucky chance.
    for bits in range(45, 80):
        yield tuple(rounded(ratio, bits) for ratio in ratios)


# --- roots, and tests of rotations ----------------------------------------------------------


def is_rotation(m: Rotation) -> bool:
    """Tell whether the matrix is exactly orthogonal and right-handed."""
    return product(m, transpose(m)) == IDENTITY and determinant(m) == 1


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
    # sqrt(n/d) = sqrt(n d)/d; shifting n d by an even number of bits leaves the digits wanted.
    product = value.numerator * value.denominator
    shift = max(0, PRECISION - product.bit_length() // 2)
    return Fraction(math.isqrt(product << (2 * shift)), value.denominator << shift)


def rotation_between(a: Axis, b: Axis) -> Rotation:
    """Return the smallest rotation that takes the unit vector a to the unit vector b.

    It is rational when the vectors are: R = 1 + [v] + [v]^2 / (1 + a.b) with v = a x b. For
    opposite vectors it is the half turn about the coordinate axis farthest from a, made
    perpendicular to a.
    """
    cosine = dot(a, b)
    if cosine == -1:
        return _half_turn_across(a)
    turn = skew(cross(a, b), ZERO)
    square = scale_matrix(1 / (1 + cosine), product(turn, turn))
    return add_matrices(IDENTITY, add_matrices(turn, square))


def _half_turn_across(a: Axis) -> Rotation:
    farthest = min(range(3), key=lambda index: abs(a[index]))
    normal = add(IDENTITY[farthest], scale(-a[farthest], a))
    return rotation_of_quaternion(*normal, ZERO)
