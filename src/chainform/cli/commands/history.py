"""The commands about the history of stored models: models, log, diff, tag, revert."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from chainform.cli.command import Command
from chainform.cli.printing import Document, Page, Report
from chainform.cli.store import (
    add_origin,
    certificate_documents,
    chosen_store,
    date_text,
    moved_lines,
    reduced_text,
    revision_document,
    tagged,
    verified_text,
)
from chainform.errors import ReadError
from chainform.given import near
from chainform.graph import base_outputs, parts_of
from chainform.model import CATALOGUE, output_of

if TYPE_CHECKING:
    from chainform.model import Store
    from chainform.store import ModelEntry, ParameterState, Revision, RevisionDifference


# --- models -------------------------------------------------------------------------------------


MODEL_TITLES = (
    *("name", "revision", "mechanism", "formulation", "reduced"),
    *("author", "date (UTC)", "tags", "note"),
)


def _models_options(parser: ArgumentParser) -> None:
    parser.add_argument("search", metavar="TEXT", nargs="?", help="a part of the name or of a note")
    parser.add_argument("--mechanism", metavar="NAME", help="models of this mechanism")
    parser.add_argument("--author", metavar="NAME", help="models with a revision of this author")
    parser.add_argument("--tag", metavar="TAG", help="models with a revision of this tag")
    parser.add_argument("--quantity", metavar="NAME", help="models that have this quantity")
    parser.add_argument("--since", metavar="DATE", help="changed since, as 2026-01-31 (UTC)")
    parser.add_argument("--until", metavar="DATE", help="changed until the end of this day")


def _models(args: Namespace) -> Report:
    """Find the models that fit."""
    quantity = None if args.quantity is None else output_of(args.quantity)
    with chosen_store(args, read_only=True) as store:
        entries = _entries(store, args, quantity)
        rows = [row for entry in entries for row in _model_rows(store, entry)]
        if quantity is not None and not entries:
            _refuse_unknown(store, quantity)
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
    return Report(document, lambda page: _show_models(page, rows))


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


def _refuse_unknown(store: Store, quantity: str) -> None:
    """Refuse a quantity that no method gives, and no model has."""
    is_known = all(parts_of(base).name in CATALOGUE for base in base_outputs(quantity))
    if is_known or store.models(quantity=quantity):
        return
    stored = dict.fromkeys(name for entry in store.models() for name in entry.latest.outputs)
    listed = f"the models have {', '.join(sorted(stored))}" if stored else "there are no models"
    raise ReadError(
        f"no model has the quantity {quantity[:60]}",
        element="--quantity",
        remedy=near(quantity, {**stored, **CATALOGUE}, 3).strip() or listed,
    )


def _show_models(page: Page, rows: Sequence[Sequence[str]]) -> None:
    if not rows:
        page.text("no models")
        return
    page.table(MODEL_TITLES, rows)


def _model_rows(store: Store, entry: ModelEntry) -> Iterator[tuple[str, ...]]:
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


# --- log ----------------------------------------------------------------------------------------


LOG_TITLES = (
    *("revision", "from", "step", "branch", "fate", "values", "formulation", "reduced"),
    *("variables", "mul", "add", "author", "date (UTC)", "tags", "verified", "note"),
)
LOG_SELDOM = ("branch", "fate", "values", "verified")
"""Columns that are left out where no revision has something in them."""
LOG_NUMBERS = ("revision", "variables", "mul", "add")
MOST_VALUES = 6
"""More values of one step than this are counted, not shown."""


def _log_options(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="a stored model")


def _log(args: Namespace) -> Report:
    """Read the revisions of a model."""
    with chosen_store(args, read_only=True) as store:
        revisions = store.log(args.name)
        verified = [
            entry for revision in revisions for entry in certificate_documents(store, revision)
        ]
        rows = [
            _log_row(revision, reduced_text(revision, store.revision), verified)
            for revision in revisions
        ]
    document = {
        "name": args.name,
        "revisions": [revision_document(r) for r in revisions],
        "verifications": verified,
    }
    return Report(document, lambda page: _show_log(page, args.name, rows))


def _show_log(page: Page, name: str, rows: Sequence[Sequence[str]]) -> None:
    page.text(name, style="bold")
    columns = list(zip(*rows, strict=True))
    filled = [i for i, title in enumerate(LOG_TITLES) if title not in LOG_SELDOM or any(columns[i])]
    titles = [LOG_TITLES[i] for i in filled]
    page.table(titles, [[row[i] for i in filled] for row in rows], numbers=LOG_NUMBERS)


def _log_row(revision: Revision, reduced: str, verified: Sequence[Document]) -> tuple[str, ...]:
    return (
        str(revision.number),
        revision.origin,
        revision.step,
        str(revision.options.get("branch", "")),
        str(revision.options.get("fate", "")),
        _values(revision),
        revision.formulation,
        reduced,
        str(revision.variables),
        str(revision.cost.multiplications),
        str(revision.cost.additions),
        revision.author,
        date_text(revision),
        ", ".join(revision.tags),
        verified_text([entry for entry in verified if entry["revision"] == revision.number]),
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


# --- diff ---------------------------------------------------------------------------------------


STYLES = {"-": "red", "+": "green"}


def _diff_options(parser: ArgumentParser) -> None:
    parser.add_argument("before", metavar="REV", help="a revision: arm@1, arm@tag, or arm")
    parser.add_argument("after", metavar="REV", help="another one, of the same model or not")
    parser.add_argument(
        "--expand", action="store_true", help="multiply out the formulas of entries that changed"
    )
    parser.add_argument("--all", action="store_true", help="show also the internal variables")


def _diff(args: Namespace) -> Report:
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
    return Report(document, lambda page: _show_diff(page, found, args))


def _state(state: ParameterState | None) -> Document | None:
    return None if state is None else {"value": state.text, "is_free": state.is_free}


def _formulas(formulas: Mapping[str, str]) -> list[Document]:
    return [{"name": name, "formula": formula} for name, formula in formulas.items()]


def _show_diff(page: Page, found: RevisionDifference, args: Namespace) -> None:
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


# --- tag ----------------------------------------------------------------------------------------


def _tag_options(parser: ArgumentParser) -> None:
    parser.add_argument("reference", metavar="REV", help="a revision: arm@1, or arm for the last")
    parser.add_argument("tags", metavar="TAG", nargs="+", help="a tag: a letter, then others")
    parser.add_argument("--delete", action="store_true", help="take the tags away")


def _tag(args: Namespace) -> Report:
    """Give a revision tags, or take them away."""
    with chosen_store(args) as store:
        revision = store.revision(args.reference)
        before = tagged(store, revision.name)
        if args.delete:
            store.untag(args.reference, *args.tags)
        else:
            store.tag(args.reference, *args.tags)
        after = tagged(store, revision.name)
    document = {"name": revision.name, "tags": dict(sorted(after.items()))}
    tags = list(dict.fromkeys(args.tags))
    if args.delete:
        lines = [f"tag {tag} taken from {before[tag]}" for tag in tags]
    else:
        moved = moved_lines(tags, before, revision)
        lines = [f"tagged {revision.reference}: {', '.join(tags)}", *moved]

    def show(page: Page) -> None:
        for line in lines:
            page.text(line)

    return Report(document, show)


# --- revert -------------------------------------------------------------------------------------


def _revert_options(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="a stored model")
    parser.add_argument("revision", metavar="REV", help="the number of a revision, or its tag")
    add_origin(parser)


def _revert(args: Namespace) -> Report:
    """Add a revision with the content of an earlier one."""
    if "@" in args.name:
        remedy = "write the name and the number apart: revert arm 3"
        raise ReadError("this is a revision, not a name", element=args.name[:60], remedy=remedy)
    with chosen_store(args) as store:
        meant = store.revision(f"{args.name}@{args.revision}")
        revision = store.revert(args.name, args.revision, args.note, args.author)
    text = f"{revision.reference} is as {meant.reference} was"
    document = {"reverted_to": meant.number, "saved": revision_document(revision)}
    return Report(document, lambda page: page.text(text))


COMMANDS = {
    "models": Command(
        usage="[TEXT]",
        description="List the models in the store with the last revision of each, or those that\n"
        "fit, with the revisions that do.",
        add_options=_models_options,
        run=_models,
    ),
    "log": Command(
        usage="NAME",
        description="Show the revisions of a stored model: what made each, from which one, with\n"
        "which values, when, how many operations it takes, and whether it was verified.",
        add_options=_log_options,
        run=_log,
    ),
    "diff": Command(
        usage="REV REV",
        description="Show what changed between two revisions: parameters, operations, and outputs\n"
        "entry by entry. Entries whose formulas only are others are distinguished from\n"
        "those with other values. A revision is name@number, name@tag, or the name\n"
        "for the last one.",
        add_options=_diff_options,
        run=_diff,
    ),
    "tag": Command(
        usage="REV TAG ...",
        description="Give a revision tags, by which it can be named: arm@TAG. A tag belongs to\n"
        "one revision of a model at a time, and moves. With --delete tags are taken\n"
        "away, from the revision or, where only the model is named, from whichever\n"
        "has them.",
        add_options=_tag_options,
        run=_tag,
    ),
    "revert": Command(
        usage="NAME REV",
        description="Add a revision with the content of an earlier one. Nothing is removed.",
        add_options=_revert_options,
        run=_revert,
    ),
}
