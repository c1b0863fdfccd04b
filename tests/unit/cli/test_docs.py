"""The examples in docs/cli.md are run, and must print what is written there.

In a block marked `console` a line that begins with `$ chainform` is a command, and the lines below
it are its output. A line `...` stands for any lines, `...` within a line for anything in it.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chainform.cli.command import SUMMARIES

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "cli.md"


def examples(page: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a text with the output written below each."""
    for block in re.findall(r"^```console\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


EXAMPLES = list(examples(PAGE.read_text("utf-8")))


def pattern_of(output: str) -> re.Pattern[str]:
    """Return the expression that the output must match."""
    parts: list[str] = []
    for line in output.splitlines():
        words = ".*".join(re.escape(piece) for piece in line.split("..."))
        parts.append(r"(?:.*\n)*?" if line == "..." else words + r"\n")
    return re.compile("".join(parts))


SESSION = "## Stored models"
"""The heading of the section whose commands follow one another, in one folder."""

FIRST = len(list(examples(PAGE.read_text("utf-8").partition(SESSION)[0])))
LAST = len(EXAMPLES) - len(list(examples(PAGE.read_text("utf-8").partition("## schema")[2])))
ALONE = [*EXAMPLES[:FIRST], *EXAMPLES[LAST:]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to run commands in, with the examples and a store that Ada is going to fill."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.setenv("CHAINFORM_DB", str(tmp_path / "models.db"))
    monkeypatch.setenv("LOGNAME", "Ada")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(call: Callable[..., Any], command: str, output: str) -> None:
    program, *arguments = shlex.split(command)
    assert program == "chainform"
    stdin = b""
    if "<" in arguments:
        *arguments, _, file = arguments
        stdin = Path(file).read_bytes()
    result = call(*arguments, stdin=stdin)
    assert (result.code, result.err) == (0, "")
    assert pattern_of(output).fullmatch(result.out), f"{PAGE} is out of date:\n{result.out}"


@pytest.mark.parametrize(("command", "output"), ALONE, ids=[c for c, _ in ALONE])
def test_example(call: Callable[..., Any], folder: Path, command: str, output: str) -> None:
    check(call, command, output)


@pytest.mark.slow
def test_the_section_on_stored_models_is_one_session(
    call: Callable[..., Any], folder: Path
) -> None:
    session = EXAMPLES[FIRST:LAST]
    assert len(session) > 10
    for command, output in session:
        check(call, command, output)


def test_every_command_has_an_example() -> None:
    assert {shlex.split(command)[1] for command, _ in EXAMPLES} == set(SUMMARIES)


def test_the_example_of_an_error_is_true(call: Callable[..., Any], arm: Path) -> None:
    result = call("eval", arm, "--at", "-", stdin=b'{"q": [0, 0, 0, 0, 0]}')
    shown = result.err.replace("standard input", "state.json")
    assert shown in PAGE.read_text("utf-8")


def test_every_option_is_described(call: Callable[..., Any]) -> None:
    page = PAGE.read_text("utf-8")
    for name in SUMMARIES:
        for option in re.findall(r"--[a-z-]+", call(name, "--help").out):
            assert option in page or option in ("--help", "--output-file")


@pytest.mark.parametrize(
    ("written", "printed", "fits"),
    [
        ("a\n", "a\n", True),
        ("a\n", "b\n", False),
        ("in ... s\n", "in 0.1 s\n", True),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\n", "a\n", True),
        ("a\n", "a\nb\n", False),
    ],
)
def test_matching(written: str, printed: str, fits: bool) -> None:
    assert bool(pattern_of(written).fullmatch(printed)) is fits
