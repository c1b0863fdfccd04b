"""`chainform compare`: the same equations by every formulation, side by side."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status

from chainform.analysis import COMPARED, Comparison, ComparisonRow, Observer, compare
from chainform.cli.command import Command
from chainform.cli.files import add_file, read_chosen
from chainform.cli.options import (
    add_list,
    add_outputs,
    add_without,
    chosen_outputs,
    parameter_choice,
)
from chainform.cli.printing import Page, Report
from chainform.cli.selection import split_list
from chainform.formulations import FORMULATIONS

COLUMNS = ("multiplications", "additions", "sin, cos", "other calls", "seconds")

WORDS = {"residues": "a finite field"}
"""Arithmetics that have other names for people."""


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    add_outputs(parser, f"{' '.join(COMPARED)}, as far as there are")
    group = parser.add_argument_group("what is compared")
    text = f"some of {', '.join(FORMULATIONS)} (default: all but auto, and auto where one alone "
    add_list(group, "--formulations", "NAME", f"{text}has an output)")
    group.add_argument(
        "--parameters",
        metavar="CHOICE",
        default="numeric",
        help="numeric, symbolic, or the names to keep free, such as 'm_*,g' (default: numeric)",
    )
    group.add_argument(
        "--reduce",
        metavar="EFFORT",
        default="none",
        help="none, fast or thesis, before operations are counted (default: none)",
    )
    add_without(group)
    group.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the random state (default: 0)"
    )


def run(args: Namespace) -> Report:
    """Derive with all formulations that apply, compare, and count; exit code 1 if they differ."""
    mechanism = read_chosen(args)
    with _progress() as observe:
        found = compare(
            mechanism,
            None if args.outputs is None else chosen_outputs(args, ()),
            formulations=split_list(args.formulations) if args.formulations else None,
            parameters=parameter_choice(args.parameters) or "numeric",
            reduce=args.reduce,
            without=split_list(args.without or ()),
            seed=args.seed,
            observe=observe,
        )
    document = {
        "file": args.file,
        "mechanism": found.mechanism,
        "parameters": parameter_choice(args.parameters),
        "reduce": args.reduce,
        "agree": found.agree,
        "rows": [_document(row) for row in found.rows],
    }
    return Report(document, lambda page: _show(page, found), has_failed=not found.agree)


@contextmanager
def _progress() -> Generator[Observer]:
    """Show which output is derived by which formulation, on a terminal."""
    console = Console(stderr=True)
    with Status("", console=console) as status:
        yield lambda output, formulation: status.update(f"{output} by {formulation}")


def _document(row: ComparisonRow) -> dict[str, object]:
    counted = None if row.cost is None else row.cost.as_dict()
    return {
        "output": row.output,
        "formulation": row.formulation,
        "operations": counted,
        "seconds": row.seconds,
        "agrees": row.agrees,
        "arithmetic": row.how or None,
        "refusal": row.refusal or None,
    }


def _show(page: Page, found: Comparison) -> None:
    page.text(found.mechanism, style="bold")
    for output in dict.fromkeys(row.output for row in found.rows):
        page.heading(output)
        rows = [row for row in found.rows if row.output == output and row.cost is not None]
        page.table(
            ("formulation", *COLUMNS, "agreement"),
            [
                (row.formulation, *_cells(row), _agreement(row, alone=output in found.alone))
                for row in rows
            ],
            numbers=COLUMNS,
        )
        for row in found.rows:
            if row.output == output and row.refusal:
                page.text(f"  {row.formulation}: {row.refusal}")
    page.text(_verdict(found), style="bold" if found.agree else "bold red")


def _verdict(found: Comparison) -> str:
    if not found.agree:
        return "formulations DIFFER"
    if not found.alone:
        return "all formulations agree"
    if any(row.agrees for row in found.rows):
        return f"all formulations agree; one alone gives {', '.join(found.alone)}"
    return "nothing was compared: one formulation alone gives each output"


def _cells(row: ComparisonRow) -> tuple[str, ...]:
    assert row.cost is not None
    counts = (row.cost.multiplications, row.cost.additions, row.cost.sin + row.cost.cos)
    return (*map(str, (*counts, row.cost.calls)), f"{row.seconds:.2f}")


def _agreement(row: ComparisonRow, *, alone: bool) -> str:
    if row.agrees is None:
        return "no other gives it" if alone else "the others are compared with it"
    return f"equal in {WORDS.get(row.how, row.how)}" if row.agrees else "DIFFERS"


COMMAND = Command(
    usage="FILE",
    description="Derive each output with every formulation that has it, check that all agree, and\n"
    "print operations and seconds side by side. The check is made at a random state in fractions,\n"
    "where angles have rational sines: equal means equal. Where a function has no rational value\n"
    "it is made in a finite field, or else in double precision. Exit code 1 if two differ.",
    add_options=add_options,
    run=run,
)
