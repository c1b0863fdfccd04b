"""Exit codes, messages and streams."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chainform as cf
from chainform.cli import entry, main
from chainform.cli.command import SUMMARIES, command_of
from chainform.errors import DeriveError, Error, ReadError, RunError, StoreError

ROOT = Path(__file__).parents[3]


def run_process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "chainform", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, text=True, capture_output=True, check=False, **options
    )


def raising(problem: BaseException) -> Callable[[Any], Any]:
    def run(args: Any) -> Any:
        raise problem

    return run


def caused(problem: Exception, cause: Exception) -> Exception:
    """Return an exception as `raise problem from cause` leaves it."""
    problem.__cause__ = cause
    return problem


def sqlite_error(code: int) -> sqlite3.OperationalError:
    """Return an error as SQLite raises it."""
    problem = sqlite3.OperationalError("as SQLite says it")
    problem.sqlite_errorcode = code
    return problem


def replace_run(monkeypatch: pytest.MonkeyPatch, problem: BaseException) -> None:
    """Let `check` end with an exception."""
    changed = replace(command_of("check"), run=raising(problem))
    monkeypatch.setattr("chainform.cli.commands.check.COMMAND", changed)


def test_module_runs_as_a_process() -> None:
    done = run_process("check", "examples/six_axis_arm.toml")
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.startswith("six_axis_arm, read from examples/six_axis_arm.toml\n")


def test_process_with_bad_input_has_one_message() -> None:
    done = run_process("check", "missing.toml")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("chainform: error: missing.toml: ")


def test_closed_pipe_is_quiet() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-m", "chainform", "show", "examples/six_axis_arm.toml", "C"],
        cwd=ROOT,
        env=environment,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_full_disk_is_a_failed_task() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "chainform", "check", "examples/six_axis_arm.toml"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("chainform: error: ")
    assert len(done.stderr.splitlines()) == 1


def test_ascii_terminal_gets_escapes_not_an_error() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "chainform", "derive", "examples/six_axis_arm.toml"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert rb"6 \xd7 6" in done.stdout


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (ReadError("bad"), 2),
        (DeriveError("bad"), 2),
        (RunError("bad"), 1),
        (StoreError("bad"), 2),
        (caused(StoreError("locked"), sqlite3.OperationalError("busy")), 1),
        (caused(StoreError("damaged"), sqlite3.DatabaseError("malformed")), 2),
        (caused(StoreError("full"), OSError(28, "No space left on device")), 1),
        (caused(StoreError("no folder"), FileNotFoundError(2, "No such file")), 2),
        (caused(StoreError("forbidden"), sqlite_error(sqlite3.SQLITE_CANTOPEN)), 2),
        (caused(StoreError("forbidden"), sqlite_error(sqlite3.SQLITE_READONLY_DIRECTORY)), 2),
        (caused(StoreError("locked"), sqlite_error(sqlite3.SQLITE_BUSY)), 1),
        (caused(RunError("no folder"), FileNotFoundError(2, "No such file")), 2),
        (caused(RunError("full"), OSError(28, "No space left on device")), 1),
        (PermissionError(13, "Permission denied", "x.toml"), 2),
        (Error("bad"), 1),
        (OSError(28, "No space left on device"), 1),
        (MemoryError(), 1),
        (RecursionError("too deep"), 1),
        (KeyError("x"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_exit_codes(
    call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, problem: BaseException, code: int
) -> None:
    replace_run(monkeypatch, problem)
    for arguments in (["check", "x.toml"], ["check", "x.toml", "--json"]):
        result = call(*arguments)
        assert result.code == code
        assert result.out == ""
        assert result.err.startswith("chainform: ")
        assert "Traceback" not in result.err


def test_unexpected_error_names_its_type(
    call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_run(monkeypatch, KeyError("x"))
    assert "unexpected error: KeyError: 'x'" in call("check", "x.toml").err


@pytest.mark.parametrize(
    "arguments", [("--debug", "check", "x.toml"), ("check", "x.toml", "--debug")]
)
def test_debug_shows_the_traceback(call: Callable[..., Any], arguments: tuple[str, ...]) -> None:
    result = call(*arguments)
    assert result.code == 2
    assert "Traceback" in result.err
    assert "chainform: error: x.toml: there is no such file" in result.err


def test_message_ends_with_the_remedy(
    call: Callable[..., Any], refused: Callable[[Any], str]
) -> None:
    message = refused(call("derive", "x.toml", "--bogus"))
    assert "  remedy: " in message


def test_broken_pipe_in_process(call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    replace_run(monkeypatch, BrokenPipeError())
    result = call("check", "x.toml")
    assert (result.code, result.out, result.err) == (0, "", "")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("frobnicate",),
        ("check",),
        ("check", "a.toml", "b.toml"),
        ("check", "a.toml", "--outputs", "H"),
        ("derive", "--outputs", "H", "a.toml"),
        ("eval", "a.toml"),
        ("export", "a.toml"),
        ("export", "a.toml", "--to", "cobol"),
        ("export", "a.toml", "--lang", "python"),
        ("schema",),
        ("schema", "nothing"),
        ("--nothing",),
        ("",),
    ],
)
def test_wrong_arguments_are_bad_input(
    call: Callable[..., Any], refused: Callable[[Any], str], arguments: tuple[str, ...]
) -> None:
    refused(call(*arguments))


@pytest.mark.parametrize(
    "name", ["", "missing.toml", ".", "\0", "a\nb.toml", "\udcff.toml", "x" * 5000, "\x1b[31m.toml"]
)
def test_strange_file_names(
    call: Callable[..., Any], refused: Callable[[Any], str], name: str
) -> None:
    for command in (["check"], ["count"], ["show"], ["derive"], ["eval", "--at", "s.json"]):
        message = refused(call(command[0], name, *command[1:]))
        assert "\x1b" not in message
        assert "\0" not in message


def test_help_and_version(call: Callable[..., Any]) -> None:
    result = call("--help")
    assert result.code == 0
    assert all(name in result.out for name in SUMMARIES)
    assert call("--version").out.startswith("chainform ")
    for name in SUMMARIES:
        result = call(name, "--help")
        assert result.code == 0
        assert result.out.startswith(f"usage: chainform {name} ")


def test_closed_streams_do_no_harm(monkeypatch: pytest.MonkeyPatch, arm: Path) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["check", str(arm)]) == 0
    assert main(["check", "missing.toml"]) == 2


def test_arguments_come_from_the_shell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arm: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["chainform", "count", str(arm), "--outputs", "hG"])
    handler, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook
    try:
        assert main() == 0
        # The process is about to end; nothing is left that could be interrupted.
        assert signal.getsignal(signal.SIGINT) in (handler, signal.SIG_IGN)
    finally:
        signal.signal(signal.SIGINT, handler)
        sys.unraisablehook = hook
    assert "gravity" in capsys.readouterr().out


def test_stderr_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def write(self, _: object) -> None:
            raise OSError("closed")

        def flush(self) -> None:
            raise OSError("closed")

    monkeypatch.setattr(sys, "stderr", Broken())
    assert main(["check", "missing.toml"]) == entry.BAD_INPUT


def test_an_error_of_the_system_names_the_file(
    call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_run(monkeypatch, PermissionError(13, "Permission denied", "/a/b.toml"))
    assert call("check", "x.toml").err == "chainform: error: /a/b.toml: Permission denied\n"


@pytest.mark.parametrize("argument", ["\udcff", "a\udcff.toml", "--save=\udce9"])
def test_arguments_that_are_not_text(
    call: Callable[..., Any], refused: Callable[[Any], str], argument: str
) -> None:
    for command in SUMMARIES:
        assert "is not UTF-8" in refused(call(command, argument))


def test_quantities_may_stand_behind_options(call: Callable[..., Any], arm: Path) -> None:
    ordered = call("show", arm, "H_1_1", "hG_2", "--formulation", "closed_form")
    mixed = call("show", arm, "H_1_1", "--formulation", "closed_form", "hG_2")
    last = call("show", arm, "--formulation", "closed_form", "H_1_1", "hG_2")
    assert ordered.code == 0
    assert ordered == mixed == last


def test_what_is_too_much_is_named_with_the_use_of_the_command(
    call: Callable[..., Any], refused: Callable[[Any], str]
) -> None:
    message = refused(call("check", "a.toml", "b.toml"))
    assert "'b.toml' is one argument too many" in message
    assert "write chainform check FILE" in message
    message = refused(call("show", "a.toml", "--bogus", "H"))
    assert "unknown option --bogus" in message
    assert "write chainform show FILE" in message


def test_help_imports_no_room_of_the_product() -> None:
    """The first keystroke is answered at once: nothing is imported that a command needs."""
    for arguments in (("--help",), ("--version",)):
        code = f"import sys; from chainform.cli import main; main({arguments!r}); "
        code += "print(sorted(name for name in sys.modules if name.startswith('chainform.')))"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        names = done.stdout.splitlines()[-1]
        assert "chainform.cli.command'" in names
        for room in ("mechanism", "model", "store", "simulation", "graph", "runtime"):
            assert f"chainform.{room}" not in names


@pytest.mark.slow
def test_a_second_simulation_takes_its_machine_code_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, results = tmp_path / "cache", [tmp_path / "first.npz", tmp_path / "second.npz"]
    monkeypatch.setenv("CHAINFORM_CACHE", str(cache))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    files: dict[str, int] = {}
    for result in results:
        scenario = "examples/scenarios/four_bar.toml"
        done = run_process("simulate", scenario, "--out", str(result))
        assert done.returncode == 0, done.stderr
        before, files = files, {path.name: path.stat().st_size for path in cache.iterdir()}
        assert files
        assert before in ({}, files)
    first, second = (cf.Run.load(result) for result in results)
    assert (first.q == second.q).all()


@pytest.mark.slow
def test_commands_without_a_store_import_no_database(tmp_path: Path) -> None:
    """Neither SQLAlchemy nor a driver is imported by a command, unless it opens a store."""
    arm, state = str(ROOT / "examples/six_axis_arm.toml"), '{"q": [0, 0, 0, 0, 0, 0]}'
    calls: dict[str, list[str]] = {
        "check": [arm],
        "derive": [arm],
        "show": [arm, "hG"],
        "eval": [arm, "--at", state, "--outputs", "hG"],
        "count": [arm, "--outputs", "hG"],
        "export": [arm, "--to", "python", "--outputs", "hG"],
        "simulate": [str(ROOT / "examples/scenarios/four_bar.toml"), "--quiet"],
    }
    code = f"""
import sys
from chainform.cli import main
for command, arguments in {calls!r}.items():
    assert main([command, *arguments]) == 0, command
    found = [name for name in ("sqlalchemy", "psycopg") if name in sys.modules]
    assert not found, (command, found)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XDG_DATA_HOME": str(tmp_path), "CHAINFORM_CACHE": str(tmp_path)},
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_wrong_name_in_a_task_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(Path(__file__).parents[3] / "examples" / "six_axis_arm.toml")
    assert main(["inverse-kinematics", file, "--targets", '{"griper": [0.9, 0.3, 0.8]}']) == 2
    assert "did you mean 'gripper'?" in capsys.readouterr().err
