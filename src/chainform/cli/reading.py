"""The mechanism file on the command line, and how it is read."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from contextlib import suppress
from pathlib import Path

from chainform.cli.stored import is_stored, load_stored, refuse_stored, with_stored
from chainform.errors import ReadError
from chainform.mechanism import Mechanism
from chainform.readers import read

READING = ("base", "mimic", "snap", "root", "tips")
"""The options that are handed to the reader when they are given."""


def add_file(parser: ArgumentParser, *, stored: bool = False) -> None:
    """Add the mechanism file and the options of its reader; `stored` takes a stored model too."""
    text = "the mechanism (.toml, .json or .urdf)"
    if stored:
        text += ", or a stored model: name, name@revision or name@tag"
    parser.add_argument("file", metavar="FILE", help=text)
    parser.set_defaults(takes_stored=stored, stored=None)
    group = parser.add_argument_group("how a URDF file is read")
    group.add_argument("--base", choices=("fixed", "floating"), help="how the root link stands")
    group.add_argument(
        "--mimic",
        choices=("couple", "free"),
        help="whether a joint that mimics another shares its coordinate (couple) or has its own",
    )
    group.add_argument(
        "--snap",
        action=BooleanOptionalAction,
        default=None,
        help="set numbers that are nearly round to the round value (the default)",
    )
    group.add_argument("--root", metavar="LINK", help="read what hangs on this link only")
    group.add_argument(
        "--tip",
        metavar="LINK",
        action="append",
        dest="tips",
        help="read the way to this link only; may be repeated",
    )
    group = parser.add_argument_group("what is added to the mechanism")
    group.add_argument(
        "--payload",
        metavar="SEGMENT:MASS[:X,Y,Z]",
        action="append",
        help="a mass (kg) on a segment, its mass centre in the axes of the segment (m); repeatable",
    )
    group.add_argument(
        "--frame",
        metavar="NAME=SEGMENT[:X,Y,Z]",
        action="append",
        dest="frames",
        help="a frame on a segment, its origin in the axes of the segment (m); may be repeated",
    )


def read_chosen(args: Namespace) -> Mechanism:
    """Read the mechanism file as the options say.

    A stored model that stands in its place is kept in `args.stored`, and not derived again.
    """
    if args.takes_stored and is_stored(args):
        args.stored = load_stored(args)
        return args.stored.mechanism
    if not args.takes_stored:
        refuse_stored(args)
    _check_regular(args.file)
    given = {name: getattr(args, name) for name in READING}
    chosen = {name: value for name, value in given.items() if value is not None}
    try:
        mechanism = read(args.file, **chosen)
    except ReadError as problem:
        if not args.takes_stored:
            raise
        raise with_stored(problem, args) from None
    return _with_additions(mechanism, args)


def _check_regular(file: str) -> None:
    """Refuse pipes and devices, whose end may never come; a reader says what else is wrong."""
    path = Path(file)
    with suppress(OSError, ValueError):
        if path.exists() and not path.is_file() and not path.is_dir():
            raise ReadError("this is not a regular file", file=file, remedy="name another file")


def _with_additions(mechanism: Mechanism, args: Namespace) -> Mechanism:
    """Return the mechanism with the payloads and frames of the command line."""
    for number, text in enumerate(args.payload or (), start=1):
        segment, mass, *rest = _parts(text, "--payload", 2, 3)
        name = "payload" if len(args.payload) == 1 else f"payload{number}"
        mechanism = mechanism.with_payload(segment, mass, _point(rest), name=name)
    for text in args.frames or ():
        name, equals, place = text.partition("=")
        if not equals:
            raise ReadError(f"{text!r} has no =", element="--frame", remedy="tool=hand:0,0,0.1")
        segment, *rest = _parts(place, "--frame", 1, 2)
        mechanism = mechanism.with_frame(name.strip(), segment, _point(rest))
    return mechanism


def _parts(text: str, option: str, least: int, most: int) -> list[str]:
    parts = [part.strip() for part in text.split(":")]
    if not least <= len(parts) <= most or not all(parts):
        remedy = {"--payload": "hand:2.5:0,0,0.1", "--frame": "tool=hand:0,0,0.1"}[option]
        raise ReadError(f"{text!r} cannot be read", element=option, remedy=f"write {remedy}")
    return parts


def _point(rest: list[str]) -> list[str]:
    return [entry.strip() for entry in rest[0].split(",")] if rest else ["0", "0", "0"]
