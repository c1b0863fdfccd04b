"""Many motions in files.

In NPZ files arrays have their shapes: q (b, m, nq), energy (b, m), values.m (b,). In CSV and
Parquet files every row is one time of one motion, which are counted from 1:

    motion, t, q.*, qd.*, values.*, energy, outputs

What is known of the batch goes with it, as for single runs: also when and how each motion ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, ReadError
from chainform.readers import native_text, read_text
from chainform.simulation.about import About, array_of, plain_numbers
from chainform.simulation.batches.batch_run import BatchRun
from chainform.simulation.results.files import form_of, made_of_file, write_record
from chainform.simulation.results.plain import REMEDY, Record
from chainform.simulation.solver import Statistics
from chainform.version import VERSION

Array = NDArray[np.float64]

SCHEMA = "chainform-batch/1"
WHOLE = ".npz"
"""The ending of files in which arrays keep their shapes."""


def write_batch(
    batch: BatchRun, path: str | PathLike[str], outputs: Sequence[str] | None = None
) -> None:
    """Write many motions whole or not at all, with `outputs` beside states and energy."""
    form = form_of(path)
    is_whole = Path(path).suffix.lower() == WHOLE
    record = _record(batch, outputs or (), is_whole=is_whole)
    write_record(form, record, batch.mechanism, path)


def read_batch(path: str | PathLike[str]) -> BatchRun:
    """Return the motions in a file; ReadError where there are none."""
    return made_of_file(path, batch_of)


def _record(batch: BatchRun, outputs: Sequence[str], *, is_whole: bool) -> Record:
    computed = {**_energy(batch), **{name: batch.output(name) for name in outputs}}
    about = {
        "schema": SCHEMA,
        "version": VERSION,
        "name": batch.mechanism.name,
        "mechanism": native_text(batch.mechanism),
        "method": batch.method,
        "statistics": asdict(batch.statistics),
        "times": plain_numbers(batch.t),
        "values": {name: plain_numbers(value) for name, value in batch.values.items()},
        "ends": plain_numbers(batch.ends),
        "ended_by": batch.events.tolist(),
        "event_names": list(batch.event_names),
        "interrupted": np.flatnonzero(batch.interrupted).tolist(),
        "problems": {str(motion): text for motion, text in batch.problems.items()},
        "about": batch.about.as_dict(),
    }
    arrays = {**_whole(batch), **computed} if is_whole else {**_long(batch), **_flat(computed)}
    return Record(arrays, tuple(computed), about)


def _energy(batch: BatchRun) -> dict[str, Array]:
    try:
        return {"energy": batch.energy}
    except Error:
        return {}


def _whole(batch: BatchRun) -> dict[str, Array]:
    values = {f"values.{name}": np.array(value) for name, value in batch.values.items()}
    ends: dict[str, Any] = {"ends": batch.ends, "events": batch.events}
    return {"t": batch.t, "q": batch.q, "qd": batch.qd, **values, **ends}


def _long(batch: BatchRun) -> dict[str, Array]:
    b, m = batch.q.shape[:2]
    numbers: Any = range(1, b + 1)
    motion: Any = np.repeat(np.array(numbers, dtype=np.int64), m)
    states = _flat({"q": batch.q, "qd": batch.qd})
    values = {f"values.{name}": np.repeat(value, m) for name, value in batch.values.items()}
    return {"motion": motion, "t": np.tile(batch.t, b), **states, **values}


def _flat(computed: Mapping[str, Array]) -> dict[str, Array]:
    """Return what was computed with a row for each time of each motion."""
    return {n: a.reshape(a.shape[0] * a.shape[1], *a.shape[2:]) for n, a in computed.items()}


def batch_of(record: Record) -> BatchRun:
    """Return the motions of plain data; ReadError where they are not those of a batch."""
    about, arrays = record.about, record.arrays
    if about.get("schema") != SCHEMA:
        is_single = str(about.get("schema")).startswith("chainform-run/")
        remedy = "it was written by another program, or another version of chainform"
        raise ReadError(
            f"there is no batch of the form {SCHEMA}",
            remedy="it has a single motion: read it with chainform.Run.load"
            if is_single
            else remedy,
        )
    try:
        return _batch(about, arrays, record.outputs)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, Error) as problem:
        raise ReadError(
            f"what is said of the motions is damaged: {type(problem).__name__}: {problem}",
            remedy=REMEDY,
        ) from problem


def _batch(about: Mapping[str, Any], arrays: Mapping[str, Array], names: Sequence[str]) -> BatchRun:
    mechanism = read_text(about["mechanism"], "json")
    t, ends = array_of(about["times"]), array_of(about["ends"])
    b, m = len(ends), len(t)
    interrupted = np.zeros(b, dtype=np.bool_)
    interrupted[[int(motion) for motion in about["interrupted"]]] = True
    events = np.array([int(event) for event in about["ended_by"]], dtype=np.int64)
    values = {str(name): array_of(value) for name, value in about["values"].items()}
    known = tuple(map(str, about["event_names"]))
    if any(len(column) != b for column in (events, *values.values())):
        raise ValueError("columns differ in length")
    if np.any(events >= len(known)) or np.any(events < -1):
        raise ValueError("there is no such event")
    return BatchRun(
        mechanism,
        t,
        arrays["q"].reshape(b, m, mechanism.nq),
        arrays["qd"].reshape(b, m, mechanism.nv),
        values,
        ends,
        events,
        Statistics(**{name: int(count) for name, count in about["statistics"].items()}),
        str(about["method"]),
        event_names=known,
        problems={int(motion): str(text) for motion, text in about["problems"].items()},
        interrupted=interrupted,
        about=About.from_dict(about["about"]),
        computed={n: _shaped(arrays[n], b, m, is_long="motion" in arrays) for n in names},
    )


def _shaped(array: Array, b: int, m: int, *, is_long: bool) -> Array:
    """Return an array (b, m, ...) of one that has its motions in one dimension or two."""
    return array.reshape(b, m, *array.shape[1 if is_long else 2 :])
