"""Ctrl-C in long tasks, in processes of their own, and what a terminal shows of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from chainform.analysis import Result
from chainform.cli import progress as shown

ROOT = Path(__file__).parents[3]
DRIVER = """
import signal, sys
from contextlib import contextmanager
import chainform.cli.commands.analyse as command

@contextmanager
def reported(name):
    def progress(done, total):
        if done > 1:
            print("under way", flush=True)
    yield progress

signal.signal(signal.SIGINT, signal.default_int_handler)
command.task_progress = reported
from chainform.cli import main
sys.exit(main())
"""
"""The command, which tells on stdout that the task is under way."""

MOTION = ("--motion", '{"crank": "3*t"}', "--times", "0:2:200000", "--start", "[0, 0.5, 1.2]")
CIRCLE = '{"gripper": {"x": "0.5 + 0.1*cos(t)", "y": "0.1*sin(t)", "z": 0.6}}'
COLUMN = """
name = "column"
gravity = [0, 0, -10]
[parameters]
m = 1
[[segments]]
name = "lean"
joint = { type = "revolute", axis = "y" }
mass = "m"
com = [0, 0, 0.5]
[[springs]]
joint = "lean"
stiffness = 8
"""
BAR = str(ROOT / "examples" / "four_bar.toml")
ARM = str(ROOT / "examples" / "six_axis_arm.toml")
PATH = ("--targets", CIRCLE, "--times", "0:6:190000")
TASKS = {
    "kinematics": (BAR, *MOTION),
    "inverse-dynamics": (BAR, *MOTION, "--driven", '["crank"]'),
    "inverse-kinematics": (ARM, *PATH),
    "equilibria": (BAR, "--starts", "100000"),
    "statics": (BAR, "--q", json.dumps({"crank": [k % 10 / 10 for k in range(20_000)]})),
    "equilibrium-path": (
        *("column.toml", "--parameter", "m", "--span", "[0.5, 3]"),
        *("--step", "0.00001", "--points", "100000"),
    ),
    "lyapunov-exponents": (
        *("column.toml", "--values", "m=1", "--q0", "[0.1]"),
        *("--t", "30000", "--blocks", "30000"),
    ),
    "root-locus": (
        "column.toml",
        *("--parameter", "m", "--span", "[0.5, 0.6]", "--count", "99999"),
    ),
}
"""Tasks that take minutes."""


def stopped(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run a task that Ctrl-C ends when it is under way; return the exit code and stderr."""
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert first == "under way\n", err
    assert set(out.split("\n")) <= {"under way", ""}
    return process.returncode, err


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another thing on Windows")
@pytest.mark.parametrize("task", TASKS)
def test_ctrl_c_leaves_what_is_done(tmp_path: Path, task: str) -> None:
    (tmp_path / "column.toml").write_text(COLUMN)
    code, err = stopped(tmp_path, task, *TASKS[task], "--out", "part.npz")
    assert code == 130
    (line,) = err.splitlines()
    assert line.startswith("chainform: interrupted: ")
    assert line.endswith(" are done, in part.npz")
    done, total = (int(word) for word in line.split() if word.isdigit())
    assert 1 < done < total
    part = Result.load(tmp_path / "part.npz")
    assert any(f"interrupted: {done} of {total} are done" in text for text in part.report)
    if task != "equilibria":
        assert len(part) == done
    assert np.isfinite(part["q"]).all()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another thing on Windows")
def test_ctrl_c_spares_a_file_that_was_there(tmp_path: Path) -> None:
    (tmp_path / "found.csv").write_text("whole")
    arguments = (BAR, *MOTION, "--out", "found.csv", "--force")
    code, err = stopped(tmp_path, "kinematics", *arguments)
    assert code == 130
    assert err.endswith("are done, in found.part.csv\n")
    assert (tmp_path / "found.csv").read_text() == "whole"
    assert len(Result.load(tmp_path / "found.part.csv")) > 1
    code, err = stopped(tmp_path, "kinematics", BAR, *MOTION)
    assert code == 130
    assert err.endswith("are done; --out FILE.csv saves them\n")


class Terminal:
    """A stream that says that people look at it."""

    def isatty(self) -> bool:
        """Return that it is one."""
        return True


def test_a_bar_is_shown_where_a_task_takes_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown.sys, "stderr", Terminal())
    moments, made = iter([0.0, 0.1, 1.0, 2.0]), list[shown.Bar]()
    monkeypatch.setattr(shown, "monotonic", lambda: next(moments))

    class Drawn:
        task_ids = (0,)
        seen: ClassVar[list[tuple[float, float, str]]] = []

        def update(self, task: int, *, completed: float, total: float, words: str) -> None:
            assert task == 0
            self.seen.append((completed, total, words))

        def stop(self) -> None:
            self.seen.append((-1, -1, "stopped"))

    def started(bar: shown.Bar) -> Drawn:
        made.append(bar)
        return Drawn()

    monkeypatch.setattr(shown.Bar, "_started", started)
    with shown.task_progress("arm, kinematics") as progress:
        assert progress is not None
        progress(1, 10)
        assert not made
        progress(5, 10)
        progress(2, 7)
    assert [bar.name for bar in made] == ["arm, kinematics"]
    assert Drawn.seen == [(5, 10, "5 of 10"), (2, 7, "2 of 7"), (-1, -1, "stopped")]
    monkeypatch.setattr(shown.sys, "stderr", None)
    with shown.task_progress("arm") as progress:
        assert progress is None
