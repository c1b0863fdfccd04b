"""`chainform diff`: what changed between two revisions."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING

from chainform.cli.commands.command import Command
from chainform.cli.printing import Document, Page, Report
from chainform.cli.store_place import chosen_store
from chainform.cli.stored import revision_document

if TYPE_CHECKING:
    from chainform.store import Difference, ParameterState

STYLES = {"-": "red", "+": "green"}


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("before", metavar="REV", help="a revision: arm@1, arm@tag, or arm")
    parser.add_argument("after", metavar="REV", help="another one, of the same model or not")
    parser.add_argument(
        "--expand", action="store_true", help="multiply out the formulas of entries that changed"
    )
    parser.add_argument("--all", action="store_true", help="show also the internal variables")


def run(args: Namespace) -> Report:
    """Compare two revisions, entry by entry."""
    with chosen_store(args, read_only=True) as store:
        found = store.diff(args.before, args.after, expand=args.expand)
    document: Document = {
        "before": revision_document(found.before),
        "after": revision_document(found.after),
        "parameters": [
            {"name": p.name, "before": _state(p.before), "after": _state(p.after)}
            for p in found.parameters
        ],
        "outputs": {
            "added": list(found.outputs_added),
            "removed": list(found.outputs_removed),
            "changed": list(found.outputs_changed),
            "rewritten": list(found.outputs_rewritten),
        },
        "expanded": args.expand,
        "entries": [
            {"output": e.output, "name": e.label, "before": e.before, "after": e.after}
            | {"same_values": e.same_values}
            for e in found.entries
        ],
        "formulas": {
            "added": _formulas(found.added),
            "removed": _formulas(found.removed),
            "changed": [
                {"name": name, "before": before, "after": after}
                for name, (before, after) in found.changed.items()
            ],
        },
    }
    return Report(document, lambda page: _show(page, found, args))


def _state(state: ParameterState | None) -> Document | None:
    return None if state is None else {"value": state.text, "is_free": state.is_free}


def _formulas(formulas: Mapping[str, str]) -> list[Document]:
    return [{"name": name, "formula": formula} for name, formula in formulas.items()]


def _show(page: Page, found: Difference, args: Namespace) -> None:
    before, after = found.before, found.after
    page.text(f"from {before.reference} to {after.reference}", style="bold")
    for line in found.summary_lines():
        page.text(line)
    titles = [name.replace("_", " ") for name in before.cost.as_dict()]
    rows = [(r.reference, *map(str, r.cost.as_dict().values())) for r in (before, after)]
    page.text()
    page.table(("revision", *titles), rows, numbers=titles)
    lines = list(found.formula_lines(everything=args.all))
    if lines:
        page.heading("formulas")
    for line in lines:
        hint = "; --all shows them" if " further internal " in line else ""
        page.text(line + hint, style=STYLES.get(line[:1], ""))
    if not args.expand and any(line.startswith("~") for line in lines):
        page.text("--expand multiplies out the entries that changed")


COMMAND = Command(
    usage="REV REV",
    description="Show what changed between two revisions: parameters, operations, and outputs\n"
    "entry by entry. Entries whose formulas only are others are told apart from those with other\n"
    "values. A revision is name@number, name@tag, or the name for the last one.",
    add_options=add_options,
    run=run,
)
