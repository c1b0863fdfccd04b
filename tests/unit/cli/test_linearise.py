"""`chainform linearise`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import chainform as cf
from chainform.cli.commands.schema import schema_text

EXAMPLES = Path(__file__).parents[3] / "examples"
ARM = EXAMPLES / "driven_arm.toml"
BAR = EXAMPLES / "four_bar.toml"


def test_matrices_are_those_of_python(call: Callable[..., Any]) -> None:
    state = {"q": {"elbow": 0.3}, "u": [1, 2, 3], "values": {"R": 3}}
    at = ("--at", json.dumps(state), "--outputs", "drives, q", "--inputs", "elbow_motor", "tau")
    document = call("linearise", ARM, *at, "--wrenches", "forearm", "--json").document
    jsonschema.validate(document, json.loads(schema_text("linearise")))
    found = cf.linearise(
        ARM,
        outputs=["drives", "q"],
        inputs=["elbow_motor", "tau"],
        wrenches=["forearm"],
        q={"elbow": 0.3},
        u=[1, 2, 3],
        values={"R": 3},
    )
    for name in "ABCD":
        assert np.array_equal(document[name], getattr(found, name))
    assert tuple(document["inputs"]) == found.inputs
    assert document["inputs"][0] == "elbow_motor.voltage"
    assert document["is_equilibrium"] is False


def test_wide_matrices_are_told(call: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "at.json").write_text('{"q": {"crank": 0.4}}')
    shown = call("linearise", BAR, "--at", tmp_path / "at.json", "--independent", "rocker").out
    assert "der(rocker)" in shown
    assert "1 of 3 equations is redundant" in shown
    wide = call("linearise", EXAMPLES / "biped.toml", "--at", '{"q": {"knee": 0.4}}').out
    assert "20 × 14, see --json" in wide


def test_laws_and_controllers_stand_with_the_state(call: Callable[..., Any]) -> None:
    pid = '{"crank": {"type": "pid", "kp": 5, "ki": 1, "kd": 1}}'
    state = f'{{"q": {{"crank": 0.4}}, "forces": {{"crank": "-crank"}}, "controllers": {pid}}}'
    found = call("linearise", BAR, "--at", state, "--json").document
    assert found["states"] == ["crank", "der(crank)", "integral(crank)"]
    plain = call("linearise", BAR, "--at", '{"q": {"crank": 0.4}}', "--inputs", "crank", "--json")
    gain = plain.document["B"][1][0]
    assert found["A"][1][1:] == pytest.approx([-gain, gain])
    assert found["A"][2] == [-1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("file", "options", "message"),
    [
        (BAR, ("--at", '{"q": [1, 2, 3]}'), "do not fit 'linkage"),
        (BAR, ("--at", '{"qq": 1}'), "did you mean 'q'"),
        (BAR, ("--at", "[1]"), "there is no such file"),
        (BAR, ("--at", '{"q": {"crank": "x"}}'), "q"),
        (BAR, ("--at", '{"q": {"crank": NaN}}'), "finite"),
        (BAR, ("--independent", "croker"), "croker"),
        (ARM, ("--inputs", "elbo"), "did you mean 'elbow'"),
        (ARM, ("--outputs", "dirves"), "did you mean 'drives'"),
        (ARM, ("--at", '{"u": [[1, 2, 3], [4, 5, 6]]}'), "u has the shape (2, 3)"),
        (ARM, ("--at", '{"x": [1, 2]}'), "x must have 9 finite numbers"),
    ],
)
def test_bad_input(
    call: Callable[..., Any], file: Path, options: tuple[str, ...], message: str
) -> None:
    result = call("linearise", file, *options)
    assert result.code in (1, 2)
    assert "unexpected" not in result.err
    assert message in result.err
