"""The topology of Racković 1996: one row of joints per path from the base to a tip (matrix MS)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from chainform.mechanism.intake import Intake
from chainform.mechanism.tables import is_table, kind_of, list_of, table_of
from chainform.readers.source import Source


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows without padding, whether each is closed, and the joint before each joint."""

    rows: tuple[tuple[int, ...], ...]
    closed: tuple[bool, ...]
    parents: Mapping[int, int]

    @property
    def count(self) -> int:
        """The number of joints, which are numbered from 1."""
        return len(self.parents)

    @property
    def tips(self) -> frozenset[int]:
        """The last joints of the rows."""
        return frozenset(row[-1] for row in self.rows)


def rows_from(table: Mapping[str, object], intake: Intake, source: Source) -> Rows:
    """Return the rows of a table; without `rows` the joints form one chain in their order."""
    said = table.get("rows")
    if said is None:
        count = _count_of(table.get("e"), source)
        rows = (tuple(range(1, count + 1)),)
    else:
        rows = tuple(
            _row_from(row, number, intake, source)
            for number, row in enumerate(list_of(said, source.file, "rows"), 1)
        )
    parents = _parents_of(rows, source)
    declared = table.get("n")
    if declared is not None and intake.integer(declared, "n") != len(parents):
        message = f"n does not fit the {len(parents)} joints"
        raise source.error(message, "correct or remove it", "n")
    return Rows(rows, _closed_from(table.get("closed"), len(rows), source), parents)


def _count_of(axes: object, source: Source) -> int:
    if axes is None:
        raise source.error("the axes e are missing", "give one per joint", "e")
    read = table_of if is_table(axes) else list_of
    entries = read(axes, source.file, "e")
    if not entries:
        raise source.error("there are no joints", "give one axis per joint", "e")
    return len(entries)


def _row_from(row: object, number: int, intake: Intake, source: Source) -> tuple[int, ...]:
    where = f"row {number}"
    entries = [intake.integer(entry, where) for entry in list_of(row, source.file, where)]
    joints = tuple(entry for entry in entries if entry != 0)
    if not joints or min(joints) < 0 or len(set(joints)) < len(joints):
        message = "a row needs joints numbered from 1, each once"
        raise source.error(message, "correct the row; zeros are padding", where)
    return joints


def _parents_of(rows: tuple[tuple[int, ...], ...], source: Source) -> dict[int, int]:
    parents: dict[int, int] = {}
    for number, row in enumerate(rows, 1):
        for before, joint in pairwise((0, *row)):
            if parents.setdefault(joint, before) != before:
                message = f"joint {joint} follows {before} here and {parents[joint]} elsewhere"
                raise source.error(message, "let the rows agree", f"row {number}")
    count = len(parents)
    missing = [joint for joint in range(1, count + 1) if joint not in parents]
    if missing or not parents:
        message = f"joint {missing[0]} is in no row" if missing else "there are no rows"
        raise source.error(message, "number the joints 1, 2, ... without gaps", "rows")
    return parents


def _closed_from(value: object, count: int, source: Source) -> tuple[bool, ...]:
    if value is None:
        return (False,) * count
    flags = list_of(value, source.file, "closed")
    if len(flags) != count:
        message = f"expected {count} entries, one per row, got {len(flags)}"
        raise source.error(message, "write true or false for each row", "closed")
    closed: list[bool] = []
    for flag in flags:
        if not isinstance(flag, bool):
            message = f"expected true or false, got {kind_of(flag)}"
            raise source.error(message, "write true or false for each row", "closed")
        closed.append(flag)
    return tuple(closed)
