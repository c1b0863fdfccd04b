"""`chainform report`: mechanism, formulas, operations and verification as one document."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from chainform.cli.command import Command
from chainform.cli.files import add_file, read_chosen, target_of
from chainform.cli.model_report import method_document
from chainform.cli.options import USUAL, add_method, add_outputs, derive_named, usual_outputs
from chainform.cli.printing import Document, Page, Report, tell
from chainform.cli.selection import bad_input
from chainform.cli.store import chosen_store
from chainform.errors import ReadError
from chainform.graph import Cost, digits_of
from chainform.model import reading_notes
from chainform.reports import REPORT_FORMS, ModelReport, picture_path, report


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser, stored=True)
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="PATH",
        help="the file to write: .html (one page that needs no network), .tex or .pdf",
    )
    parser.add_argument("--force", action="store_true", help="overwrite the file if it exists")
    parser.add_argument(
        "--no-verify", action="store_true", help="leave out the laws that are checked"
    )
    parser.add_argument(
        "--digits",
        metavar="N",
        type=int,
        help="round the numbers of formulas to N significant digits (default: exact)",
    )
    add_outputs(parser, USUAL)
    add_method(parser)


def run(args: Namespace) -> Report:
    """Derive, verify and write; exit code 1 if a law fails."""
    target = _target(args)
    with bad_input():
        digits = digits_of(args.digits)
    mechanism = read_chosen(args)
    for note in reading_notes(mechanism):
        tell(note)
    model = derive_named(mechanism, args, usual_outputs(mechanism, args))
    stages = None if model.stages else _history(args)
    made = report(model, target, stages=stages, verified=not args.no_verify, digits=digits)
    document: Document = {
        "file": args.file,
        "output": str(target),
        **method_document(model),
        "outputs": list(model.outputs),
        "holds": made.holds,
        "checks": [
            {"law": c.law, "compared": c.compared, "figure": c.figure, "holds": c.holds}
            for c in made.checks
        ],
    }
    return Report(document, lambda page: _show(page, str(target), made), has_failed=not made.holds)


def _target(args: Namespace) -> Path:
    """Return where to write, after a look at all files that would be written."""
    target = target_of(args.output, args.file, force=args.force)
    if target is None or target.suffix.lower() not in REPORT_FORMS:
        remedy = f"let the name end in {', '.join(REPORT_FORMS)}"
        raise ReadError(
            "this is no name of a report", file=args.output, element="-o", remedy=remedy
        )
    if target.suffix.lower() == ".tex":
        target_of(str(picture_path(target)), args.file, force=args.force)
    return target


def _history(args: Namespace) -> list[tuple[str, Cost]] | None:
    """Return the operations of the revisions that led to a stored model; None for a file."""
    if args.stored is None or args.stored.origin is None:
        return None
    with chosen_store(args, read_only=True) as store:
        lineage = store.lineage(str(args.stored.origin))
    return [(f"{revision.reference}, {revision.step}", revision.cost) for revision in lineage]


def _show(page: Page, target: str, made: ModelReport) -> None:
    page.text(f"{made.title}: written to {target}", style="bold")
    if made.checks:
        rows = [(check.verdict, check.law, check.figure) for check in made.checks]
        page.table(("result", "law", "figure"), rows)


COMMAND = Command(
    usage="FILE -o PATH",
    description="Write a report for the appendix of a paper: the mechanism with its picture,\n"
    "topology, parameters with units, formulas written out and by level, operations by stage of\n"
    "the reduction, laws that are checked anew, and references. Exit code 1 if a law fails.",
    add_options=add_options,
    run=run,
)
