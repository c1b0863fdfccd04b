"""The commands: one line each in the table; the file of one is imported when it is called."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from chainform.cli.printing import Report

SUMMARIES = {
    "new": "ask for a mechanism step by step, and write its file",
    "check": "read a mechanism and tell what was understood",
    "quantities": "list what can be derived, with shape, unit, meaning and equation",
    "parameters": "list dynamic parameters and how they are grouped",
    "derive": "derive the equations and tell their size",
    "show": "show the formulas of quantities",
    "eval": "evaluate outputs at a state",
    "count": "count the operations of each output",
    "compare": "derive with every formulation and compare",
    "verify": "hold a model or a motion against everything that can tell",
    "compile": "compile the outputs to machine code and time them",
    "analyse": "carry out a task that a file describes",
    "kinematics": "find positions, velocities and accelerations along a motion",
    "workspace": "find where a frame can be",
    "inverse-kinematics": "find coordinates with which frames are at targets",
    "inverse-dynamics": "find drives or unknown forces along a motion",
    "statics": "find drives or forces that hold a pose",
    "equilibria": "find the poses in which a mechanism rests",
    "equilibrium-path": "follow an equilibrium along a parameter",
    "modes": "find the modes of small oscillations",
    "frequency-response": "find how outputs answer to inputs that swing",
    "root-locus": "follow poles along a parameter, to the limits of stability",
    "periodic-motion": "find a periodic motion, its multipliers and whether it is stable",
    "stability-limit": "find where an equilibrium or a periodic motion becomes unstable",
    "lyapunov-exponents": "find how fast deviations from a motion grow",
    "sensitivities": "find the derivatives of a motion by parameters and its start",
    "design": "find values of parameters that a study makes best",
    "linearise": "find the linear equations of small motions about a state",
    "simulate": "compute the motion of a scenario",
    "runs": "list, tell, draw and delete runs",
    "report": "write mechanism, formulas and verification as one document",
    "export": "write the equations, or the mechanism, in another language",
    "bind": "make free parameters numbers",
    "reduce": "reduce a stored model to fewer operations",
    "passes": "list the passes of a reduction and their options",
    "models": "list the models in the store",
    "log": "show the history of a stored model",
    "diff": "show what changed between two revisions",
    "tag": "give a revision tags, or take them away",
    "rename": "give a stored model another name",
    "revert": "make an earlier revision the last one again",
    "delete": "remove a stored model with its history",
    "gc": "free what no stored model needs any more",
    "check-db": "tell whether the store is whole",
    "export-db": "write stored models into a file of their own",
    "import-db": "take models over from a file",
    "schema": "print the JSON Schema of a document or of state files",
}
"""What each command does, in the order of the help."""

FAMILIES = {
    "analyse": (
        *("analyse", "kinematics", "workspace", "inverse-kinematics", "inverse-dynamics"),
        *("statics", "equilibria", "equilibrium-path", "sensitivities", "design"),
        *("periodic-motion", "stability-limit", "lyapunov-exponents"),
        *("modes", "frequency-response", "root-locus"),
    ),
    "derivation": ("derive", "bind", "reduce"),
    "history": ("models", "log", "diff", "tag", "revert"),
    "store": ("rename", "delete", "gc", "check-db", "export-db", "import-db"),
}
"""Files with several commands; every other command has a file of its name."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: how it is called and explained, its options, and the function behind it."""

    usage: str
    description: str
    add_options: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], Report]


def command_of(name: str) -> Command:
    """Return a command by its name."""
    family = next((file for file, names in FAMILIES.items() if name in names), None)
    module = import_module(f"chainform.cli.commands.{family or name}")
    command = module.COMMAND if family is None else module.COMMANDS[name]
    assert isinstance(command, Command)
    return command
