"""The commands that tend the store: rename, delete, gc, check-db, export-db, import-db."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from chainform.cli.command import Command
from chainform.cli.printing import Page, Report, printable
from chainform.cli.store import (
    check_name,
    check_regular,
    chosen_store,
    revision_document,
    store_errors,
)
from chainform.errors import ReadError
from chainform.given import counted
from chainform.model import open_store_file

# --- rename -------------------------------------------------------------------------------------


def _rename_options(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="OLD", help="a stored model")
    parser.add_argument("new_name", metavar="NEW", help="the name that it gets")


def _rename(args: Namespace) -> Report:
    """Give the model, with its history, the new name."""
    check_name(args.new_name, "NEW")
    with chosen_store(args) as store:
        store.rename(args.name, args.new_name)
    document = {"name": args.name, "new_name": args.new_name}
    return Report(document, lambda page: page.text(f"{args.name} is {args.new_name} now"))


# --- delete -------------------------------------------------------------------------------------


def _delete_options(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="a stored model")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _delete(args: Namespace) -> Report:
    """Remove the model, after a question unless --yes is there."""
    with chosen_store(args) as store:
        count = len(store.log(args.name))
        revisions = counted(count, "revision")
        agreed = args.yes or _is_confirmed(f"delete {args.name} with {revisions}?")
        removed = store.delete(args.name) if agreed else 0
    text = f"deleted {args.name} with {revisions}" if agreed else "nothing was deleted"
    document = {"name": args.name, "deleted": agreed, "revisions": removed}
    return Report(document, lambda page: page.text(text))


def _is_confirmed(question: str) -> bool:
    """Ask on the terminal; stdout stays free for the report."""
    if sys.stdin is None or sys.stderr is None or not sys.stdin.isatty():
        raise ReadError("there is no terminal to ask on", element="delete", remedy="add --yes")
    print(f"{printable(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


# --- gc -----------------------------------------------------------------------------------------


def _gc(args: Namespace) -> Report:
    """Sweep the store."""
    with chosen_store(args) as store:
        swept = store.gc()
    text = f"removed {counted(swept.graphs, 'graph')} and {counted(swept.mechanisms, 'mechanism')}"
    document = {"graphs": swept.graphs, "mechanisms": swept.mechanisms}
    return Report(document, lambda page: page.text(text))


# --- check-db -----------------------------------------------------------------------------------


REPAIRED = " (repaired)"
"""How the store marks what it mended."""


def _check_db_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--repair", action="store_true", help="write anew what follows from other rows"
    )


def _check_db(args: Namespace) -> Report:
    """Compare every cell that a model depends on with what was saved."""
    with chosen_store(args, read_only=not args.repair) as store:
        found = store.check(repair=args.repair)
    left = [problem for problem in found if not problem.endswith(REPAIRED)]
    document = {
        "is_whole": not left,
        "problems": [
            {"text": problem.removesuffix(REPAIRED), "repaired": problem.endswith(REPAIRED)}
            for problem in found
        ],
    }

    def show(page: Page) -> None:
        for problem in found:
            page.text(problem)
        page.text(_verdict(len(found), len(left), repair=args.repair))

    return Report(document, show, has_failed=bool(left))


def _verdict(found: int, left: int, *, repair: bool) -> str:
    if not found:
        return "the store is whole"
    if not left:
        return f"{counted(found, 'problem')} repaired; the store is whole"
    if not repair:
        return f"{counted(found, 'problem')}; check-db --repair mends what can be mended"
    return f"{counted(left, 'problem')} cannot be repaired; take the store from a backup"


# --- export-db ----------------------------------------------------------------------------------


def _export_db_options(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="the file to write")
    parser.add_argument("names", metavar="NAME", nargs="*", help="models (default: all)")
    parser.add_argument("--force", action="store_true", help="overwrite the file if it exists")


def _export_db(args: Namespace) -> Report:
    """Write the models with their history."""
    remedy = "name a file; import-db FILE --db ADDRESS takes it from there to a server"
    _check_path(args.path, "export-db writes a file", remedy)
    with store_errors(args.path):
        if not Path(args.path).absolute().parent.is_dir():
            raise ReadError(
                "its folder does not exist", file=args.path[:200], remedy="make the folder"
            )
    with chosen_store(args, read_only=True) as store, store_errors(args.path):
        names = store.export(args.path, args.names or None, force=args.force)
    text = f"wrote {args.path}: {', '.join(names) or 'no models'}"
    return Report({"written": args.path, "models": names}, lambda page: page.text(text))


def _check_path(path: str, what: str, remedy: str) -> None:
    """Refuse addresses, pipes and devices."""
    if "://" in path:
        raise ReadError(f"this is an address, and {what}", element="PATH", remedy=remedy)
    with store_errors(path):
        check_regular(Path(path))


# --- import-db ----------------------------------------------------------------------------------


def _import_db_options(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a file that export-db wrote")
    parser.add_argument("names", metavar="NAME", nargs="*", help="models (default: all)")
    parser.add_argument(
        "--as", metavar="NEW", dest="new_name", help="the name that a single model gets here"
    )


def _import_db(args: Namespace) -> Report:
    """Copy the models with their history."""
    remedy = "export-db FILE --db ADDRESS writes the models of a server into a file"
    _check_path(args.path, "import-db reads a file", remedy)
    with store_errors(args.path), open_store_file(args.path) as source:
        # Whatever cannot be read is refused here.
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


COMMANDS = {
    "rename": Command(
        usage="OLD NEW",
        description="Give a stored model, with its history and its tags, another name.",
        add_options=_rename_options,
        run=_rename,
    ),
    "delete": Command(
        usage="NAME",
        description="Remove a stored model with all its revisions. On a terminal it asks first.\n"
        "What other models share stays; gc frees what nothing needs any more.",
        add_options=_delete_options,
        run=_delete,
    ),
    "gc": Command(
        usage="",
        description="Remove graphs and mechanisms that no revision needs any more.",
        add_options=lambda _: None,
        run=_gc,
    ),
    "check-db": Command(
        usage="",
        description="Compare every cell that a stored model depends on with what was saved, and\n"
        "name those that differ. The exit code is 1 where something is wrong. With\n"
        "--repair rows, counts and caches are written anew from whatever is whole.",
        add_options=_check_db_options,
        run=_check_db,
    ),
    "export-db": Command(
        usage="PATH [NAME ...]",
        description="Write stored models, all or those named, with their history into one new\n"
        "SQLite file, which is a store of its own.",
        add_options=_export_db_options,
        run=_export_db,
    ),
    "import-db": Command(
        usage="PATH [NAME ...]",
        description="Copy models, all or those named, with their history from a file that export-\n"
        "db wrote. A model whose name is taken is refused, and then nothing is\n"
        "copied; --as gives a single model another name.",
        add_options=_import_db_options,
        run=_import_db,
    ),
}
