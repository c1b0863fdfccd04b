"""`chainform new`: a mechanism from answers, on a terminal and in a pipe."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chainform as cf
from chainform.cli import dialogue
from chainform.mechanism import LOOP_ROWS, LOOP_WORDS
from chainform.readers import native_toml, read_text

pytestmark = pytest.mark.any_processor

FOUR_BAR = """bar
0 -9.81 0
a = 0.2

crank
ground
revolute
z

0.4
a/2 0 0
0, 0.0013, 0.0013
coupler
crank
revolute
z
a 0 0
1
0.25 0 0
0 0.02 0.02
rocker
ground
revolute
z
0.6 0 0
0.8
0.2 0 0
0 0.01 0.01

tip
coupler
0.5 0 0

linkage
point
coupler
0.5 0 0
rocker
0.4 0 0

"""
"""A line for each question; an empty one is the default, or ends a list."""


def built() -> cf.Mechanism:
    """The mechanism of the answers, by the builder."""
    builder = cf.Mechanism.builder("bar", gravity=(0, "-9.81", 0)).parameter("a", "0.2")
    sizes: dict[str, Any] = {"joint": "revolute", "axis": "z"}
    moments = {"yy": "0.0013", "zz": "0.0013"}
    builder.segment("crank", parent="ground", mass="0.4", com=["a/2", 0, 0], **sizes)
    builder._segments[-1].value["inertia"] = moments
    builder.segment(
        "coupler",
        parent="crank",
        position=["a", 0, 0],
        mass=1,
        com=["0.25", 0, 0],
        inertia={"yy": "0.02", "zz": "0.02"},
        **sizes,
    )
    builder.segment(
        "rocker",
        parent="ground",
        position=["0.6", 0, 0],
        mass="0.8",
        com=["0.2", 0, 0],
        inertia={"yy": "0.01", "zz": "0.01"},
        **sizes,
    )
    builder.frame("tip", "coupler", ["0.5", 0, 0])
    ends = [{"segment": "coupler", "point": ["0.5", 0, 0]}]
    ends.append({"segment": "rocker", "point": ["0.4", 0, 0]})
    return builder.loop("linkage", "point", *ends).build()


@pytest.fixture
def new(
    call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Any]:
    """Call the command with answers, in a pipe or on a terminal, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(answers: str, *options: str, terminal: bool = False) -> Any:
        monkeypatch.setattr(dialogue, "at_terminal", lambda: terminal)
        return call("new", "bar.toml", *options, stdin=answers.encode())

    return run


def test_answers_of_a_pipe_make_the_file(new: Callable[..., Any], call: Callable[..., Any]) -> None:
    result = new(FOUR_BAR)
    assert (result.code, result.err) == (0, "")
    mechanism = cf.read("bar.toml")
    assert read_text(native_toml(built()), "toml") == read_text(native_toml(mechanism), "toml")
    assert mechanism.loops == built().loops
    checked = call("check", "bar.toml").out
    assert result.out.startswith(checked)
    assert "chainform simulate bar.toml --every 0.1 --table" in result.out
    again = new(FOUR_BAR)
    assert again.code == 2
    assert "bar.toml: the file exists" in again.err
    document = new(FOUR_BAR, "--force", "--json").document
    assert document["coordinates"] == ["crank", "coupler", "rocker"]


WRONG = [
    (2, "0 -9.81", "line 2: '0 -9.81' is not three numbers"),
    (3, "a", "line 3: 'a' has no ="),
    (6, "grund", "line 6: there is no body 'grund'"),
    (7, "hinge", "line 7: there is no kind of joint 'hinge'"),
    (8, "0 0 0", "line 8"),
    (10, "-1", "line 10, segment 'crank', mass"),
    (11, "b 0 0", "'b'"),
    (12, "1 2", "line 12: '1 2' is not three or six numbers"),
    (13, "crank", "line 13"),
    (41, "tip", "line 41: all questions are answered, and 'tip' is left over"),
]


SLIDER_CRANK = """slider_crank
0 -9.81 0
r = 0.05
l = 0.18

crank
ground
revolute
z
0 0 0
2
r/4 0 0
0.002 0.002 0.004
rod
crank
revolute
z
r 0 0
0.6
l/3 0 0
0 0.002 0.002
piston
rod
revolute
z
l 0 0
0.5

0 0 0


bore
"""
"""The bodies of examples/slider_crank.toml; the loop is still to come."""


def test_a_bore_is_a_loop_closed_by_a_slide(
    new: Callable[..., Any], slider_crank: cf.Mechanism
) -> None:
    result = new(SLIDER_CRANK + "prismatic\npiston\n\n\nx\nground\n\n\n\n\n")
    assert (result.code, result.err) == (0, "")
    loop = replace(slider_crank.loops[0], basic=None)
    assert cf.read("bar.toml").loops == (loop,)
    outputs = ["inverse_dynamics", "closure_jacobian"]
    ours, example = (cf.derive(m, outputs) for m in (cf.read("bar.toml"), slider_crank))
    state: dict[str, Any] = {name: [0.3, -0.2, 0.1] for name in ("q", "qd", "qdd")}
    state["sigma"] = [1, 2, 3, 4, 5]
    for name, value in ours.evaluate(**state).items():
        assert (value == example.evaluate(**state)[name]).all()


@pytest.fixture
def slider_crank() -> cf.Mechanism:
    """The example, read before the folder changes."""
    return cf.read(Path(__file__).parents[3] / "examples" / "slider_crank.toml")


