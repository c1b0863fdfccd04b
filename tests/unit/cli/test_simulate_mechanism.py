"""`chainform simulate` of a mechanism file: states, motions and tables of the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import chainform as cf
from chainform.cli.commands.schema import schema_text

pytestmark = pytest.mark.any_processor

BAR = str(Path(__file__).parents[3] / "examples" / "four_bar.toml")
LAW = '{"crank": [{"until": 0.5, "law": "6*t^2"}, {"law": "6*t - 3/2"}]}'


def test_a_mechanism_moves_from_a_state(call: Callable[..., Any]) -> None:
    result = call("simulate", BAR, "--q0", "crank=pi/4", "--qd0", "crank=1", "--time", "0.2:0.7")
    run = cf.simulate(BAR, q0={"crank": np.pi / 4}, qd0={"crank": 1}, t=(0.2, 0.7))
    assert (result.code, result.err) == (0, "")
    assert f"{run.q[-1, 0]:.9g}" in result.out
    plain = call("simulate", BAR, "--q0=0.4,-1,-2", "--every", "1/2", "--json")
    listed = ["--q0", "[0.4, -1, -2]"]
    document = call("simulate", BAR, *listed, "--every", "0.5", "--json").document
    assert plain.document["series"] == document["series"]
    Draft202012Validator(json.loads(schema_text("simulate"))).validate(document)
    assert document["series"]["t"] == [0, 0.5, 1]
    run = cf.simulate(BAR, q0=[0.4, -1, -2], t_eval=[0, 0.5, 1])
    for k, name in enumerate(run.mechanism.coordinates):
        assert document["series"][f"q.{name}"] == run.q[:, k].tolist()
        assert document["series"][f"tau.{name}"] == [0, 0, 0]


def test_a_motion_and_forces_are_given_by_laws_or_json(
    call: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "laws.json").write_text(LAW)
    for text in (LAW, str(tmp_path / "laws.json")):
        document = call("simulate", BAR, "--motion", text, "--json").document
        assert document["final"]["q"]["crank"] == pytest.approx(4.5)
        assert document["motion_forces"]["crank"]["greatest"] > 2
    forces = call("simulate", BAR, "--forces", "crank=2*t", "rocker=-1", "--every", "0.5", "--json")
    assert forces.document["series"]["tau.crank"] == [0, 1, 2]
    assert forces.document["series"]["tau.rocker"] == [-1, -1, -1]


def test_motions_and_forces_come_from_files(call: Callable[..., Any], tmp_path: Path) -> None:
    """Of one file the coordinate that is driven, and of an arm all of them."""
    bar, arm = tmp_path / "bar.csv", tmp_path / "arm.toml"
    cf.simulate(BAR, motion={"crank": "6*t"}).save(bar)
    named = json.dumps({"crank": {"file": str(bar), "smoothing": 0}})
    found = call("simulate", BAR, "--motion", named, "--json").document
    laws = call("simulate", BAR, "--motion", "crank=6*t", "--json").document
    for what in ("least", "greatest"):
        forces = [document["motion_forces"]["crank"][what] for document in (found, laws)]
        assert forces[0] == pytest.approx(forces[1], rel=1e-4)
    assert call("simulate", BAR, "--motion", bar).code == 2  # more than the loop leaves free
    arm.write_text(ARM)
    t = np.linspace(0, 1, 101)
    drive = cf.inverse_dynamics(arm, {"a": "sin(t)", "b": "0.1*t^3"}, t)
    for ending in ("csv", "npz"):
        drive.save(tmp_path / f"drive.{ending}")
        moved = call("simulate", arm, "--motion", tmp_path / f"drive.{ending}", "--json").document
        assert moved["final"]["q"]["a"] == pytest.approx(np.sin(1), abs=1e-9)
        assert moved["motion_forces"]["a"]["last"] == pytest.approx(drive["tau"][-1, 0], abs=1e-6)
    driven = call("simulate", arm, "--qd0", "a=1", "--forces", tmp_path / "drive.csv", "--json")
    assert driven.document["final"]["q"]["b"] == pytest.approx(0.1, abs=1e-3)
    state = ["--q0", tmp_path / "drive.npz", "--qd0", tmp_path / "drive.npz"]
    again = call("simulate", arm, *state, "--forces", tmp_path / "drive.npz", "--json").document
    assert again["final"]["q"] == pytest.approx(driven.document["final"]["q"], abs=1e-12)
    wrong = call("simulate", BAR, "--q0", tmp_path / "drive.npz")
    assert (wrong.code, "write the numbers: --q0 crank=0.4" in wrong.err) == (2, True)
    (tmp_path / "plain.csv").write_text("t,a\n0,0\n0.5,1\n1,2\n")
    plain = call("simulate", arm, "--motion", tmp_path / "plain.csv")
    assert "smoothing" in plain.err
    other = call("simulate", BAR, "--motion", tmp_path / "drive.csv")
    assert "other coordinates" in other.err


ARM = """
[[segments]]
name = "a"
parent = "ground"
joint = "revolute"
axis = "z"
mass = 1
com = [0.3, 0, 0]

