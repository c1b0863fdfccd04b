"""`chainform import-db`: take models over from another store."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from chainform.cli.commands.command import Command
from chainform.cli.printing import Report
from chainform.cli.store_place import check_regular, chosen_store, told
from chainform.cli.stored import check_name, revision_document
from chainform.errors import ReadError
from chainform.model import open_store_file


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("path", metavar="PATH", help="a file that export-db wrote")
    parser.add_argument("names", metavar="NAME", nargs="*", help="models (default: all)")
    parser.add_argument(
        "--as", metavar="NEW", dest="new_name", help="the name that a single model gets here"
    )


def run(args: Namespace) -> Report:
    """Copy the models with their history."""
    if "://" in args.path:
        raise ReadError(
            "this is an address, and import-db reads a file",
            element="PATH",
            remedy="export-db FILE --db ADDRESS writes the models of a server into a file",
        )
    with told(args.path):
        check_regular(Path(args.path))
        with open_store_file(args.path) as source:  # whatever cannot be read is refused here
            names = _names(args, [entry.name for entry in source.models()])
    with chosen_store(args, make=True) as store:
        revisions = store.import_(args.path, names)
    listed = ", ".join(revision.reference for revision in revisions) or "no models"
    document = {"read": args.path, "models": [revision_document(r) for r in revisions]}
    return Report(document, lambda page: page.text(f"read {args.path}: {listed}"))


def _names(args: Namespace, known: list[str]) -> list[str] | dict[str, str] | None:
    """Return the models to take, all of them as None, or the new name of a single one."""
    chosen: list[str] = args.names or known
    if args.new_name is None:
        return args.names or None
    check_name(args.new_name, "--as")
    if len(set(chosen)) != 1:
        raise ReadError(
            f"--as names one model, and {len(set(chosen))} are meant",
            element="--as",
            remedy="name the model before it: import-db FILE NAME --as NEW",
        )
    return {chosen[0]: args.new_name}


COMMAND = Command(
    usage="PATH [NAME ...]",
    description="Copy models, all or those named, with their history from a file that export-db\n"
    "wrote. A model whose name is taken is refused, and then nothing is copied; --as gives a\n"
    "single model another name.",
    add_options=add_options,
    run=run,
)
