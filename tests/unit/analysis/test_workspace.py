"""The workspace of a frame: of open arms, of closed mechanisms, of element models."""

from __future__ import annotations

from math import cos, pi
from pathlib import Path

import numpy as np
import pytest

import chainform as cf

ROOT = Path(__file__).parents[3]
RANGES = {"lower": [0.5, 3]}


def two_links() -> cf.Mechanism:
    builder = cf.Mechanism.builder("arm")
    builder.segment("upper", axis="z", mass=1)
    builder.segment("lower", parent="upper", axis="z", position=[1, 0, 0], mass=2)
    return builder.frame("tip", "lower", [1, 0, 0]).build()


def five_bar() -> cf.Mechanism:
    """Two arms of 0.3 and 0.4 m whose elbows stand 0.2 m apart on the ground, and which meet."""
    builder = cf.Mechanism.builder("five bar")
    for name, parent, x in (
        ("a", "ground", 0),
        ("b", "a", 0.3),
        ("c", "ground", 0.2),
        ("d", "c", 0.3),
    ):
        builder.segment(name, parent=parent, axis="z", position=[x, 0, 0], mass=1)
    ends = ({"segment": name, "point": [0.4, 0, 0]} for name in ("b", "d"))
    return builder.loop("pin", "point", *ends).frame("tip", "b", [0.4, 0, 0]).build()


def test_the_workspace_of_two_links_is_a_ring() -> None:
    arm = two_links()
    found = cf.workspace(arm, "tip", count=800, ranges=RANGES)
    reach = np.linalg.norm(found["position"], axis=1)
    expected = np.sqrt(2 + 2 * np.cos(found["q"][:, 1]))
    np.testing.assert_allclose(reach, expected, atol=1e-12)
    assert 0.99 * reach.max() < np.sqrt(2 + 2 * cos(0.5))
    assert np.abs(found["q"][:, 0]).max() <= pi
    again = cf.workspace(arm, "tip", count=800, ranges=RANGES)
    assert np.array_equal(found["q"], again["q"])


def test_a_five_bar_reaches_where_two_rings_meet() -> None:
    found = cf.workspace(five_bar(), "tip", count=600)
    ends = [np.linalg.norm(found["position"] - [x, 0, 0], axis=1) for x in (0, 0.2)]
    for away in ends:
        assert 0.1 - 1e-9 < away.min() < 0.11
        assert 0.69 < away.max() < 0.7 + 1e-9
    # The second arm closes the loop: its elbow is 0.3 m from its pivot and 0.4 m from the tip.
    pose = cf.derive(five_bar(), ["pose(d)"]).evaluate(q=found["q"])["pose(d)"][:, :3, 3]
    np.testing.assert_allclose(np.linalg.norm(found["position"] - pose, axis=1), 0.4, atol=1e-9)
    assert found["singular_values"].shape == (len(found), 2)
    assert found.report[-1] == f"{len(found)} of 600 poses close the loops within the ranges"


def test_a_closed_mechanism_stays_within_the_ranges() -> None:
    found = cf.workspace(five_bar(), "tip", count=200, ranges={"a": [1, 2]})
    assert 1 <= found["q"][:, 0].min() < 1.1 < 1.9 < found["q"][:, 0].max() <= 2
    with pytest.raises(cf.Error, match="none of 20 poses closes"):
        cf.workspace(five_bar(), "tip", count=20, ranges={"a": [3.1, 3.2], "b": [0, 0.01]})


def test_a_frame_of_an_element_has_a_workspace() -> None:
    arm = cf.read(ROOT / "examples" / "stanford_elements.toml")
    found = cf.workspace(arm, "C", count=400, ranges={"d32": [0.2, 0.4]})
    # The tip is d32 + L2 + d4 along the arm from an axis 0.75 m high, and 0.75 m aside.
    away = np.linalg.norm(found["position"] - [0, 0, 0.75], axis=1)
    np.testing.assert_allclose(away, np.hypot(0.75, found["q"][:, 2] + 0.4), atol=1e-12)
    with pytest.raises(cf.Error, match="no limits"):
        cf.workspace(arm, "C")


def test_a_slide_without_limits_needs_a_range() -> None:
    builder = cf.Mechanism.builder("slide")
    slide = builder.segment("a", joint="prismatic", axis="x", mass=1).build()
    with pytest.raises(cf.Error, match="no limits"):
        cf.workspace(slide, "a")
    with pytest.raises(cf.Error, match="the range is empty"):
        cf.workspace(slide, "a", ranges={"a": [2, 1]})


@pytest.mark.parametrize("limits", [{"lower": 4}, {"upper": 4}])
def test_a_joint_with_one_limit_stays_within_it(limits: dict[str, float]) -> None:
    builder = cf.Mechanism.builder("winch")
    joint = {"type": "revolute", "limits": limits}
    winch = builder.segment("a", joint=joint, axis="z", mass=1).build()
    angles = cf.workspace(winch.with_frame("hook", "a", (1, 0, 0)), "hook", count=50)["q"]
    assert np.all(angles >= 4 if "lower" in limits else angles <= 4)
    assert np.ptp(angles) > 5
