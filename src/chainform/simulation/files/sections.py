"""Sections of a scenario: what drives it, and `batch`, what differs from motion to motion.

Drives are laws, pieces in time, tables in the file or in a CSV file next to it, functions.

[batch]
q = { swing = [0.1, 0.2, 0.3] }            a table by names: a number for each motion, or for all
q = { swing = { from = 0, to = 1, count = 11 } }        evenly spaced, both ends included
qd = [[0, 1], [0, 2], [0, 3]]              or a row of all for each motion
values = { m = [1, 2, 3] }
file = "cases.csv"                         or all of it in a table: q.swing, qd.swing, values.m
threads = 2

What it does not name is as in [initial] and `values`, the same for all motions.
"""

from __future__ import annotations

import csv
import importlib.util
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from chainform.errors import ReadError, RunError
from chainform.expressions import fraction_of_decimal
from chainform.given import Given
from chainform.mechanism import Mechanism
from chainform.readers import Source, bytes_of, text_of
from chainform.simulation.files.mechanism_source import names_of, without_notes, without_texts


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
class DriveSection:
    """Reads the sections `forces`, `motion`, `signals` and `unknowns` of one scenario.

    `group` is that of the columns of results that such tables are: `tau.elbow`, `q.elbow`.
    """

    source: Source
    folder: Path
    allow_python: bool
    names: Collection[str] = ()
    group: str = "tau"

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
            return self._from_file(name, table.table(("file", "column", *self._more[:1])))
        if table.has("law", "pieces"):
            return table.value
        return table.table(("t", "values", "file", "column", *self._more)).value

    @property
    def _more(self) -> tuple[str, ...]:
        """Fields that only tables of motions have."""
        return ("smoothing", "rates", "accelerations") if self.group == "q" else ()

    # --- tables in files of their own -------------------------------------------------------

    def _from_file(self, joint: str, table: Given) -> dict[str, Any]:
        column = table["column"].text('write column = "..."') if table.has("column") else None
        path = Source(str(self.folder / table["file"].text("name it")))
        rows = rows_of_file(path)
        head = rows[0] if rows else []
        place = self._column(path, head, joint, column)
        first = head.index("t") if "t" in head else 0
        numbers = [self._numbers(path, row, (first, place), n) for n, row in enumerate(rows[1:], 2)]
        more = {name: table.value[name] for name in self._more[:1] if table.has(name)}
        return {"t": [t for t, _ in numbers], "values": [value for _, value in numbers], **more}

    def _column(self, path: Source, head: list[str], joint: str, column: str | None) -> int:
        """Return which column has the effort: as named, called as the joint is, or the second."""
        if len(head) < 2:
            raise path.error("there are no two columns", "write t,effort and numbers below")
        wanted = [column] if column is not None else [joint, f"{self.group}.{joint}"]
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


# --- batch ------------------------------------------------------------------------------------


Column: TypeAlias = "float | list[float]"
"""A number for all motions, or one for each."""
GROUPS = ("q", "qd", "x", "values")
FIELDS = frozenset({*GROUPS, "file", "threads"})
SWEEP_FIELDS = frozenset({"from", "to", "count"})
MOST = 10_000_000
"""The most motions that a sweep may have."""


