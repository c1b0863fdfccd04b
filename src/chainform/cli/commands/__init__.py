"""The commands: one file each, one line each in the table."""

from __future__ import annotations

from chainform.cli.commands.check import CHECK
from chainform.cli.commands.command import Command
from chainform.cli.commands.count import COUNT
from chainform.cli.commands.derive import DERIVE
from chainform.cli.commands.eval import EVAL
from chainform.cli.commands.export import EXPORT
from chainform.cli.commands.schema import SCHEMA
from chainform.cli.commands.show import SHOW

COMMANDS: dict[str, Command] = {
    "check": CHECK,
    "derive": DERIVE,
    "show": SHOW,
    "eval": EVAL,
    "count": COUNT,
    "export": EXPORT,
    "schema": SCHEMA,
}

__all__ = ["COMMANDS", "Command"]
