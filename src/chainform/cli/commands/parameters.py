"""`chainform parameters`: dynamic parameters, base parameters, and those without effect."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from fractions import Fraction

from chainform.cli.command import Command
from chainform.cli.files import add_file, read_chosen
from chainform.cli.options import add_list, parameter_choice
from chainform.cli.printing import Page, Report
from chainform.cli.selection import split_list
from chainform.formulations import PARTS
from chainform.given import counted
from chainform.mechanism import BaseParameter, BaseParameters, Mechanism, short_text

MOST_DIGITS = 12
"""Longer numbers are shown with six digits."""


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    parser.add_argument(
        "--parameters",
        metavar="CHOICE",
        help="which lengths stay symbols in the formulas: numeric (the default), symbolic, or "
        "names such as 'd_*,g'",
    )
    parts = ", ".join(part for part in PARTS if part != "forces")
    add_list(parser, "--without", "PART", f"what is left out: {parts}")


def run(args: Namespace) -> Report:
    """Read the file and group its parameters."""
    mechanism = read_chosen(args)
    chosen = parameter_choice(args.parameters) or "numeric"
    base = mechanism.base_parameters(chosen, split_list(args.without or ()))
    document = {"file": args.file, "mechanism": mechanism.name, **base.describe()}
    return Report(document, lambda page: _show(page, mechanism, base))


def _show(page: Page, mechanism: Mechanism, base: BaseParameters) -> None:
    every = counted(len(base.parameters), "dynamic parameter")
    page.text(f"{mechanism.name}: {every}, {counted(len(base), 'base parameter')}", style="bold")
    page.heading("base parameters")
    rows = [(entry.name, _value(entry), entry.leader.unit, _formula(entry)) for entry in base]
    page.table(("name", "value", "unit", "formula"), rows, numbers=("value",))
    if base.without_effect:
        page.heading("without effect")
        page.text(f"  {', '.join(base.without_effect)}")


def _value(entry: BaseParameter) -> str:
    """Return the value; of expressions the formula says enough."""
    if not isinstance(entry.value, Fraction):
        return ""
    exact = short_text(entry.value)
    return exact if len(exact) <= MOST_DIGITS else f"{float(entry.value):.6g}"


def _formula(entry: BaseParameter) -> str:
    """Return the formula where it is more than the name."""
    formula = str(entry).partition(" = ")[2]
    return "" if formula == entry.name else formula


COMMAND = Command(
    usage="FILE",
    description="List the dynamic parameters of a mechanism, in which inverse dynamics is linear:\n"
    "how they are grouped into base parameters, and which have no effect.",
    add_options=add_options,
    run=run,
)
