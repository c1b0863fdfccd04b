"""`chainform models`: the models in the store."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chainform.cli.commands.command import Command
from chainform.cli.printing import Page, Report
from chainform.cli.selection import output_of
from chainform.cli.stored import chosen_store, date_text, revision_document

if TYPE_CHECKING:
    from chainform.store import ModelEntry

TITLES = ("name", "revisions", "mechanism", "formulation", "author", "date (UTC)", "tags")


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("search", metavar="TEXT", nargs="?", help="a part of the name")
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
        entries = store.models(
            args.search,
            mechanism=args.mechanism,
            author=args.author,
            tag=args.tag,
            quantity=quantity,
            since=args.since,
            until=args.until,
        )
    document = {
        "models": [
            {"name": e.name, "revisions": e.revisions, "latest": revision_document(e.latest)}
            for e in entries
        ]
    }
    return Report(document, lambda page: _show(page, entries))


def _show(page: Page, entries: Sequence[ModelEntry]) -> None:
    if not entries:
        page.text("no models")
        return
    rows = [_row(entry) for entry in entries]
    page.table(TITLES, rows, numbers=("revisions",))


def _row(entry: ModelEntry) -> tuple[str, ...]:
    last = entry.latest
    words = (last.mechanism, last.formulation, last.author, date_text(last), ", ".join(last.tags))
    return (entry.name, str(entry.revisions), *words)


MODELS = Command(
    summary="list the models in the store",
    usage="[TEXT]",
    description="List the models in the store, all or those that fit, with the last revision\n"
    "of each.",
    add_options=add_options,
    run=run,
)
