"""A scenario: a mechanism and all that `simulate` is told about it, read from one file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeGuard, cast

from chainform.errors import DeriveError, ReadError, RunError
from chainform.mechanism import Mechanism
from chainform.readers.source import Source, Table, bytes_of, table_from_text, text_of
from chainform.simulation.interruption import Interrupted, MotionError
from chainform.simulation.scenarios.reading import read_scenario

if TYPE_CHECKING:
    from chainform.simulation.run import Run

P = ParamSpec("P")

SYNTAXES = {".toml": "toml", ".json": "json"}

PYTHON = re.compile(r"values=\{'(\w+)': \.\.\.\}")
"""How a remedy names a value in Python; a file has other words."""


@dataclass(frozen=True)
class Scenario:
    """What a file asks for: a mechanism, and arguments of `simulate` by name.

    `outputs` are to be written beside the states; `text` is the file as it was read.
    """

    mechanism: Mechanism
    arguments: Mapping[str, Any]
    outputs: tuple[str, ...] = ()
    file: str | None = None
    text: str = ""

    @staticmethod
    def read(
        path: str | PathLike[str], *, store: str | None = None, allow_python: bool = False
    ) -> Scenario:
        """Return the scenario in a TOML or JSON file; ReadError tells what is wrong with it.

        `store` is the store of models, whatever the file says. Functions of Python that a file
        names are run only with `allow_python`: they may do anything.
        """
        source, table = _table(path)
        folder = Path(path).parent
        mechanism, arguments, outputs = read_scenario(
            table, source, folder, store=store, allow_python=allow_python
        )
        text = (source.data or b"").decode()
        return Scenario(mechanism, arguments, outputs, source.file, text)


def takes_scenarios(function: Callable[P, Run]) -> Callable[P, Run]:
    """Let a function that simulates a mechanism take a scenario, or the file of one, in its place.

    Arguments beside it come before those of the scenario. Whatever is wrong with them before the
    motion begins is an error of the file.
    """

    @wraps(function)
    def simulate(*positional: P.args, **named: P.kwargs) -> Run:
        scenario = _scenario_of(positional[0]) if positional else None
        if scenario is None:
            return function(*positional, **named)
        checkpoint = cast("Callable[[Run], None] | None", named.get("checkpoint"))
        given: dict[str, Any] = {**scenario.arguments, **named}
        if checkpoint is not None:

            def told(run: Run) -> None:
                checkpoint(_told(run, scenario))

            given["checkpoint"] = told
        try:
            made = cast("Callable[..., Run]", function)(scenario.mechanism, **given)
            return _told(made, scenario)
        except (Interrupted, MotionError) as problem:
            problem.run = _told(problem.run, scenario)
            raise
        except (ReadError, RunError, DeriveError) as problem:
            raise _of_file(problem, scenario) from problem

    return simulate


def _scenario_of(given: object) -> Scenario | None:
    if isinstance(given, Scenario):
        return given
    if _is_path(given) and Path(given).suffix.lower() in SYNTAXES:
        data = bytes_of(given)
        if b"mechanism" in data and _is_scenario(_table(given)[1]):
            return Scenario.read(given)
    return None


def _is_path(given: object) -> TypeGuard[str | PathLike[str]]:
    return isinstance(given, str | PathLike)


def _is_scenario(table: Table) -> bool:
    """Tell a scenario from a mechanism that stands in a table among other data."""
    return "mechanism" in table and ("time" in table or isinstance(table["mechanism"], str))


def _table(path: str | PathLike[str]) -> tuple[Source, Table]:
    file = str(path)
    syntax = SYNTAXES.get(Path(file).suffix.lower())
    source = Source(file, bytes_of(path))
    if syntax is None:
        raise source.error("a scenario is a TOML or JSON file", "name it with .toml or .json")
    text = text_of(source.data or b"", source)
    return source, table_from_text(text, syntax, source)


def _told(run: Run, scenario: Scenario) -> Run:
    """Return a run that knows the text that asked for it."""
    return replace(run, about=replace(run.about, scenario=scenario.text))


def _of_file(problem: ReadError | RunError | DeriveError, scenario: Scenario) -> ReadError:
    names = {"q0": "initial, q", "qd0": "initial, qd", "x0": "initial, x", "t": "time"}
    names |= {name: f"solver, {name}" for name in ("method", "rtol", "atol", "step", "largest")}
    element = names.get(problem.element or "", problem.element)
    remedy = PYTHON.sub(r"values = { \1 = ... }", problem.remedy or "") or None
    return ReadError(problem.message, file=scenario.file, element=element, remedy=remedy)
