"""`chainform check`: read a mechanism and tell what was understood."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from chainform.cli.command import Command
from chainform.cli.files import add_file, read_chosen
from chainform.cli.mechanism_report import mechanism_report
from chainform.cli.printing import Report


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)


def run(args: Namespace) -> Report:
    """Read the file and describe the mechanism."""
    return mechanism_report(read_chosen(args))


COMMAND = Command(
    usage="FILE",
    description="Read a mechanism and tell what was understood: segments, joints, the\n"
    "coordinates in the order of q, the rates in that of qd, parameters, loops,\n"
    "frames, notes and warnings.",
    add_options=add_options,
    run=run,
)
