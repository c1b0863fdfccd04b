"""Runs in files, whose endings tell the form. A new form is a file and a line in the table."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from chainform.errors import Error, ReadError, RunError
from chainform.mechanism import Mechanism
from chainform.model import StoredRun
from chainform.simulation.results import csv_file, npz_file, parquet_file
from chainform.simulation.results.plain import Record
from chainform.simulation.results.record import record_of, run_of
from chainform.simulation.run import Run


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
    form, target = form_of(path), Path(path)
    record = record_of(run, outputs)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        form.write(part, record, run.mechanism)
        part.replace(target)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        remedy = "look at the folder, the rights to it, and the room on the disk"
        raise RunError(
            f"it cannot be written: {reason}", file=str(path), remedy=remedy
        ) from problem
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def read_run(path: str | PathLike[str] | StoredRun) -> Run:
    """Return the run in a file, or one that was stored; ReadError where there is none."""
    if isinstance(path, StoredRun):
        return run_of(path.arrays, path.outputs, path.about)
    form, source = form_of(path), Path(path)
    try:
        record = form.read(source)
        return run_of(record.arrays, record.outputs, record.about)
    except Error as problem:
        problem.file = problem.file or str(path)
        raise
    except FileNotFoundError:
        remedy = "check the name and the folder"
        raise ReadError("there is no such file", file=str(path), remedy=remedy) from None
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise ReadError(f"it cannot be read: {reason}", file=str(path)) from problem
