"""`chainform simulate`: summary, files, pictures, the store, Ctrl-C and going on."""

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

import chainform as cf
from chainform.cli.commands.schema import schema_text
from chainform.cli.progress import Bar, motion_progress

ROOT = Path(__file__).parents[3]

SCENARIO = """
mechanism = "mechanism.toml"
time = 1
values = { length = 0.5 }
initial = { q = { hinge = 1 } }
output = { every = 0.1, outputs = ["com"] }
events = { down = "hinge - pi/2" }
"""

LONG = """
mechanism = "mechanism.toml"
time = 20_000
values = { length = 0.5 }
initial = { q = { hinge = 1 } }
output = { every = 50 }
events = { half = "t - 10000" }
"""


@pytest.fixture
def scenario(tmp_path: Path, pendulum: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario of the pendulum, in the present folder."""
    (tmp_path / "mechanism.toml").write_text(pendulum.read_text())
    (tmp_path / "swing.toml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHAINFORM_DB", str(tmp_path / "models.db"))
    return Path("swing.toml")


def test_summary(call: Callable[..., Any], scenario: Path) -> None:
    result = call("simulate", scenario)
    assert (result.code, result.err) == (0, "")
    for words in ("pendulum, by verner65", "0 to 1 s in", "down", "at t = 1 s", "energy, J"):
        assert words in result.out
    quiet = call("simulate", scenario, "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_document(call: Callable[..., Any], scenario: Path) -> None:
    result = call("simulate", scenario, "--json", "--out", "a.npz", "--save", "pendulum")
    document = result.document
    Draft202012Validator(json.loads(schema_text("simulate"))).validate(document)
    assert document["schema"] == "chainform/1"
    assert document["written"] == ["a.npz"]
    assert document["saved"] == {"revision": document["saved"]["revision"], "run": "swing"}
    assert document["rows"] == 11
    assert document["values"] == {"length": 0.5}
    run = cf.simulate(scenario)
    assert document["final"]["q"]["hinge"] == run.q[-1, 0]
    assert document["energy"]["change"] == pytest.approx(0, abs=1e-8)
    assert document["events"] == [{"name": e.name, "t": e.t} for e in run.events]


def test_files_and_pictures(call: Callable[..., Any], scenario: Path) -> None:
    names = ["a.npz", "a.csv", "a.parquet", "a.svg", "a.html"]
    pictures = ("--plot", "a.svg", "--animate", "a.html")
    result = call("simulate", scenario, "--out", *names[:3], *pictures)
    assert result.code == 0, result.err
    for name in names:
        assert f"written to {name}" in result.out
        assert Path(name).stat().st_size > 1000
    for name in names[:3]:
        assert cf.Run.load(name).computed["com"].shape == (11, 3)
    again = call("simulate", scenario, "--out", "a.csv")
    assert again.code == 2
    assert "--force overwrites it" in again.err
    assert call("simulate", scenario, "--out", "a.csv", "--force").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.toml"], "there is no such file"),
        (["mechanism.toml"], "the parameter length has no value"),
        (["swing.toml", "--out", "a.xls"], "one of these endings: .parquet, .csv, .npz"),
        (["swing.toml", "--out", "none/a.csv"], "there is no such folder"),
        (["swing.toml", "--out", "swing.toml"], "tells no form"),
        (["swing.toml", "--plot", "a.doc"], ".svg, .png, .pdf"),
        (["swing.toml", "--animate", "a.svg"], ".html, .mp4, .gif"),
        (["swing.toml", "--run", "a"], "--run goes with --save NAME"),
        (["swing.toml", "--save", "a.toml"], "this looks like a file"),
        (["swing.toml", "--save", "a@3"], "there is no model of this name"),
        (["swing.toml", "--resume", "none.npz"], "there is no such file"),
        (["swing.toml", "--resume", "mechanism.toml"], "tells no form"),
    ],
)
def test_mistakes(
    call: Callable[..., Any],
    refused: Callable[[Any], str],
    scenario: Path,
    arguments: list[str],
    words: str,
) -> None:
    before = set(Path().iterdir())
    assert words in refused(call("simulate", *arguments))
    assert set(Path().iterdir()) == before


def test_python_needs_the_users_word(
    call: Callable[..., Any], refused: Callable[[Any], str], scenario: Path
) -> None:
    Path("control.py").write_text("def torque(t, q, qd):\n    return [-qd[0]]\n")
    Path("driven.toml").write_text(SCENARIO + '[forces]\nfunction = "control.py:torque"\n')
    message = refused(call("simulate", "driven.toml"))
    assert "which may do anything" in message
    assert "--allow-python" in message
    assert call("simulate", "driven.toml", "--allow-python").code == 0


# --- the store --------------------------------------------------------------------------------


def test_runs_in_the_store(
    call: Callable[..., Any], refused: Callable[[Any], str], scenario: Path, arm: Path
) -> None:
    first = call("simulate", scenario, "--save", "pendulum", "--run", "first")
    assert "saved with pendulum@" in first.out
    assert call("simulate", scenario, "--save", "pendulum", "--run", "second").code == 0
    assert "has a run first already" in refused(
        call("simulate", scenario, "--save", "pendulum", "--run", "first")
    )
    with cf.open_store() as store:
        assert [run.name for run in store.runs("pendulum")] == ["first", "second"]
        run = cf.Run.load(store.run("pendulum", "first"))
        assert store.load("pendulum").mechanism.coordinates == ("hinge",)
    assert np.array_equal(run.q, cf.simulate(scenario).q)
    assert run.computed["com"].shape == (11, 3)
    Path("other.toml").write_text(f'mechanism = "{arm}"\ntime = 0.1')
    assert "another mechanism" in refused(call("simulate", "other.toml", "--save", "pendulum"))
    stored = 'mechanism = "pendulum"\nstore = true\ntime = 1\nvalues = { length = 0.5 }\n'
    Path("stored.toml").write_text(stored + "[initial]\nq = [1]")
    assert call("simulate", "stored.toml", "--out", "stored.npz").code == 0
    assert cf.Run.load("stored.npz").q[-1] == pytest.approx(run.q[-1], abs=1e-9)


# --- Ctrl-C and going on ----------------------------------------------------------------------

DRIVER = """
import signal, sys
from contextlib import contextmanager
import chainform.cli.commands.simulate as command

@contextmanager
def shown(*_, **__):
    def told(t):
        if t > 60:
            print("under way", flush=True)
    yield told

signal.signal(signal.SIGINT, signal.default_int_handler)
command.motion_progress = shown
from chainform.cli import main
sys.exit(main())
"""
"""The command, which tells on stdout that the motion is under way."""


@pytest.fixture
def long(tmp_path: Path, pendulum: Path) -> Path:
    """A folder with a scenario that takes a while."""
    (tmp_path / "mechanism.toml").write_text(pendulum.read_text())
    (tmp_path / "long.toml").write_text(LONG)
    return tmp_path


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another thing on Windows")
def test_ctrl_c_keeps_what_was_computed(call: Callable[..., Any], long: Path) -> None:
    code, out, err = stopped(long, "--out", "part.npz", "part.csv")
    assert code == 130
    assert "under way" not in out.replace("under way\n", "")
    note, last = err.splitlines()
    assert note.startswith("chainform: note: stopped at t = ")
    assert note.endswith("to go on: chainform simulate long.toml --resume part.npz")
    assert last == "chainform: interrupted"
    part = cf.Run.load(long / "part.npz")
    assert part.about.ending == "interrupted"
    assert 50 <= part.t[-1] < 20_000
    assert np.array_equal(cf.Run.load(long / "part.csv").q, part.q)
    resume = call("simulate", long / "long.toml", "--resume", long / "part.npz")
    assert (resume.code, resume.err) == (0, "")
    whole, done = cf.simulate(long / "long.toml"), cf.Run.load(long / "part.npz")
    assert done.about.ending == "end"
    assert np.array_equal(done.t, whole.t)
    assert np.max(np.abs(done.q - whole.q)) <= 1e-9
    assert done.statistics == whole.statistics
    assert len(done.events) == len(whole.events)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another thing on Windows")
def test_ctrl_c_without_a_file(long: Path) -> None:
    code, _, err = stopped(long)
    assert code == 130
    assert "with --out FILE.npz what was computed is saved" in err
    assert err.endswith("chainform: interrupted\n")
    assert {path.name for path in long.iterdir()} == {"mechanism.toml", "long.toml"}


def stopped(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Run the command in a process, and interrupt it in the middle of the motion."""
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, "simulate", "long.toml", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert first == "under way\n", err
    return process.returncode, out, err


def test_a_motion_that_fails_is_written_too(call: Callable[..., Any], scenario: Path) -> None:
    Path("fails.toml").write_text(SCENARIO + '[forces]\nhinge = "1/(0.55 - t)"\n')
    result = call("simulate", "fails.toml", "--out", "part.csv")
    assert result.code == 1
    assert "what was computed before is in part.csv" in result.err
    assert "error:" in result.err
    run = cf.Run.load("part.csv")
    assert run.about.ending == "failed"
    assert run.t[-1] == 0.5


def test_results_of_another_scenario_do_not_go_on(
    call: Callable[..., Any], refused: Callable[[Any], str], scenario: Path
) -> None:
    assert call("simulate", scenario, "--out", "a.npz").code == 0
    Path("other.toml").write_text(SCENARIO.replace("0.5", "0.6"))
    for more in ((), ("--force",)):
        assert "another mechanism, or of other values" in refused(
            call("simulate", "other.toml", "--resume", "a.npz", *more)
        )
    other = {"method": ("--method", "dopri853"), "rtol": ("--rtol", "1e-6")}
    for name, options in other.items():
        assert f"the run was started with other {name}" in refused(
            call("simulate", scenario, "--resume", "a.npz", *options)
        )
    before = Path("a.npz").read_bytes()
    assert call("simulate", scenario, "--resume", "a.npz", "--out", "b.npz").code == 0
    assert Path("a.npz").read_bytes() == before


# --- progress ---------------------------------------------------------------------------------


def test_a_bar_is_shown_to_the_patient_only(monkeypatch: pytest.MonkeyPatch) -> None:
    bar = Bar("arm", (0.0, 10.0))
    bar.show(1.0)
    assert bar.progress is None
    bar.stop()
    slow = Bar("arm", (0.0, 10.0))
    slow.show(0.1)
    assert slow.began is not None
    slow.began -= 1
    slow.show(5.0)
    assert slow.progress is not None
    assert [(task.completed, task.total) for task in slow.progress.tasks] == [(5.0, 10.0)]
    slow.stop()
    with motion_progress("arm", (0.0, 1.0)) as told:
        assert told is None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        with motion_progress("arm", (0.0, 1.0)) as told:
            assert told is not None
        with motion_progress("arm", (0.0, 1.0), quiet=True) as told:
            assert told is None
