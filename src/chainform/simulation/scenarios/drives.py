"""What drives a scenario: laws, pieces in time, tables in the file or beside it, functions."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Any, cast

from chainform.errors import ReadError, RunError
from chainform.expressions import fraction_of_decimal
from chainform.mechanism.tables import check_fields, is_table, kind_of, table_of
from chainform.readers.source import Source, bytes_of
from chainform.simulation.scenarios.columns_file import rows_of_file
from chainform.simulation.scenarios.notes import without_notes, without_texts

TABLE_FIELDS = frozenset({"t", "values", "file", "column"})
FUNCTION_FIELDS = frozenset({"function"})


@dataclass(frozen=True)
class Drives:
    """Reads the sections `forces`, `signals` and `unknowns` of one scenario."""

    source: Source
    folder: Path
    allow_python: bool
    names: Collection[str] = ()

    def read(self, said: object, where: str, find: Callable[[str], int]) -> Any:
        """Return forces as `simulate` takes them; `find` raises for what cannot be driven."""
        table = without_notes(table_of(said, self.source.file, where), self.names)
        if "function" in table:
            if len(table) > 1:
                remedy = "let it return all efforts, or give one function for each joint"
                raise self.source.error("a function of all joints stands alone", remedy, where)
            return self._function(table["function"], f"{where}, function")
        found: dict[str, Any] = {}
        for name, given in table.items():
            element = f"{where}, {name[:60]}"
            try:
                find(name)
            except ReadError as problem:
                raise self.source.error(problem.message, problem.remedy or "", element) from None
            found[name] = self._drive(name, given, element)
        return found

    def _drive(self, name: str, given: object, where: str) -> Any:
        if not is_table(given):
            return without_texts(given, (), is_by_names=False)
        table = without_notes(table_of(given, self.source.file, where))
        if "function" in table:
            check_fields(table, FUNCTION_FIELDS, self.source.file, where)
            return self._function(table["function"], where)
        if "file" in table:
            check_fields(table, TABLE_FIELDS - {"t", "values"}, self.source.file, where)
            return self._from_file(name, table, where)
        if "law" in table or "pieces" in table:
            return table
        check_fields(table, TABLE_FIELDS, self.source.file, where)
        return table

    # --- tables in files of their own -------------------------------------------------------

    def _from_file(self, joint: str, table: Mapping[str, object], where: str) -> dict[str, Any]:
        name, column = table["file"], table.get("column")
        if not isinstance(name, str):
            raise self.source.error(f"expected a text, got {kind_of(name)}", "name it", where)
        if column is not None and not isinstance(column, str):
            raise self.source.error("a column is named by a text", 'write column = "..."', where)
        path = Source(str(self.folder / name))
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

    def _function(self, said: object, where: str) -> Any:
        """Return a function of Python, if the user lets a file name one."""
        file, mark, name = said.rpartition(":") if isinstance(said, str) else ("", "", "")
        if not mark or not name.isidentifier() or not file.endswith(".py"):
            remedy = 'write function = "control.py:torque"'
            raise self.source.error("a function is named by its file and its name", remedy, where)
        if not self.allow_python:
            raise self.source.error(
                f"the scenario would run Python from {file[:100]}, which may do anything",
                "look at that file; then allow it: allow_python=True",
                where,
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
            raise self.source.error(message, "run it on its own to see where", where) from problem
        found = getattr(module, name, None)
        if not callable(found):
            raise self.source.error(f"{file} has no function {name}", "define it there", where)
        return self._guarded(cast("Callable[..., Any]", found), said, where)

    def _guarded(
        self, function: Callable[..., Any], name: object, where: str
    ) -> Callable[..., Any]:
        """Return a function whose faults are errors of the scenario."""

        @wraps(function)
        def guarded(t: float, q: Any, qd: Any) -> Any:
            try:
                return function(t, q, qd)
            except Exception as problem:
                raise RunError(
                    f"{name} fails at t = {t:.9g} s: {type(problem).__name__}: {problem}",
                    file=self.source.file,
                    element=where,
                    remedy="call it on its own at that time",
                ) from problem

        return guarded
