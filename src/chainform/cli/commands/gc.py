"""`chainform gc`: remove from the store what no revision needs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from chainform.cli.commands.command import Command
from chainform.cli.printing import Report, counted
from chainform.cli.store_place import chosen_store


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command: none of its own."""
    del parser


def run(args: Namespace) -> Report:
    """Sweep the store."""
    with chosen_store(args) as store:
        swept = store.gc()
    text = f"removed {counted(swept.graphs, 'graph')} and {counted(swept.mechanisms, 'mechanism')}"
    document = {"graphs": swept.graphs, "mechanisms": swept.mechanisms}
    return Report(document, lambda page: page.text(text))


COMMAND = Command(
    usage="",
    description="Remove graphs and mechanisms that no revision needs any more.",
    add_options=add_options,
    run=run,
)
