"""The mechanism file on the command line, and how it is read."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, Namespace

from chainform.cli.stored import is_stored, load_stored
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


def read_chosen(args: Namespace) -> Mechanism:
    """Read the mechanism file as the options say.

    A stored model that stands in its place is kept in `args.stored`, and not derived again.
    """
    if args.takes_stored and is_stored(args):
        args.stored = load_stored(args)
        return args.stored.mechanism
    given = {name: getattr(args, name) for name in READING}
    return read(args.file, **{name: value for name, value in given.items() if value is not None})
