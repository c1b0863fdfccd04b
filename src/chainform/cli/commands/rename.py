"""`chainform rename`: another name for a stored model."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from chainform.cli.commands.command import Command
from chainform.cli.printing import Report
from chainform.cli.store_place import chosen_store
from chainform.cli.stored import check_name


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("name", metavar="OLD", help="a stored model")
    parser.add_argument("new_name", metavar="NEW", help="the name that it gets")


def run(args: Namespace) -> Report:
    """Give the model, with its history, the new name."""
    check_name(args.new_name, "NEW")
    with chosen_store(args) as store:
        store.rename(args.name, args.new_name)
    document = {"name": args.name, "new_name": args.new_name}
    return Report(document, lambda page: page.text(f"{args.name} is {args.new_name} now"))


COMMAND = Command(
    usage="OLD NEW",
    description="Give a stored model, with its history and its tags, another name.",
    add_options=add_options,
    run=run,
)
