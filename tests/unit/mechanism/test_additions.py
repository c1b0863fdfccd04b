"""Named frames, payloads: in files, in the builder, and added to a mechanism."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from chainform.errors import ReadError
from chainform.expressions import Identifier, parse
from chainform.mechanism import GROUND, Frame, JointKind, Mechanism, MechanismBuilder, parametrise
from chainform.mechanism.checks import names_in
from chainform.readers import read_text

QUARTER = ((0, -1, 0), (1, 0, 0), (0, 0, 1))


def arm() -> MechanismBuilder:
    """Return two segments, the second with a ball joint, and parameters."""
    return (
        Mechanism.builder("arm")
        .parameter("l", "0.5")
        .parameter("k")
        .segment("upper", axis="y", mass=1)
        .segment("hand", parent="upper", joint="spherical", euler="zyx", mass=1)
    )


# --- frames ---------------------------------------------------------------------------------


def test_frames_of_the_builder() -> None:
    builder = arm().frame("tool", "hand", [0, 0, "l"], quaternion=[0, 0, 1, 1])
    mechanism = builder.frame("camera", "ground", rpy=[0, 0, "pi/2"]).frame("tip", 2).build()
    tool, camera, tip = mechanism.frames
    assert tool == Frame("tool", 3, (Fraction(0), Fraction(0), Identifier("l")), tool.rotation)
    assert tool.rotation == camera.rotation == QUARTER
    assert camera.segment == GROUND
    # The second specification is a chain of three; its body is on the last of them.
    assert tip.segment == 3
    assert mechanism.frame("tool") is tool
    assert mechanism.frame("hand") == Frame("hand", 3)
    assert mechanism.frame("ground").segment == GROUND
    with pytest.raises(ReadError, match="no frame or segment named 'tol'") as caught:
        mechanism.frame("tol")
    assert "'tool'" in str(caught.value.remedy)
    assert [n.element for n in mechanism.notes if "1e-15" in n.text] == ["frame 'camera', rpy"]


def test_frames_of_files() -> None:
    table: dict[str, Any] = {
        "gravity": [0, 0, -9.81],
        "segments": [{"name": "a", "joint": "revolute", "axis": "z", "mass": 1}],
        "frames": [{"name": "t", "segment": "a", "point": [1, 0, 0], "note": "tool"}],
    }
    mechanism = read_text(json.dumps(table), "json")
    assert mechanism.frames == (Frame("t", 0, (Fraction(1), Fraction(0), Fraction(0))),)
    tree = {"format": "tree", "L": [0], "e": [[0, 0, 1]], "m": [1], "gravity": [0, 0, -9.81]}
    frames = [{"name": "t", "segment": 1}]
    assert read_text(json.dumps({**tree, "frames": frames}), "json").frames[0].segment == 0


@pytest.mark.parametrize(
    ("frames", "element", "message"),
    [
        ({}, "frames", "expected a list, got a table"),
        ([1], "frame 1", "expected a table, got a number"),
        ([{"segment": "a"}], "frame 1, name", "expected a text, got nothing"),
        ([{"name": "t"}], "frame 't', segment", "'segment' is missing"),
        ([{"name": "t", "segment": "b"}], "frame 't', segment", "no segment named 'b'"),
        ([{"name": "a", "segment": "a"}], "frame 'a'", "a segment has this name"),
        ([{"name": "ground", "segment": "a"}], "frame 'ground'", "a segment has this name"),
        ([{"name": "t", "segment": "a"}] * 2, "frame 't'", "used twice"),
        ([{"name": "t", "segment": "a", "place": 1}], "frame 1", "unknown field 'place'"),
        ([{"name": "t", "segment": "a", "point": [1]}], "frame 't', point", "expected 3 entries"),
        (
            [{"name": "t", "segment": "a", "rpy": [0, 0, 0], "quaternion": [0, 0, 0, 1]}],
            "frame 't', rotation",
            "more than once",
        ),
    ],
)
def test_wrong_frames(frames: Any, element: str, message: str) -> None:
    segments = [{"name": "a", "joint": "revolute", "axis": "z", "mass": 1}]
    with pytest.raises(ReadError) as caught:
        read_text(json.dumps({"segments": segments, "frames": frames}), "json", file="f.json")
    assert message in caught.value.message
    assert (caught.value.element, caught.value.file) == (element, "f.json")
    assert caught.value.remedy


def test_frames_and_parameters() -> None:
    mechanism = arm().frame("tool", "hand", ["l", "k*l", "0.2"]).build()
    assert {"l", "k"} <= names_in(mechanism)
    assert not any("not used" in note.text for note in mechanism.notes)
    point = parametrise(mechanism, "numeric").frames[0].point
    assert point == (Fraction(1, 2), parse("k*0.5"), Fraction(1, 5))
    result = parametrise(mechanism, "symbolic")
    assert result.frames[0].point == (Identifier("l"), parse("k*l"), Fraction(1, 5))
    assert {"l", "k"} <= {parameter.name for parameter in result.parameters}


def test_a_frame_may_be_added() -> None:
    before = arm().frame("tool", "hand").build()
    after = before.with_frame("tip", "upper", ["l", 0, 0], QUARTER)
    first, tip = after.frames
    assert (tip.name, tip.segment, tip.rotation) == ("tip", 0, QUARTER)
    assert tip.point == (Identifier("l"), 0, 0)
    assert first == before.frames[0]
    assert before.frames == (Frame("tool", 3),)
    assert after.segments == before.segments
    # The parameter is used now, so the note that it was not is gone.
    assert [note.element for note in before.notes] == ["parameter 'l'", "parameter 'k'"]
    assert [note.element for note in after.notes] == ["parameter 'k'"]
    assert before.with_frame("base", "ground").frames[1] == Frame("base", GROUND)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tool", "hand"), "used twice"),
        (("hand", "hand"), "a segment has this name"),
        (("x", "palm"), "no segment named 'palm'"),
        (("x", "hand", [0, 0]), "expected 3 entries"),
        (("x", "hand", [0, 0, "y"]), "'y' is not a parameter"),
        (("x", "hand", [0, 0, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 2]]), "not a rotation"),
        ((1, "hand"), "expected a text"),
    ],
)
def test_wrong_frames_are_not_added(arguments: tuple[Any, ...], message: str) -> None:
    mechanism = arm().frame("tool", "hand").build()
    with pytest.raises(ReadError, match=message) as caught:
        mechanism.with_frame(*arguments)
    assert caught.value.element
    assert caught.value.remedy


# --- payloads -------------------------------------------------------------------------------


def test_a_payload_is_the_last_segment() -> None:
    before = arm().build()
    after = before.with_payload("hand", "2*l", [0, 0, "0.1"], [1, 2, 2])
    payload = after.segments[-1]
    assert after.segments[:-1] == before.segments
    assert (payload.name, payload.parent, payload.joint.kind) == ("payload", 3, JointKind.FIXED)
    assert payload.body.mass == parse("2*l")
    assert payload.body.com == (0, 0, Fraction(1, 10))
    assert payload.body.inertia[1][1] == 2
    assert payload.position == (0, 0, 0)
    assert after.coordinate_records == before.coordinate_records
    assert any("fixed to 'hand'" in note.text for note in after.notes)
    assert after.with_payload("payload", 1, name="more").segments[-1].parent == 4


def test_a_payload_takes_warnings_away() -> None:
    before = Mechanism.builder().segment("a", axis="z").build()
    assert [note.level for note in before.notes] == ["warning"]
    after = before.with_payload("a", 1)
    assert [note.level for note in after.notes] == ["note"]


def test_changed_mechanisms_are_not_their_source() -> None:
    text = '[[segments]]\nname = "a"\njoint = "revolute"\naxis = "z"\nmass = 1'
    mechanism = read_text(text, "toml", file="a.toml")
    assert mechanism.source is not None
    for changed in (
        mechanism.with_payload("a", 1),
        mechanism.with_frame("t", "a"),
        mechanism.subtree(),
    ):
        assert changed.source is None
        assert changed.file == "a.toml"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("palm", 1), "no segment named 'palm'"),
        (("ground", 1), "moves nowhere"),
        (("hand", -1), "negative"),
        (("hand", "m"), "'m' is not a parameter"),
        (("hand", 1, [0, 0]), "expected 3 entries"),
        (("hand", 1, [0, 0, 0], [[1, 1, 0], [0, 1, 0], [0, 0, 1]]), "not symmetric"),
        (("hand", 1, [0, 0, 0], None, "hand"), "has this name already"),
        (("hand", 1, [0, 0, 0], None, "tool"), "has this name already"),
        (("hand", 1, [0, 0, 0], None, "ground"), "has this name already"),
    ],
)
def test_wrong_payloads(arguments: tuple[Any, ...], message: str) -> None:
    mechanism = arm().frame("tool", "hand").build()
    with pytest.raises(ReadError, match=message) as caught:
        mechanism.with_payload(*arguments)
    assert caught.value.remedy


def test_an_impossible_payload_is_warned_of() -> None:
    notes = arm().build().with_payload("hand", 1, [0, 0, 0], [1, 1, 5]).notes
    assert any("cannot belong to a body" in note.text for note in notes)
