"""Runs as CSV files: a comment with what is known of the run, the names of columns, the numbers.

Every number is the shortest decimal that gives it back exactly.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chainform.errors import ReadError
from chainform.mechanism import Mechanism
from chainform.simulation.results.flat import columns_of, record_from
from chainform.simulation.results.plain import REMEDY, Record, known_of

Array = NDArray[np.float64]

MARK = "# chainform "
ROWS = 10_000
"""How many rows are written at once."""


def write(path: Path, record: Record, mechanism: Mechanism) -> None:
    """Write a file."""
    columns = columns_of(record, mechanism)
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(f"{MARK}{record.text}\n")
        csv.writer(stream, lineterminator="\n").writerow(columns)
        values = list(columns.values())
        for first in range(0, len(values[0]), ROWS):
            parts = [column[first : first + ROWS].tolist() for column in values]
            stream.writelines(",".join(map(repr, row)) + "\n" for row in zip(*parts, strict=True))


def read(path: Path) -> Record:
    """Return what a file holds."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            first = stream.readline()
            if not first.startswith(MARK):
                raise ReadError(
                    "there is no run in it: the first line does not begin with # chainform",
                    remedy="name a file that chainform wrote, with its first line",
                )
            known = known_of(first.removeprefix(MARK))
            names = [name for row in csv.reader([stream.readline()]) for name in row]
            table = _numbers(stream.read(), len(names))
    except UnicodeDecodeError as problem:
        raise ReadError(f"this is not UTF-8 text: {problem}", remedy="save it so") from problem
    except (ValueError, csv.Error) as problem:
        raise ReadError(f"the table cannot be read: {problem}", remedy=REMEDY) from problem
    return record_from(known, list(table.T))


def _numbers(text: str, count: int) -> Array:
    if text and not text.endswith("\n"):
        raise ValueError("the last line is cut off")
    if not text.strip():
        return np.zeros((0, count))
    table = np.loadtxt(io.StringIO(text), delimiter=",", ndmin=2, comments=None)
    if table.shape[1] != count:
        raise ValueError(f"there are {count} names and {table.shape[1]} columns")
    return table
