"""`chainform runs`: runs in the store or in files, listed, shown, drawn and written."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from chainform.analysis import Result, load_result
from chainform.cli.command import Command
from chainform.cli.options import add_list
from chainform.cli.printing import Document, Page, Report
from chainform.cli.results import add_results, check_pictures, draw_pictures, result_files
from chainform.cli.run_report import (
    result_document,
    run_document,
    show_result,
    show_run,
    show_written,
)
from chainform.cli.selection import split_names
from chainform.cli.store import chosen_store
from chainform.errors import ReadError
from chainform.simulation import FORMS, Run
from chainform.verification import TASK, Certificate

if TYPE_CHECKING:
    from chainform.model import Store
    from chainform.store import RunEntry

TITLES = ("run", "revision", "method", "from, s", "to, s", "ending", "date (UTC)")


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "file", metavar="NAME[@REVISION]|FILE", help="a stored model, or a file of results"
    )
    parser.add_argument("run", metavar="RUN", nargs="?", help="one run of the model")
    group = parser.add_argument_group("what is done with it")
    add_results(group, "it")
    text = "quantities along the motion that are written with it: 'pose(tool)', reactions"
    add_list(group, "--outputs", "NAME", text)
    group.add_argument("--delete", action="store_true", help="remove the run from the store")


def run(args: Namespace) -> Report:
    """List the runs of a model, or show one of them."""
    args.resume = None
    if Path(args.file).suffix.lower() in FORMS:
        _refuse(args, "a file of results has no runs by name", "run", "delete")
        return _report(args, load_result(args.file), None)
    if args.run is None:
        _refuse(args, "this needs one run", "out", "plot", "animate", "delete", "outputs")
        with chosen_store(args, read_only=True) as store:
            return _listed(args.file, _entries(store, args.file))
    if args.delete:
        return _deleted(args)
    with chosen_store(args, read_only=True) as store:
        entry = _entry(store, args.file, args.run)
        stored = store.run(entry.revision, entry.name)
        if entry.kind == TASK:
            return _certificate_report(args, Certificate.load(stored), entry)
        found = load_result(stored)
    return _report(args, found, entry)


def _refuse(args: Namespace, why: str, *names: str) -> None:
    for name in names:
        if getattr(args, name):
            option = "RUN" if name == "run" else f"--{name}"
            remedy = (
                f"leave out {option}" if name == "run" else f"name a run, or leave out {option}"
            )
            raise ReadError(f"{option}: {why}", element=args.file[:60], remedy=remedy)


# --- the runs of a model ------------------------------------------------------------------------


def _entries(store: Store, reference: str) -> list[RunEntry]:
    """Return the runs of a revision, or of all revisions of a model, the oldest first."""
    if "@" in reference:
        return store.runs(reference)
    revisions = [f"{reference}@{revision.number}" for revision in store.log(reference)]
    return sorted((e for r in revisions for e in store.runs(r)), key=lambda e: e.created)


def _entry(store: Store, reference: str, name: str) -> RunEntry:
    entries = _entries(store, reference)
    found = [entry for entry in entries if entry.name == name]
    if not found:
        known = ", ".join(dict.fromkeys(entry.name for entry in entries))
        raise ReadError(
            f"{reference[:60]} has no run {name[:60]!r}",
            element=reference[:60],
            remedy=f"there are {known}" if known else "chainform simulate --save keeps one",
        )
    return found[-1]


def _listed(reference: str, entries: Sequence[RunEntry]) -> Report:
    runs = [_entry_document(entry) for entry in entries]
    document = {"name": reference, "runs": runs}
    return Report(document, lambda page: _show_list(page, reference, runs))


def _entry_document(entry: RunEntry) -> Document:
    options = entry.options
    span = options.get("span") or [None, None]
    return {
        "name": entry.name,
        "revision": entry.revision,
        "kind": entry.kind,
        "method": options.get("method"),
        "time": list(span),
        "ending": options.get("verdict" if entry.kind == TASK else "ending"),
        "created": entry.created.astimezone(UTC).isoformat(timespec="seconds"),
        "seconds": entry.seconds,
    }


def _show_list(page: Page, reference: str, runs: Sequence[Document]) -> None:
    if not runs:
        page.text(f"{reference} has no runs; chainform simulate --save keeps one")
        return
    rows = [
        (
            run["name"],
            run["revision"],
            run["method"] or run["kind"],
            *("" if t is None else f"{t:g}" for t in run["time"]),
            run["ending"] or "",
            run["created"][:16].replace("T", " "),
        )
        for run in runs
    ]
    page.table(TITLES, rows, numbers=TITLES[3:5])


def _deleted(args: Namespace) -> Report:
    with chosen_store(args) as store:
        entry = _entry(store, args.file, args.run)
        store.delete_run(entry.revision, entry.name)
    document = {"name": args.file, "deleted": {"revision": entry.revision, "run": entry.name}}
    return Report(document, lambda page: page.text(f"deleted {entry.name} of {entry.revision}"))


# --- one run ------------------------------------------------------------------------------------


def _report(args: Namespace, found: Run | Result, entry: RunEntry | None) -> Report:
    files = result_files(args)
    check_pictures(args)
    outputs = None if args.outputs is None else split_names(args.outputs)
    if isinstance(found, Result):
        _refuse(args, "the result of a task has its own arrays only", "outputs")
    for file in files:
        found.save(file, outputs) if isinstance(found, Run) else found.save(file)
    written = [*files, *draw_pictures(args, found)]
    saved = None if entry is None else {"revision": entry.revision, "run": entry.name}
    if isinstance(found, Result):
        return _result_report(args, found, written, saved)
    report = {**run_document(found), "saved": saved}

    def show(page: Page) -> None:
        show_run(page, report)
        show_written(page, written)

    return Report({"name": args.file, "run": report, "written": written}, show)


def _certificate_report(args: Namespace, found: Certificate, entry: RunEntry) -> Report:
    _refuse(args, "a certificate is no motion", "out", "plot", "animate", "outputs")
    saved = {"revision": entry.revision, "run": entry.name}
    document = {"name": args.file, "certificate": found.document, "saved": saved}
    return Report(document, lambda page: page.text(str(found)))


def _result_report(
    args: Namespace, found: Result, written: list[str], saved: dict[str, str] | None
) -> Report:
    report = {**result_document(found), "saved": saved}

    def show(page: Page) -> None:
        show_result(page, found)
        show_written(page, written)

    return Report({"name": args.file, "result": report, "written": written}, show)


COMMAND = Command(
    usage="NAME[@REVISION]|FILE [RUN]",
    description="List the runs of a stored model, or tell one of them, or that in a file of\n"
    "results; write it in another form, plot or animate it, or remove it from the store.",
    add_options=add_options,
    run=run,
)
