"""Ctrl-C and closed pipes, in processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chainform as cf
from chainform.cli.command import command_of

ROOT = Path(__file__).parents[3]
QUIET = "chainform: interrupted\n"

BEGIN = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
def interrupt(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)
"""
"""Ctrl-C at a certain place: the process sends itself the signal there."""

END = """
from chainform.cli import main
sys.exit(main())
"""

PLACES = {
    "while modules are imported": """
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "chainform.cli.entry":
            interrupt()
sys.meta_path.insert(0, Finder())
""",
    "while the model is derived": """
import chainform.cli.commands.derivation as derive
derive.derive_chosen = interrupt
""",
    "after the commit": """
from chainform.model import Store
save = Store.save
def saved(*given, **named):
    save(*given, **named)
    interrupt()
Store.save = saved
""",
    "as another error": """
import chainform.cli.commands.derivation as derive
def fail(*_, **__):
    try:
        interrupt()
    except KeyboardInterrupt:
        raise RuntimeError("a callback failed")
derive.derive_chosen = fail
""",
    "while output is written": """
import chainform.cli.commands.derivation as derive
derive.show_size = interrupt
""",
    "twice": """
import chainform.cli.commands.derivation as derive
import chainform.cli.interruption as interruption
derive.derive_chosen = interrupt
drop = interruption.drop_stdout
def interrupted_again():
    interrupt()
    drop()
interruption.drop_stdout = interrupted_again
""",
}


def process(code: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python in a process, as a command with these arguments."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        text=True,
        stderr=subprocess.PIPE,
        check=False,
        **options,
    )


@pytest.mark.skipif(os.name == "nt", reason="a process cannot send itself Ctrl-C on Windows")
@pytest.mark.parametrize("place", PLACES)
def test_ctrl_c_is_one_line(tmp_path: Path, place: str) -> None:
    db = tmp_path / "models.db"
    arguments = ("derive", "examples/four_bar.toml", "--save", "x", "--db", str(db))
    done = process(BEGIN + PLACES[place] + END, *arguments, stdout=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (130, QUIET)
    if place == "after the commit":
        with cf.open_store(db) as store:
            assert [entry.name for entry in store.models()] == ["x"]


@pytest.mark.skipif(os.name == "nt", reason="a process cannot send itself Ctrl-C on Windows")
def test_ctrl_c_when_all_is_done_changes_nothing() -> None:
    late = "from chainform.cli import main\ncode = main()\ninterrupt()\nsys.exit(code)"
    done = process(BEGIN + late, "check", "examples/four_bar.toml", stdout=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("four_bar, read from")


def test_the_handler_is_put_back(
    call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, arm: Path
) -> None:
    seen: list[Any] = []
    command = command_of("check")

    def run(args: Any) -> Any:
        seen.append(signal.getsignal(signal.SIGINT))
        return command.run(args)

    monkeypatch.setattr("chainform.cli.commands.check.COMMAND", replace(command, run=run))
    before = signal.getsignal(signal.SIGINT), sys.unraisablehook
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert call("check", arm).code == 0
        assert seen[0] is not signal.default_int_handler
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert sys.unraisablehook is before[1]
    finally:
        signal.signal(signal.SIGINT, before[0])


@pytest.mark.parametrize("arguments", [("--help",), ("show", "--help"), ("schema", "eval")])
def test_closed_pipes_are_quiet(arguments: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = process("import sys" + END, *arguments, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
