"""`chainform log`: the history of a model."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chainform.cli.commands.command import Command
from chainform.cli.printing import Page, Report
from chainform.cli.store_place import chosen_store
from chainform.cli.stored import date_text, reduced_text, revision_document

if TYPE_CHECKING:
    from chainform.store import Revision

TITLES = (
    *("revision", "from", "step", "values", "formulation", "reduced", "variables", "mul", "add"),
    *("author", "date (UTC)", "tags", "note"),
)
NUMBERS = ("revision", "variables", "mul", "add")
MOST_VALUES = 6
"""More values of one step than this are counted, not shown."""


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("name", metavar="NAME", help="a stored model")


def run(args: Namespace) -> Report:
    """Read the revisions of a model."""
    with chosen_store(args, read_only=True) as store:
        revisions = store.log(args.name)
        rows = [_row(revision, reduced_text(revision, store.revision)) for revision in revisions]
    document = {"name": args.name, "revisions": [revision_document(r) for r in revisions]}
    return Report(document, lambda page: _show(page, args.name, rows))


def _show(page: Page, name: str, rows: Sequence[Sequence[str]]) -> None:
    page.text(name, style="bold")
    columns = list(zip(*rows, strict=True))
    filled = [i for i, title in enumerate(TITLES) if title != "values" or any(columns[i])]
    titles = [TITLES[i] for i in filled]
    page.table(titles, [[row[i] for i in filled] for row in rows], numbers=NUMBERS)


def _row(revision: Revision, reduced: str) -> tuple[str, ...]:
    return (
        str(revision.number),
        revision.origin,
        revision.step,
        _values(revision),
        revision.formulation,
        reduced,
        str(revision.variables),
        str(revision.cost.multiplications),
        str(revision.cost.additions),
        revision.author,
        date_text(revision),
        ", ".join(revision.tags),
        revision.note,
    )


def _values(revision: Revision) -> str:
    """Return the numbers that a step gave to parameters: a = 0.25, g = 1.62 (free)."""
    free: list[str] = revision.options.get("keep_free") or []
    texts = [
        f"{name} = {value}{' (free)' if name in free else ''}"
        for name, value in revision.values.items()
    ]
    more = [f"{len(texts) - MOST_VALUES} more"] if len(texts) > MOST_VALUES else []
    return ", ".join(texts[:MOST_VALUES] + more)


COMMAND = Command(
    usage="NAME",
    description="Show the revisions of a stored model: what made each, from which one, with which\n"
    "values, when, and how many operations it takes.",
    add_options=add_options,
    run=run,
)
