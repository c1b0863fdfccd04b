"""`chainform import-db`: take models over from another store."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from chainform.cli.commands.command import Command
from chainform.cli.printing import Report
from chainform.cli.store_place import check_regular, chosen_store, told
from chainform.cli.stored import revision_document
from chainform.model import open_store_file


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("path", metavar="PATH", help="a file that export-db wrote")
    parser.add_argument("names", metavar="NAME", nargs="*", help="models (default: all)")


def run(args: Namespace) -> Report:
    """Copy the models with their history."""
    with told(args.path):
        check_regular(Path(args.path))
        open_store_file(args.path).close()  # before a new store is made for what cannot be read
    with chosen_store(args, make=True) as store:
        revisions = store.import_(args.path, args.names or None)
    listed = ", ".join(revision.reference for revision in revisions) or "no models"
    document = {"read": args.path, "models": [revision_document(r) for r in revisions]}
    return Report(document, lambda page: page.text(f"read {args.path}: {listed}"))


IMPORT_DB = Command(
    summary="take models over from a file",
    usage="PATH [NAME ...]",
    description="Copy models, all or those named, with their history from a file that export-db\n"
    "wrote. A model whose name is taken is refused, and then nothing is copied.",
    add_options=add_options,
    run=run,
)