@pytest.mark.parametrize("word", LOOP_WORDS)
def test_loops_of_all_kinds(new: Callable[..., Any], word: str) -> None:
    kind = "point" if word == "spherical" else word
    rows = LOOP_ROWS[kind]
    turned = ["0 0 pi/2"] if kind in ("frame", "prismatic") else []
    axis = ["-2, 0, 0" if kind == "universal" else "0 0 -2"] if rows.has_axes else []
    target_axis = ["0 0 -2"] if rows.has_axes else []
    answers = [word, *(["2*r"] if kind == "distance" else [])]
    answers += ["piston", "0 0 0", *turned, *axis]
    answers += ["ground", "0.2 0 0", *turned, *target_axis, "", ""]
    result = new(SLIDER_CRANK + "\n".join(answers))
    assert (result.code, result.err) == (0, "")
    (loop,) = cf.read("bar.toml").loops
    assert (loop.kind, loop.equations) == (kind, len(rows.linear) + len(rows.angular))
    assert (loop.closing.segment, loop.target.segment) == (2, -1)
    assert loop.target.axis == ((0, 0, -1) if axis else None)
    assert loop.closing.axis == ((-1, 0, 0) if kind == "universal" else loop.target.axis)
    assert (loop.target.rotation[1] == (1, 0, 0)) == bool(turned)
    assert (loop.length is not None) == (kind == "distance")


WRONG_LOOPS = [
    ("slide", "there is no kind of loop 'slide'"),
    ("distance\n-0.1", "length"),
    ("distance\n0", "length"),
    ("prismatic\nrod\n\n0 0", "'0 0' is not three numbers"),
    ("revolute\nrod\n\nw", "'w' is not an axis"),
    ("revolute\nrod\n\nx y", "'x y' is not an axis"),
    ("prismatic\nrod\n\n\nx\nground\n\n\ny", "the axes differ"),
    ("point\ncrank\n\nground\n1 0 0", "cannot"),
]


@pytest.mark.parametrize(("answers", "message"), WRONG_LOOPS)
def test_wrong_loops_are_refused_at_their_line(
    new: Callable[..., Any], answers: str, message: str
) -> None:
    result = new(SLIDER_CRANK + answers + "\n\n\n")
    line = SLIDER_CRANK.count("\n") + answers.count("\n") + 1
    assert result.code == 2
    assert f"line {line}" in result.err
    assert message in result.err
    assert not Path("bar.toml").exists()


@pytest.mark.parametrize(("line", "answer", "message"), WRONG)
def test_a_wrong_line_of_a_pipe_is_fatal(
    new: Callable[..., Any], line: int, answer: str, message: str
) -> None:
    lines = [str(text) for text in FOUR_BAR.split("\n")]
    lines[line - 1 : line] = [answer]
    result = new("\n".join(lines))
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert not Path("bar.toml").exists()


def test_answers_that_end_too_soon_leave_no_file(new: Callable[..., Any]) -> None:
    result = new("\n".join(FOUR_BAR.split("\n")[:8]))
    assert result.code == 2
    assert "and the next question is" in result.err
    assert not Path("bar.toml").exists()


def test_a_folder_that_is_not_there_is_refused_before_the_first_question(
    call: Callable[..., Any],
) -> None:
    result = call("new", "none/bar.toml", stdin=b"")
    assert (result.code, result.out) == (2, "")
    assert "none: FILE: there is no such folder" in result.err


def test_a_terminal_asks_again_gives_help_and_goes_back(new: Callable[..., Any]) -> None:
    lines = FOUR_BAR.split("\n")
    lines[1:2] = ["0 -9.81", "?", "1 2 3", "back", "back", "bar", "0 -9.81 0"]
    result = new("\n".join(lines), terminal=True)
    assert result.code == 0
    assert "'0 -9.81' is not three numbers" in result.err
    assert "the acceleration of free fall" in result.err
    assert result.err.count("gravity [0 0 -9.81]: ") == 5
    assert result.err.count("name of the mechanism [bar]: ") == 2
    assert native_toml(cf.read("bar.toml")) == native_toml(built())


def test_a_terminal_that_ends_is_offered_what_there_is(new: Callable[..., Any]) -> None:
    half = "\n".join(FOUR_BAR.split("\n")[:14])
    assert "nothing was written" in new(half, terminal=True).err
    assert not Path("bar.toml").exists()


@pytest.mark.slow
def test_a_real_terminal(tmp_path: Path) -> None:
    """Ctrl-D offers what is there, and Ctrl-C leaves nothing behind."""
    half = FOUR_BAR.split("\n")[:12]
    code, shown = at_terminal(tmp_path, [*half, "\x04yes"])
    assert code == 0
    assert cf.read(tmp_path / "bar.toml").coordinates == ("crank",)
    assert b"write the mechanism so far, with 1 body?" in shown
    (tmp_path / "bar.toml").unlink()
    assert at_terminal(tmp_path, half[:4], interrupt=True)[0] == 130
    assert list(tmp_path.iterdir()) == []


def at_terminal(
    folder: Path, lines: Sequence[str], *, interrupt: bool = False
) -> tuple[int, bytes]:
    """Run the command at a terminal; return its exit code and what was shown."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "chainform", "new", "bar.toml"]
    with subprocess.Popen(
        command, cwd=folder, stdin=slave, stdout=subprocess.DEVNULL, stderr=slave
    ) as process:
        os.close(slave)
        shown = os.read(master, 1000)
        os.write(master, ("\n".join(lines) + "\n").encode())
        while interrupt and b"body 1" not in shown:
            shown += os.read(master, 1000)
        if interrupt:
            process.send_signal(signal.SIGINT)
        while True:
            try:
                part = os.read(master, 1000)
            except OSError:
                break
            if not part:
                break
            shown += part
        os.close(master)
        return process.wait(timeout=60), shown
