"""Runs in files, whose endings tell the form. A new form is a file and a line in the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TypeVar

from chainform.errors import Error, ReadError, RunError
from chainform.files import REMEDY, replacing
from chainform.mechanism import Mechanism
from chainform.model import StoredRun
from chainform.simulation.results import csv_file, npz_file, parquet_file
from chainform.simulation.results.plain import Record
from chainform.simulation.results.record import record_of, run_of
from chainform.simulation.run import Run

Made = TypeVar("Made")


@dataclass(frozen=True)
class Form:
    """How runs are written and read; `check` raises where that cannot be done here."""

    write: Callable[[Path, Record, Mechanism], None]
    read: Callable[[Path], Record]
    check: Callable[[], None] = lambda: None


FORMS: dict[str, Form] = {
    ".parquet": Form(parquet_file.write, parquet_file.read, parquet_file.check),
    ".csv": Form(csv_file.write, csv_file.read),
    ".npz": Form(npz_file.write, npz_file.read),
}
"""The forms by the ending of the name."""


def form_of(path: str | PathLike[str]) -> Form:
    """Return the form that a name tells; ReadError if it tells none."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMS:
        raise ReadError(
            "the ending of the name tells no form of results",
            file=str(path),
            remedy=f"name it with one of these endings: {', '.join(FORMS)}",
        )
    return FORMS[suffix]


def write_run(run: Run, path: str | PathLike[str], outputs: Sequence[str] | None = None) -> None:
    """Write a run whole or not at all; a file that is there is replaced when the new one is done.

    `outputs` are written beside the states and the energy.
    """
    form = form_of(path)
    write_record(form, record_of(run, outputs), run.mechanism, path)


def write_record(
    form: Form, record: Record, mechanism: Mechanism, path: str | PathLike[str]
) -> None:
    """Write a record to a file of a form, whole or not at all."""
    with replacing(path) as part:
        try:
            form.write(part, record, mechanism)
        except RunError as problem:
            problem.file = problem.file or str(path)
            raise
        except ValueError as problem:
            # An archive that could not be written is told so by its closing.
            message = f"it cannot be written: {problem}"
            raise RunError(message, file=str(path), element="file", remedy=REMEDY) from problem


def read_run(path: str | PathLike[str] | StoredRun) -> Run:
    """Return the run in a file, or one that was stored; ReadError where there is none."""
    if isinstance(path, StoredRun):
        return run_of(path.arrays, path.outputs, path.about)
    return made_of_file(path, lambda record: run_of(record.arrays, record.outputs, record.about))


def made_of_file(path: str | PathLike[str], make: Callable[[Record], Made]) -> Made:
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
