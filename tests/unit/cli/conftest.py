"""What the tests of the command line share: a way to call it, and small mechanisms."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from chainform.cli import main

ROOT = Path(__file__).parents[3]

PENDULUM = """
name = "pendulum"
gravity = [0, 0, -9.81]

[parameters]
length = { unit = "m", note = "free" }
weight = { value = 2, unit = "kg" }

[[segments]]
name = "rod"
parent = "ground"
joint = { name = "hinge", type = "revolute", axis = "y", limits = { lower = -1, upper = 1.5 } }
mass = "weight"
com = ["length", 0, 0]
inertia = [0.1, 0.2, 0.3]
"""
"""One joint, a parameter without a value and one with it."""


HAND = """
name = "hand"
gravity = [0, 0, -9.81]
parameters = { k = 0.1 }

[[segments]]
name = "palm"
joint = { name = "base", type = "free" }
mass = 1
inertia = [0.1, 0.1, 0.1]

[[segments]]
name = "finger"
parent = "palm"
joint = { type = "revolute", axis = "z" }
mass = 0.2

[[segments]]
name = "thumb"
parent = "palm"
joint = { type = "revolute", axis = "z", mimic = { joint = "finger", ratio = -1, offset = "k" } }
mass = 0.2

[[frames]]
name = "grasp"
segment = "palm"
point = [0, 0, "k"]
"""
"""A quaternion, a joint that follows another, and a frame."""


@dataclass(frozen=True)
class Result:
    """How a call ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON document on stdout."""
        return json.loads(self.out)


Call = Callable[..., Result]


def call_main(*arguments: str | Path, stdin: bytes = b"") -> Result:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    given = io.TextIOWrapper(io.BytesIO(stdin))
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "stdin", given):
        code = main([str(argument) for argument in arguments])
    return Result(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="session")
def call() -> Call:
    """The function that runs a command."""
    return call_main


@pytest.fixture(scope="session")
def filled_once() -> Callable[[str, str, Callable[[], Any]], None]:
    """What fills an empty store; where it is a file, the same one is filled once and copied."""
    known: dict[str, bytes] = {}

    def fill_or_copy(url: str, name: str, fill: Callable[[], Any]) -> None:
        file = Path(url)
        if name in known and "://" not in url:
            file.write_bytes(known[name])
            return
        fill()
        if "://" not in url:
            assert [path.name for path in file.parent.glob("models.db*")] == [file.name]
            known[name] = file.read_bytes()

    return fill_or_copy


@pytest.fixture(scope="session")
def refused() -> Callable[[Result], str]:
    """A check that a call ended as bad input should; it returns the message."""

    def check(result: Result) -> str:
        assert result.code == 2
        assert result.out == ""
        assert result.err.startswith("chainform: error: ")
        assert "Traceback" not in result.err
        return result.err

    return check


@pytest.fixture(scope="session")
def arm() -> Path:
    """The six-axis arm of the examples."""
    return ROOT / "examples" / "six_axis_arm.toml"


@pytest.fixture(scope="session")
def four_bar() -> Path:
    """The four-bar linkage of the examples, with a closed loop."""
    return ROOT / "examples" / "four_bar.toml"


@pytest.fixture(scope="session")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pendulum above."""
    path = tmp_path_factory.mktemp("mechanisms") / "pendulum.toml"
    path.write_text(PENDULUM, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def hand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hand above."""
    path = tmp_path_factory.mktemp("mechanisms") / "hand.toml"
    path.write_text(HAND, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def state() -> Path:
    """The state of the six-axis arm in the examples."""
    return ROOT / "examples" / "state.json"
