"""From the arguments of the shell to an exit code.

    0    done
    1    the task failed: a result that cannot be computed or written, a fault of the program
    2    the input is wrong: the command line, the mechanism, the state, the name of a model
    130  interrupted

Whatever goes wrong is one message on stderr; a traceback comes with `--debug` only. A report is
printed when all of it is known, so that stdout stays empty after an error.
"""

from __future__ import annotations

import io
import os
import sys
import traceback
from argparse import SUPPRESS, ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from chainform.cli.commands import COMMANDS
from chainform.cli.printing import Page, printable, write_document
from chainform.cli.stored import add_db
from chainform.errors import DeriveError, Error, ReadError, StoreError

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _let_streams_write_anything()
    try:
        _run(arguments)
        return DONE
    except SystemExit as stop:  # --help and --version end the reading of the arguments so
        return stop.code if isinstance(stop.code, int) else DONE
    except BrokenPipeError:
        # Whoever read our output has seen enough, as in `chainform show arm.toml | head`.
        _drop_stdout()
        return DONE
    except (KeyboardInterrupt, Exception) as problem:  # noqa: BLE001
        if "--debug" in arguments:
            traceback.print_exc()
        _complain(problem)
        if isinstance(problem, OSError):
            _drop_stdout()
        return _exit_code(problem)


def _run(arguments: list[str]) -> None:
    chosen = _parser().parse_args(arguments)
    report = COMMANDS[chosen.command].run(chosen)
    if chosen.json and report.document is not None:
        write_document({"schema": "chainform/1", "command": chosen.command, **report.document})
    else:
        report.show(Page())
    if sys.stdout is not None:
        sys.stdout.flush()


# --- arguments ------------------------------------------------------------------------------


class _Parser(ArgumentParser):
    """A parser whose complaints are errors like all others."""

    def error(self, message: str) -> NoReturn:
        usage = " ".join(self.format_usage().removeprefix("usage:").split())
        raise ReadError(message, remedy=f"write {usage}; see {self.prog} --help")


def _parser() -> ArgumentParser:
    parser = _Parser(
        prog="chainform",
        description="Equations of motion of mechanisms, derived in symbolic form.",
        epilog="chainform COMMAND --help explains a command.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=_version())
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        options = commands.add_parser(
            name,
            help=command.summary,
            usage=f"chainform {name} {command.usage} [options]",
            description=command.description,
            formatter_class=RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.add_options(options)
        add_db(options)
        options.add_argument("--json", action="store_true", help="print one JSON document")
        # SUPPRESS keeps a --debug that stands before the command.
        options.add_argument(
            "--debug", action="store_true", default=SUPPRESS, help="show the traceback of an error"
        )
    return parser


def _version() -> str:
    from chainform import __version__

    return f"chainform {__version__}"


# --- endings --------------------------------------------------------------------------------


def _exit_code(problem: BaseException) -> int:
    if isinstance(problem, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(problem, StoreError):
        return FAILED if _is_out_of_reach(problem) else BAD_INPUT
    return BAD_INPUT if isinstance(problem, ReadError | DeriveError) else FAILED


def _is_out_of_reach(problem: StoreError) -> bool:
    """Tell whether a store fails for a reason outside it: a lock, a full disk, no server.

    Drivers of databases, and SQLAlchemy above them, call such an error an OperationalError.
    """
    kinds = type(problem.__cause__).__mro__
    return OSError in kinds or any(kind.__name__ == "OperationalError" for kind in kinds)


def _complain(problem: BaseException) -> None:
    """Print one message on stderr, wherever that leads."""
    if sys.stderr is None:
        return
    with suppress(OSError):
        print(f"chainform: {printable(_message(problem))}", file=sys.stderr, flush=True)


def _message(problem: BaseException) -> str:
    if isinstance(problem, KeyboardInterrupt):
        return "interrupted"
    if isinstance(problem, Error):
        return f"error: {problem}"
    if isinstance(problem, MemoryError):
        return "error: there is not enough memory"
    if isinstance(problem, OSError):
        return f"error: {problem}"
    return (
        f"unexpected error: {type(problem).__name__}: {problem}\n"
        "  remedy: this is a fault of chainform; report it with what --debug shows"
    )


def _let_streams_write_anything() -> None:
    """Escape what the encoding of a stream lacks: a × must not stop a report."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def _drop_stdout() -> None:
    """Lead stdout nowhere, so that Python does not try and fail to flush it when it ends."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
