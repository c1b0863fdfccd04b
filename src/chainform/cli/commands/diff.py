"""`chainform diff`: what changed between two revisions."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from chainform.cli.commands.command import Command
from chainform.cli.printing import Document, Page, Report, counted
from chainform.cli.selection import NUMBERED
from chainform.cli.store_place import chosen_store
from chainform.cli.stored import revision_document

if TYPE_CHECKING:
    from chainform.model.store import Store
    from chainform.store import Difference

MOST_NAMED = 40
"""More variables between inputs and outputs than this are counted, not shown."""


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("before", metavar="REV", help="a revision: arm@1, arm@tag, or arm")
    parser.add_argument("after", metavar="REV", help="another one, of the same model or not")
    parser.add_argument("--all", action="store_true", help="show also the internal variables")


def run(args: Namespace) -> Report:
    """Compare two revisions, formula by formula."""
    with chosen_store(args, read_only=True) as store:
        found = store.diff(args.before, args.after)
        labels = _labels(store, found)
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
    return Report(document, lambda page: _show(page, found, labels, everything=args.all))


def _labels(store: Store, found: Difference) -> set[str]:
    """Return the names of all entries of outputs, before and after: H_1_1, ..."""
    graphs = [store.database.load(r.reference)[0] for r in (found.before, found.after)]
    blocks = (block for graph in graphs for block in graph.outputs.values())
    return {label for block in blocks for label in block.labels}


def _formulas(formulas: Mapping[str, str]) -> list[Document]:
    return [{"name": name, "formula": formula} for name, formula in formulas.items()]


def _show(page: Page, found: Difference, labels: set[str], *, everything: bool) -> None:
    before, after = found.before, found.after
    page.text(f"from {before.reference} to {after.reference}", style="bold")
    rows = [_counts(revision.reference, revision.cost.as_dict()) for revision in (before, after)]
    titles = [name.replace("_", " ") for name in before.cost.as_dict()]
    page.table(("revision", *titles), rows, numbers=titles)
    for word in ("added", "removed", "changed"):
        names: tuple[str, ...] = getattr(found, f"outputs_{word}")
        if names:
            page.text(f"outputs {word}: {', '.join(names)}")
    entries, named, numbered = _by_rank(found, labels)
    if not (entries or named or numbered):
        page.text("the formulas are the same")
        return
    page.heading("formulas")
    shown = [*entries, *named, *numbered] if everything else _worth_showing(entries, named)
    _show_formulas(page, found, shown)
    left_out = len(entries) + len(named) + len(numbered) - len(shown)
    if left_out:
        variables = counted(left_out, "further internal variable")
        page.text(f"{variables} changed; --all shows {'it' if left_out == 1 else 'them'}")


def _worth_showing(entries: list[str], named: list[str]) -> list[str]:
    return [*entries, *named] if len(named) <= MOST_NAMED else entries


def _by_rank(found: Difference, labels: set[str]) -> tuple[list[str], list[str], list[str]]:
    """Return what changed: entries of outputs, variables with names of their own, and others."""
    names = list(dict.fromkeys((*found.removed, *found.changed, *found.added)))
    entries = [name for name in names if name in labels]
    numbered = [name for name in names if name not in labels and NUMBERED.fullmatch(name)]
    apart = {*entries, *numbered}
    return entries, [name for name in names if name not in apart], numbered


def _show_formulas(page: Page, found: Difference, names: Sequence[str]) -> None:
    """Print formulas before and after."""
    for name in names:
        old, new = found.changed.get(name, (found.removed.get(name), found.added.get(name)))
        if old == new:
            page.text(f"  {name} = {old}, of other internal variables")
            continue
        if old is not None:
            page.text(f"- {name} = {old}", style="red")
        if new is not None:
            page.text(f"+ {name} = {new}", style="green")


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
