"""Loops: how they are read, which cannot close, and what a search finds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from chainform.errors import ReadError
from chainform.expressions import parse
from chainform.mechanism import (
    GROUND,
    Mechanism,
    MechanismBuilder,
    closed_pose,
    parametrise,
    poses_of,
)
from chainform.mechanism.loop_closure import numeric_loops
from chainform.mechanism.pose import numeric_tree


def _axis() -> dict[str, object]:
    return {"segment": "ground", "axis": "z"}


def four_bar(a: object, b: object, c: object, d: object, kind: str = "point") -> MechanismBuilder:
    """Return a planar four-bar linkage: crank, coupler, rocker, distance of the ground pivots."""
    builder = Mechanism.builder("four_bar").segment_table(
        {"name": "crank", "parent": 0, "joint": "revolute", "axis": "z", "mass": 1}
    )
    coupler = {"name": "coupler", "parent": "crank", "joint": "revolute", "axis": "z", "mass": 1}
    rocker = {"name": "rocker", "parent": 0, "joint": "revolute", "axis": "z", "mass": 1}
    builder.segment_table({**coupler, "position": [a, 0, 0]})
    builder.segment_table({**rocker, "position": [d, 0, 0]})
    closing = {"segment": "coupler", "point": [b, 0, 0]}
    return builder.loop("linkage", kind, closing, {"segment": "rocker", "point": [c, 0, 0]})


def test_a_linkage_closes() -> None:
    mechanism = four_bar("0.2", "0.5", "0.4", "0.6").build()
    assert mechanism.notes == ()
    q = closed_pose(mechanism)
    assert q is not None
    poses = poses_of(mechanism, q)
    tip = poses.point(1, np.array([0.5, 0, 0]))
    assert tip == pytest.approx(poses.point(2, np.array([0.4, 0, 0])), abs=1e-6)


def test_without_loops_every_pose_is_closed() -> None:
    q = closed_pose(Mechanism.builder().segment("a", joint="prismatic", axis="z", mass=1).build())
    assert q is not None
    assert q.tolist() == [0.0]


def test_immense_lengths_are_not_judged() -> None:
    notes = four_bar("1e160", 1, 1, 1).build().notes
    assert ["beyond 1e100" in note.text for note in notes] == [True]


def test_sides_of_rounding_close() -> None:
    """A pin on its own hinge: the only side is the last bit of a coordinate long."""
    builder = Mechanism.builder("pin")
    builder.segment("a", joint="prismatic", axis="y", mass=1)
    builder.segment("b", parent="a", axis="z", position=["-0.26", "0.09", 0], mass=1)
    target = {"segment": "a", "point": [-0.26, 0.08999999999999997, 0]}
    mechanism = builder.loop("L", "point", {"segment": "b"}, target).build()
    assert len(mechanism.loops) == 1


def test_a_side_longer_than_the_others_cannot_close() -> None:
    with pytest.raises(ReadError, match=r"one side is 2 m long, all others together 1\.1 m"):
        four_bar("0.2", "0.5", "0.4", 2).build()


def test_a_stretched_linkage_just_closes() -> None:
    assert four_bar("0.2", "0.5", "0.3", 1).build().notes == ()


def test_a_free_length_is_not_judged() -> None:
    builder = four_bar("a", "0.5", "0.4", 2).parameter("a")
    assert ["has no value" in note.text for note in builder.build().notes] == [True]
    bound = four_bar("a", "0.5", "0.4", 2).parameter("a", "0.2")
    with pytest.raises(ReadError, match="cannot close"):
        bound.build()


def test_a_search_that_fails_is_a_warning() -> None:
    # The polygon could close, but the crank turns in another plane than its target lies in.
    builder = Mechanism.builder().segment("crank", axis="z", mass=1)
    builder.segment("arm", parent="crank", axis="z", position=[1, 0, 0], mass=1)
    builder.loop("high", "point", {"segment": "arm", "point": [1, 0, 0]}, _at(0, 0, "0.5"))
    notes = builder.build().notes
    assert [(note.level, "no pose was found" in note.text) for note in notes] == [("warning", True)]
    assert closed_pose(builder.build()) is None


def _at(*point: object) -> dict[str, object]:
    return {"segment": "ground", "point": list(point)}


def test_slides_are_searched() -> None:
    builder = Mechanism.builder().segment("slide", joint="prismatic", axis="x", mass=1)
    builder.segment("rod", parent="slide", axis="z", mass=1)
    builder.loop("crank", "point", {"segment": "rod", "point": [1, 0, 0]}, _at(3, "0.5", 0))
    mechanism = builder.build()
    assert mechanism.notes == ()
    q = closed_pose(mechanism)
    assert q is not None
    assert poses_of(mechanism, q).point(1, np.array([1, 0, 0])) == pytest.approx([3, 0.5, 0])


def test_frames_close_with_their_rotations() -> None:
    mechanism = four_bar(1, 1, 1, 1, "frame").build()
    assert mechanism.notes == ()
    q = closed_pose(mechanism)
    assert q is not None
    poses = poses_of(mechanism, q)
    assert poses.rotation(1) == pytest.approx(poses.rotation(2), abs=1e-6)


def test_half_turns_are_measured() -> None:
    builder = Mechanism.builder().segment("a", axis="z", mass=1)
    target = {"segment": 0, "rotation": [[-1, 0, 0], [0, -1, 0], [0, 0, 1]]}
    mechanism = builder.loop("turned", "frame", {"segment": "a"}, target).build()
    q = closed_pose(mechanism)
    assert q is not None
    assert abs(q[0]) == pytest.approx(np.pi)
    assert mechanism.notes == ()


@pytest.mark.parametrize(
    ("point", "closes"), [([0, 0, 0], False), ([1, 0, 0], True), ([1, 0, "1e-3"], False)]
)
def test_ends_on_one_rigid_piece(point: list[object], closes: bool) -> None:
    builder = Mechanism.builder().segment("a", axis="z", mass=1)
    builder.segment("plate", parent="a", joint="fixed", position=[1, 0, 0])
    builder.loop("rigid", "point", {"segment": "plate"}, {"segment": "a", "point": point})
    if closes:
        assert ["adds no condition" in note.text for note in builder.build().notes] == [True]
    else:
        with pytest.raises(ReadError, match="no joint lies between its ends"):
            builder.build()


def test_rigid_frames_must_be_parallel() -> None:
    builder = Mechanism.builder().segment("a", axis="z", mass=1)
    closing = {"segment": "a", "rpy": [0, 0, "0.1"]}
    with pytest.raises(ReadError, match="cannot close"):
        builder.loop("bent", "frame", closing, {"segment": "a"}).build()


def test_basic_coordinates_by_name_and_number() -> None:
    builder = four_bar("0.2", "0.5", "0.4", "0.6").loop(
        None,
        "point",
        {"segment": 3, "point": ["0.4", 0, 0]},
        {"segment": 2, "point": ["0.5", 0, 0]},
    )
    builder.loop("b", "point", {"segment": 2, "point": ["0.5", 0, 0]}, {"segment": 3}, ["q3", 1])
    with pytest.raises(ReadError, match="cannot close"):
        four_bar("0.2", "0.5", "0.4", "0.6").loop(
            "far", "point", {"segment": "crank"}, _at(1, 0, 0)
        ).build()
    mechanism = builder.build()
    assert [loop.name for loop in mechanism.loops] == ["linkage", "loop2", "b"]
    assert mechanism.loops[2].basic == (2, 0)
    assert mechanism.loops[2].target.point == (0, 0, 0)


def test_a_basic_coordinate_elsewhere_is_warned_of() -> None:
    builder = four_bar(1, 1, 1, 1).segment("free", parent="ground", axis="z", mass=1)
    target = {"segment": "rocker", "point": [1, 0, 0]}
    builder.loop("b", "point", {"segment": "coupler", "point": [1, 0, 0]}, target, ["free"])
    assert ["do not move the loop" in note.text for note in builder.build().notes] == [True]


def test_points_may_name_parameters() -> None:
    loop = four_bar("a", "b", 1, 1).parameter("a", 1).parameter("b", 1).build().loops[0]
    assert loop.closing.point[0] == parse("b")
    assert (loop.closing.segment, loop.target.segment) == (1, 2)


@pytest.mark.parametrize(
    ("loop", "message"),
    [
        ((None, "hinge", {"segment": 1}), "no loop of the kind 'hinge'"),
        ((None, None, {"segment": 1}), "expected a text"),
        ((None, ["point"], {"segment": 1}), "expected a text"),
        ((None, "point", None), "'closing' is missing"),
        ((None, "point", {}), "'segment' is missing"),
        ((None, "point", {"segment": "crnk"}), "there is no segment named 'crnk'"),
        ((None, "point", {"segment": 9}), "there is no segment with the id 9"),
        ((None, "point", {"segment": [1]}), "expected a segment, got a list"),
        ((None, "point", {"segment": 1, "pont": [0, 0, 0]}), "unknown field 'pont'"),
        ((None, "point", {"segment": 1, "point": [0, 0]}), "expected 3 entries, got 2"),
        ((None, "point", [1, 2]), "expected a table, got a list"),
        ((None, "point", {"segment": 1}, None, ["q9"]), "no coordinate named 'q9'"),
        ((None, "point", {"segment": 1}, None, ["crank", "q1"]), "named twice"),
        ((None, "point", {"segment": 1}, None, "crank"), "expected a list, got a text"),
        (("linkage", "point", {"segment": 1}), "the name is used twice"),
        ((None, "revolute", {"segment": 1}), "'axis' is missing"),
        ((None, "planar", {"segment": 1, "axis": "z"}), "'axis' is missing"),
        ((None, "revolute", {"segment": 1, "axis": [0, 0, 0]}, _axis()), "axis has no length"),
        ((None, "revolute", {"segment": 1, "axis": "w"}, _axis()), "'w' is not an axis"),
        ((None, "point", {"segment": 1, "axis": "z"}), "this kind has no axis"),
        ((None, "frame", {"segment": 1}, _axis()), "this kind has no axis"),
        ((None, "distance", {"segment": 1}), "'length' is missing"),
        ((None, "distance", {"segment": 1}, None, None, 0), "the number is not positive"),
        ((None, "distance", {"segment": 1}, None, None, "-0.5"), "the number is not positive"),
        ((None, "distance", {"segment": 1, "axis": "z"}, None, None, 1), "kind has no axis"),
        ((None, "spherical", {"segment": 1}, None, None, 1), "this kind has no length"),
        ((None, "prismatic", {"segment": 1, "axis": "x"}, _axis()), "the axes differ"),
    ],
)
def test_wrong_loops(loop: tuple[object, ...], message: str) -> None:
    builder = four_bar("0.2", "0.5", "0.4", "0.6")
    with pytest.raises(ReadError) as caught:
        builder.loop(*loop).build()  # pyright: ignore[reportArgumentType, reportCallIssue]
    assert message in caught.value.message
    assert "loop" in str(caught.value.element)
    assert caught.value.remedy


def test_the_ground_is_a_place_for_both_ends() -> None:
    builder = four_bar(1, 1, 1, 1)
    builder.loop("still", "point", {"segment": "ground"}, {"segment": 0})
    loop = builder.build().loops[1]
    assert (loop.closing.segment, loop.target.segment) == (GROUND, GROUND)


# --- quaternions and coupled joints ---------------------------------------------------------


def rod(joint: str) -> MechanismBuilder:
    """Return a rod of one metre on a joint, whose tip is to lie at some place."""
    builder = Mechanism.builder("rod").segment("stand", joint="fixed", position=[0, 0, 1])
    return builder.segment("rod", parent="stand", joint=joint, mass=1)


def test_a_ball_joint_closes_its_loop() -> None:
    tip = {"segment": "rod", "point": [1, 0, 0]}
    mechanism = rod("spherical").loop("tip", "point", tip, _at(0, "0.6", "0.2")).build()
    assert mechanism.notes == ()
    q = closed_pose(mechanism)
    assert q is not None
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)
    placed = poses_of(mechanism, q).point(1, np.array([1.0, 0, 0]))
    assert placed == pytest.approx([0, 0.6, 0.2], abs=1e-6)


def test_balls_make_polygons() -> None:
    tip = {"segment": "rod", "point": [1, 0, 0]}
    with pytest.raises(ReadError, match="one side is 2 m long, all others together 1 m"):
        rod("spherical").loop("tip", "point", tip, _at(0, 0, 3)).build()


def test_a_free_body_goes_anywhere() -> None:
    target = {"segment": 0, "point": [4, -2, "0.5"], "quaternion": [1, 2, 3, -4]}
    tip = {"segment": "rod", "point": [0, 1, 0], "rpy": [1, 2, 3]}
    mechanism = rod("free").loop("place", "frame", tip, target).build()
    assert not [note for note in mechanism.notes if note.level == "warning"]
    q = closed_pose(mechanism)
    assert q is not None
    assert np.linalg.norm(q[3:]) == pytest.approx(1.0, abs=1e-15)
    poses = poses_of(mechanism, q)
    assert poses.point(1, np.array([0, 1.0, 0])) == pytest.approx([4, -2, 0.5], abs=1e-5)


def test_coupled_joints_close_together() -> None:
    # Two fingers that open alike, each of them one metre long, hold a ring between their tips.
    builder = Mechanism.builder("tongs").segment("left", parent=0, axis="z", mass=1)
    mimic = {"joint": "left", "ratio": -1, "offset": "pi"}
    builder.segment("right", parent=0, axis="z", mass=1, position=["0.5", 0, 0], mimic=mimic)
    tip = {"segment": "left", "point": [1, 0, 0]}
    mechanism = builder.loop("tips", "point", tip, {"segment": 2, "point": [1, 0, 0]}).build()
    assert mechanism.notes == ()
    q = closed_pose(mechanism)
    assert q is not None
    assert np.cos(q[0]) == pytest.approx(0.25, abs=1e-6)


def test_neutral_is_closed_without_loops() -> None:
    q = closed_pose(rod("free").build())
    assert q is not None
    assert q.tolist() == [0, 0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("entry", ["rod_x", "rod_qw", "q3", 1])
def test_basic_coordinates_are_no_quaternions(entry: object) -> None:
    builder = rod("free").segment("arm", parent="rod", axis="z", mass=1)
    builder.loop("tip", "point", {"segment": "arm"}, _at(0, 0, 1), [entry])
    with pytest.raises(ReadError, match="belongs to a joint with a quaternion") as caught:
        builder.build()
    assert caught.value.element == "loop 'tip', basic[1]"
    named = rod("free").segment("arm", parent="rod", axis="z", mass=1)
    named.loop("tip", "point", {"segment": "arm"}, _at(0, 0, 1), ["q8"])
    assert named.build().loops[0].basic == (7,)


def test_a_basic_coordinate_moves_by_its_followers() -> None:
    builder = four_bar(1, 1, 1, 1).segment("drive", parent="ground", axis="z", mass=1)
    builder.segment("arm", parent="ground", axis="z", mass=1, mimic={"joint": "drive"})
    builder.loop("b", "point", {"segment": "arm"}, _at(0, 0, 0), ["drive"])
    assert builder.build().notes == ()


def test_free_offsets_and_great_ratios_are_not_judged() -> None:
    for ratio, offset, text in ((1, "free", "'free' has no value"), ("1e120", 0, "beyond 1e100")):
        builder = four_bar(1, 1, 1, 1).parameter("free")
        mimic = {"joint": "crank", "ratio": ratio, "offset": offset}
        builder.segment("arm", parent="ground", axis="z", mass=1, mimic=mimic)
        notes = [note.text for note in builder.build().notes]
        assert any(text in note for note in notes)


@pytest.mark.parametrize("seed", range(5))
def test_the_jacobian_is_the_derivative_along_the_rates(seed: int) -> None:
    builder = Mechanism.builder("all").segment("base", joint="free", position=[1, 0, 2], mass=1)
    builder.segment("arm", parent="base", axis=[0, 3, 4], position=[0, 1, 0], mass=1)
    builder.segment("ball", parent="arm", joint="spherical", position=[0, "0.5", 1], mass=1)
    slide = {"type": "prismatic", "mimic": {"joint": "arm", "ratio": "-0.5", "offset": 1}}
    builder.segment("slide", parent="ball", joint=slide, axis="x", mass=1)
    builder.segment("other", parent="base", joint="spherical", position=[0, 0, 1], mass=1)
    closing = {"segment": "slide", "point": [1, 2, 3]}
    mechanism = builder.loop("l", "frame", closing, {"segment": "other"}).build()
    tree = numeric_tree(mechanism)
    (loop,) = numeric_loops(mechanism, tree)
    random = np.random.default_rng(seed)
    q = random.normal(size=mechanism.nq)
    poses = tree.poses(q)
    # Angular velocity is the derivative of a rotation vector only where that is small.
    turn = poses.rotation(3).T @ loop.target.frame(poses)
    loop = replace(loop, closing=replace(loop.closing, rotation=turn))
    jacobian = loop.jacobian(tree, poses, mechanism.nv)
    for rate, step in enumerate(1e-6 * np.eye(mechanism.nv)):
        ahead, behind = (loop.gap(tree.poses(tree.moved(q, s))) for s in (step, -step))
        assert jacobian[:, rate] == pytest.approx((ahead - behind) / 2e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("length", "ratio", "offset"),
    [("1e-200", 1, 0), ("1e-90", "1e90", 0), ("1e-90", "1e90", "1e90"), (1, "1e-99", "1e99")],
)
def test_numbers_of_very_different_size_are_no_accident(
    length: str, ratio: object, offset: object
) -> None:
    builder = rod("free").segment("a", parent="rod", joint="prismatic", axis="x", mass=1)
    mimic = {"joint": "a", "ratio": ratio, "offset": offset}
    builder.segment("b", parent="a", joint="prismatic", axis="x", mass=1, mimic=mimic)
    builder.loop("l", "frame", {"segment": "b", "point": [length, 0, 0]}, _at(0, 0, 1))
    mechanism = builder.build()
    q = closed_pose(mechanism)
    assert q is None or np.isfinite(q).all()


# --- kinds ----------------------------------------------------------------------------------


def test_a_wrong_kind_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(ReadError) as caught:
        four_bar(1, 1, 1, 1).loop("l", "cilindrical", {"segment": 1}).build()
    assert "'cylindrical'" in str(caught.value.remedy)


def test_a_spherical_joint_is_a_point() -> None:
    assert four_bar(1, 1, 1, 1, "spherical").build() == four_bar(1, 1, 1, 1, "point").build()


def test_axes_are_stored_with_exactly_unit_length() -> None:
    closing = {"segment": "rocker", "axis": [1, 1, 0], "rpy": [0, 0, 1]}
    target = {"segment": "ground", "point": [1, 0, 0], "axis": [0, 3, 4]}
    loop = four_bar(1, 1, 1, 1).loop("l", "universal", closing, target).build().loops[1]
    assert loop.target.axis == (0, Fraction(3, 5), Fraction(4, 5))
    assert loop.closing.axis is not None
    assert sum(x * x for x in loop.closing.axis) == 1


def test_a_length_may_name_a_parameter() -> None:
    builder = rod("spherical").parameter("d", 2)
    builder.loop("l", "distance", {"segment": "rod", "point": [1, 0, 0]}, _at(0, 2, 0), None, "d")
    (loop,) = builder.build().loops
    assert loop.length == parse("d")
    (loop,) = parametrise(builder.build(), "numeric").loops
    assert loop.length == 2
    with pytest.raises(ReadError, match="'d' is not a parameter"):
        rod("spherical").loop("l", "distance", {"segment": "rod"}, None, None, "d").build()


@pytest.mark.parametrize(("far", "length"), [(4, "0.9"), ("0.5", "0.4")])
def test_a_distance_that_cannot_be_bridged(far: object, length: str) -> None:
    """A rod of 1 m on a ball joint reaches points that are 1 m away, and its tip not others."""
    tip = {"segment": "rod", "point": [1, 0, 0]}
    with pytest.raises(ReadError, match="one side is"):
        rod("spherical").loop("l", "distance", tip, _at(0, 0, far), None, length).build()


def test_a_slide_reaches_what_a_pin_does_not() -> None:
    tip = {"segment": "rod", "point": [1, 0, 0], "axis": "z"}
    away = {**_at(0, 1, 9), "axis": "z"}
    assert rod("spherical").loop("l", "cylindrical", tip, away).build().notes == ()
    with pytest.raises(ReadError, match="one side is"):
        rod("spherical").loop("l", "revolute", tip, away).build()


@pytest.mark.parametrize("kind", ["revolute", "cylindrical", "planar", "prismatic"])
def test_ends_that_are_turned_against_each_other_on_one_body(kind: str) -> None:
    builder = rod("spherical")
    own, other = {"segment": "rod", "axis": "z"}, {"segment": "rod", "axis": "z"}
    (note,) = rod("spherical").loop("l", kind, own, other).build().notes
    assert "adds no condition" in note.text
    with pytest.raises(ReadError, match="do not fit"):
        builder.loop("l", kind, own, {**other, "rpy": ["pi", 0, 0]}).build()


def test_axes_of_a_universal_joint_on_one_body_must_be_perpendicular() -> None:
    own = {"segment": "rod", "axis": "z"}
    builder = rod("spherical")
    with pytest.raises(ReadError, match="do not fit"):
        builder.loop("l", "universal", own, {"segment": "rod", "axis": "-z"}).build()
