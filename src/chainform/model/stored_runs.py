"""Runs of a model in the store: the arrays of a simulation, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from chainform.errors import StoreError

if TYPE_CHECKING:
    from chainform.mechanism import Mechanism
    from chainform.store import Database, Run

Array = NDArray[np.float64]

MECHANISM = "mechanism"


class Record(Protocol):
    """A run as plain data: arrays by name, those of them that were computed, and the rest."""

    @property
    def arrays(self) -> Mapping[str, Array]: ...

    @property
    def outputs(self) -> tuple[str, ...]: ...

    @property
    def about(self) -> Mapping[str, Any]: ...


class Recorded(Protocol):
    """Something that can be written as a record: the result of a simulation."""

    @property
    def mechanism(self) -> Mechanism: ...

    def record(self, outputs: Sequence[str] | None = None) -> Record: ...


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run that was kept with a revision: its arrays, and what is known of it."""

    name: str
    revision: str
    created: datetime
    seconds: float | None
    arrays: Mapping[str, Array] = field(repr=False)
    outputs: tuple[str, ...]
    about: Mapping[str, Any] = field(repr=False)


def save_run(
    database: Database,
    run: Recorded,
    reference: str,
    name: str,
    outputs: Sequence[str] | None = None,
) -> Run:
    """Keep a run with a revision; StoreError if that is one of another mechanism."""
    stored = database.mechanism(reference)
    record = run.record(outputs)
    if stored is not None and stored.text:
        _check_mechanism(stored.text, run.mechanism, reference)
    about = dict(record.about)
    if stored is not None and stored.text == about.get(MECHANISM):
        del about[MECHANISM]
    options = {**about, "outputs": list(record.outputs)}
    seconds = about.get("seconds")
    return database.runs.save(reference, name, record.arrays, options, seconds=seconds)


def load_run(database: Database, reference: str, name: str) -> StoredRun:
    """Return a run of a revision."""
    arrays, run = database.runs.load(reference, name)
    about = {key: value for key, value in run.options.items() if key != "outputs"}
    if MECHANISM not in about:
        stored = database.mechanism(run.revision)
        about[MECHANISM] = "" if stored is None else stored.text
    outputs = tuple(map(str, run.options.get("outputs", ())))
    floats = {key: np.asarray(array, dtype=np.float64) for key, array in arrays.items()}
    return StoredRun(run.name, run.revision, run.created, run.seconds, floats, outputs, about)


def _check_mechanism(text: str, mechanism: Mechanism, reference: str) -> None:
    from chainform.readers import read_text

    stored = read_text(text, "json")
    same = (stored.coordinates, stored.rates) == (mechanism.coordinates, mechanism.rates)
    if not same or len(stored.segments) != len(mechanism.segments):
        raise StoreError(
            f"the run is one of {mechanism.name}, and this is a model of another mechanism",
            element=reference,
            remedy="save the model of that mechanism, and the run with it",
        )
