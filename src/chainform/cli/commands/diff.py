"""`chainform diff`: what changed between two revisions."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING

from chainform.cli.commands.command import Command
from chainform.cli.printing import Document, Page, Report
from chainform.cli.stored import chosen_store, revision_document

if TYPE_CHECKING:
    from chainform.store import Difference


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("before", metavar="REV", help="a revision: arm@1, arm@tag, or arm")
    parser.add_argument("after", metavar="REV", help="another one, of the same model or not")


def run(args: Namespace) -> Report:
    """Compare two revisions, formula by formula."""
    with chosen_store(args, read_only=True) as store:
        found = store.diff(args.before, args.after)
    document: Document = {
        "before": revision_document(found.before),
        "after": revision_document(found.after),
        "outputs": {
            "added": list(found.outputs_added),
            "removed": list(found.outputs_removed),
            "changed": list(found.outputs_changed),
        },
        "formulas": {
            "added": _formulas(found.added),
            "removed": _formulas(found.removed),
            "changed": [
                {"name": name, "before": before, "after": after}
                for name, (before, after) in found.changed.items()
            ],
        },
    }
    return Report(document, lambda page: _show(page, found))


def _formulas(formulas: Mapping[str, str]) -> list[Document]:
    return [{"name": name, "formula": formula} for name, formula in formulas.items()]


def _show(page: Page, found: Difference) -> None:
    before, after = found.before, found.after
    page.text(f"from {before.reference} to {after.reference}", style="bold")
    rows = [_counts(revision.reference, revision.cost.as_dict()) for revision in (before, after)]
    titles = [name.replace("_", " ") for name in before.cost.as_dict()]
    page.table(("revision", *titles), rows, numbers=titles)
    for word in ("added", "removed", "changed"):
        names: tuple[str, ...] = getattr(found, f"outputs_{word}")
        if names:
            page.text(f"outputs {word}: {', '.join(names)}")
    if not (found.added or found.removed or found.changed):
        page.text("the formulas are the same")
        return
    page.heading("formulas")
    for name, formula in found.removed.items():
        page.text(f"- {name} = {formula}", style="red")
    for name, (old, new) in found.changed.items():
        page.text(f"- {name} = {old}", style="red")
        page.text(f"+ {name} = {new}", style="green")
    for name, formula in found.added.items():
        page.text(f"+ {name} = {formula}", style="green")


def _counts(reference: str, counts: Mapping[str, int]) -> tuple[str, ...]:
    return (reference, *map(str, counts.values()))


DIFF = Command(
    summary="show what changed between two revisions",
    usage="REV REV",
    description="Show what changed between two revisions: operations, outputs and formulas.\n"
    "A revision is name@number, name@tag, or the name for the last one.",
    add_options=add_options,
    run=run,
)
