"""`chainform schema`: the JSON Schema of a document that `--json` prints, or of a state file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from importlib.resources import files

from chainform.cli.command import FAMILIES, Command
from chainform.cli.printing import Report

NAMES = (
    "new",
    *("check", "quantities", "parameters", "derive", "show", "eval", "count", "compare", "verify"),
    "compile",
    *FAMILIES["analyse"],
    *("linearise", "simulate", "runs", "report", "export"),
    *(
        "state",
        "bind",
        "reduce",
        "passes",
        "models",
        "log",
        "diff",
        "tag",
        "rename",
        "revert",
        "delete",
    ),
    *("gc", "check-db", "export-db", "import-db"),
)


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("name", metavar="NAME", choices=NAMES, help=", ".join(NAMES))


def run(args: Namespace) -> Report:
    """Return the schema; it is JSON with or without `--json`."""
    text = schema_text(args.name)
    return Report(None, lambda page: page.text(text.rstrip("\n")))


def schema_text(name: str) -> str:
    """Return a schema as it stands in its file; single tasks share that of `analyse`."""
    if name in FAMILIES["analyse"][1:]:
        return schema_text("analyse").replace("analyse", name)
    return (files("chainform.cli") / "schemas" / f"{name}.json").read_text(encoding="utf-8")


COMMAND = Command(
    usage="NAME",
    description="Print the JSON Schema (draft 2020-12) of what a command prints with --json,\n"
    "or of the state files that eval reads.",
    add_options=add_options,
    run=run,
)
