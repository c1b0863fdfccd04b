"""Runs in files, whose endings tell the form. A new form is two functions and a line in the table.

CSV       a comment with what is known of the run, the names of columns, the numbers: each is the
          shortest decimal that gives it back exactly
NPZ       an array for each quantity, and `about`, JSON as bytes
Parquet   a column for each number, and what is known of the run as metadata
"""

from __future__ import annotations

import csv
import io
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, ReadError, RunError
from chainform.files import REMEDY as WRITE_REMEDY
from chainform.files import replacing, unpacked_size
from chainform.mechanism import Mechanism
from chainform.simulation.files.record import (
    REMEDY,
    ResultRecord,
    columns_of,
    data_of,
    in_order,
    known_of,
    record_from,
)
from chainform.simulation.files.run_record import mechanism_in

Array = NDArray[np.float64]

KEY = b"chainform"
LARGEST = 2**30
"""Bytes of numbers that a short file may hold."""


def check_parquet() -> None:
    """Raise RunError where the package for such files is missing."""
    _library("pyarrow.parquet")


def write_parquet(path: Path, record: ResultRecord, mechanism: Mechanism) -> None:
    """Write a file."""
    arrow, parquet = _library("pyarrow"), _library("pyarrow.parquet")
    table = arrow.table(columns_of(record, mechanism))
    table = table.replace_schema_metadata({KEY: record.text.encode()})
    parquet.write_table(table, str(path))


def read_parquet(path: Path) -> ResultRecord:
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
    return _record(known, table.column_names, columns)


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


# --- NPZ --------------------------------------------------------------------------------------


ABOUT = "about"


def write_npz(path: Path, record: ResultRecord, _: Mechanism) -> None:
    """Write a file; the arrays keep their shapes."""
    text = np.frombuffer(record.text.encode(), dtype=np.uint8)
    arrays: dict[str, Any] = {ABOUT: text, **record.arrays}
    with path.open("wb") as stream:
        np.savez(stream, **arrays)


def read_npz(path: Path) -> ResultRecord:
    """Return what a file holds; nothing in it is ever executed."""
    try:
        _check_sizes(path)
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as found:
            known = known_of(bytes(found[ABOUT].astype(np.uint8)).decode())
            arrays = {
                name: _npz_numbers(found, name, shape) for name, shape in known["arrays"].items()
            }
    except ReadError:
        raise
    except (
        *(AttributeError, EOFError, KeyError, MemoryError, NotImplementedError, TypeError),
        *(ValueError, zipfile.BadZipFile, zlib.error, RuntimeError),
    ) as problem:
        raise ReadError(
            f"this is not an NPZ file of a run: {problem}", remedy="name a file of chainform"
        ) from problem
    return ResultRecord(arrays, tuple(known["outputs"]), known)


def _check_sizes(path: Path) -> None:
    """Refuse arrays that are longer than the bytes in the file, before memory is taken for them."""
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        if sum(part.file_size for part in parts) > unpacked_size(path.stat().st_size):
            raise ReadError("the file would become far longer than it is", remedy=REMEDY)
        for part in parts:
            with archive.open(part) as stream:
                version = np.lib.format.read_magic(stream)
                reader = {(1, 0): np.lib.format.read_array_header_1_0}.get(
                    version, np.lib.format.read_array_header_2_0
                )
                shape, _, dtype = reader(stream)
            if prod(shape) * dtype.itemsize > part.file_size:
                message = f"an array of the shape {shape} does not fit into {part.file_size} bytes"
                raise ReadError(message, element=part.filename[:60], remedy=REMEDY)


def _npz_numbers(found: Mapping[str, Any], name: str, shape: list[int]) -> Array:
    """Return an array, whose rows must have a shape."""
    if name not in found:
        raise ReadError("there are no such numbers", element=name[:60], remedy=REMEDY)
    array = found[name]
    if array.dtype.kind not in "fiu" or list(array.shape[1:]) != shape:
        message = f"it has the shape {array.shape} and the type {array.dtype}"
        raise ReadError(message, element=name[:60], remedy=REMEDY)
    return array.astype(np.float64)


# --- CSV --------------------------------------------------------------------------------------


MARK = "# chainform "
ROWS = 10_000
"""How many rows are written at once."""


