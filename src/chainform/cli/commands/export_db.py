"""`chainform export-db`: models in one file that can be sent around."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from chainform.cli.commands.command import Command
from chainform.cli.printing import Report
from chainform.cli.store_place import check_regular, chosen_store, told
from chainform.errors import ReadError


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("path", metavar="PATH", help="the file to write")
    parser.add_argument("names", metavar="NAME", nargs="*", help="models (default: all)")
    parser.add_argument("--force", action="store_true", help="overwrite the file if it exists")


def run(args: Namespace) -> Report:
    """Write the models with their history."""
    if "://" in args.path:
        raise ReadError(
            "this is an address, and export-db writes a file",
            element="PATH",
            remedy="name a file; import-db FILE --db ADDRESS takes it from there to a server",
        )
    with told(args.path):
        check_regular(Path(args.path))
        if not Path(args.path).absolute().parent.is_dir():
            raise ReadError(
                "its folder does not exist", file=args.path[:200], remedy="make the folder"
            )
    with chosen_store(args, read_only=True) as store, told(args.path):
        names = store.export(args.path, args.names or None, force=args.force)
    text = f"wrote {args.path}: {', '.join(names) or 'no models'}"
    return Report({"written": args.path, "models": names}, lambda page: page.text(text))


COMMAND = Command(
    usage="PATH [NAME ...]",
    description="Write stored models, all or those named, with their history into one new SQLite\n"
    "file, which is a store of its own.",
    add_options=add_options,
    run=run,
)