@dataclass(frozen=True)
class BatchSection:
    """Reads the section; `number` reads a decimal or an expression of parameters."""

    folder: Path
    mechanism: Mechanism
    number: Callable[[Given], float]

    def read(self, given: Given, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments of `simulate_batch`, given those that hold for all motions."""
        table = given.table(FIELDS)
        groups = self._from_file(table) if table.has("file") else self._from_table(table)
        _check_lengths(groups, table)
        read: dict[str, Any] = {}
        for group, columns in groups.items():
            name = group if group == "values" else f"{group}0"
            read[name] = self._joined(group, arguments.get(name), columns)
        if table.has("threads"):
            read["threads"] = self._whole(table["threads"])
        return read

    # --- in the scenario ----------------------------------------------------------------------

    def _from_table(self, table: Given) -> dict[str, Any]:
        return {group: self._group(group, table[group]) for group in GROUPS if table.has(group)}

    def _group(self, group: str, given: Given) -> Any:
        """Return columns by name, or rows of all states."""
        if given.is_list and group != "values":
            return self._rows(group, given)
        remedy = "write a table by names" + ("" if group == "values" else ", or rows")
        columns: dict[str, Column] = {}
        table = without_notes(given.table(None, remedy), names_of(self.mechanism))
        for name, column in table.items():
            self._check_name(group, name, given)
            columns[name] = self._column(column)
        return columns

    def _column(self, given: Given) -> Column:
        if given.is_table:
            return self._sweep(given.table(SWEEP_FIELDS))
        return [self.number(x) for x in given.entries()] if given.is_list else self.number(given)

    def _sweep(self, table: Given) -> list[float]:
        """Return numbers from one to another in even steps."""
        remedy = "write { from = 0, to = 1, count = 11 }"
        first, last = (self.number(table.required(key, remedy)) for key in ("from", "to"))
        count = self._whole(table.required("count", remedy), MOST)
        return np.linspace(first, last, count).tolist()

    def _rows(self, group: str, given: Given) -> list[list[float]]:
        mechanism = self.mechanism
        named = {"q": mechanism.coordinates, "qd": mechanism.rates, "x": mechanism.states}
        names = named[group]
        order = "the order is " + (", ".join(names) or "empty: there are none")
        rows: list[list[float]] = []
        for row in given.entries():
            if not row.is_list:
                remedy = f"write [[...], [...]]; what all share stands in [initial], {group}"
                raise row.expected("a row for each motion", remedy)
            rows.append([self.number(x) for x in row.entries(len(names), order)])
        return rows

    def _check_name(self, group: str, name: str, given: Given) -> None:
        find = {"q": self.mechanism.coordinate_index, "qd": self.mechanism.rate_index}.get(group)
        with given.translate_errors():
            if find is not None:
                find(name)

    def _whole(self, given: Given, most: int = 2**53) -> int:
        return given.holding(self.number(given)).whole(1, most)

    # --- in a file of its own -----------------------------------------------------------------

    def _from_file(self, table: Given) -> dict[str, Any]:
        twice = [group for group in GROUPS if table.has(group)]
        if twice:
            remedy = f"keep file, or {', '.join(twice)}; what all share stands in [initial]"
            raise table["file"].error("the motions are given twice", remedy)
        path = Source(str(self.folder / table["file"].text('write file = "cases.csv"')))
        groups: dict[str, dict[str, list[float]]] = {}
        for title, cells in columns_of_file(path).items():
            group, dot, key = title.partition(".")
            if not dot or not key or group not in GROUPS:
                remedy = "columns are q.NAME, qd.NAME, x.NAME and values.NAME"
                raise path.error(f"there is a column {title[:60]!r}", remedy)
            self._check_name(group, key, table.at(f"batch, file, {title[:60]}"))
            column = [self._cell(path, title, cell, row) for row, cell in enumerate(cells, 1)]
            groups.setdefault(group, {})[key] = column
        return dict(groups)

    def _cell(self, path: Source, title: str, cell: str, row: int) -> float:
        try:
            return float(fraction_of_decimal(cell))
        except (ReadError, ValueError, OverflowError):
            message = f"{title[:60]} is no number in the row of motion {row}"
            raise path.error(message, "give a finite number in each row") from None

    # --- all of it ----------------------------------------------------------------------------

    def _joined(self, group: str, shared: Any, given: Any) -> Any:
        """Return what differs, with what all motions share where nothing else is given."""
        if isinstance(given, list) or shared is None:
            return cast("Any", given)
        columns = cast("dict[str, Column]", given)
        find = self._place(group)
        if isinstance(shared, Mapping):
            named = {find(name) for name in columns}
            others = cast("Mapping[str, Any]", shared).items()
            return {k: v for k, v in others if find(k) not in named} | columns
        count = max((len(c) for c in columns.values() if isinstance(c, list)), default=1)
        rows = np.tile(np.asarray(shared, dtype=np.float64), (count, 1))
        for name, column in columns.items():
            rows[:, find(name)] = column
        return rows

    def _place(self, group: str) -> Callable[[str], Any]:
        """Return what tells whether two names mean the same."""
        if group == "q":
            return self.mechanism.coordinate_index
        if group == "qd":
            return self.mechanism.rate_index
        states = self.mechanism.states
        return lambda name: states.index(name) if name in states else name


def _check_lengths(groups: Mapping[str, Any], table: Given) -> None:
    """Refuse sections without any motion, or with several numbers of them."""
    lengths: dict[str, int] = {}
    for group, given in groups.items():
        if isinstance(given, list):
            lengths[f"batch, {group}"] = len(cast("list[Any]", given))
            continue
        for name, column in cast("dict[str, Column]", given).items():
            if isinstance(column, list):
                lengths[f"batch, {group}, {name[:60]}"] = len(column)
    if not any(groups.values()) or 0 in lengths.values():
        where = next((where for where, n in lengths.items() if n == 0), "batch")
        remedy = "give q, qd, x or values, each with a number for every motion, or a file"
        raise table.at(where).error("there are no motions", remedy)
    count = max(lengths.values(), default=1)
    for where, length in lengths.items():
        if length != count:
            remedy = "give as many numbers everywhere, or a single one for all motions"
            message = f"here are {length}, and elsewhere {count} motions"
            raise table.at(where).error(message, remedy)
