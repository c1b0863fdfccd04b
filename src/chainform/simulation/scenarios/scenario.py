"""A scenario: a mechanism and all that `simulate` is told about it, read from one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, TypeGuard, cast

from chainform.mechanism import Mechanism, number_of
from chainform.readers import FILE_TYPES
from chainform.readers.source import Source, Table, bytes_of, table_from_text, text_of
from chainform.simulation.scenarios.output_times import OutputTimes
from chainform.simulation.scenarios.reading import read_scenario
from chainform.simulation.scenarios.source import not_a_scenario
from chainform.simulation.span import span_of

SYNTAXES = {".toml": "toml", ".json": "json"}


@dataclass(frozen=True)
class Scenario:
    """What a file asks for: a mechanism, and arguments of `simulate` by name.

    `outputs` are to be written beside the states; `text` is the file as it was read. Where it asks
    for many motions, `batch` has the arguments of `simulate_batch` that differ from motion to
    motion, in place of those of the same name. `times` tells the times of output also for another
    start and end.
    """

    mechanism: Mechanism
    arguments: Mapping[str, Any]
    outputs: tuple[str, ...] = ()
    file: str | None = None
    text: str = ""
    batch: Mapping[str, Any] | None = None
    name: str = ""
    times: OutputTimes = field(default_factory=OutputTimes)

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
        told = read_scenario(table, source, folder, store=store, allow_python=allow_python)
        text = (source.data or b"").decode()
        asked = (told.mechanism, told.arguments, told.outputs)
        return Scenario(*asked, source.file, text, told.batch, told.name, told.times)

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a problem; those that are `given` come before its own.

        Another time has the times of output that the scenario asks for.
        """
        options = {**self.arguments, **(self.batch or {}), **given}
        options.pop("threads", None)
        if given.get("t") is not None and given.get("t_eval") is None:
            bounds = span_of(given["t"], None)[0]
            first, last = (cast("Fraction", number_of(bound)) for bound in bounds)
            options["t_eval"] = self.times.within(first, last)
        return options


def scenario_of(given: object) -> Scenario | None:
    """Return the scenario that is given, or the one in a file; None for a mechanism."""
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
    if syntax is None and Path(file).suffix.lower() in FILE_TYPES:
        raise not_a_scenario(source)
    if syntax is None:
        raise source.error("a scenario is a TOML or JSON file", "name it with .toml or .json")
    text = text_of(source.data or b"", source)
    return source, table_from_text(text, syntax, source)
