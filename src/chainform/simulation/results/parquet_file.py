"""Runs as Parquet files: a column for each number, and what is known of the run as metadata."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from chainform.errors import ReadError, RunError
from chainform.files import unpacked_size
from chainform.mechanism import Mechanism
from chainform.simulation.results.flat import columns_of, record_from
from chainform.simulation.results.plain import Record, known_of

KEY = b"chainform"
LARGEST = 2**30
"""Bytes of numbers that a short file may hold."""


def check() -> None:
    """Raise RunError where the package for such files is missing."""
    _library("pyarrow.parquet")


def write(path: Path, record: Record, mechanism: Mechanism) -> None:
    """Write a file."""
    arrow, parquet = _library("pyarrow"), _library("pyarrow.parquet")
    table = arrow.table(columns_of(record, mechanism))
    table = table.replace_schema_metadata({KEY: record.text.encode()})
    parquet.write_table(table, str(path))


def read(path: Path) -> Record:
    """Return what a file holds."""
    arrow, parquet = _library("pyarrow"), _library("pyarrow.parquet")
    try:
        _check_size(parquet.read_metadata(str(path)), path)
        table = parquet.read_table(str(path))
        metadata: Any = table.schema.metadata
        known = known_of(metadata[KEY].decode() if metadata and KEY in metadata else "")
        columns = [
            np.asarray(column.to_numpy(), dtype=np.float64) for column in table.itercolumns()
        ]
    except ReadError:
        raise
    except (arrow.ArrowException, OSError, TypeError, ValueError) as problem:
        if isinstance(problem, FileNotFoundError | PermissionError):
            raise
        raise ReadError(
            f"this is not a Parquet file of a run: {problem}", remedy="name a file of chainform"
        ) from problem
    return record_from(known, columns)


def _check_size(metadata: Any, path: Path) -> None:
    """Refuse a table that would take far more memory than its file, before it is read.

    Columns that stay the same take nearly nothing in a file, so that more is allowed here.
    """
    numbers = int(metadata.num_rows) * int(metadata.num_columns)
    if 8 * numbers > LARGEST + unpacked_size(path.stat().st_size):
        raise ReadError(
            f"the table has {numbers} numbers, which cannot come from so short a file",
            remedy="name a file of chainform",
        )


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as problem:
        raise RunError(
            "Parquet files need the package pyarrow",
            element="parquet",
            remedy="install it with: pip install 'chainform[parquet]', or choose .csv or .npz",
        ) from problem