[[segments]]
name = "b"
parent = "a"
joint = "revolute"
axis = "z"
position = [0.5, 0, 0]
mass = 1
com = [0.2, 0, 0]
"""


def test_the_table_has_the_columns_that_are_named(call: Callable[..., Any]) -> None:
    columns = ["energy", "q.rocker", "pose(coupler)[1,4]", "motion_force(crank)"]
    every = ["--motion", "crank=0.4 + 6*t", "--every", "0.5", "--quiet"]
    lines = call("simulate", BAR, *every, "--table", *columns).out.split("\n")
    assert lines[1].split() == ["t", *columns]
    run = cf.simulate(BAR, motion={"crank": "0.4 + 6*t"}, t_eval=[0, 0.5, 1])
    numbers = [run.t, run.energy, run.q[:, 2], run.output("pose(coupler)")[:, 0, 3]]
    numbers.append(run.motion_forces["crank"])
    shown = np.array([[float(word) for word in line.split()] for line in lines[2:5]])
    assert shown == pytest.approx(np.stack(numbers, axis=1), rel=1e-5)
    usual = call("simulate", BAR, *every, "--table").out.split("\n")[1].split()
    states = [f"{group}.{name}" for group in ("q", "qd") for name in run.mechanism.coordinates]
    assert usual == ["t", *states, "motion_force(crank)"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--q0", "crank=zz"], "--q0, crank: 'zz' is not a parameter"),
        (["--q0", "[1, 2]"], "--q0: q0 has the shape (2,)"),
        (["--q0", "[1, 2"], "--q0: this is not JSON"),
        (["--q0", "1,2,zz"], "--q0: 'zz' is not a parameter"),
        (["--q0", "crank=1", "--motion", "crank=6*t"], "--q0: crank begins at 0"),
        (["--motion", "crank=rocker"], "--motion, crank: 'rocker' is a coordinate"),
        (["--motion", "[1]"], "--motion: expected a table"),
        (["--every", "0"], "--every: it must be positive"),
        (["--every", "1e-12"], "--every: there would be"),
        (["--table", "foo"], "--table, outputs: there is no output 'foo'"),
        (["--table", "q.foo"], "--table: there is no column 'q.foo'"),
    ],
)
def test_wrong_options_are_refused_by_name(
    call: Callable[..., Any], options: list[str], message: str
) -> None:
    result = call("simulate", BAR, *options)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_options_of_a_mechanism_are_refused_with_a_scenario(call: Callable[..., Any]) -> None:
    scenario = Path(BAR).parent / "scenarios" / "pendulum.toml"
    result = call("simulate", scenario, "--base", "floating")
    assert result.code == 2
    assert "--base goes with a mechanism, and this is a scenario" in result.err
