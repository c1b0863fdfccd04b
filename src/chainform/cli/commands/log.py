"""`chainform log`: the history of a model."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chainform.cli.commands.command import Command
from chainform.cli.printing import Page, Report
from chainform.cli.store_place import chosen_store
from chainform.cli.stored import date_text, revision_document

if TYPE_CHECKING:
    from chainform.store import Revision

TITLES = (
    *("revision", "from", "step", "formulation", "variables", "mul", "add"),
    *("author", "date (UTC)", "tags", "note"),
)


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("name", metavar="NAME", help="a stored model")


def run(args: Namespace) -> Report:
    """Read the revisions of a model."""
    with chosen_store(args, read_only=True) as store:
        revisions = store.log(args.name)
    document = {"name": args.name, "revisions": [revision_document(r) for r in revisions]}
    return Report(document, lambda page: _show(page, args.name, revisions))


def _show(page: Page, name: str, revisions: Sequence[Revision]) -> None:
    page.text(name, style="bold")
    page.table(TITLES, [_row(r) for r in revisions], numbers=(*TITLES[:2], *TITLES[4:7]))


def _row(revision: Revision) -> tuple[str, ...]:
    return (
        str(revision.number),
        "" if revision.parent is None else str(revision.parent),
        revision.step,
        revision.formulation,
        str(revision.variables),
        str(revision.cost.multiplications),
        str(revision.cost.additions),
        revision.author,
        date_text(revision),
        ", ".join(revision.tags),
        revision.note,
    )


LOG = Command(
    summary="show the history of a stored model",
    usage="NAME",
    description="Show the revisions of a stored model: what made each, from which one, when, and\n"
    "how many operations it takes.",
    add_options=add_options,
    run=run,
)
