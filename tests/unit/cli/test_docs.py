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

import chainform as cf
from chainform.cli.commands import COMMANDS

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "cli.md"


def examples() -> Iterator[tuple[str, str]]:
    """Yield the commands of the page with the output written below each."""
    for block in re.findall(
        r"^```console\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    ):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


EXAMPLES = list(examples())


def pattern_of(output: str) -> re.Pattern[str]:
    """Return the expression that the output must match."""
    parts: list[str] = []
    for line in output.splitlines():
        words = ".*".join(re.escape(piece) for piece in line.split("..."))
        parts.append(r"(?:.*\n)*?" if line == "..." else words + r"\n")
    return re.compile("".join(parts))


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the stores that the examples take as given."""
    folder = tmp_path_factory.mktemp("stores")
    path = ROOT / "examples" / "four_bar.toml"
    model = cf.derive(path, ["mass_matrix", "gravity"], parameters="symbolic")
    with cf.open_store(folder / "models.db") as store:
        store.save(model, "linkage", ["drawn"], "as drawn", "Ada")
        store.bind("linkage", {"a": "0.25", "g": "1.62"}, "on the moon", "Ada")
        store.export(folder / "received.db")
    return folder


@pytest.mark.parametrize(("command", "output"), EXAMPLES, ids=[c for c, _ in EXAMPLES])
def test_example(
    call: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stores: Path,
    command: str,
    output: str,
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copytree(stores, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("CHAINFORM_DB", str(tmp_path / "models.db"))
    monkeypatch.chdir(tmp_path)
    program, *arguments = shlex.split(command)
    assert program == "chainform"
    result = call(*arguments)
    assert (result.code, result.err) == (0, "")
    assert pattern_of(output).fullmatch(result.out), f"{PAGE} is out of date:\n{result.out}"


def test_every_command_has_an_example() -> None:
    assert {shlex.split(command)[1] for command, _ in EXAMPLES} == set(COMMANDS)


def test_the_example_of_an_error_is_true(call: Callable[..., Any], arm: Path) -> None:
    result = call("eval", arm, "--at", "-", stdin=b'{"q": [0, 0, 0, 0, 0]}')
    shown = result.err.replace("standard input", "state.json")
    assert shown in PAGE.read_text("utf-8")


def test_every_option_is_described(call: Callable[..., Any]) -> None:
    page = PAGE.read_text("utf-8")
    for name in COMMANDS:
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
