"""The section `batch` of a scenario: what differs from motion to motion.

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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from chainform.errors import ReadError
from chainform.expressions import fraction_of_decimal
from chainform.mechanism import Mechanism
from chainform.mechanism.tables import check_fields, is_list, is_table, kind_of, list_of, table_of
from chainform.readers.source import Source
from chainform.simulation.scenarios.columns_file import columns_of_file
from chainform.simulation.scenarios.notes import names_of, without_notes

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

    source: Source
    folder: Path
    mechanism: Mechanism
    number: Callable[[object, str], float]

    def read(self, said: object, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments of `simulate_batch`, given those that hold for all motions."""
        table = table_of(said, self.source.file, "batch")
        check_fields(table, FIELDS, self.source.file, "batch")
        told = {key: value for key, value in table.items() if value is not None}
        groups = self._from_file(told) if "file" in told else self._from_table(told)
        self._check_lengths(groups)
        found: dict[str, Any] = {}
        for group, given in groups.items():
            name = group if group == "values" else f"{group}0"
            found[name] = self._joined(group, arguments.get(name), given)
        if "threads" in told:
            found["threads"] = self._whole(told["threads"], "batch, threads")
        return found

    # --- in the scenario ----------------------------------------------------------------------

    def _from_table(self, told: Mapping[str, object]) -> dict[str, Any]:
        return {group: self._group(group, told[group]) for group in GROUPS if group in told}

    def _group(self, group: str, said: object) -> Any:
        """Return columns by name, or rows of all states."""
        where = f"batch, {group}"
        if is_list(said) and group != "values":
            return self._rows(group, list_of(said, self.source.file, where))
        if not is_table(said):
            remedy = "write a table by names" + ("" if group == "values" else ", or rows")
            raise self.source.error(f"expected a table, got {kind_of(said)}", remedy, where)
        columns: dict[str, Column] = {}
        table = without_notes(table_of(said, self.source.file, where), names_of(self.mechanism))
        for name, value in table.items():
            self._check_name(group, name, where)
            columns[name] = self._column(value, f"{where}, {name[:60]}")
        return columns

    def _column(self, value: object, where: str) -> Column:
        if is_table(value):
            return self._sweep(table_of(value, self.source.file, where), where)
        if not is_list(value):
            return self.number(value, where)
        listed = list_of(value, self.source.file, where)
        return [self.number(x, f"{where}[{k}]") for k, x in enumerate(listed, 1)]

    def _sweep(self, table: Mapping[str, object], where: str) -> list[float]:
        """Return numbers from one to another in even steps."""
        check_fields(table, SWEEP_FIELDS, self.source.file, where)
        for key in SWEEP_FIELDS:
            if table.get(key) is None:
                remedy = "write { from = 0, to = 1, count = 11 }"
                raise self.source.error(f"{key} is missing", remedy, where)
        first, last = (self.number(table[key], f"{where}, {key}") for key in ("from", "to"))
        count = self._whole(table["count"], f"{where}, count")
        if count > MOST:
            message, remedy = f"there would be {count} motions", f"let there be at most {MOST}"
            raise self.source.error(message, remedy, f"{where}, count")
        return np.linspace(first, last, count).tolist()

    def _rows(self, group: str, listed: Sequence[object]) -> list[list[float]]:
        where, names = f"batch, {group}", self._names(group)
        rows: list[list[float]] = []
        for k, row in enumerate(listed, 1):
            if not is_list(row):
                remedy = (
                    f"write [[...], [...]]; what all motions share stands in [initial], {group}"
                )
                message = f"expected a row for each motion, got {kind_of(row)}"
                raise self.source.error(message, remedy, f"{where}[{k}]")
            entries = list_of(row, self.source.file, f"{where}[{k}]")
            if len(entries) != len(names):
                remedy = "the order is " + (", ".join(names) or "empty: there are none")
                message = f"expected {len(names)} numbers, got {len(entries)}"
                raise self.source.error(message, remedy, f"{where}[{k}]")
            rows.append([self.number(x, f"{where}[{k}][{j}]") for j, x in enumerate(entries, 1)])
        return rows

    def _names(self, group: str) -> tuple[str, ...]:
        mechanism = self.mechanism
        names = {"q": mechanism.coordinates, "qd": mechanism.rates, "x": mechanism.states}
        return names[group]

    def _check_name(self, group: str, name: str, where: str) -> None:
        find = {"q": self.mechanism.coordinate_index, "qd": self.mechanism.rate_index}.get(group)
        try:
            if find is not None:
                find(name)
        except ReadError as problem:
            raise self.source.error(problem.message, problem.remedy or "", where) from None

    def _whole(self, said: object, where: str) -> int:
        number = self.number(said, where)
        if number != int(number) or number < 1:
            message = "it must be a whole number from 1 on"
            raise self.source.error(message, "correct it, or leave it out", where)
        return int(number)

    # --- in a file of its own -----------------------------------------------------------------

    def _from_file(self, told: Mapping[str, object]) -> dict[str, Any]:
        twice = [group for group in GROUPS if group in told]
        if twice:
            remedy = f"keep file, or {', '.join(twice)}; what all share stands in [initial]"
            raise self.source.error("the motions are given twice", remedy, "batch, file")
        name = told["file"]
        if not isinstance(name, str):
            message = f"expected a text, got {kind_of(name)}"
            raise self.source.error(message, 'write file = "cases.csv"', "batch, file")
        path = Source(str(self.folder / name))
        groups: dict[str, dict[str, list[float]]] = {}
        for title, cells in columns_of_file(path).items():
            group, dot, key = title.partition(".")
            if not dot or not key or group not in GROUPS:
                remedy = "columns are q.NAME, qd.NAME, x.NAME and values.NAME"
                raise path.error(f"there is a column {title[:60]!r}", remedy)
            self._check_name(group, key, f"batch, file, {title[:60]}")
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

    def _check_lengths(self, groups: Mapping[str, Any]) -> None:
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
            raise self.source.error("there are no motions", remedy, where)
        count = max(lengths.values(), default=1)
        for where, length in lengths.items():
            if length != count:
                remedy = "give as many numbers everywhere, or a single one for all motions"
                message = f"here are {length}, and elsewhere {count} motions"
                raise self.source.error(message, remedy, where)

    def _joined(self, group: str, shared: Any, given: Any) -> Any:
        """Return what differs, with what all motions share where nothing else is said."""
        if not is_table(given) or shared is None:
            return given
        columns = cast("dict[str, Column]", given)
        find = self._place(group)
        if isinstance(shared, Mapping):
            named = {find(name) for name in columns}
            kept = cast("Mapping[str, Any]", shared).items()
            return {k: v for k, v in kept if find(k) not in named} | columns
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
