"""The commands: one file each, one line each in the table."""

from __future__ import annotations

from chainform.cli.commands.bind import BIND
from chainform.cli.commands.check import CHECK
from chainform.cli.commands.check_db import CHECK_DB
from chainform.cli.commands.command import Command
from chainform.cli.commands.compare import COMPARE
from chainform.cli.commands.compile import COMPILE
from chainform.cli.commands.count import COUNT
from chainform.cli.commands.delete import DELETE
from chainform.cli.commands.derive import DERIVE
from chainform.cli.commands.diff import DIFF
from chainform.cli.commands.eval import EVAL
from chainform.cli.commands.export import EXPORT
from chainform.cli.commands.export_db import EXPORT_DB
from chainform.cli.commands.forces import FORCES
from chainform.cli.commands.gc import GC
from chainform.cli.commands.import_db import IMPORT_DB
from chainform.cli.commands.log import LOG
from chainform.cli.commands.models import MODELS
from chainform.cli.commands.reduce import REDUCE
from chainform.cli.commands.rename import RENAME
from chainform.cli.commands.revert import REVERT
from chainform.cli.commands.runs import RUNS
from chainform.cli.commands.schema import SCHEMA
from chainform.cli.commands.show import SHOW
from chainform.cli.commands.simulate import SIMULATE
from chainform.cli.commands.tag import TAG

COMMANDS: dict[str, Command] = {
    "check": CHECK,
    "derive": DERIVE,
    "show": SHOW,
    "eval": EVAL,
    "count": COUNT,
    "compare": COMPARE,
    "compile": COMPILE,
    "forces": FORCES,
    "simulate": SIMULATE,
    "runs": RUNS,
    "export": EXPORT,
    "bind": BIND,
    "reduce": REDUCE,
    "models": MODELS,
    "log": LOG,
    "diff": DIFF,
    "tag": TAG,
    "rename": RENAME,
    "revert": REVERT,
    "delete": DELETE,
    "gc": GC,
    "check-db": CHECK_DB,
    "export-db": EXPORT_DB,
    "import-db": IMPORT_DB,
    "schema": SCHEMA,
}

__all__ = ["COMMANDS", "Command"]
