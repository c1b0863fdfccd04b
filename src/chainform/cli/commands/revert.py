"""`chainform revert`: make an earlier revision the last one again."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from chainform.cli.commands.command import Command
from chainform.cli.printing import Report
from chainform.cli.store_place import chosen_store
from chainform.cli.stored import add_origin, revision_document
from chainform.errors import ReadError


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("name", metavar="NAME", help="a stored model")
    parser.add_argument("revision", metavar="REV", help="the number of a revision, or its tag")
    add_origin(parser)


def run(args: Namespace) -> Report:
    """Add a revision with the content of an earlier one."""
    if "@" in args.name:
        remedy = "write the name and the number apart: revert arm 3"
        raise ReadError("this is a revision, not a name", element=args.name[:60], remedy=remedy)
    with chosen_store(args) as store:
        meant = store.revision(f"{args.name}@{args.revision}")
        revision = store.revert(args.name, args.revision, args.note, args.author)
    text = f"{revision.reference} is as {meant.reference} was"
    document = {"reverted_to": meant.number, "saved": revision_document(revision)}
    return Report(document, lambda page: page.text(text))


COMMAND = Command(
    usage="NAME REV",
    description="Add a revision with the content of an earlier one. Nothing is removed.",
    add_options=add_options,
    run=run,
)
