"""Stored axes and rotations are exact and within 1e-15 of what was meant."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.errors import ReadError
from chainform.mechanism.exact import (
    TOLERANCE,
    exact_axis,
    exact_quaternion,
    exact_rotation,
    greatest_difference,
    is_rotation,
    nearest_rotation,
    rotation_between,
    rotation_of_angles,
    square_root,
)
from chainform.mechanism.exact_fields import turned
from chainform.mechanism.records import IDENTITY, Axis, Rotation
from chainform.spatial import (
    apply,
    cross,
    determinant,
    dot,
    product,
    rotation_of_quaternion,
    transpose,
)

NUMBERS = st.integers(-20, 20).map(Fraction)
QUATERNIONS = st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS).filter(any)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS).filter(any)


def matrix(rows: list[list[object]]) -> Rotation:
    a, b, c = ((Fraction(str(x)), Fraction(str(y)), Fraction(str(z))) for x, y, z in rows)
    return (a, b, c)


def vector(*entries: object) -> Axis:
    x, y, z = (Fraction(str(entry)) for entry in entries)
    return (x, y, z)


def printed(rotation: Rotation, digits: int) -> Rotation:
    """Return the rotation as a file would print it."""
    return matrix([[f"{float(entry):.{digits}f}" for entry in row] for row in rotation])


@given(QUATERNIONS, st.integers(7, 17))
def test_printed_rotations_become_exact(
    quaternion: tuple[Fraction, Fraction, Fraction, Fraction], digits: int
) -> None:
    given_matrix = printed(rotation_of_quaternion(*quaternion), digits)
    stored, _ = exact_rotation(given_matrix)
    assert is_rotation(stored)
    assert greatest_difference(stored, nearest_rotation(given_matrix)) <= TOLERANCE


@given(QUATERNIONS)
def test_exact_rotations_stay(quaternion: tuple[Fraction, Fraction, Fraction, Fraction]) -> None:
    rotation = rotation_of_quaternion(*quaternion)
    assert is_rotation(rotation)
    assert exact_rotation(rotation) == (rotation, None)


@given(QUATERNIONS)
def test_the_nearest_rotation_is_orthogonal_and_fixed(
    quaternion: tuple[Fraction, Fraction, Fraction, Fraction],
) -> None:
    rotation = nearest_rotation(printed(rotation_of_quaternion(*quaternion), 8))
    error = greatest_difference(product(rotation, transpose(rotation)), IDENTITY)
    assert error < Fraction(1, 10**60)


@pytest.mark.parametrize("angle", [0.3, math.pi / 4, math.pi / 3, 1e-14, 3.14159265358979, -2.5])
@pytest.mark.parametrize("place", range(3))
def test_single_turns(angle: float, place: int) -> None:
    angles = [Fraction(0)] * 3
    angles[place] = Fraction(repr(angle))
    meant = rotation_of_angles(*angles)
    stored, remark = exact_rotation(meant)
    assert is_rotation(stored)
    assert stored[place] == IDENTITY[place]
    assert greatest_difference(stored, meant) < Fraction(2, 10**15)
    assert remark is not None
    assert stored[(place + 1) % 3][(place + 1) % 3].denominator < 2**110


@pytest.mark.parametrize("angle", [math.pi / 2, math.pi, -math.pi / 2, 1e-16])
def test_quarter_turns_are_snapped(angle: float) -> None:
    stored, remark = exact_rotation(
        rotation_of_angles(Fraction(repr(angle)), Fraction(0), Fraction(0))
    )
    assert all(entry in (-1, 0, 1) for row in stored for entry in row)
    assert remark is not None
    assert "set to these" in remark


def test_angles_have_the_meaning_of_urdf() -> None:
    quarter = Fraction(repr(math.pi / 2))
    turned, _ = exact_rotation(rotation_of_angles(quarter, Fraction(0), quarter))
    # Roll about x first: y becomes z; then yaw about z leaves it.
    assert apply(turned, vector(0, 1, 0)) == vector(0, 0, 1)
    assert apply(turned, vector(1, 0, 0)) == vector(0, 1, 0)


def test_quaternions_are_exact_and_need_no_unit_length() -> None:
    half = Fraction("0.7071067811865475")
    almost = Fraction("0.7071067811865476")
    quarter = matrix([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    assert exact_quaternion(Fraction(0), Fraction(0), half, almost) == quarter
    assert exact_quaternion(Fraction(0), Fraction(0), Fraction(7), Fraction(7)) == quarter
    with pytest.raises(ReadError, match="zero"):
        exact_quaternion(Fraction(0), Fraction(0), Fraction(0), Fraction(0))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1, 0, 0], [0, 1, 0], [0, 0, -1]], "left-handed"),
        ([[0, 1, 0], [1, 0, 0], [0, 0, 1]], "left-handed"),
        ([[1, 0, 0], [0, 1, 0], [0, 0, "1.000001"]], "not a rotation"),
        ([[0, 0, 0], [0, 0, 0], [0, 0, 0]], "not a rotation"),
        ([[1, 0, 0], [1, 0, 0], [0, 0, 1]], "not a rotation"),
        ([["1e300", 0, 0], [0, 1, 0], [0, 0, 1]], "not a rotation"),
    ],
)
def test_no_rotation(rows: list[list[object]], message: str) -> None:
    with pytest.raises(ReadError, match=message) as caught:
        exact_rotation(matrix(rows))
    assert caught.value.remedy


@given(VECTORS)
def test_axes_are_unit_and_point_where_they_should(given_vector: Axis) -> None:
    axis, remark = exact_axis(given_vector)
    length = square_root(dot(given_vector, given_vector))
    assert dot(axis, axis) == 1
    assert (remark is None) == (length == 1)
    unit = (given_vector[0] / length, given_vector[1] / length, given_vector[2] / length)
    assert max(abs(a - b) for a, b in zip(axis, unit, strict=True)) <= TOLERANCE


@pytest.mark.parametrize(
    ("given_vector", "expected", "word"),
    [
        (vector(0, 3, 4), vector(0, "0.6", "0.8"), "divided"),
        (vector(0, 0, "1e-300"), vector(0, 0, 1), "divided"),
        (vector("1e-17", 0, 1), vector(0, 0, 1), "set to these"),
        (vector(0, "-0.6", "0.8"), vector(0, "-0.6", "0.8"), None),
    ],
)
def test_axes_with_rational_length(given_vector: Axis, expected: Axis, word: str | None) -> None:
    axis, remark = exact_axis(given_vector)
    assert axis == expected
    assert (remark is None) if word is None else word in str(remark)


def test_an_axis_needs_a_direction() -> None:
    with pytest.raises(ReadError, match="no length"):
        exact_axis(vector(0, 0, 0))


@given(VECTORS, VECTORS)
def test_the_smallest_rotation_between_axes(first: Axis, second: Axis) -> None:
    a, b = exact_axis(first)[0], exact_axis(second)[0]
    turn = rotation_between(a, b)
    assert is_rotation(turn)
    assert apply(turn, a) == b
    normal = cross(a, b)
    assert apply(turn, normal) == normal
    back = rotation_between(a, (-a[0], -a[1], -a[2]))
    assert is_rotation(back)
    assert apply(back, a) == (-a[0], -a[1], -a[2])


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30))
def test_square_roots_have_many_digits(value: Fraction) -> None:
    root = square_root(value)
    assert abs(root * root / value - 1) < Fraction(1, 2**200)


def test_determinant_and_cross_product_agree() -> None:
    assert determinant(matrix([[1, 2, 3], [0, 1, 4], [5, 6, 0]])) == 1
    assert cross(vector(1, 0, 0), vector(0, 1, 0)) == vector(0, 0, 1)


@pytest.mark.parametrize("power", range(-5, 6))
def test_multiples_of_an_angle(power: int) -> None:
    """By de Moivre: the powers of c + i s, whose inverse is c - i s."""
    point = c, s = Fraction(3, 5), Fraction(4, 5)
    expected = Fraction(1), Fraction(0)
    for _ in range(abs(power)):
        x, y = expected
        expected = (x * c - y * s, x * s + y * c) if power > 0 else (x * c + y * s, y * c - x * s)
    assert turned(point, power) == expected
