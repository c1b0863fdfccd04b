"""Unknown forces by `inverse-dynamics`, and what `check` tells of drives and elements."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import chainform as cf
from chainform.analysis import motion_of, unknown_forces
from chainform.cli.commands.schema import schema_text

ROOT = Path(__file__).parents[3]
CRANE = ROOT / "examples" / "portal_crane.toml"
MOTION = '{"s": "4 + 0.3*sin(t)"}'


def lines_of(file: Path) -> list[str]:
    """The rows of a file of results, without what is known of it."""
    return [line for line in file.read_text().splitlines() if not line.startswith("#")]


def test_forces_are_those_of_python(call: Callable[..., Any], tmp_path: Path) -> None:
    out = tmp_path / "forces.csv"
    result = call(
        "inverse-dynamics", CRANE, "--motion", MOTION, "--times", "0:1:5", "--out", out, "--json"
    )
    document = result.document
    jsonschema.validate(document, json.loads(schema_text("inverse-dynamics")))
    crane = cf.read(CRANE)
    motion = motion_of(crane, {"s": "4 + 0.3*sin(t)"}, np.linspace(0, 1, 5))
    found = unknown_forces(crane, motion.t, motion.q, motion.qd, motion.qdd)
    np.testing.assert_allclose(document["arrays"]["S"], found["S"], rtol=1e-12)
    assert document["arrays"]["rank"] == [1] * 5
    rows = list(csv.DictReader(lines_of(out)))
    assert [float(row["S"]) for row in rows] == found["S"].tolist()
    assert [float(row["qd.s"]) for row in rows] == motion.qd[:, 0].tolist()


def test_forces_of_constraints_are_shown_with_the_unknown_ones(
    call: Callable[..., Any], tmp_path: Path
) -> None:
    """A weight on a rod: F = m g tan(theta), and the rod is pulled by m g / cos(theta)."""
    (tmp_path / "weight.toml").write_text(
        """
