"""Joints that follow others."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from chainform.errors import ReadError
from chainform.expressions import format_expression, value_of
from chainform.mechanism import Mechanism, MechanismBuilder, parametrise, poses_of
from chainform.mechanism.checks import names_in


def hand(*fingers: Mapping[str, object], kind: str = "revolute") -> MechanismBuilder:
    """Return a finger and others, the last of them called f1, f2 ..., each with its mimic."""
    builder = Mechanism.builder("hand").parameter("k", "0.5").parameter("free")
    builder.segment("palm", joint="free", mass=1, inertia=[1, 1, 1])
    builder.segment("index", parent="palm", joint={"type": "revolute", "name": "f"}, axis="z")
    for number, mimic in enumerate(fingers, 1):
        builder.segment(f"f{number}", parent="palm", joint=kind, axis="z", mass=1, mimic=mimic)
    return builder


def test_a_follower_shares_the_coordinate() -> None:
    mechanism = hand({"joint": "f", "ratio": -2, "offset": "0.25"}).build()
    leader, follower = mechanism.segments[1:]
    assert (leader.coordinate, leader.rate) == (follower.coordinate, follower.rate) == (7, 6)
    assert (leader.ratio, leader.offset) == (1, 0)
    assert (follower.ratio, follower.offset) == (-2, Fraction(1, 4))
    assert (mechanism.nq, mechanism.nv) == (8, 7)
    assert mechanism.coordinates[7:] == mechanism.rates[6:] == ("f",)
    assert mechanism.coordinate_records[7].segment == 1
    assert "f1" not in mechanism.coordinates


def test_defaults() -> None:
    follower = hand({"joint": "f"}).build().segments[2]
    assert (follower.ratio, follower.offset) == (1, 0)


def test_rows_of_followers_are_resolved_in_any_order() -> None:
    mechanism = hand(
        {"joint": "f2", "ratio": 3, "offset": "k"},
        {"joint": "f3", "ratio": "1/2", "offset": 1},
        {"joint": "f", "ratio": -1, "offset": "free"},
    ).build()
    f1, f2, f3 = mechanism.segments[2:]
    assert [f.coordinate for f in (f1, f2, f3)] == [7, 7, 7]
    assert (f3.ratio, f2.ratio, f1.ratio) == (-1, Fraction(-1, 2), Fraction(-3, 2))
    assert not isinstance(f1.offset, Fraction)
    # f1 = 3 (1/2 (-q + free) + 1) + k
    values = {"k": Fraction(1, 2), "free": Fraction(7)}
    assert value_of(f1.offset, values) == Fraction(3, 2) * 7 + 3 + Fraction(1, 2)
    assert "free" in format_expression(f1.offset)


def test_a_slide_may_follow_a_turn() -> None:
    mechanism = hand({"joint": "f", "ratio": "0.01"}, kind="prismatic").build()
    q = mechanism.neutral()
    q[7] = 2.0
    assert poses_of(mechanism, q).positions[2] == pytest.approx([0, 0, 0.02])


def test_poses_of_followers() -> None:
    mechanism = hand({"joint": "f", "ratio": -2, "offset": "k"}).build()
    q = mechanism.neutral()
    q[7] = 0.3
    poses = poses_of(mechanism, q)
    angle = -2 * 0.3 + 0.5
    assert poses.rotation(2)[:2, 0] == pytest.approx([np.cos(angle), np.sin(angle)])
    assert poses.rotation(1)[:2, 0] == pytest.approx([np.cos(0.3), np.sin(0.3)])
    other = poses_of(mechanism, q, {"k": Fraction(0)})
    assert other.rotation(2)[:2, 0] == pytest.approx([np.cos(-0.6), np.sin(-0.6)])


def test_one_of_a_chain_may_be_followed() -> None:
    builder = Mechanism.builder().segment("hip", joint="spherical", euler="zyx", mass=1)
    mimic = {"joint": "hip_ry"}
    mechanism = builder.segment("knee", parent="hip", axis="y", mass=1, mimic=mimic).build()
    assert mechanism.segments[3].coordinate == mechanism.coordinate_index("hip_ry")


def test_dof_stands_with_the_leaders_only() -> None:
    builder = Mechanism.builder().segment("a", axis="z", mass=1, dof=2)
    builder.segment("b", parent="a", axis="z", mass=1, mimic={"joint": "c"})
    mechanism = builder.segment("c", parent="b", axis="z", mass=1, dof=1).build()
    assert [segment.coordinate for segment in mechanism.segments] == [1, 0, 0]
    assert mechanism.coordinates == ("c", "a")


def test_a_leader_without_mass_moves_that_of_its_followers() -> None:
    alone = [n.element for n in hand().build().notes if n.level == "warning"]
    assert alone == ["coordinate 'f'"]
    together = hand({"joint": "f"}).build()
    assert not [note for note in together.notes if note.level == "warning"]


def test_offsets_are_numbers_of_the_mechanism() -> None:
    mechanism = hand({"joint": "f", "offset": "k*free"}).build()
    assert names_in(mechanism) == {"k", "free"}
    offset = parametrise(mechanism, "numeric").segments[2].offset
    assert not isinstance(offset, Fraction)
    assert format_expression(offset) == "0.5*free"
    assert parametrise(mechanism, "symbolic").segments[2].offset == mechanism.segments[2].offset
    plain = parametrise(hand({"joint": "f", "offset": "0.25"}).build(), "symbolic")
    assert plain.segments[2].offset == Fraction(1, 4)
    assert parametrise(hand({"joint": "f", "offset": "k"}).build(), "numeric").segments[
        2
    ].offset == Fraction(1, 2)


@pytest.mark.parametrize(
    ("mimic", "element", "message"),
    [
        ({"joint": "f1"}, "segment 'f1', mimic", "in a circle: f1 -> f1"),
        ({"joint": "g"}, "segment 'f1', mimic, joint", "no joint 'g' moves"),
        ({"joint": "index"}, "segment 'f1', mimic, joint", "no joint 'index' moves"),
        ({"joint": "palm"}, "segment 'f1', mimic, joint", "more than one coordinate"),
        ({}, "segment 'f1', mimic, joint", "expected a text, got nothing"),
        ({"joint": "f", "ratio": 0}, "segment 'f1', mimic, ratio", "the ratio is zero"),
        ({"joint": "f", "ratio": "free"}, "segment 'f1', mimic, ratio", "names a free parameter"),
        ({"joint": "f", "offset": "x"}, "segment 'f1', mimic, offset", "'x' is not a parameter"),
        ({"joint": "f", "multiplier": 2}, "segment 'f1', mimic", "unknown field 'multiplier'"),
        ("f", "segment 'f1', mimic", "expected a table, got a text"),
    ],
)
def test_wrong_couplings(mimic: Any, element: str, message: str) -> None:
    with pytest.raises(ReadError) as caught:
        hand(mimic).build()
    assert message in caught.value.message
    assert caught.value.element == element
    assert caught.value.remedy


def test_circles_of_followers() -> None:
    with pytest.raises(ReadError, match="in a circle: f1 -> f2 -> f3 -> f1"):
        hand({"joint": "f2"}, {"joint": "f3"}, {"joint": "f1"}).build()
    with pytest.raises(ReadError, match="in too long a row"):
        hand(*({"joint": f"f{k}"} for k in range(2, 30)), {"joint": "f"}).build()


def test_products_stay_within_the_range_of_doubles() -> None:
    great = {"ratio": "1e200"}
    with pytest.raises(ReadError, match="beyond the range"):
        hand({"joint": "f2", **great}, {"joint": "f", **great}).build()
    with pytest.raises(ReadError, match="beyond the range"):
        hand({"joint": "f2", **great}, {"joint": "f", "offset": "1e200"}).build()


@pytest.mark.parametrize("field", ["dof", "coordinates", "rates"])
def test_followers_have_no_places_of_their_own(field: str) -> None:
    builder = Mechanism.builder().segment("a", axis="z", mass=1)
    said: dict[str, object] = {field: ["x"] if field != "dof" else 1}
    builder.segment_table(
        {"name": "b", "parent": "a", "joint": "revolute", "axis": "z", "mimic": {"joint": "a"}}
        | said
    )
    with pytest.raises(ReadError, match=f"a coupled joint has no {field}"):
        builder.build()


@pytest.mark.parametrize(
    "joint", [{"joint": "fixed"}, {"joint": "free"}, {"joint": "cylindrical", "axis": "z"}]
)
def test_only_joints_of_one_freedom_follow(joint: dict[str, object]) -> None:
    builder = Mechanism.builder().segment("a", axis="z", mass=1)
    builder.segment_table({"name": "b", "parent": "a", "mimic": {"joint": "a"}, **joint})
    with pytest.raises(ReadError, match="cannot follow another"):
        builder.build()


def test_a_fixed_joint_cannot_be_followed() -> None:
    builder = Mechanism.builder().segment("a", joint="fixed", mass=1)
    builder.segment("b", parent="a", axis="z", mass=1, mimic={"joint": "a"})
    with pytest.raises(ReadError, match="no joint 'a' moves"):
        builder.build()


def test_joints_that_are_followed_need_names_of_their_own() -> None:
    builder = hand({"joint": "f"})
    joint = {"type": "revolute", "name": "f1", "mimic": {"joint": "f"}}
    builder.segment("other", parent="palm", joint=joint, axis="z")
    with pytest.raises(ReadError, match="used twice") as caught:
        builder.build()
    assert caught.value.element == "joint 'f1'"