def write_csv(path: Path, record: ResultRecord, mechanism: Mechanism) -> None:
    """Write a file."""
    columns = columns_of(record, mechanism)
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(f"{MARK}{record.text}\n")
        csv.writer(stream, lineterminator="\n").writerow(columns)
        values = list(columns.values())
        for first in range(0, len(values[0]), ROWS):
            parts = [column[first : first + ROWS].tolist() for column in values]
            stream.writelines(",".join(map(repr, row)) + "\n" for row in zip(*parts, strict=True))


def read_csv(path: Path) -> ResultRecord:
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
            table = _csv_numbers(stream.read(), len(names))
    except UnicodeDecodeError as problem:
        raise ReadError(f"this is not UTF-8 text: {problem}", remedy="save it so") from problem
    except (ValueError, csv.Error) as problem:
        raise ReadError(f"the table cannot be read: {problem}", remedy=REMEDY) from problem
    return _record(known, names, list(table.T))


def _record(known: dict[str, Any], names: Sequence[str], columns: Sequence[Array]) -> ResultRecord:
    try:
        mechanism = mechanism_in(data_of(known)["mechanism"])
    except ReadError:
        # Whoever makes something of the record says what it is no run of.
        return record_from(known, columns)
    return record_from(known, in_order(mechanism, known, names, columns))


def _csv_numbers(text: str, count: int) -> Array:
    if text and not text.endswith("\n"):
        raise ValueError("the last line is cut off")
    if not text.strip():
        return np.zeros((0, count))
    table = np.loadtxt(io.StringIO(text), delimiter=",", ndmin=2, comments=None)
    if table.shape[1] != count:
        raise ValueError(f"there are {count} names and {table.shape[1]} columns")
    return table


# --- all forms --------------------------------------------------------------------------------


Made = TypeVar("Made")


@dataclass(frozen=True)
class FileFormat:
    """How runs are written and read; `check` raises where that cannot be done here."""

    write: Callable[[Path, ResultRecord, Mechanism], None]
    read: Callable[[Path], ResultRecord]
    check: Callable[[], None] = lambda: None


FORMS: dict[str, FileFormat] = {
    ".parquet": FileFormat(write_parquet, read_parquet, check_parquet),
    ".csv": FileFormat(write_csv, read_csv),
    ".npz": FileFormat(write_npz, read_npz),
}
"""The forms by the ending of the name."""


def form_of(path: str | PathLike[str]) -> FileFormat:
    """Return the form that a name tells; ReadError if it tells none."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMS:
        raise ReadError(
            "the ending of the name tells no form of results",
            file=str(path),
            remedy=f"name it with one of these endings: {', '.join(FORMS)}",
        )
    return FORMS[suffix]


def motion_file(given: str | PathLike[str]) -> Path:
    """Return the file that is given in place of a motion; RunError for a text that is none."""
    path = Path(given)
    if path.suffix.lower() not in FORMS:
        remedy = 'write {"phi": "0.3*sin(t)"}, or the file of a run'
        message = f"expected a table of laws by coordinate, not {str(given)[:60]!r}"
        raise RunError(message, element="motion", remedy=remedy)
    return path


def write_record(
    form: FileFormat, record: ResultRecord, mechanism: Mechanism, path: str | PathLike[str]
) -> None:
    """Write a record to a file of a form, whole or not at all.

    A file that is there is replaced when the new one is done.
    """
    with replacing(path) as part:
        try:
            form.write(part, record, mechanism)
        except RunError as problem:
            problem.file = problem.file or str(path)
            raise
        except ValueError as problem:
            # An archive that could not be written fails when it is closed.
            message = f"it cannot be written: {problem}"
            raise RunError(
                message, file=str(path), element="file", remedy=WRITE_REMEDY
            ) from problem


def made_of_file(path: str | PathLike[str], make: Callable[[ResultRecord], Made]) -> Made:
    """Return what is made of the record in a file; ReadError where there is none."""
    form, source = form_of(path), Path(path)
    try:
        if source.exists() and not source.is_file():
            kind = "a folder" if source.is_dir() else "a device or a pipe"
            raise ReadError(f"this is {kind}", remedy="name a file of results")
        return make(form.read(source))
    except Error as problem:
        problem.file = problem.file or str(path)
        raise
    except FileNotFoundError:
        remedy = "check the name and the folder"
        raise ReadError("there is no such file", file=str(path), remedy=remedy) from None
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        remedy = "check its name and rights"
        raise ReadError(f"it cannot be read: {reason}", file=str(path), remedy=remedy) from problem
