"""`chainform simulate` of a scenario with a section [batch]: many motions from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from chainform.cli.commands.schema import schema_text
from chainform.cli.commands.simulate import motions_in
from chainform.cli.progress import MOTIONS, Bar, motion_progress
from chainform.simulation import BatchRun, simulate_batch

ROOT = Path(__file__).parents[3]

SCENARIO = """
mechanism = "mechanism.toml"
time = 1
values = { length = 0.5 }
initial = { q = { hinge = 1 } }
output = { every = 0.1, outputs = ["com"] }
events = { down = { law = "hinge - pi/2", stop = true } }

[batch]
qd = { hinge = [-9, 0, 1] }
values = { weight = { from = 1, to = 2, count = 3 } }
"""

LONG = """
mechanism = "mechanism.toml"
time = 2000
values = { length = 0.5 }
output = { points = 3 }
events = { on_the_way = "t - 1000" }

[batch]
q = { hinge = { from = 0.1, to = 1, count = 50 } }
"""


@pytest.fixture
def scenario(tmp_path: Path, pendulum: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario of three motions of the pendulum, in the present folder."""
    (tmp_path / "mechanism.toml").write_text(pendulum.read_text())
    (tmp_path / "sweep.toml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHAINFORM_DB", str(tmp_path / "models.db"))
    return Path("sweep.toml")


