"""The vectors form and the tree form give the mechanisms of the native form."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from chainform.errors import ReadError
from chainform.expressions import format_expression, parse
from chainform.mechanism import GROUND, IDENTITY, Mechanism, Segment, parametrise
from chainform.mechanism.exact import greatest_difference, is_rotation
from chainform.readers import read, read_text

REFERENCE = Path(__file__).parents[2] / "data" / "reference"
EXAMPLES = Path(__file__).parents[3] / "examples"


def data(case: str) -> dict[str, Any]:
    return json.loads((REFERENCE / f"{case}.json").read_text(encoding="utf-8"))


def from_table(table: dict[str, Any]) -> Mechanism:
    return read_text(json.dumps(table), "json")


def arm_vectors() -> dict[str, Any]:
    """Return the six-axis arm in the vectors form, tip vector included."""
    said = data("rackovic_2_1")["paper_parameters"]
    r = {f"{i},{i}": vector for i, vector in enumerate(said["r_ii"], 1)}
    r |= {f"{i},{i + 1}": vector for i, vector in enumerate(said["r_i_iplus1"], 1)}
    return {"format": "vectors", "e": said["e"], "r": r, "m": said["m"], "J": said["J"]}


def biped_vectors() -> dict[str, Any]:
    """Return the biped in the vectors form, its first row closed."""
    case = data("rackovic_4_1")
    said = case["paper_parameters"]
    return {
        "format": "vectors",
        "e": said["e"],
        "r": {**said["r"], "8,15": [0, 0, 0.03]},
        "m": said["m"],
        "J": said["J"],
        "rows": case["topology"]["MS"],
        "closed": [True, False, False],
        "gravity": [0, 0, -9.81],
    }


def manipulator_tree() -> dict[str, Any]:
    said = data("manipulator_5dof")["paper_parameters"]
    fields = {key: said[key] for key in ("n", "L", "T", "m", "inertia", "e")}
    vectors = {"4,5": [0, 0.5, 0], "5,5": [0, 0.05, 0]}
    return {"format": "tree", "p": vectors, "gravity": [0, 0, -9.81], **fields}


def renamed(segment: Segment, other: Segment) -> Segment:
    return replace(segment, name=other.name, joint=replace(segment.joint, name=other.joint.name))


def test_the_arm_of_vectors_is_the_native_arm() -> None:
    mechanism, native = from_table(arm_vectors()), read(REFERENCE / "rackovic_2_1.json")
    assert mechanism.segments == native.segments
    assert mechanism.coordinates == native.coordinates
    assert any("collinear" in note.text for note in mechanism.notes)


def test_the_biped_of_vectors_is_the_native_biped() -> None:
    mechanism, native = from_table(biped_vectors()), read(REFERENCE / "rackovic_4_1.json")
    for ours, theirs in zip(mechanism.segments, native.segments, strict=True):
        assert replace(ours, rotation=IDENTITY) == replace(theirs, rotation=IDENTITY)
        assert is_rotation(ours.rotation)
        # The file prints thirteen decimals of the two turned frames; all others are exact.
        assert greatest_difference(ours.rotation, theirs.rotation) < Fraction(1, 10**13)
        assert ours.name in ("body11", "body13") or ours.rotation == theirs.rotation


def test_turned_frames_follow_the_shoulders() -> None:
    mechanism = from_table(biped_vectors())
    length = math.hypot(0.2, 0.06)
    for number, sign in ((10, 1), (12, -1)):
        row = [float(entry) for entry in mechanism.segments[number].rotation[1]]
        assert row == pytest.approx([0, -0.06 / length, sign * 0.2 / length], abs=1e-15, rel=0)


def test_the_closed_row_becomes_a_loop() -> None:
    mechanism = from_table(biped_vectors())
    (loop,) = mechanism.loops
    assert (loop.kind, loop.name, loop.basic) == ("frame", "row1", (0, 1, 2))
    assert loop.closing.segment == 7
    assert loop.closing.point == (0, 0, Fraction(-1, 10))
    assert loop.target.segment == GROUND
    assert loop.target.point == (0, Fraction("0.27"), Fraction("0.0002"))
    assert loop.closing.rotation == loop.target.rotation == IDENTITY
    assert any(note.element == "r '0,15'" for note in mechanism.notes)
    assert not any(note.element == "loops" for note in mechanism.notes)


def test_the_closing_point_on_the_ground_may_be_given() -> None:
    table = biped_vectors()
    table["r"]["0,15"] = [0, -0.25, 0]
    loop = from_table(table).loops[0]
    assert loop.target.point == (0, Fraction("0.25"), 0)


def test_basic_joints_and_closing_axes_of_a_row() -> None:
    table = biped_vectors()
    chosen = table | {"basic": [[2, 4, 6, 0], [], []], "closing_axes": [["y", "-x", "z"], [], []]}
    loop = from_table(chosen).loops[0]
    assert loop.basic == (1, 3, 5)
    assert loop.closing.rotation == ((0, -1, 0), (1, 0, 0), (0, 0, 1))
    assert loop.closing.point == from_table(table).loops[0].closing.point
    by_row = from_table(table | {"basic": {"1": []}}).loops[0]
    assert by_row.basic == ()


def test_symbols_name_the_numbers_and_change_none() -> None:
    plain = from_table(biped_vectors())
    named = from_table(biped_vectors() | {"symbols": True})
    values = {parameter.name: parameter.value for parameter in named.parameters}
    assert values["r_8_15_z"] == Fraction("0.03")
    assert parametrise(named, "numeric").segments == plain.segments
    assert parametrise(named, "numeric").loops == plain.loops
    arm = parametrise(from_table(arm_vectors() | {"symbols": True}), "symbolic")
    names = {parameter.name for parameter in arm.parameters}
    assert {"m_6", "r_5_6_y", "r_6_6_y", "J_6_1", "J_1_3", "g"} <= names
    assert not {"m_1", "r_5_6_x", "J_1_1", "com_6_y", "d_6_y", "I_6_xx"} & names


def test_turned_collinear_vectors_move_the_zero_of_the_last_joint_only() -> None:
    plain, turned = from_table(arm_vectors()), from_table(arm_vectors() | {"collinear": "rotate"})
    assert turned.segments[:5] == plain.segments[:5]
    # The reference axis x, which is x of frame 5 at zero, lies along z of frame 6.
    assert [abs(row[2]) for row in turned.segments[5].rotation] == [1, 0, 0]
    assert any("turned by 90 degrees" in note.text for note in turned.notes)
    assert from_table(arm_vectors() | {"collinear": "smallest"}).segments == plain.segments


def test_a_vector_without_length_is_not_turned() -> None:
    table: dict[str, Any] = arm_vectors() | {"collinear": "rotate"}
    table["r"]["6,6"] = [0, 0, 0]
    mechanism = from_table(table)
    assert mechanism.segments[5].rotation == IDENTITY
    assert any("cannot be turned" in note.text for note in mechanism.notes)


def test_the_tree_of_the_manipulator_is_the_native_one() -> None:
    mechanism, native = from_table(manipulator_tree()), read(REFERENCE / "manipulator_5dof.json")
    assert mechanism.segments == native.segments
    assert mechanism.coordinates == native.coordinates
    assert mechanism.notes == ()


def test_the_first_joint_may_stand_away_from_the_origin() -> None:
    table = arm_vectors()
    table["r"]["0,1"] = [-1, 0, -2]
    mechanism = from_table(table)
    assert mechanism.segments[0].position == (1, 0, 2)
    tree = manipulator_tree()
    tree["p"]["0,1"] = [1, 0, 2]
    assert from_table(tree).segments[0].position == (1, 0, 2)


def test_slides_and_axes_that_differ_in_the_parent() -> None:
    table = arm_vectors() | {"T": [0, 0, 1, 0, 0, 0], "e_in_parent": {"5": [0, 1, 0]}}
    mechanism = from_table(table)
    assert mechanism.segments[2].joint.kind == "prismatic"
    turned = mechanism.segments[4].rotation
    assert [row[2] for row in turned] == [0, 1, 0]
    assert is_rotation(turned)


def test_forms_know_parameters() -> None:
    table = manipulator_tree() | {"parameters": {"reach": 0.5}}
    table["p"] = {"4,5": [0, "reach", 0], "4,4": [0, "reach/2", 0]}
    position = from_table(table).segments[4].position
    assert [str(position[0]), str(position[2])] == ["0", "0"]
    assert position[1] == parse("reach/2 + reach")
    vectors: dict[str, Any] = arm_vectors() | {"parameters": {"l": 0.4}}
    vectors["r"]["2,2"] = [0, "l", 0]
    position = from_table(vectors).segments[2].position
    assert not isinstance(position[1], Fraction)
    assert format_expression(position[1]) == "l - -0.4"


@pytest.mark.parametrize(
    ("change", "element", "message"),
    [
        ({"e": None}, "e", "'e' is missing"),
        ({"e": [[0, 0, 1]], "rows": [[1, 2, 3, 4, 5, 6]]}, "e", "expected 6 entries"),
        ({"e": {"1": [0, 0, 1], "x": [1, 0, 0]}}, "e", "not the number of a body"),
        ({"r": {"1,1": [0, 0, 1]}}, "r '2,2'", "the vector is missing"),
        ({"r": {"1-1": [0, 0, 1]}}, "r", "does not name a body and a joint"),
        ({"r": {"1,1": [0, 0, 1], " 1, 1": [0, 0, 1]}}, "r", "given twice"),
        ({"r": {"1,3": [0, 0, 1]}}, "r '1,3'", "does not lie on body 1"),
        ({"r": [1]}, "r", "expected a table, got a list"),
        ({"m": [1]}, "m", "expected 6 entries, got 1"),
        ({"m": [-1] * 6}, "segment 'body1', mass", "negative"),
        ({"J": {"7": [1, 1, 1]}}, "J", "not the number of a body"),
        ({"T": [2] * 6}, "T[1]", "expected a whole number from 0 to 1"),
        ({"T": [True] * 6}, "T[1]", "expected a whole number from 0 to 1"),
        ({"names": ["a"]}, "names", "expected 6 entries, got 1"),
        ({"names": ["a"] * 6}, "segment 'a'", "used twice"),
        ({"n": 5}, "n", "does not fit"),
        ({"rows": []}, "rows", "there are no rows"),
        ({"rows": [[]]}, "row 1", "a row needs joints"),
        ({"rows": [[1, 1]]}, "row 1", "each once"),
        ({"rows": [[1, -2]]}, "row 1", "numbered from 1"),
        ({"rows": [[1, 3, 4, 5, 6, 7]]}, "rows", "joint 2 is in no row"),
        ({"rows": [[1, 2, 3, 4, 5, 6], [1, 3]]}, "row 2", "joint 3 follows"),
        ({"rows": [["a"]]}, "row 1[1]", "expected a whole number"),
        ({"closed": True}, "closed", "expected a list, got true"),
        ({"closed": [1]}, "closed[1]", "expected true or false, got a number"),
        ({"closed": [True, True]}, "closed", "expected 1 entries"),
        ({"axes": []}, "mechanism", "unknown field 'axes'"),
        ({"collinear": "turn"}, "collinear", "turn"),
        ({"symbols": 1}, "symbols", "expected true or false"),
        ({"symbols": True, "parameters": {"m_2": 1}}, "parameter 'm_2'", "used twice"),
        ({"basic": [[1]]}, "row 1, basic joints", "the row is open"),
        ({"basic": {"2": [1]}}, "basic", "not the number of a row"),
        ({"basic": [[7]], "closed": [True]}, "row 1, basic joints", "joint 7 is not in the row"),
        ({"basic": [[1, 1]], "closed": [True]}, "row 1, basic joints", "named twice"),
        ({"closing_axes": [["x", "y", "z"]]}, "row 1, closing axes", "the row is open"),
        (
            {"closing_axes": [["x", "x", "z"]], "closed": [True]},
            "row 1, closing axes",
            "rotation",
        ),
        ({"e_in_parent": {"1": [0, 0, 0]}}, "e_in_parent of joint 1", "no length"),
    ],
)
def test_wrong_vectors(change: dict[str, Any], element: str, message: str) -> None:
    with pytest.raises(ReadError) as caught:
        from_table(arm_vectors() | change)
    assert message in caught.value.message
    assert caught.value.element == element
    assert caught.value.remedy


def test_a_closed_row_needs_its_closing_vector() -> None:
    table = biped_vectors()
    del table["r"]["8,15"]
    with pytest.raises(ReadError, match="r '8,s'"):
        from_table(table)


def test_the_zero_pose_needs_numbers() -> None:
    table: dict[str, Any] = arm_vectors() | {"parameters": {"l": {}}}
    table["r"]["2,2"] = [0, "l", 0]
    with pytest.raises(ReadError, match="known number") as caught:
        from_table(table)
    assert caught.value.element == "r '2,2'"


@pytest.mark.parametrize(
    ("change", "element", "message"),
    [
        ({"L": None}, "L", "is missing"),
        ({"L": [0, 1, 2, 3, 9]}, "L", "given as following body 9"),
        ({"L": [0, 1, 2, 3, -1]}, "L", "given as following body -1"),
        ({"L": [0, 1, 2, 3, 5]}, "segment 'body5', parent", "circle"),
        ({"L": 4}, "L", "expected a list, got a number"),
        ({"L": ["a"] * 5}, "L[1]", "expected a whole number"),
        ({"L": [], "n": 0, "e": [], "m": [], "T": [], "inertia": []}, "segments", "no segments"),
        ({"n": 4}, "n", "does not fit"),
        ({"e": {"1": [0, 0, 1]}}, "e", "nothing is given for body 2"),
        ({"p": {"1,5": [0, 0, 1]}}, "p '1,5'", "does not belong to body 1"),
        ({"p": {"5,6": [0, 0, 1]}}, "p '5,6'", "does not belong to body 5"),
        ({"p": {"4,5": [0, 0]}}, "p '4,5'", "expected 3 entries"),
        ({"inertia": {"2": [1, 2]}}, "segment 'body2', inertia", "expected 3 entries"),
    ],
)
def test_wrong_trees(change: dict[str, Any], element: str, message: str) -> None:
    table = manipulator_tree() | change
    if "L" in change:
        table["p"] = {}
    with pytest.raises(ReadError) as caught:
        from_table(table)
    assert message in caught.value.message
    assert caught.value.element == element


def test_example_files_are_the_reference_mechanisms() -> None:
    pairs = [
        ("six_axis_arm", "rackovic_2_1"),
        ("six_axis_arm_vectors", "rackovic_2_1"),
        ("manipulator_tree", "manipulator_5dof"),
        ("biped", "rackovic_4_1"),
    ]
    for example, case in pairs:
        ours, theirs = read(EXAMPLES / f"{example}.toml"), read(REFERENCE / f"{case}.json")
        for mine, reference in zip(ours.segments, theirs.segments, strict=True):
            gap = greatest_difference(mine.rotation, reference.rotation)
            assert gap < Fraction(1, 10**13)
            assert renamed(replace(mine, rotation=reference.rotation), reference) == reference
        assert ours.coordinate_records[0].segment == 0


def test_the_biped_examples_agree_on_the_loop() -> None:
    ours, theirs = read(EXAMPLES / "biped.toml").loops[0], from_table(biped_vectors()).loops[0]
    assert replace(ours, name=theirs.name) == theirs


def test_examples_have_no_warnings_of_their_own() -> None:
    for path in sorted(EXAMPLES.glob("*.toml")):
        notes = [note for note in read(path).notes if note.level == "warning"]
        assert all("principal moments" in note.text for note in notes), path.name


@pytest.mark.parametrize("form", ["six_axis_arm", "six_axis_arm_vectors", "manipulator_tree"])
def test_parts_of_files_of_every_form(form: str) -> None:
    whole = read(f"examples/{form}.toml")
    root, tip = whole.segments[0].name, whole.segments[2].name
    part = read(f"examples/{form}.toml", root=root, tips=[tip])
    assert [s.name for s in part.segments] == [s.name for s in whole.segments[1:3]]
    assert part == whole.subtree(root, [tip])
    assert read(f"examples/{form}.toml", root=None) == whole
    with pytest.raises(ReadError) as caught:
        read(f"examples/{form}.toml", root="nobody")
    assert caught.value.remedy
