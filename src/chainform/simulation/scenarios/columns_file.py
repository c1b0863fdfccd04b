"""Columns of a CSV file beside a scenario, by the names in its first line."""

from __future__ import annotations

import csv

from chainform.readers import Source, bytes_of, text_of


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
