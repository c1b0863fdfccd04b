"""`chainform models`: the models in the store."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from chainform.cli.commands.command import Command
from chainform.cli.printing import Page, Report
from chainform.cli.store_place import chosen_store
from chainform.cli.stored import date_text, reduced_text, revision_document
from chainform.errors import ReadError
from chainform.given import near
from chainform.model import output_of

if TYPE_CHECKING:
    from chainform.model import Store
    from chainform.store import ModelEntry

TITLES = (
    *("name", "revision", "mechanism", "formulation", "reduced"),
    *("author", "date (UTC)", "tags", "note"),
)


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("search", metavar="TEXT", nargs="?", help="a part of the name or of a note")
    parser.add_argument("--mechanism", metavar="NAME", help="models of this mechanism")
    parser.add_argument("--author", metavar="NAME", help="models with a revision of this author")
    parser.add_argument("--tag", metavar="TAG", help="models with a revision of this tag")
    parser.add_argument("--quantity", metavar="NAME", help="models that have this quantity")
    parser.add_argument("--since", metavar="DATE", help="changed since, as 2026-01-31 (UTC)")
    parser.add_argument("--until", metavar="DATE", help="changed until the end of this day")


def run(args: Namespace) -> Report:
    """Find the models that fit."""
    quantity = None if args.quantity is None else output_of(args.quantity)
    with chosen_store(args, read_only=True) as store:
        entries = _entries(store, args, quantity)
        rows = [row for entry in entries for row in _rows(store, entry)]
        hint = "" if entries or quantity is None else _hint(store, quantity)
    document = {
        "models": [
            {
                "name": e.name,
                "revisions": e.revisions,
                "latest": revision_document(e.latest),
                "matching": [revision_document(r) for r in e.matching],
            }
            for e in entries
        ]
    }
    return Report(document, lambda page: _show(page, rows, hint))


def _entries(store: Store, args: Namespace, quantity: str | None) -> list[ModelEntry]:
    try:
        return store.models(
            args.search,
            mechanism=args.mechanism,
            author=args.author,
            tag=args.tag,
            quantity=quantity,
            since=args.since,
            until=args.until,
        )
    except OverflowError:
        raise ReadError(
            "a date is out of range",
            element="--since, --until",
            remedy="leave it out, or write a date such as 2026-01-31",
        ) from None


def _hint(store: Store, quantity: str) -> str:
    """Return which quantities there are, where no model at all has the one asked for."""
    if store.models(quantity=quantity):
        return ""
    known = sorted({name for entry in store.models() for name in entry.latest.outputs})
    meant = f"; {near(quantity, known, 3)}".rstrip("; ")
    every = f"\nthere are {', '.join(known)}" if known else ""
    return f"no model has the quantity {quantity[:60]}{meant}{every}"


def _show(page: Page, rows: Sequence[Sequence[str]], hint: str) -> None:
    if not rows:
        page.text(hint or "no models")
        return
    page.table(TITLES, rows)


def _rows(store: Store, entry: ModelEntry) -> Iterator[tuple[str, ...]]:
    """Give the revisions that fit; where all of them do, the last one."""
    fits_all = len(entry.matching) == entry.revisions
    for revision in entry.matching[-1:] if fits_all else entry.matching:
        yield (
            entry.name,
            f"{revision.number} of {entry.latest.number}",
            revision.mechanism,
            revision.formulation,
            reduced_text(revision, store.revision),
            revision.author,
            date_text(revision),
            ", ".join(revision.tags),
            revision.note,
        )


COMMAND = Command(
    usage="[TEXT]",
    description="List the models in the store with the last revision of each, or those that fit,\n"
    "with the revisions that do.",
    add_options=add_options,
    run=run,
)
