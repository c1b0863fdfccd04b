"""Rotations, exact on rational angles and axes."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chainform.graph import Angle, Builder
from chainform.spatial import (
    Matrix,
    Vector,
    add,
    apply,
    cross,
    dot,
    product,
    quaternion_of,
    quaternion_product,
    rodrigues,
    roll_pitch_yaw,
    rotation_of_quaternion,
    scale,
    skew,
    transpose,
)
from strategies import angles, examples, numbers

IDENTITY = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
vectors = st.tuples(numbers, numbers, numbers)
matrices = st.tuples(vectors, vectors, vectors)


@st.composite
def axes(draw: st.DrawFn) -> Vector:
    """Draw a unit vector with rational components: a point seen from the pole of a sphere."""
    u, v = draw(numbers), draw(numbers)
    norm = 1 + u * u + v * v
    axis = (2 * u / norm, 2 * v / norm, (norm - 2) / norm)
    turned = draw(st.integers(0, 2))
    return (axis[turned], axis[(turned + 1) % 3], axis[(turned + 2) % 3])


@given(axes(), angles)
@examples(50)
def test_a_rotation_is_orthogonal_and_keeps_its_axis(axis: Vector, angle: Angle) -> None:
    assert dot(axis, axis) == 1
    rotation = rodrigues(axis, angle.cos, angle.sin)
    assert product(rotation, transpose(rotation)) == IDENTITY
    assert dot(rotation[0], cross(rotation[1], rotation[2])) == 1
    assert apply(rotation, axis) == axis


@given(axes(), angles, vectors)
@examples(50)
def test_a_vector_turns_by_the_angle_to_the_left(axis: Vector, angle: Angle, a: Vector) -> None:
    """A vector normal to the axis becomes cos a + sin (e x a)."""
    normal = cross(axis, a)
    assume(any(normal))
    turned = apply(rodrigues(axis, angle.cos, angle.sin), normal)
    assert turned == add(scale(angle.cos, normal), scale(angle.sin, cross(axis, normal)))


@given(axes(), angles, angles)
@examples(30)
def test_rotations_about_one_axis_add(axis: Vector, a: Angle, b: Angle) -> None:
    both = a + b
    assert product(rodrigues(axis, a.cos, a.sin), rodrigues(axis, b.cos, b.sin)) == (
        rodrigues(axis, both.cos, both.sin)
    )


@given(matrices, matrices, vectors)
@examples(30)
def test_products(a: Matrix, b: Matrix, v: Vector) -> None:
    assert apply(product(a, b), v) == apply(a, apply(b, v))
    assert transpose(product(a, b)) == product(transpose(b), transpose(a))
    assert product(a, IDENTITY) == a == product(IDENTITY, a)
    assert transpose(transpose(a)) == a


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("sign", [1, -1])
def test_about_a_coordinate_axis_nothing_is_computed(axis: int, sign: int) -> None:
    builder = Builder()
    q = builder.input("q1", "q", 0)
    c, s = builder.call("cos", q), builder.call("sin", q)
    before = len(builder.names)
    unit = [Fraction(0)] * 3
    unit[axis] = Fraction(sign)
    rotation = rodrigues((unit[0], unit[1], unit[2]), c, s)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    assert rotation[axis][axis].number == 1
    assert rotation[i][i].terms == rotation[j][j].terms == c.terms
    assert rotation[j][i].terms == (sign * s).terms
    assert rotation[i][j].terms == (-sign * s).terms
    assert rotation[axis][i].number == 0 == rotation[j][axis].number
    assert len(builder.names) == before


quaternions = st.tuples(numbers, numbers, numbers, numbers).filter(any)


@given(quaternions, quaternions)
@examples(30)
def test_the_product_of_quaternions_is_that_of_their_rotations(
    a: tuple[Fraction, ...], b: tuple[Fraction, ...]
) -> None:
    first, second = rotation_of_quaternion(*a), rotation_of_quaternion(*b)
    assert product(first, transpose(first)) == IDENTITY
    both = quaternion_product((a[0], a[1], a[2], a[3]), (b[0], b[1], b[2], b[3]))
    assert rotation_of_quaternion(*both) == product(first, second)


@given(quaternions)
@examples(30)
def test_a_rotation_has_its_quaternion(q: tuple[Fraction, ...]) -> None:
    rotation = rotation_of_quaternion(*q)
    found = quaternion_of(rotation)
    assert all(q[i] * found[k] == q[k] * found[i] for i in range(4) for k in range(4))
    assert rotation_of_quaternion(*found) == rotation


@given(vectors, vectors)
@examples(30)
def test_skew_is_the_vector_product(a: Vector, b: Vector) -> None:
    assert apply(skew(a), b) == cross(a, b)


@given(angles, angles, angles)
@examples(30)
def test_roll_pitch_and_yaw_follow_each_other(roll: Angle, pitch: Angle, yaw: Angle) -> None:
    turns = [(angle.cos, angle.sin) for angle in (roll, pitch, yaw)]
    x, y, z = (rodrigues(axis, *turn) for axis, turn in zip(IDENTITY, turns, strict=True))
    assert roll_pitch_yaw(*turns) == product(z, product(y, x))
