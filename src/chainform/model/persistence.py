"""Models and runs as the store has them, and back: graph, mechanism, derivation, arrays.

The store is imported where it is needed: see `location`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.errors import ReadError, StoreError
from chainform.graph import Graph, number_text
from chainform.mechanism import Mechanism, Note, parametrise
from chainform.model.model import Model
from chainform.model.summary import Origin
from chainform.readers import native_text, read_text
from chainform.runtime import CodeStorage
from chainform.search import Stage

if TYPE_CHECKING:
    from chainform.store import (
        Database,
        MechanismFile,
        ParameterEntry,
        Revision,
        RevisionRecord,
        RunEntry,
    )

MEDIA_TYPES = {
    ".toml": "application/toml",
    ".json": "application/json",
    ".urdf": "application/xml",
    ".xacro": "application/xml",
}
"""What the bytes of a mechanism's file are, by the ending of its name."""


# --- into the store -------------------------------------------------------------------------


def options_of(model: Model) -> dict[str, Any]:
    """Return how a model was derived, as JSON can hold it."""
    free = model.parameters if isinstance(model.parameters, str) else list(model.parameters)
    return {
        "parameters": free,
        "reduce": model.reduction,
        "closure": model.closure,
        "wrenches": list(model.wrenches),
        **({"without": list(model.without)} if model.without else {}),
        **({"define": dict(model.defined)} if model.defined else {}),
    }


def stage_record(
    record: RevisionRecord, stage: Stage, parent: int, tried: Sequence[int] | None
) -> RevisionRecord:
    """Return the record of one step of a reduction; the last one names what was tried besides."""
    notes: dict[str, Any] = {"branch": stage.branch, "fate": stage.fate, "tried": list(tried or ())}
    return replace(
        record,
        step=stage.name,
        options={**record.options, **stage.options, **{k: v for k, v in notes.items() if v}},
        parent=parent,
        tags=() if tried is None else record.tags,
        note="" if tried is None else record.note,
        seconds=stage.seconds,
    )


def bound_options(model: Model) -> dict[str, Any]:
    """Return the numbers that were given to parameters, and those that stay free with them."""
    values = {name: number_text(value) for name, value in model.bound.items()}
    free = [name for name in values if name in model.free_parameters]
    return {"values": values, **({"keep_free": free} if free else {})}


def is_method(options: Mapping[str, Any]) -> bool:
    """Tell whether the options of a step say how the model was derived."""
    return options.keys() >= {"parameters", "reduce", "closure"}


def mechanism_file_of(mechanism: Mechanism) -> MechanismFile:
    """Return the mechanism's text, and the user's own file where it was read from one.

    Of the file only the name is stored: the folder tells about a machine, not about a mechanism.
    """
    from chainform.store import MechanismFile

    text = native_text(mechanism)
    notes = tuple((note.level, note.element, note.text) for note in mechanism.notes)
    if mechanism.source is None:
        return MechanismFile(mechanism.name, text, notes=notes)
    name = "" if mechanism.file is None else PureWindowsPath(mechanism.file).name
    media_type = MEDIA_TYPES.get(Path(name).suffix.lower(), "application/octet-stream")
    return MechanismFile(mechanism.name, text, name, media_type, mechanism.source, notes)


def parameters_of(model: Model) -> tuple[ParameterEntry, ...]:
    """Return the parameters that the file declares and those that the model keeps free."""
    from chainform.store import ParameterEntry

    free = parametrise(model.mechanism, model.parameters).parameters
    named = {item.name: item for item in (*model.mechanism.parameters, *free)}
    for name, default in model.free_parameters.items():
        if name in named:
            named[name] = replace(named[name], value=default)
    return tuple(ParameterEntry(p.name, p.value, p.unit, p.note) for p in named.values())


# --- out of the store -----------------------------------------------------------------------


