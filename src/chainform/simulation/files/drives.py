"""What drives a scenario: laws, pieces in time, tables in the file or beside it, functions.

Columns of a CSV file beside a scenario, by the names in its first line.
"""

from __future__ import annotations

import csv
import importlib.util
from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Any, cast

from chainform.errors import ReadError, RunError
from chainform.expressions import fraction_of_decimal
from chainform.given import Given
from chainform.readers.source import Source, bytes_of, text_of
from chainform.simulation.files.mechanism_source import without_notes, without_texts


def rows_of_file(path: Source) -> list[list[str]]:
    """Return the cells, row by row; lines that begin with # are passed over."""
    text = text_of(bytes_of(path.file or ""), path)
    lines = [line for line in text.splitlines() if line.strip() and line[0] != "#"]
    try:
        return [[cell.strip() for cell in row] for row in csv.reader(lines)]
    except csv.Error as problem:
        raise path.error(f"this is not CSV: {problem}", "correct it") from None


def columns_of_file(path: Source) -> dict[str, list[str]]:
    """Return the cells below each title; all columns have the same length."""
    head, *rows = rows_of_file(path) or [[]]
    if not head:
        raise path.error("there are no columns", "write their names in the first line")
    for title in head:
        if head.count(title) > 1:
            raise path.error(f"there are two columns {title[:60]!r}", "rename one")
    for number, row in enumerate(rows, 1):
        if len(row) != len(head):
            message = f"row {number} has {len(row)} entries, and there are {len(head)} columns"
            raise path.error(message, "give a number for each column in each row")
    return {title: [row[k] for row in rows] for k, title in enumerate(head)}


@dataclass(frozen=True)
class Drives:
    """Reads the sections `forces`, `signals` and `unknowns` of one scenario."""

    source: Source
    folder: Path
    allow_python: bool
    names: Collection[str] = ()

    def read(self, given: Given, find: Callable[[str], int]) -> Any:
        """Return forces as `simulate` takes them; `find` raises for what cannot be driven."""
        table = without_notes(given.table(), self.names)
        if table.has("function"):
            if len(table.value) > 1:
                remedy = "let it return all efforts, or give one function for each joint"
                raise given.error("a function of all joints stands alone", remedy)
            return self._function(table["function"])
        read: dict[str, Any] = {}
        for name, entry in table.items():
            with entry.translate_errors():
                find(name)
            read[name] = self._drive(name, entry)
        return read

    def _drive(self, name: str, given: Given) -> Any:
        if not given.is_table:
            return without_texts(given.value, (), is_by_names=False)
        table = without_notes(given.table())
        if table.has("function"):
            table.table(("function",))
            return self._function(table["function"].at(given.element))
        if table.has("file"):
            return self._from_file(name, table.table(("file", "column")))
        if table.has("law", "pieces"):
            return table.value
        return table.table(("t", "values", "file", "column")).value

    # --- tables in files of their own -------------------------------------------------------

    def _from_file(self, joint: str, table: Given) -> dict[str, Any]:
        column = table["column"].text('write column = "..."') if table.has("column") else None
        path = Source(str(self.folder / table["file"].text("name it")))
        rows = rows_of_file(path)
        head = rows[0] if rows else []
        place = self._column(path, head, joint, column)
        first = head.index("t") if "t" in head else 0
        numbers = [self._numbers(path, row, (first, place), n) for n, row in enumerate(rows[1:], 2)]
        return {"t": [t for t, _ in numbers], "values": [value for _, value in numbers]}

    def _column(self, path: Source, head: list[str], joint: str, column: str | None) -> int:
        """Return which column has the effort: as named, called as the joint is, or the second."""
        if len(head) < 2:
            raise path.error("there are no two columns", "write t,effort and numbers below")
        wanted = [column] if column is not None else [joint, f"tau.{joint}"]
        for name in wanted:
            if name in head:
                return head.index(name)
        if column is None and len(head) == 2:
            return 1
        remedy = f"name one by column = ...; there are {', '.join(head[:40])}"
        raise path.error(f"there is no column {wanted[0]!r}", remedy)

    def _numbers(
        self, path: Source, row: list[str], places: tuple[int, int], number: int
    ) -> tuple[Fraction, Fraction]:
        try:
            first, last = (fraction_of_decimal(row[place]) for place in places)
        except (ReadError, IndexError, ValueError):
            message = f"row {number} has no number where one belongs"
            raise path.error(message, "give a time and a number in each row") from None
        return first, last

    # --- functions of Python ----------------------------------------------------------------

    def _function(self, given: Given) -> Any:
        """Return a function of Python, if the user lets a file name one."""
        remedy = 'write function = "control.py:torque"'
        file, mark, name = given.text(remedy).rpartition(":")
        if not mark or not name.isidentifier() or not file.endswith(".py"):
            raise given.error("a function is named by its file and its name", remedy)
        if not self.allow_python:
            raise given.error(
                f"the scenario would run Python from {file[:100]}, which may do anything",
                "look at that file; then allow it: allow_python=True",
            )
        path = self.folder / file
        bytes_of(path)
        spec = importlib.util.spec_from_file_location(f"scenario_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as problem:
            message = f"{file} fails: {type(problem).__name__}: {problem}"
            raise given.error(message, "run it on its own to see where") from problem
        function = getattr(module, name, None)
        if not callable(function):
            raise given.error(f"{file} has no function {name}", "define it there")
        return _guarded(cast("Callable[..., Any]", function), given)


def _guarded(function: Callable[..., Any], given: Given) -> Callable[..., Any]:
    """Return a function whose faults are errors of the scenario."""

    @wraps(function)
    def guarded(t: float, q: Any, qd: Any) -> Any:
        try:
            return function(t, q, qd)
        except Exception as problem:
            raise RunError(
                f"{given.value} fails at t = {t:.9g} s: {type(problem).__name__}: {problem}",
                file=given.file,
                element=given.element,
                remedy="call it on its own at that time",
            ) from problem

    return guarded
