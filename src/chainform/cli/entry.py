"""From the arguments of the shell to an exit code.

    0    done
    1    the task failed: a result that cannot be computed, a full disk, a store that is locked or
         out of reach, a fault of the program
    2    the input is wrong: the command line, the mechanism, the state, the name of a model, a
         file or folder that is not there or may not be used
    130  interrupted

Whatever goes wrong is one message on stderr; a traceback comes with `--debug` only. A report is
printed when all of it is known, so that stdout stays empty after an error.

The arguments of the shell: which command, with which options.

Remedies in the words of the shell: the library says them in those of Python.
"""

from __future__ import annotations

import errno
import io
import re
import sys
import traceback
from argparse import SUPPRESS, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from chainform.cli.command import SUMMARIES, command_of
from chainform.cli.interruption import INTERRUPTED, Interruption, drop_stdout
from chainform.cli.printing import print_report, printable
from chainform.errors import DeriveError, Error, ReadError, StoreError

DONE, FAILED, BAD_INPUT = 0, 1, 2


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
            interruption.tell(problem)
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
    print_report(chosen, report)
    return FAILED if report.has_failed else DONE


def _flush() -> None:
    """Write out what is printed, so that a closed pipe or a full disk shows here, not later."""
    if sys.stdout is not None:
        sys.stdout.flush()


