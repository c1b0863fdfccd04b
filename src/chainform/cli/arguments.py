"""The arguments of the shell: which command, with which options."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import Any, NoReturn

from chainform.cli.commands import SUMMARIES, command_of
from chainform.cli.printing import printable
from chainform.errors import ReadError

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
    from chainform.cli.store_place import add_db

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