name = "weight"
gravity = [0, -9.81, 0]
coordinates = [{ name = "x", unit = "m" }, { name = "y", unit = "m" }]
elements = ["p: S(x, y, 0); 2", { kind = "force", force = ["F", 0, 0], at = "p" }]
unknowns = ["F"]
[[constraints]]
name = "rod"
kind = "holonomic"
law = "x^2 + y^2 - 1"
"""
    )
    motion, out = '{"x": "sin(t)", "y": "-cos(t)"}', tmp_path / "forces.csv"
    chosen = (
        "inverse-dynamics",
        tmp_path / "weight.toml",
        "--times",
        "0.2,0.4",
        "--out",
        out,
        "--motion",
    )
    document = call(*chosen, motion, "--json").document
    jsonschema.validate(document, json.loads(schema_text("inverse-dynamics")))
    theta = np.array([0.2, 0.4])
    assert document["arrays"]["F"] == pytest.approx(2 * 9.81 * np.tan(theta))
    # The pull is 2 times the multiplier, as the law has the slope 2 r.
    pull = -2 * np.ravel(document["arrays"]["multipliers"]) - 2
    assert pull == pytest.approx(2 * 9.81 / np.cos(theta))
    assert document["facts"]["rows"] == ["rod"]
    rows = list(csv.DictReader(lines_of(out)))
    multipliers = np.ravel(document["arrays"]["multipliers"]).tolist()
    assert [float(row["multipliers[1]"]) for row in rows] == multipliers
    wrong = call(*chosen, '{"x": "sin(t)", "y": "-1"}', "--force")
    assert wrong.code != 0
    assert "do not fit 'rod' at t = 0.4 s: 0.151647 is left" in wrong.err


def test_many_times_are_thinned_for_people(call: Callable[..., Any]) -> None:
    shown = call(
        "inverse-dynamics", CRANE, "--motion", MOTION, "--times", "0:1:1001"
    ).out.splitlines()
    assert len(shown) < 40
    assert "rank 1" in shown[1]


@pytest.mark.parametrize(
    ("motion", "times", "words"),
    [
        ('{"s": "4 + x"}', "0:1:5", "x"),
        ('{"r": "4"}', "0:1:5", "r"),
        ("{}", "0:1:5", "s"),
        ("-", "0:1:5", "empty"),
        (MOTION, "0:1", "no times"),
        (MOTION, "0:1:0", "--times, count"),
        (MOTION, "a,b", "no times"),
        (MOTION, "0:inf:3", "--times, to: the number is not finite"),
        ('{"s": "400"}', "0,1", "finite"),
    ],
)
def test_wrong_input_is_refused(
    call: Callable[..., Any], motion: str, times: str, words: str
) -> None:
    result = call("inverse-dynamics", CRANE, "--motion", motion, "--times", times)
    assert result.code in (1, 2)
    assert words in result.err
    assert result.out == ""


def test_a_motion_that_violates_a_constraint_is_refused(call: Callable[..., Any]) -> None:
    arm = ROOT / "examples" / "knife_edge.toml"
    laws = json.dumps(dict.fromkeys(cf.read(arm).coordinates, "t"))
    result = call("inverse-dynamics", arm, "--motion", laws, "--times", "0,1")
    assert result.code == 2
    assert "--motion: the rates of the motion do not fit 'blade'" in result.err


@pytest.mark.parametrize(
    ("file", "key"),
    [
        ("driven_arm", "actuators"),
        ("portal_crane", "elements"),
        ("knife_edge", "constraints"),
        ("manipulator_forces", "forces"),
    ],
)
def test_check_tells_what_there_is(call: Callable[..., Any], file: str, key: str) -> None:
    path = ROOT / "examples" / f"{file}.toml"
    document = call("check", path, "--json").document
    jsonschema.validate(document, json.loads(schema_text("check")))
    text = call("check", path).out
    assert document["mechanism"][key][0]["name"] in text


def test_parameters_may_have_other_values(call: Callable[..., Any]) -> None:
    arguments = ("inverse-dynamics", CRANE, "--motion", MOTION, "--times", "0:1:5", "--json")
    light = call(*arguments, "--values", "m_load=5000,m_P=20000").document["arrays"]["S"]
    crane, times = cf.read(CRANE), np.linspace(0, 1, 5)
    values = {"m_load": 5000, "m_P": 20000}
    found = unknown_forces(crane, times, motion=json.loads(MOTION), values=values)
    np.testing.assert_allclose(light, found["S"], rtol=1e-12)
    assert not np.allclose(light, call(*arguments).document["arrays"]["S"])
    for wrong, words in (("m_load", "PARAMETER=VALUE"), ("m_lod=1", "m_lod"), ("m_P=x", "'x'")):
        result = call(*arguments, "--values", wrong)
        assert result.code == 2
        assert words in result.err


def test_check_tells_friction_and_springs(call: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "lever.toml"
    path.write_text(
        """
[parameters]
k = 30
[[segments]]
name = "lever"
joint = { type = "revolute", axis = "y", friction = { viscous = 0.25 }, gear_ratio = 50 }
mass = 2
[[springs]]
joint = "lever"
stiffness = "k"
rest = 0.5
""",
        encoding="utf-8",
    )
    text = call("check", path).out
    rows = [line.split() for line in text.splitlines()]
    assert ["lever", "0.25", "0", "0", "50"] in rows
    assert ["spring1", "joint", "lever", "k", "0.5", "0"] in rows
    document = call("check", path, "--json").document
    jsonschema.validate(document, json.loads(schema_text("check")))
    assert document["mechanism"]["springs"][0]["stiffness"] == "k"
    assert document["values"] == {"k": 30.0}
    assert "passive" in document["common_outputs"]


def test_reactions_are_offered_where_they_follow(call: Callable[..., Any]) -> None:
    """The rack of the crane acts at a place that moves against its boom: not all rows follow."""
    document = call("check", CRANE, "--json").document
    assert "reactions" not in document["common_outputs"]
    assert "reaction" in document["frame_outputs"]
    assert "of an element F: pose(F)" in call("check", CRANE).out


def test_a_motion_that_is_no_table_is_refused(
    call: Callable[..., Any], refused: Callable[[Any], str]
) -> None:
    found = refused(
        call("inverse-dynamics", CRANE, "--motion", "-", "--times", "0:1:5", stdin=b"[1]")
    )
    assert "motion" in found


def test_the_file_that_was_written_is_named(call: Callable[..., Any], tmp_path: Path) -> None:
    out = tmp_path / "forces.csv"
    result = call("inverse-dynamics", CRANE, "--motion", MOTION, "--times", "0:1:5", "--out", out)
    assert result.out.splitlines()[-1] == f"written to {out}"
