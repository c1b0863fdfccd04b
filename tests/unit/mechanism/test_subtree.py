"""Parts of a tree."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from chainform.errors import ReadError
from chainform.mechanism import GROUND, Mechanism, MechanismBuilder, poses_of
from chainform.readers import read


def humanoid() -> MechanismBuilder:
    """Return a floating trunk with two arms, the right one with coupled fingers."""
    return (
        Mechanism.builder("humanoid")
        .parameter("l", "0.5")
        .parameter("k", "0.25")
        .segment("trunk", joint="free", mass=10, inertia=[1, 1, 1])
        .segment("chest", parent="trunk", joint="fixed", position=[0, 0, "l"], rpy=["pi/2", 0, 0])
        .segment("left", parent="chest", axis="y", position=[0, "0.2", 0], mass=1)
        .segment("right", parent="chest", axis="y", position=[0, "-0.2", 0], mass=1)
        .segment("palm", parent="right", joint="spherical", mass=1, inertia=[1, 1, 1])
        .segment("thumb", parent="palm", axis="z", mass=1)
        .segment("a", parent="palm", axis="z", mass=1, mimic=_mimic("thumb", 2, "k"))
        .segment("b", parent="palm", axis="z", mass=1, mimic=_mimic("thumb", -4, "1"))
        .frame("eye", "chest", [0, 0, 1])
        .frame("sole", "ground")
        .frame("grasp", "b", ["k", 0, 0])
    )


def _mimic(joint: str, ratio: int, offset: str) -> dict[str, object]:
    return {"joint": joint, "ratio": ratio, "offset": offset}


def names(mechanism: Mechanism) -> list[str]:
    return [segment.name for segment in mechanism.segments]


def test_all_of_it() -> None:
    whole = humanoid().build()
    part = whole.subtree()
    assert part.segments == whole.segments
    assert part.coordinate_records == whole.coordinate_records
    assert part.rate_records == whole.rate_records
    assert part.frames == whole.frames
    assert part.parameters == whole.parameters
    assert part.notes == whole.notes


def test_tips_keep_the_way_to_them() -> None:
    part = humanoid().build().subtree(tips=["left", "palm"])
    assert names(part) == ["trunk", "chest", "left", "right", "palm"]
    assert part.nq == 7 + 2 + 4
    assert [frame.name for frame in part.frames] == ["eye", "sole"]
    assert [p.name for p in part.parameters] == ["l"]
    assert part.base == humanoid().build().base
    (note,) = [note for note in part.notes if note.element == "subtree"]
    assert "segment 'thumb'" in note.text
    assert "frame 'grasp'" in note.text
    assert humanoid().build().subtree(tips="left").nq == 8


def test_the_root_is_the_ground() -> None:
    whole = humanoid().build()
    part = whole.subtree(root="chest")
    assert names(part) == ["left", "right", "palm", "thumb", "a", "b"]
    assert [segment.parent for segment in part.segments] == [-1, -1, 1, 2, 2, 2]
    assert part.coordinates == whole.coordinates[7:]
    assert part.rates == whole.rates[6:]
    assert [segment.coordinate for segment in part.segments] == [0, 1, 2, 6, 6, 6]
    assert [segment.rate for segment in part.segments] == [0, 1, 2, 5, 5, 5]
    assert [(frame.name, frame.segment) for frame in part.frames] == [("eye", GROUND), ("grasp", 5)]
    assert not [note for note in part.notes if note.level == "warning"]


def test_the_root_stands_as_in_the_zero_pose() -> None:
    whole = humanoid().build()
    part = whole.subtree(root="chest")
    assert part.base.rotation == ((1, 0, 0), (0, 0, -1), (0, 1, 0))
    assert any("stands in the world" in note.text for note in part.notes)
    before = poses_of(whole, whole.neutral())
    after = poses_of(part, part.neutral())
    frame = np.array([[float(x) for x in row] for row in part.base.rotation])
    origin = before.positions[1]
    for new, old in enumerate(range(2, 8)):
        assert frame @ after.rotations[new] == pytest.approx(before.rotations[old])
        placed = origin + frame @ after.positions[new]
        assert placed == pytest.approx(before.positions[old])


def test_followers_of_what_is_left_out() -> None:
    part = humanoid().build().subtree(root="palm", tips=["a", "b"])
    a, b = part.segments
    assert part.coordinates == part.rates == ("a",)
    assert (a.coordinate, a.ratio, a.offset) == (0, 1, 0)
    assert (b.coordinate, b.ratio) == (0, -2)
    assert any("'a' has a coordinate of its own" in note.text for note in part.notes)
    # b = -4 thumb + 1 and a = 2 thumb + 0.25, so b = -2 a + 1.5.
    whole = humanoid().build()
    q = whole.neutral()
    q[-1] = 0.3
    before, after = poses_of(whole, q), poses_of(part, [2 * 0.3 + 0.25])
    for new, old in ((0, 6), (1, 7)):
        seen = before.rotations[4].T @ before.rotations[old]
        assert after.rotations[new] == pytest.approx(seen)


def test_offsets_between_the_ground_and_the_root() -> None:
    builder = Mechanism.builder().parameter("s", "0.5").segment("a", axis="z", mass=1)
    builder.segment(
        "b", parent="a", axis="z", position=[1, 0, 0], mass=1, mimic=_mimic("a", 1, "1")
    )
    slide = {"type": "prismatic", "mimic": _mimic("a", 1, "s")}
    builder.segment("c", parent="b", joint=slide, axis="x", mass=1)
    whole = builder.segment("d", parent="c", axis="z", mass=1).build()
    part = whole.subtree(root="c")
    pose = poses_of(whole, [0.0, 0.0])
    frame = np.array([[float(x) for x in row] for row in part.base.rotation])
    assert frame == pytest.approx(pose.rotations[2])
    assert part.base.position[0] != 1
    assert [p.name for p in part.parameters] == ["s"]
    assert any("1e-15" in note.text for note in part.notes)


def test_loops_stay_if_both_ends_do() -> None:
    builder = Mechanism.builder("linkage").segment("frame", axis="z", mass=1)
    for name, parent, x in (("crank", "frame", 0), ("coupler", "crank", 1), ("rocker", "frame", 1)):
        builder.segment(name, parent=parent, axis="z", position=[x, 0, 0], mass=1)
    ends = {"segment": "coupler", "point": [1, 0, 0]}, {"segment": "rocker", "point": [1, 0, 0]}
    builder.loop("bars", "point", *ends, basic=["frame", "crank"])
    builder.loop("held", "point", {"segment": "rocker"}, {"segment": "frame", "point": [1, 0, 0]})
    whole = builder.build()
    part = whole.subtree(root="frame")
    assert [loop.name for loop in part.loops] == ["bars", "held"]
    bars, held = part.loops
    assert (bars.closing.segment, bars.target.segment) == (1, 2)
    assert bars.basic == (0,)
    assert held.target.segment == GROUND
    alone = whole.subtree(root="frame", tips=["coupler"])
    assert alone.loops == ()
    assert any("loop 'bars'" in note.text for note in alone.notes)


def test_old_notes_on_what_is_left_out_go() -> None:
    builder = Mechanism.builder().segment("a", axis=[0, 0, 2], mass=1)
    builder.segment("b", parent="a", axis=[0, 3, 4], mass=1)
    builder.segment("c", parent="a", axis=[0, 3, 4], mass=1)
    elements = [note.element for note in builder.build().subtree("a", ["b"]).notes]
    assert elements == ["segment 'b', axis", "subtree", "subtree"]


def test_places_in_q_are_checked_anew() -> None:
    builder = Mechanism.builder().segment("a", axis="z", mass=1)
    whole = builder.segment("q2", parent="a", axis="z", mass=1).build()
    assert not whole.notes
    warnings = [note for note in whole.subtree("a").notes if note.level == "warning"]
    assert not warnings
    builder.segment("c", parent="q2", axis="z", mass=1)
    part = builder.build().subtree("a")
    assert [n.element for n in part.notes if n.level == "warning"] == ["coordinate 'q2'"]


@pytest.mark.parametrize(
    ("root", "tips", "element", "message"),
    [
        ("torso", None, "subtree, root", "no segment named 'torso'"),
        ("thumb", None, "subtree, root", "no segment lies beyond"),
        (None, ["torso"], "subtree, tips[1]", "no segment named 'torso'"),
        ("left", ["palm"], "subtree, root", "no segment lies beyond"),
        ("right", ["left"], "subtree, tips[1]", "'left' does not lie beyond"),
        ("right", ["right"], "subtree, tips[1]", "'right' does not lie beyond"),
        (None, ["ground"], "subtree, tips[1]", "'ground' does not lie beyond"),
        (None, [], "subtree, tips", "there are no tips"),
        (None, 3.5, "subtree, tips", "expected a list"),
    ],
)
def test_wrong_parts(root: Any, tips: Any, element: str, message: str) -> None:
    with pytest.raises(ReadError) as caught:
        humanoid().build().subtree(root, tips)
    assert message in caught.value.message
    assert caught.value.element == element
    assert caught.value.remedy


def test_elements_have_no_parts() -> None:
    mechanism = read("examples/stanford_elements.toml")
    for root, tips in ((None, ["L"]), ("P", None)):
        with pytest.raises(ReadError, match="cut out of segments"):
            mechanism.subtree(root, tips)


def test_a_moving_base_carries_no_root() -> None:
    mechanism = humanoid().base(velocity=[1, 0, 0]).build()
    assert mechanism.subtree(tips=["left"]).base.is_moving
    with pytest.raises(ReadError, match="the base moves"):
        mechanism.subtree(root="chest")


def test_a_free_offset_has_no_zero_pose() -> None:
    builder = Mechanism.builder().parameter("s").segment("a", axis="z", mass=1)
    builder.segment("b", parent="a", axis="z", mass=1, mimic=_mimic("a", 1, "s"))
    mechanism = builder.segment("c", parent="b", axis="z", mass=1).build()
    with pytest.raises(ReadError, match="names a free parameter"):
        mechanism.subtree(root="b")


def test_parts_of_parts() -> None:
    whole = humanoid().build()
    once = whole.subtree("right", ["a"])
    twice = whole.subtree("chest").subtree("right", ["a"])
    assert once.segments == twice.segments
    assert once.base == twice.base
    assert once.coordinate_records == twice.coordinate_records
    assert once.base.position[2] != Fraction(0)