@pytest.mark.slow
def test_summary(call: Callable[..., Any], scenario: Path) -> None:
    result = call("simulate", scenario, "--threads", "2")
    assert (result.code, result.err) == (0, "")
    for words in ("pendulum, by verner65", "3 motions from 0 to 1 s in", "how they ended"):
        assert words in result.out
    lines = [line.split() for line in result.out.splitlines()]
    down = next(line for line in lines if line[:1] == ["down"])
    assert down[1] == "2"
    assert ["end", "1", "1", "1"] in lines
    quiet = call("simulate", scenario, "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_document(call: Callable[..., Any], scenario: Path) -> None:
    document = call("simulate", scenario, "--json", "--out", "a.npz").document
    validator = Draft202012Validator(json.loads(schema_text("simulate")))
    validator.validate(document)
    assert not validator.is_valid({**document, "ending": "end"})
    batch = simulate_batch(scenario)
    assert (document["motions"], document["failed"], document["rows"]) == (3, 0, 11)
    assert document["endings"] == list(batch.endings)
    assert document["ended"] == {"down": 2, "end": 1}
    assert document["ends"] == batch.ends.tolist()
    assert document["values"] == {"length": [0.5] * 3, "weight": [1, 1.5, 2]}
    assert document["steps"] == batch.statistics.steps
    last = document["final"]["q"]["hinge"]
    assert [value is None for value in last] == [end != "end" for end in batch.endings]
    assert document["written"] == ["a.npz"]
    single = SCENARIO.partition("[batch]")[0]
    Path("one.toml").write_text(single)
    validator.validate(call("simulate", "one.toml", "--json").document)


def test_files_and_pictures(call: Callable[..., Any], scenario: Path) -> None:
    names = ["a.npz", "a.csv", "a.parquet", "a.svg"]
    result = call("simulate", scenario, "--out", *names[:3], "--plot", "a.svg")
    assert result.code == 0, result.err
    for name in names:
        assert f"written to {name}" in result.out
        assert Path(name).stat().st_size > 1000
    batch = simulate_batch(scenario)
    for name in names[:3]:
        loaded = BatchRun.load(name)
        np.testing.assert_array_equal(loaded.q, batch.q)
        assert loaded.computed["com"].shape == (3, 11, 3)
        assert loaded.about.scenario == SCENARIO
    again = call("simulate", scenario, "--out", "a.csv")
    assert again.code == 2
    assert "--force overwrites it" in again.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--animate", "a.html"], "--animate goes with a single motion"),
        (["--save", "pendulum"], "--save goes with a single motion"),
        (["--run", "a"], "--run goes with a single motion"),
        (["--resume", "a.npz"], "--resume goes with a single motion"),
        (["--threads", "0"], "threads must be a whole number from 1 on"),
        (["--out", "a.xls"], "one of these endings: .parquet, .csv, .npz"),
    ],
)
def test_mistakes(
    call: Callable[..., Any],
    refused: Callable[[Any], str],
    scenario: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.setattr("chainform.cli.commands.simulate.simulate_batch", None)
    assert words in refused(call("simulate", scenario, *arguments))
    assert not Path("a.html").exists()


def test_threads_go_with_a_batch(
    call: Callable[..., Any], refused: Callable[[Any], str], scenario: Path
) -> None:
    Path("one.toml").write_text(SCENARIO.partition("[batch]")[0])
    assert "--threads goes with a section [batch]" in refused(
        call("simulate", "one.toml", "--threads", "2")
    )


def test_outputs_that_only_single_motions_have(call: Callable[..., Any], scenario: Path) -> None:
    """Then each is run by itself; an output that there is not is told before."""
    Path("more.toml").write_text(SCENARIO.replace('"com"', '"reactions", "tau"'))
    result = call("simulate", "more.toml", "--out", "a.npz")
    assert result.code == 0, result.err
    assert BatchRun.load("a.npz").computed["reactions"].shape == (3, 11, 1, 6)
    Path("wrong.toml").write_text(SCENARIO.replace('"com"', '"comm"'))
    wrong = call("simulate", "wrong.toml", "--out", "b.npz")
    assert wrong.code == 2
    assert "comm" in wrong.err
    assert not Path("b.npz").exists()


def test_motions_that_fail(call: Callable[..., Any], scenario: Path) -> None:
    law = SCENARIO.replace("events", "# events") + '[forces]\nhinge = "SIZE/(0.55 - t)"\n'
    Path("some.toml").write_text(law.replace("SIZE", "max(0, 1.6 - weight)"))
    some = call("simulate", "some.toml", "--json")
    assert some.code == 0, some.err
    assert some.document["endings"] == ["failed", "failed", "end"]
    Path("all.toml").write_text(law.replace("SIZE", "1"))
    every = call("simulate", "all.toml", "--json")
    assert every.code == 1
    document = json.loads(every.out)
    Draft202012Validator(json.loads(schema_text("simulate"))).validate(document)
    assert document["ended"] == {"failed": 3}
    assert document["ends"] == [None] * 3
    assert [entry["motion"] for entry in document["problems"]] == [1, 2, 3]
    shown = call("simulate", "all.toml")
    assert "motion 3: " in shown.out


# --- Ctrl-C -----------------------------------------------------------------------------------

DRIVER = """
import signal, sys
from contextlib import contextmanager
import chainform.cli.commands.simulate as command

@contextmanager
def shown(*_, **__):
    def told(done):
        if done == 3:
            print("under way", flush=True)
    yield told

signal.signal(signal.SIGINT, signal.default_int_handler)
command.motion_progress = shown
from chainform.cli import main
sys.exit(main())
"""
"""The command, which tells on stdout that three motions are done."""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another thing on Windows")
@pytest.mark.parametrize("files", [["part.npz", "part.csv"], []])
def test_ctrl_c_keeps_the_motions_that_are_finished(
    tmp_path: Path, pendulum: Path, files: list[str]
) -> None:
    (tmp_path / "mechanism.toml").write_text(pendulum.read_text())
    (tmp_path / "long.toml").write_text(LONG)
    options = ["--threads", "1", *(["--out", *files] if files else [])]
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, "simulate", "long.toml", *options],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert first == "under way\n", err
    assert process.returncode == 130
    note, last = err.splitlines()
    assert note.startswith("chainform: note: stopped after ")
    assert last == "chainform: interrupted"
    if not files:
        assert note.endswith("with --out FILE.npz those that were finished are saved")
        return
    assert note.endswith("which are in part.npz, part.csv")
    part = BatchRun.load(tmp_path / "part.npz")
    assert 3 <= (~part.failed).sum() < 50
    assert np.isfinite(part.q[~part.failed]).all()
    np.testing.assert_array_equal(BatchRun.load(tmp_path / "part.csv").q, part.q)


# --- progress ---------------------------------------------------------------------------------


def test_a_bar_of_motions() -> None:
    with motion_progress("arm", (0.0, 200.0), MOTIONS) as told:
        assert told is None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        with motion_progress("arm", (0.0, 200.0), MOTIONS) as told:
            assert told is not None
            told(3)
        with motion_progress("arm", (0.0, 200.0), MOTIONS, quiet=True) as told:
            assert told is None
    bar = Bar("arm", (0.0, 200.0), MOTIONS)
    bar.show(0)
    assert bar.began is not None
    bar.began -= 1
    bar.show(50)
    assert bar.progress is not None
    task = bar.progress.tasks[0]
    assert (task.completed, task.total, task.fields["words"]) == (50, 200, "50 of 200 motions")
    bar.stop()


def test_how_many_motions_a_section_has() -> None:
    assert motions_in({"q0": {"a": 1.0, "b": [1, 2, 3]}, "threads": 2}) == 3
    assert motions_in({"q0": np.zeros((4, 2))}) == 4
    assert motions_in({"values": {"m": 1.0}}) == 1
