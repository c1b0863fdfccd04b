"""`chainform forces`, and what `check` tells of drives, elements and constraints."""

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


def test_forces_are_those_of_python(call: Callable[..., Any], tmp_path: Path) -> None:
    out = tmp_path / "forces.csv"
    result = call("forces", CRANE, "--motion", MOTION, "--times", "0:1:5", "--out", out, "--json")
    document = result.document
    jsonschema.validate(document, json.loads(schema_text("forces")))
    crane = cf.read(CRANE)
    motion = motion_of(crane, {"s": "4 + 0.3*sin(t)"}, np.linspace(0, 1, 5))
    found = unknown_forces(crane, motion.t, motion.q, motion.qd, motion.qdd)
    np.testing.assert_allclose(document["forces"], found.values, rtol=1e-12)
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [float(row["S"]) for row in rows] == found["S"].tolist()
    assert [float(row["d_s"]) for row in rows] == motion.qd[:, 0].tolist()


def test_many_times_are_thinned_for_people(call: Callable[..., Any]) -> None:
    shown = call("forces", CRANE, "--motion", MOTION, "--times", "0:1:1001").out.splitlines()
    assert len(shown) < 40
    assert "rank 1" in shown[0]


@pytest.mark.parametrize(
    ("motion", "times", "words"),
    [
        ('{"s": "4 + x"}', "0:1:5", "x"),
        ('{"r": "4"}', "0:1:5", "r"),
        ("{}", "0:1:5", "s"),
        ("-", "0:1:5", "empty"),
        (MOTION, "0:1", "no times"),
        (MOTION, "0:1:0", "no times"),
        (MOTION, "a,b", "no times"),
        (MOTION, "0:inf:3", "finite"),
        ('{"s": "400"}', "0,1", "finite"),
    ],
)
def test_wrong_input_is_refused(
    call: Callable[..., Any], motion: str, times: str, words: str
) -> None:
    result = call("forces", CRANE, "--motion", motion, "--times", times)
    assert result.code in (1, 2)
    assert words in result.err
    assert result.out == ""


def test_a_mechanism_without_unknown_forces_is_refused(call: Callable[..., Any]) -> None:
    arm = ROOT / "examples" / "knife_edge.toml"
    laws = json.dumps(dict.fromkeys(cf.read(arm).coordinates, "t"))
    result = call("forces", arm, "--motion", laws, "--times", "0,1")
    assert result.code == 2
    assert "unknown" in result.err


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
    assert document[key]
    text = call("check", path).out
    assert document[key][0]["name"] in text
