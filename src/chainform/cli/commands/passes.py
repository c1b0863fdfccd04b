"""`chainform passes`: the passes that a reduction may name, with their options."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from chainform.cli.command import Command
from chainform.cli.printing import Document, Page, Report
from chainform.search import PassEntry, pass_entries

TITLES = ("pass", "option", "type", "default", "meaning")


def add_options(parser: ArgumentParser) -> None:
    """Add no options: the list is the same for all."""


def run(_: Namespace) -> Report:
    """List the passes."""
    entries = pass_entries()
    document: Document = {"passes": [_record(entry) for entry in entries]}
    return Report(document, lambda page: _show(page, entries))


def _record(entry: PassEntry) -> Document:
    return {
        "name": entry.name,
        "meaning": entry.summary,
        "may_cost_more": entry.may_cost_more,
        "options": [
            {"name": o.name, "type": o.type, "default": o.default, "meaning": o.meaning}
            for o in entry.options
        ],
    }


def _show(page: Page, entries: tuple[PassEntry, ...]) -> None:
    rows: list[tuple[str, ...]] = []
    for entry in entries:
        rows.append((entry.name, "", "", "", entry.summary))
        rows += [("", o.name, o.type, o.default, o.meaning) for o in entry.options]
    page.table(TITLES, rows)
    page.text("write: --reduce 'drop_neutral, expand(trig=true), extract_monomials(degree=3)'")


COMMAND = Command(
    usage="",
    description="List the passes that --reduce may name, one after the other, and the options\n"
    "that each takes in brackets: name(option=value, ...).",
    add_options=add_options,
    run=run,
)
