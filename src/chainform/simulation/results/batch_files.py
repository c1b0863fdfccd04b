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
from chainform.given import Given
from chainform.readers import native_text
from chainform.simulation.about import About, plain_numbers
from chainform.simulation.batches.batch_run import BatchRun
from chainform.simulation.results.files import form_of, made_of_file, write_record
from chainform.simulation.results.plain import (
    LONGEST_NAME,
    Record,
    data_of,
    numbers_in,
    texts_in,
)
from chainform.simulation.results.record import mechanism_in, statistics_in
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
    return _batch(about, arrays, record.outputs)


def _batch(about: Mapping[str, Any], arrays: Mapping[str, Array], names: Sequence[str]) -> BatchRun:
    table = data_of(about)
    mechanism = mechanism_in(table["mechanism"])
    t, ends = numbers_in(table["times"]), numbers_in(table["ends"])
    b, m = len(ends), len(t)
    if not np.all(np.isfinite(t)) or np.any(np.diff(t) < 0):
        raise table["times"].error("the times do not grow")
    known = texts_in(table["event_names"])
    ended = numbers_in(table["ended_by"], b, finite=True)
    if not set(ended.tolist()) <= set(range(-1, len(known))):
        raise table["ended_by"].error("there is no such event")
    is_long = "motion" in arrays
    return BatchRun(
        mechanism,
        t,
        _shaped(arrays, "q", (b, m), (mechanism.nq,), is_long=is_long),
        _shaped(arrays, "qd", (b, m), (mechanism.nv,), is_long=is_long),
        {name: numbers_in(value, b) for name, value in table["values"].table().items()},
        ends,
        ended.astype(np.int64),
        statistics_in(table["statistics"]),
        table["method"].name(LONGEST_NAME),
        event_names=known,
        problems=_problems(table["problems"].table(), b),
        interrupted=_interrupted(table["interrupted"], b),
        about=About.from_dict(table["about"].table().value),
        computed={name: _shaped(arrays, name, (b, m), is_long=is_long) for name in names},
    )


def _problems(table: Given, count: int) -> dict[int, str]:
    """Return what went wrong by the number of the motion."""
    known = {str(motion): motion for motion in range(count)}
    for name, problem in table.items():
        if name not in known:
            raise problem.error("there is no such motion")
    return {known[name]: problem.text() for name, problem in table.items()}


def _interrupted(given: Given, count: int) -> NDArray[np.bool_]:
    numbers = numbers_in(given, finite=True)
    if not set(numbers.tolist()) <= set(range(count)):
        raise given.error("there is no such motion")
    flags = np.zeros(count, dtype=np.bool_)
    flags[numbers.astype(np.int64)] = True
    return flags


def _shaped(
    arrays: Mapping[str, Array],
    name: str,
    lead: tuple[int, int],
    rest: tuple[int, ...] | None = None,
    *,
    is_long: bool,
) -> Array:
    """Return an array (b, m, ...) of one that has its motions in one dimension or two."""
    if name not in arrays:
        raise data_of(None, name).error("there are no such numbers")
    array = arrays[name]
    first = (lead[0] * lead[1],) if is_long else lead
    inner = array.shape[len(first) :]
    if array.shape[: len(first)] != first or rest not in (None, inner):
        raise data_of(None, name).error(f"it has the shape {array.shape}")
    return array.reshape(*lead, *inner)
