"""`chainform runs`, and what the command line says before a scenario or refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import chainform as cf
from chainform.cli.commands.schema import schema_text
from chainform.errors import RunError
from chainform.simulation.run import Run

SCENARIO = """
mechanism = "mechanism.toml"
time = 1
values = { length = 0.5 }
initial = { q = { hinge = 1 } }
output = { every = 0.1 }
events = { down = "hinge - pi/2" }
"""
VALID = Draft202012Validator(json.loads(schema_text("runs")))


@pytest.fixture
def scenario(tmp_path: Path, pendulum: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario of the pendulum, in the present folder."""
    (tmp_path / "mechanism.toml").write_text(pendulum.read_text())
    (tmp_path / "swing.toml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHAINFORM_DB", str(tmp_path / "models.db"))
    return Path("swing.toml")


@pytest.fixture
def kept(call: Callable[..., Any], scenario: Path) -> Path:
    """Two runs in the store."""
    assert call("simulate", scenario, "--save", "pendulum", "--run", "first").code == 0
    options = ("--save", "pendulum", "--run", "second", "--method", "dopri853")
    assert call("simulate", scenario, *options).code == 0
    return scenario


def test_runs_are_listed(call: Callable[..., Any], kept: Path) -> None:
    result = call("runs", "pendulum")
    assert (result.code, result.err) == (0, "")
    for words in ("first", "second", "verner65", "dopri853", "pendulum@"):
        assert words in result.out
    document = call("runs", "pendulum", "--json").document
    VALID.validate(document)
    assert [run["name"] for run in document["runs"]] == ["first", "second"]
    revision = document["runs"][0]["revision"]
    assert call("runs", revision, "--json").document["runs"] == document["runs"]
    assert kept.exists()


@pytest.mark.slow
def test_one_run_is_told_and_written(call: Callable[..., Any], kept: Path) -> None:
    arguments = ("--out", "a.csv", "--outputs", "H", "--plot", "a.svg", "--animate", "a.html")
    result = call("runs", "pendulum", "second", *arguments)
    assert (result.code, result.err) == (0, "")
    assert "pendulum, by dopri853" in result.out
    assert "written to a.svg" in result.out
    assert np.array_equal(Run.load("a.csv").q, cf.simulate(kept, method="dopri853").q)
    assert Run.load("a.csv").computed["H"].shape == (11, 1, 1)
    for name in (("pendulum", "second"), ("a.csv",)):
        document = call("runs", *name, "--json").document
        VALID.validate(document)
        assert document["run"]["method"] == "dopri853"
        assert [event["name"] for event in document["run"]["events"]] == ["down"]


def test_a_run_is_deleted(
    call: Callable[..., Any], refused: Callable[[Any], str], kept: Path
) -> None:
    result = call("runs", "pendulum", "first", "--delete", "--json")
    VALID.validate(result.document)
    assert result.document["deleted"]["run"] == "first"
    left = call("runs", "pendulum", "--json").document["runs"]
    assert [run["name"] for run in left] == ["second"]
    assert "has no run 'first'" in refused(call("runs", "pendulum", "first"))
    assert kept.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nobody",), "no model"),
        (("pendulum", "third"), "has no run 'third'"),
        (("pendulum", "--plot", "a.svg"), "--plot: this needs one run"),
        (("pendulum", "--delete"), "--delete: this needs one run"),
        (("missing.npz",), "no such file"),
        (("pendulum", "first", "--out", "a.txt"), "tells no form"),
        (("pendulum", "first", "--plot", "a.txt"), "tells no form"),
        (("pendulum", "first", "--out", "nowhere/a.csv"), "no such folder"),
    ],
)
def test_faults(
    call: Callable[..., Any],
    refused: Callable[[Any], str],
    kept: Path,
    arguments: tuple[str, ...],
    words: str,
) -> None:
    assert kept.exists()
    assert words in refused(call("runs", *arguments))


# --- before what the file says ------------------------------------------------------------------


