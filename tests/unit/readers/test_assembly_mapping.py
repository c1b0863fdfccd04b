"""Turek's assembly: its triads, its nine equations, its zero, and vectors R* of one's own."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import chainform as cf
from chainform.mechanism.exact import exact_axis
from chainform.mechanism.records import IDENTITY, ZERO_VECTOR, Axis
from chainform.readers import read_text
from chainform.readers.zero_pose import assembled_rotation, normal_part
from chainform.spatial import apply, cross, dot

Array = NDArray[np.float64]

NUMBERS = st.integers(-9, 9).map(Fraction)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS).filter(any)
X, Y, Z = IDENTITY


def floats(vector: Any) -> Array:
    return np.array(vector, dtype=float)


def unit(v: Array) -> Array:
    return v / np.linalg.norm(v)


def by_nine_equations(before: Array, to_parent: Array, axis: Array, to_body: Array) -> Array:
    """Return the rotation that solves (II.15) as it is written out in (V.9) and (V.10)."""
    a_world = unit(np.cross(np.cross(to_parent, before), before))
    a_local = unit(np.cross(np.cross(axis, to_body), axis))
    world = [np.cross(a_world, before), a_world, before]
    local = [np.cross(a_local, axis), a_local, axis]
    matrix = np.vstack([np.kron(np.eye(3), vector) for vector in local])
    solution = np.linalg.solve(matrix, np.concatenate(world)).reshape(3, 3)
    return solution.astype(np.float64)


@given(VECTORS, VECTORS, VECTORS, VECTORS)
def test_the_nine_equations_give_the_rotation_of_the_two_triads(
    first: Axis, to_parent: Axis, second: Axis, to_body: Axis
) -> None:
    before, axis = exact_axis(first)[0], exact_axis(second)[0]
    assume(ZERO_VECTOR not in (normal_part(to_parent, before), normal_part(to_body, axis)))
    rotation, _ = assembled_rotation(before, to_parent, axis, to_body)
    solved = by_nine_equations(*map(floats, (before, to_parent, axis, to_body)))
    assert np.allclose(solved, floats(rotation), atol=1e-9)
    # The rule of zero itself, (R_(i-1,i) x E_i) . R_ii = 0, with E_i = before.
    turned = apply(rotation, to_body)
    size = dot(to_parent, to_parent) * dot(to_body, to_body)
    assert dot(cross(to_parent, before), turned) ** 2 <= size / 10**26


def test_the_rule_of_zero_alone_has_a_folded_pose_as_well() -> None:
    """So it is the triads that decide: the stretched pose is taken."""
    stretched, _ = assembled_rotation(Z, X, Z, X)
    assert apply(stretched, X) == (-1, 0, 0)
    for turned in (apply(stretched, X), X):
        assert dot(cross(X, Z), turned) == 0


def arm(**more: Any) -> cf.Mechanism:
    table: dict[str, Any] = {
        "format": "vectors",
        "gravity": [0, 0, 0],
        "e": [[0, 0, 1], [0, 0, 1]],
        "m": [1, 1],
        "r": {"1,1": [0, 0, 1], "1,2": [0, 0, -1], "2,2": [0, 0, 1]},
    }
    return read_text(json.dumps(table | more), "json")


def test_the_coordinate_is_the_angle_between_the_two_vectors() -> None:
    """Positive about e, from - r_(i-1,i) to r_ii, both seen along the axis (section II.3)."""
    mechanism = arm(r={"1,1": [1, 0, 0], "1,2": [0, 2, 1], "2,2": [3, 0, 5]})
    model = cf.derive(mechanism, ["pose(body1)", "pose(body2)"], reduce="none")
    for angle in (0.0, 0.4, -1.3):
        values = model.evaluate(q=[0.9, angle])
        one, two = (values[f"pose(body{k})"][:3, :3] for k in (1, 2))
        start, end = -(one @ [0, 2, 0]), two @ [3, 0, 0]
        turn = np.arctan2(np.cross(start, end)[2], start @ end)
        assert turn == pytest.approx(angle, abs=1e-12)


def test_vectors_along_the_axis_may_be_replaced() -> None:
    """R* of Turek 1993: without them both sides share a perpendicular, with them they decide."""
    plain = arm()
    assert plain.segments[1].rotation == IDENTITY
    assert any("collinear" in note.text for note in plain.notes)
    turned = arm(normals={"1,2": [1, 0, 0], "2,2": [0, 1, 7]})
    assert apply(turned.segments[1].rotation, Y) == (-1, 0, 0)
    assert turned.segments[1].position == plain.segments[1].position
    assert turned.segments[1].body == plain.segments[1].body
    based = arm(normals={"0,1": [0, 1, 0], "1,1": [0, 1, 0]})
    assert apply(based.segments[0].rotation, Y) == (0, -1, 0)


@pytest.mark.parametrize(
    ("normals", "element", "message"),
    [
        ({"1,2": [0, 0, 3]}, "normals '1,2'", "lies along the axis"),
        ({"2,1": [1, 0, 0]}, "normals '2,1'", "joint 1 does not lie on body 2"),
        ({"2,9": [1, 0, 0]}, "normals '2,9'", "joint 9 does not lie on body 2"),
        ({"1,2": [1, 0]}, "normals '1,2'", "expected 3 entries"),
        ({"x": [1, 0, 0]}, "normals", "does not name a body and a joint"),
    ],
)
def test_normals_that_cannot_be(normals: dict[str, Any], element: str, message: str) -> None:
    with pytest.raises(cf.Error, match=message) as caught:
        arm(normals=normals)
    assert caught.value.element == element
