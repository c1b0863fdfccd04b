"""`chainform delete`: remove a model with its history."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from chainform.cli.commands.command import Command
from chainform.cli.printing import Report, counted, printable
from chainform.cli.store_place import chosen_store
from chainform.errors import ReadError


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("name", metavar="NAME", help="a stored model")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(args: Namespace) -> Report:
    """Ask, unless told not to, and remove the model."""
    with chosen_store(args) as store:
        count = len(store.log(args.name))
        revisions = counted(count, "revision")
        agreed = args.yes or _asked(f"delete {args.name} with {revisions}?")
        removed = store.delete(args.name) if agreed else 0
    text = f"deleted {args.name} with {revisions}" if agreed else "nothing was deleted"
    document = {"name": args.name, "deleted": agreed, "revisions": removed}
    return Report(document, lambda page: page.text(text))


def _asked(question: str) -> bool:
    """Ask on the terminal; stdout stays free for the report."""
    if sys.stdin is None or sys.stderr is None or not sys.stdin.isatty():
        raise ReadError("there is no terminal to ask on", element="delete", remedy="add --yes")
    print(f"{printable(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


COMMAND = Command(
    usage="NAME",
    description="Remove a stored model with all its revisions. On a terminal it asks first.\n"
    "What other models share stays; gc frees what nothing needs any more.",
    add_options=add_options,
    run=run,
)