def test_overrides(call: Callable[..., Any], scenario: Path) -> None:
    given = ("--method", "rk4", "--step", "0.001", "--values", "length=0.7", "--time", "0.5")
    document = call("simulate", scenario, *given, "--json").document
    assert document["method"] == "rk4"
    assert document["time"] == [0, 0.5]
    assert document["values"] == {"length": 0.7}
    own: dict[str, Any] = {"method": "rk4", "step": 1e-3, "values": {"length": 0.7}}
    run = cf.simulate("mechanism.toml", q0={"hinge": 1}, t=0.5, **own)
    assert document["final"]["q"]["hinge"] == pytest.approx(run.q[-1, 0], abs=1e-12)
    tight = call("simulate", scenario, "--rtol", "1e-12", "--json").document
    assert tight["settings"]["rtol"] == 1e-12


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--rtol", "tight"), "'tight' is not a number"),
        (("--time", "soon"), "'soon' is not a number"),
        (("--time", "1:0"), "time cannot go"),
        (("--values", "length"), "not PARAMETER=VALUE"),
        (("--values", "width=2"), "width"),
        (("--method", "magic"), "magic"),
    ],
)
def test_wrong_overrides(
    call: Callable[..., Any],
    refused: Callable[[Any], str],
    scenario: Path,
    arguments: tuple[str, ...],
    words: str,
) -> None:
    assert words in refused(call("simulate", scenario, *arguments))


def test_outputs_are_checked_before_the_motion(
    call: Callable[..., Any], refused: Callable[[Any], str], scenario: Path
) -> None:
    text = SCENARIO.replace("every = 0.1", 'every = 0.1, outputs = ["pose(tpi)"]')
    scenario.write_text(text.replace("time = 1", "time = 1e6"))
    message = refused(call("simulate", scenario, "--out", "a.npz"))
    assert "pose(tpi)" in message
    assert "swing.toml" in message


def test_the_store_is_no_file_of_results(
    call: Callable[..., Any], refused: Callable[[Any], str], kept: Path
) -> None:
    before = Path("models.db").read_bytes()
    Path("models.csv").write_bytes(before)
    options = ("--db", "models.csv", "--out", "models.csv", "--force")
    assert "this is the store of models" in refused(call("simulate", kept, *options))
    assert Path("models.csv").read_bytes() == before
    named = ("--save", "new", "--run", " x ")
    assert "cannot be a name" in refused(call("simulate", kept, *named))
    assert [entry["name"] for entry in call("models", "--json").document["models"]] == ["pendulum"]


def test_what_failed_does_not_replace_what_is_whole(
    call: Callable[..., Any], scenario: Path
) -> None:
    assert call("simulate", scenario, "--out", "a.npz").code == 0
    before = Path("a.npz").read_bytes()
    scenario.write_text(SCENARIO + '[forces]\nhinge = "1/(0.55 - t)"\n')
    result = call("simulate", scenario, "--out", "a.npz", "--force")
    assert result.code == 1
    assert "what was computed before is in a.part.npz" in result.err
    assert Path("a.npz").read_bytes() == before
    assert Run.load("a.part.npz").about.ending == "failed"
    scenario.write_text(SCENARIO)
    assert call("simulate", scenario, "--out", "a.npz", "--force").code == 0
    assert not Path("a.part.npz").exists()


def test_a_run_of_another_scenario_does_not_go_on(
    call: Callable[..., Any], refused: Callable[[Any], str], scenario: Path
) -> None:
    assert call("simulate", scenario, "--out", "a.npz").code == 0
    scenario.write_text(SCENARIO.replace("time = 1", "time = 2") + '[forces]\nhinge = "1"\n')
    message = refused(call("simulate", scenario, "--resume", "a.npz", "--force"))
    assert "the run was started with other forces" in message
    scenario.write_text(SCENARIO.replace("time = 1", "time = 2"))
    assert call("simulate", scenario, "--resume", "a.npz").code == 0
    assert Run.load("a.npz").t[-1] == 2


def test_a_function_that_fails_is_told_and_the_motion_kept(
    call: Callable[..., Any], scenario: Path
) -> None:
    lines = ("def push(t, q, qd):", "    if t > 0.5:", "        raise ValueError('sensor lost')")
    Path("control.py").write_text("\n".join([*lines, "    return 0", ""]))
    text = SCENARIO + '[forces]\nhinge = { function = "control.py:push" }\n'
    scenario.write_text(text)
    result = call("simulate", scenario, "--allow-python", "--out", "a.npz")
    assert result.code != 0
    assert "control.py:push fails at t = 0.5" in result.err
    assert "sensor lost" in result.err
    assert "fault of chainform" not in result.err
    assert 0.3 < Run.load("a.npz").t[-1] <= 0.5