def model_from(
    graph: Graph,
    revision: Revision,
    method: Mapping[str, Any],
    file: MechanismFile | None,
    code_cache: CodeStorage | None = None,
) -> Model:
    """Return the model of a revision, derived by `method`; StoreError if it is only a graph."""
    if file is None or not file.text:
        raise StoreError(
            "this revision has no mechanism, so it is a graph but not a model",
            element=revision.reference,
            remedy="load the graph alone with chainform.store",
        )
    return Model(
        mechanism_from(file, revision.reference),
        graph,
        revision.formulation,
        _parameter_choice(method.get("parameters", "numeric")),
        str(method.get("reduce", "none")),
        str(method.get("closure", "complete")),
        tuple(map(str, method.get("wrenches", ()))),
        tuple(map(str, method.get("without", method.get("leave_out", ())))),
        {str(name): str(text) for name, text in dict(method.get("define", {})).items()},
        origin=Origin(revision.name, revision.number, revision.content),
        code_cache=code_cache,
    )


def mechanism_from(file: MechanismFile, reference: str) -> Mechanism:
    """Return the mechanism of a stored text, with the file it once came from."""
    try:
        mechanism = read_text(file.text, "json")
    except ReadError as problem:
        raise StoreError(
            f"the stored mechanism cannot be read: {problem.message}",
            element=reference,
            remedy="it was changed outside chainform, or written by a newer version",
        ) from problem
    if file.notes:
        # The text has the numbers only; the notes of the reader stand in a column of their own.
        notes = tuple(Note(cast("Any", level), *rest) for level, *rest in file.notes)
        mechanism = replace(mechanism, notes=notes)
    if not file.source:
        return mechanism
    return replace(mechanism, file=file.file_name or None, source=file.source)


def _parameter_choice(value: Any) -> str | tuple[str, ...]:
    return value if isinstance(value, str) else tuple(map(str, cast("Sequence[Any]", value)))


# --- runs: the arrays of a simulation, and what is known of it -----------------------------------


Array = NDArray[np.float64]

MECHANISM = "mechanism"


class RunRecord(Protocol):
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

    def record(self, outputs: Sequence[str] | None = None) -> RunRecord: ...


@dataclass(frozen=True, slots=True, repr=False)
class StoredRun(Displayed):
    """A run that is stored with a revision: its arrays, and what is known of it."""

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
) -> RunEntry:
    """Keep a run with a revision; StoreError if it is about another mechanism or other formulas."""
    stored = database.mechanism_file(reference)
    record = run.record(outputs)
    if stored is not None and stored.text:
        _check_mechanism(stored.text, run.mechanism, reference)
    about = dict(record.about)
    # A certificate has the hash of the formulas that it is about; a run has none.
    if about.get("content", content := database.revision(reference).content) != content:
        raise StoreError(
            "the certificate is about other formulas than those of this revision",
            element=reference,
            remedy="keep it as a file, or verify this revision",
        )
    if stored is not None and stored.text == about.get(MECHANISM):
        del about[MECHANISM]
    options = {**about, "outputs": list(record.outputs)}
    kind, seconds = about.get("task", "simulation"), about.get("seconds")
    return database.runs.save(reference, name, record.arrays, options, kind=kind, seconds=seconds)


def load_run(database: Database, reference: str, name: str) -> StoredRun:
    """Return a run of a revision."""
    arrays, run = database.runs.load(reference, name)
    about = {key: value for key, value in run.options.items() if key != "outputs"}
    if MECHANISM not in about:
        stored = database.mechanism_file(run.revision)
        about[MECHANISM] = "" if stored is None else stored.text
    outputs = tuple(map(str, run.options.get("outputs", ())))
    floats = {key: np.asarray(array, dtype=np.float64) for key, array in arrays.items()}
    return StoredRun(run.name, run.revision, run.created, run.seconds, floats, outputs, about)


def _check_mechanism(text: str, mechanism: Mechanism, reference: str) -> None:
    stored = read_text(text, "json")
    same = (stored.coordinates, stored.rates) == (mechanism.coordinates, mechanism.rates)
    if not same or len(stored.segments) != len(mechanism.segments):
        raise StoreError(
            f"the run is one of {mechanism.name}, and this is a model of another mechanism",
            element=reference,
            remedy="save the model of that mechanism, and the run with it",
        )
