"""The zero pose by assembly."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from chainform.mechanism.exact import exact_axis, is_rotation
from chainform.mechanism.records import IDENTITY, ZERO_VECTOR, Axis
from chainform.readers.zero_pose import assembled_rotation, normal_part, quarter_turn, zero_frame
from chainform.spatial import apply, cross, dot, scale

NUMBERS = st.integers(-9, 9).map(Fraction)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS).filter(any)
X, Y, Z = IDENTITY


@given(VECTORS, VECTORS, VECTORS, VECTORS)
def test_axes_coincide_and_the_chain_is_stretched(
    first: Axis, to_parent: Axis, second: Axis, to_body: Axis
) -> None:
    before, axis = exact_axis(first)[0], exact_axis(second)[0]
    rotation, remark = assembled_rotation(before, to_parent, axis, to_body)
    assert is_rotation(rotation)
    turned = apply(rotation, axis)
    assert max(abs(a - b) for a, b in zip(turned, before, strict=True)) < Fraction(1, 10**14)
    outward, inward = normal_part(to_parent, before), normal_part(to_body, axis)
    if ZERO_VECTOR in (outward, inward):
        assert remark is not None
        return
    opposite = apply(rotation, inward)
    assert dot(outward, opposite) < 0
    size = dot(outward, outward) * dot(inward, inward)
    assert dot(cross(outward, opposite), cross(outward, opposite)) < size / 10**26


def test_the_rotation_is_exact_when_the_product_of_lengths_is_rational() -> None:
    diagonal = (Fraction(1), Fraction(1), Fraction(0))
    other = (Fraction(3), Fraction(-3), Fraction(0))
    rotation, remark = assembled_rotation(Z, diagonal, Z, other)
    assert remark is None
    assert apply(rotation, Z) == Z
    assert apply(rotation, other) == scale(Fraction(-3), diagonal)


def test_collinear_vectors_get_the_same_perpendicular() -> None:
    assert assembled_rotation(Z, Z, Z, X)[0] == IDENTITY
    assert assembled_rotation(Z, X, Z, Z)[0] == IDENTITY
    rotation, remark = assembled_rotation(X, ZERO_VECTOR, Z, ZERO_VECTOR)
    assert apply(rotation, Z) == X
    assert remark is not None


def test_frames_add_up() -> None:
    quarter = (X, (Fraction(0), Fraction(0), Fraction(-1)), Y)
    frame, origin = zero_frame([quarter, quarter], [Z, Y])
    assert origin == (0, 0, 2)
    assert apply(frame, Y) == (0, -1, 0)


@given(VECTORS)
def test_a_quarter_turn_leaves_the_line_of_the_vector(vector: Axis) -> None:
    turned = quarter_turn(vector)
    assert dot(turned, turned) == dot(vector, vector)
    assert any(cross(turned, vector))


def test_a_quarter_turn_leads_to_the_next_axis() -> None:
    assert [quarter_turn(axis) for axis in (X, Y, Z)] == [Y, Z, X]
    assert quarter_turn(scale(Fraction(-2), Z)) == (-2, 0, 0)