def test_every_file_is_tried(monkeypatch: pytest.MonkeyPatch, scenario: Path) -> None:
    from chainform.cli.results import Checkpoint

    run = cf.simulate(scenario)
    keep = Checkpoint(["nowhere/a.npz", "b.npz"], ["nonsense"])
    with pytest.raises(RunError, match="nowhere"):
        keep(run)
    assert keep.written == ["b.npz"]
    assert np.array_equal(Run.load("b.npz").q, run.q)


def test_a_model_without_runs(call: Callable[..., Any], scenario: Path) -> None:
    assert call("derive", "mechanism.toml", "--save", "pendulum").code == 0
    assert call("runs", "pendulum").out == (
        "pendulum has no runs; chainform simulate --save keeps one\n"
    )
    assert scenario.exists()


FREE = """
name = "thrown"
gravity = [0, 0, -10]
[[segments]]
name = "stone"
joint = { name = "flight", type = "free" }
mass = 1
inertia = [1, 1, 1]
"""


def test_coordinates_and_rates_of_quaternions_are_shown_apart(
    call: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "stone.toml").write_text(FREE)
    noted = "".join(f'\n[events.depth{k}]\nlaw = "q3 + {k}/50"' for k in range(1, 45))
    low = '\n[events.low]\nlaw = "q3 + 1"\nstop = true\n'
    text = f'mechanism = "stone.toml"\ntime = 1\n{noted}{low}'
    (tmp_path / "fall.toml").write_text(text)
    result = call("simulate", tmp_path / "fall.toml")
    assert (result.code, result.err) == (0, "")
    assert "ended by low at t = 0.4472" in result.out
    assert "more names" in result.out
    assert re.search(r"^ *name +q$", result.out, re.MULTILINE)
    assert re.search(r"^ *name +qd$", result.out, re.MULTILINE)


def test_results_of_tasks_are_stored_and_told(call: Callable[..., Any], scenario: Path) -> None:
    """By the command of a task, with a file and pictures; then out of the store and the file."""
    options = ("--motion", '{"hinge": "sin(t)"}', "--times", "0:1:5", "--save", "arm")
    files = ("--out", "a.csv", "--plot", "a.svg")
    values = ("--values", '{"length": 0.5}', "--run", "swing")
    result = call("kinematics", "mechanism.toml", *options, *files, *values, "--json")
    assert (result.code, result.err) == (0, "")
    document = result.document
    Draft202012Validator(json.loads(schema_text("kinematics"))).validate(document)
    assert (document["written"], document["revision"]) == (["a.csv", "a.svg"], "arm@1")
    assert document["arrays"]["q"] == [[np.sin(t)] for t in np.linspace(0, 1, 5)]
    assert "kinematics" in call("runs", "arm").out
    for source in (("arm", "swing"), ("a.csv",)):
        told = call("runs", *source, "--json").document
        VALID.validate(told)
        assert told["result"]["arrays"] == document["arrays"]
        assert "1 freedom all the time" in call("runs", *source).out
    assert scenario.exists()


def test_bad_options_of_tasks_are_refused(
    call: Callable[..., Any], refused: Callable[[Any], str], scenario: Path
) -> None:
    named = ("kinematics", "mechanism.toml")
    assert "tells no times" in refused(call(*named, "--motion", "{}", "--times", "0:1"))
    assert "needs it" in refused(call(*named))
    assert "hinge" in refused(call(*named, "--motion", '{"hinje": "t"}', "--times", "0:1:2"))
    assert "no such file" in refused(call(*named, "--motion", "none.csv", "--times", "0:1:2"))
    assert "another mechanism" in refused(_stored_elsewhere(call, named))
    assert scenario.exists()


def _stored_elsewhere(call: Callable[..., Any], named: tuple[str, str]) -> Any:
    assert call("derive", "mechanism.toml", "--save", "arm").code == 0
    Path("other.toml").write_text(Path("mechanism.toml").read_text().replace("2, unit", "3, unit"))
    motion = ("--motion", '{"hinge": "t"}', "--times", "0:1:2", "--save", "arm")
    return call(named[0], "other.toml", *motion)