def _let_streams_write_anything() -> None:
    """Escape what the encoding of a stream lacks: a × must not stop a report."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


# --- the arguments of the shell ---------------------------------------------------------------


OPEN_ENDED = ("quantities", "names", "tags")
"""Arguments of which there may be any number, before and behind the options."""


class Parser(ArgumentParser):
    """A parser whose complaints are errors like all others."""

    def error(self, message: str) -> NoReturn:
        usage = " ".join(self.format_usage().removeprefix("usage:").split())
        raise ReadError(message, remedy=f"write {usage}; see {self.prog} --help")


def parse(arguments: Sequence[str]) -> Namespace:
    """Return the command and its options; refuse what is wrong."""
    for argument in arguments:
        _check_text(argument)
    parser = Parser(
        prog="chainform",
        description="Equations of motion of mechanisms, derived in symbolic form.",
        epilog="chainform COMMAND --help explains a command.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=_version())
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    named = next((text for text in arguments if not text.startswith("-")), "")
    command: Parser | None = None
    for name, summary in SUMMARIES.items():
        if name == named:
            command = _add_command(parsers, name)
        else:
            parsers.add_parser(name, help=summary)
    chosen, rest = parser.parse_known_args(arguments)
    if rest and command is not None:
        _take_rest(command, chosen, rest)
    return chosen


def _check_text(argument: str) -> None:
    try:
        argument.encode()
    except UnicodeEncodeError:
        raise ReadError(
            "the argument is not UTF-8 text",
            element=printable(argument[:60]),
            remedy="write it in UTF-8; a file with such a name can be given another one",
        ) from None


def _add_command(parsers: Any, name: str) -> Parser:
    """Add the command that is called, with its options: only its file is imported."""
    from chainform.cli.store import add_db

    command = command_of(name)
    parser: Parser = parsers.add_parser(
        name,
        help=SUMMARIES[name],
        usage=f"%(prog)s {command.usage} [options]",
        description=command.description,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_options(parser)
    add_db(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    # SUPPRESS keeps a --debug that stands before the command.
    parser.add_argument(
        "--debug", action="store_true", default=SUPPRESS, help="show the traceback of an error"
    )
    return parser


def _take_rest(parser: Parser, chosen: Namespace, rest: list[str]) -> None:
    """Take what argparse leaves over behind options, as H in `show FILE --expand H`."""
    unknown = [text for text in rest if text.startswith("-") and text != "-"]
    if unknown:
        parser.error(f"unknown option {unknown[0][:60]}")
    for name in OPEN_ENDED:
        if isinstance(getattr(chosen, name, None), list):
            setattr(chosen, name, [*getattr(chosen, name), *rest])
            return
    if getattr(chosen, "search", "") is None and len(rest) == 1:
        chosen.search = rest[0]
        return
    parser.error(f"{rest[0][:60]!r} is one argument too many")


def _version() -> str:
    from chainform import __version__

    return f"chainform {__version__}"


# --- endings ----------------------------------------------------------------------------------


WRONG_PLACE = (
    *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG),
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.EINVAL, errno.ENXIO, errno.ENOTEMPTY),
)
"""What the system says of a file that is not there, cannot be one, or may not be used."""


def _exit_code(problem: Exception) -> int:
    causes = list(_causes(problem))
    # A task that fails because of a wrong name or a wrong file was given bad input.
    if any(isinstance(cause, ReadError | DeriveError) for cause in causes):
        return BAD_INPUT
    if any(isinstance(cause, Error) and cause.is_input for cause in causes):
        return BAD_INPUT
    if any(map(_is_wrong_place, causes)):
        return BAD_INPUT
    if isinstance(problem, StoreError) and not any(map(_is_out_of_reach, causes)):
        return BAD_INPUT
    return FAILED


def _causes(problem: BaseException) -> Iterator[BaseException]:
    """Yield an exception, what it was raised from or in place of, and what SQLAlchemy wraps."""
    found: BaseException | None = problem
    while found is not None:
        yield found
        replaced = found.__context__ if found.__suppress_context__ else None
        found = found.__cause__ or getattr(found, "orig", None) or replaced


def _is_wrong_place(problem: BaseException) -> bool:
    if isinstance(problem, OSError):
        return problem.errno in WRONG_PLACE
    code = getattr(problem, "sqlite_errorcode", None)
    if not isinstance(code, int):
        return False
    from sqlite3 import SQLITE_AUTH, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY

    return code & 0xFF in (SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH)


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
        return f"error: {shell_words(str(problem))}"
    if isinstance(problem, MemoryError):
        return "error: there is not enough memory"
    if isinstance(problem, OSError):
        named = "" if problem.filename is None else f"{str(problem.filename)[:200]}: "
        return f"error: {named}{problem.strerror or problem}"
    return (
        f"unexpected error: {type(problem).__name__}: {problem}\n"
        "  remedy: this is a fault of chainform; report it with what --debug shows"
    )


# --- remedies in the words of the shell: the library has them in those of Python --------------


VALUE = r"(?P<value>\[[^\]]*\]|'[^']*'|\"[^\"]*\")"


def _names(match: re.Match[str]) -> str:
    """Return a list of Python as the shell takes it; what the shell would read is in quotes."""
    names = ",".join(re.findall(r"[\"']([^\"']+)[\"']", match["value"]))
    return f"'{names}'" if re.search(r"[^\w,.-]", names) else names


GROUPS = "q|qd|qdd|tau|sigma|wrench|x|u|force|t|direction|weights"

REMEDIES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (rf"\bparameters={VALUE}", lambda match: f"--parameters {_names(match)}"),
    (rf"\boutputs={VALUE}", lambda match: f"--outputs {_names(match)}"),
    (r"\bvalues=\{'([^']+)': \.\.\.\}", r'in the state, "values": {"\1": ...}'),
    (
        r"\b(q|qd|qdd|tau|sigma|wrench|x|u|force|t|direction|weights)=\[\.\.\.\]",
        r'in the state, "\1": [...]',
    ),
    (r"\bnamed in `wrenches`", "named by --wrenches"),
    (r"\bforce=True\b", "--force"),
    (r"\ballow_python=True\b", "--allow-python"),
    (r"\bcheck\(repair=True\)", "chainform check-db --repair"),
    (r"; trust_rows=True [^;]*", ""),
    (r"under another name, \{'([^']+)': 'other_name'\}", r"by import-db FILE \1 --as OTHER"),
    (r", or rename yours", ", or rename yours by chainform rename"),
    (r"give it another one: with_payload\(.*\)", "rename that in the file"),
    (r"load the graph alone with chainform\.store", "derive the model from a mechanism"),
    (r"`(models|log)`", r"chainform \1"),
    (r"`check` tells where", "chainform check-db tells where"),
    (r"; a `with` block closes it", ""),
)
"""What stands for an option or a call of Python, and what to type instead."""


def shell_words(text: str) -> str:
    """Return a message with the remedies that the shell has."""
    for pattern, words in REMEDIES:
        text = re.sub(pattern, words, text)
    return text
