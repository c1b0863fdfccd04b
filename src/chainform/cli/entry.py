"""From the arguments of the shell to an exit code.

    0    done
    1    the task failed: a result that cannot be computed, a full disk, a store that is locked or
         out of reach, a fault of the program
    2    the input is wrong: the command line, the mechanism, the state, the name of a model, a
         file or folder that is not there or may not be used
    130  interrupted

Whatever goes wrong is one message on stderr; a traceback comes with `--debug` only. A report is
printed when all of it is known, so that stdout stays empty after an error.
"""

from __future__ import annotations

import errno
import io
import sqlite3
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress

from chainform.cli.arguments import parse
from chainform.cli.commands import command_of
from chainform.cli.interruption import INTERRUPTED, Interruption, drop_stdout
from chainform.cli.printing import Page, printable, write_document
from chainform.cli.remedies import in_shell_words
from chainform.errors import DeriveError, Error, ReadError, StoreError

DONE, FAILED, BAD_INPUT = 0, 1, 2

WRONG_PLACE = (
    *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG),
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.EINVAL, errno.ENXIO),
)
"""What the system says of a file that is not there, cannot be one, or may not be used."""

WRONG_FILE = (
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY),
    *(sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH),
)
"""The same in SQLite."""


def run(arguments: Sequence[str], interruption: Interruption) -> int:
    """Run one command and return its exit code."""
    _let_streams_write_anything()
    try:
        return _run(arguments)
    except SystemExit as stop:  # --help and --version end the reading of the arguments so
        return stop.code if isinstance(stop.code, int) else DONE
    except BrokenPipeError:
        # Whoever read our output has seen enough, as in `chainform show arm.toml | head`.
        drop_stdout()
        return DONE
    except (KeyboardInterrupt, Exception) as problem:  # noqa: BLE001
        if "--debug" in arguments:
            traceback.print_exc()
        if interruption.came or isinstance(problem, KeyboardInterrupt):
            interruption.tell()
            return INTERRUPTED
        _complain(problem)
        if isinstance(problem, OSError):
            drop_stdout()
        return _exit_code(problem)


def _run(arguments: Sequence[str]) -> int:
    try:
        chosen = parse(arguments)
    finally:
        _flush()
    report = command_of(chosen.command).run(chosen)
    if chosen.json and report.document is not None:
        write_document({"schema": "chainform/1", "command": chosen.command, **report.document})
    else:
        report.show(Page())
    _flush()
    return FAILED if report.has_failed else DONE


def _flush() -> None:
    """Write out what is printed, so that a closed pipe or a full disk shows here, not later."""
    if sys.stdout is not None:
        sys.stdout.flush()


# --- endings --------------------------------------------------------------------------------


def _exit_code(problem: Exception) -> int:
    if isinstance(problem, ReadError | DeriveError):
        return BAD_INPUT
    causes = list(_causes(problem))
    if any(map(_is_wrong_place, causes)):
        return BAD_INPUT
    if isinstance(problem, StoreError) and not any(map(_is_out_of_reach, causes)):
        return BAD_INPUT
    return FAILED


def _causes(problem: BaseException) -> Iterator[BaseException]:
    """Yield an exception, what it was raised from, and what SQLAlchemy wraps."""
    found: BaseException | None = problem
    while found is not None:
        yield found
        found = found.__cause__ or getattr(found, "orig", None)


def _is_wrong_place(problem: BaseException) -> bool:
    if isinstance(problem, OSError):
        return problem.errno in WRONG_PLACE
    code = getattr(problem, "sqlite_errorcode", None)
    return isinstance(code, int) and code & 0xFF in WRONG_FILE


def _is_out_of_reach(problem: BaseException) -> bool:
    """Tell whether a store fails for a reason outside it: a lock, a full disk, no server.

    Drivers of databases, and SQLAlchemy above them, call such an error an OperationalError.
    """
    kinds = type(problem).__mro__
    return OSError in kinds or any(kind.__name__ == "OperationalError" for kind in kinds)


def _complain(problem: Exception) -> None:
    """Print one message on stderr, wherever that leads."""
    if sys.stderr is None:
        return
    with suppress(OSError, ValueError):
        print(f"chainform: {printable(_message(problem))}", file=sys.stderr, flush=True)


def _message(problem: Exception) -> str:
    if isinstance(problem, Error):
        return f"error: {in_shell_words(str(problem))}"
    if isinstance(problem, MemoryError):
        return "error: there is not enough memory"
    if isinstance(problem, OSError):
        named = "" if problem.filename is None else f"{str(problem.filename)[:200]}: "
        return f"error: {named}{problem.strerror or problem}"
    return (
        f"unexpected error: {type(problem).__name__}: {problem}\n"
        "  remedy: this is a fault of chainform; report it with what --debug shows"
    )


def _let_streams_write_anything() -> None:
    """Escape what the encoding of a stream lacks: a × must not stop a report."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")
