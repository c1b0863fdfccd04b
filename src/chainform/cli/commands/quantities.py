"""`chainform quantities`: what can be derived, with shape, unit, meaning and equation."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from chainform.cli.command import Command
from chainform.cli.files import add_file, read_chosen
from chainform.cli.printing import Document, Page, Report
from chainform.formulations import FORMULATIONS
from chainform.mechanism import Mechanism
from chainform.model import OutputEntry
from chainform.pipeline import quantities

UNITS = {
    "u_i": "rad, or m where rate i slides",
    "v_i": "m in rows 1 to 3 (linear), rad in rows 4 to 6 (angular); of a loop m in linear rows",
    "p_k": "1 in columns 1 to 3, m in column 4",
}
"""The units that depend on the entry; i, k, l are its indices. No unit: the file decides."""


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser, optional=True)
    parser.add_argument(
        "--formulation", metavar="NAME", help=f"those of one of {', '.join(FORMULATIONS)}"
    )


def run(args: Namespace) -> Report:
    """List the outputs of a mechanism, or all there are."""
    mechanism = None if args.file is None else read_chosen(args)
    entries = quantities(mechanism, args.formulation)
    document: Document = {
        "file": args.file,
        "mechanism": None if mechanism is None else mechanism.name,
        "formulation": args.formulation,
        "quantities": [_record(entry) for entry in entries],
        "units": UNITS,
    }
    return Report(document, lambda page: _show(page, mechanism, args.formulation, entries))


def _record(entry: OutputEntry) -> Document:
    return {
        "name": entry.name,
        "letter": entry.letter,
        "of_frame": entry.of_frame,
        "shape": list(entry.shape),
        "unit": entry.unit or None,
        "meaning": entry.meaning,
        "equation": entry.equation,
    }


def _show(
    page: Page, mechanism: Mechanism | None, method: str | None, entries: Sequence[OutputEntry]
) -> None:
    words = "all quantities" if mechanism is None else f"quantities of {mechanism.name}"
    page.text(words + (f" by {method}" if method else ""), style="bold")
    for of_frame in (False, True):
        rows = [_row(entry) for entry in entries if entry.of_frame is of_frame]
        if rows:
            page.heading("of a frame F" if of_frame else "of the mechanism")
            page.table(("name", "letter", "shape", "unit", "meaning", "equation"), rows)
    page.heading("units that depend on the entry, whose indices are i, k, l")
    for unit, meaning in UNITS.items():
        page.text(f"  {unit}: {meaning}")


def _row(entry: OutputEntry) -> tuple[str, ...]:
    letter = f"{entry.letter}{entry.argument}" if entry.letter else ""
    shape = " × ".join(map(str, entry.shape)) or "1"
    unit = entry.unit or "as the file has it"
    return f"{entry.name}{entry.argument}", letter, shape, unit, entry.meaning, entry.equation


COMMAND = Command(
    usage="[FILE]",
    description="List what can be derived: every output with its letter, shape, unit, meaning and\n"
    "equation; with FILE those that the mechanism has, and their shapes as numbers.",
    add_options=add_options,
    run=run,
)
