"""Every reference mechanism reads, and its numbers are those of the file."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from chainform.errors import ReadError
from chainform.mechanism import GROUND
from chainform.mechanism.exact import greatest_difference, is_rotation
from chainform.readers import read

REFERENCE = Path(__file__).parents[2] / "data" / "reference"

MECHANISMS = [
    "humanoid_30",
    "manipulator_5dof",
    "puma560",
    "rackovic_2_1",
    "rackovic_4_1",
    "seven_axis",
    "seven_axis_general",
    "sliding_links_3",
    "stanford_arm",
    "stanford_toolbox",
]


def exact(value: Any) -> Any:
    """Return nested lists of decimals as nested tuples of exact numbers."""
    if isinstance(value, list):
        return tuple(exact(entry) for entry in value)
    return Fraction(value)


def block(case: str) -> dict[str, Any]:
    text = (REFERENCE / f"{case}.json").read_text(encoding="utf-8")
    return json.loads(text, parse_float=str)["mechanism"]


@pytest.mark.parametrize("case", MECHANISMS)
def test_numbers_match_the_file(case: str) -> None:
    mechanism = read(REFERENCE / f"{case}.json")
    said = block(case)
    assert mechanism.name == case
    assert mechanism.gravity == exact(said["gravity"])
    assert mechanism.nq == said["dof"]
    assert len(mechanism.segments) == len(said["bodies"])
    for segment, body in zip(mechanism.segments, said["bodies"], strict=True):
        joint = body["joint"]
        dof = None if joint["dof"] is None else joint["dof"] - 1
        assert (segment.name, segment.parent) == (body["name"], body["parent"] - 1)
        assert (segment.joint.kind, segment.coordinate) == (joint["type"], dof)
        assert segment.position == exact(joint["position_in_parent"])
        assert segment.body.mass == Fraction(body["mass"])
        assert segment.body.com == exact(body["com"])
        assert segment.body.inertia == exact(body["inertia_com"])
        rotation = exact(joint["rotation_to_parent_at_zero"])
        assert is_rotation(segment.rotation)
        assert greatest_difference(segment.rotation, rotation) < Fraction(1, 10**12)
        if joint["axis"] is not None:
            assert segment.joint.axis == exact(joint["axis"])


def test_the_source_is_kept() -> None:
    path = REFERENCE / "rackovic_2_1.json"
    mechanism = read(path)
    assert mechanism.file == str(path)
    assert mechanism.source == path.read_bytes()
    assert mechanism.segments[0].parent == GROUND


def test_coordinates_in_the_order_of_dof() -> None:
    mechanism = read(REFERENCE / "sliding_links_3.json")
    assert mechanism.coordinates == ("turn1", "turn2", "turn3", "link1", "link2", "link3")


def test_turned_frames_are_reported() -> None:
    notes = read(REFERENCE / "rackovic_4_1.json").notes
    turned = [note.element for note in notes if "quaternion" in note.text]
    assert turned == ["segment 'body11', rotation", "segment 'body13', rotation"]


@pytest.mark.parametrize(
    ("case", "words"),
    [("rackovic_model_3_1", "no segments"), ("andrews_squeezer", "unknown field 'case'")],
)
def test_files_without_a_mechanism_say_so(case: str, words: str) -> None:
    with pytest.raises(ReadError, match=words):
        read(REFERENCE / f"{case}.json")
