"""A run as plain data: named arrays, and what is known of them as JSON can hold it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform import __version__
from chainform.errors import Error, ReadError, RunError
from chainform.readers import native_text, read_text
from chainform.simulation.about import About
from chainform.simulation.run import Happening, Run
from chainform.simulation.solver import Statistics
from chainform.simulation.switching import Impact

Array = NDArray[np.float64]

SCHEMA = "chainform-run/1"
USUAL = ("energy",)
"""What is kept beside the states where nothing is asked for, as far as it can be computed."""
HAPPENINGS: dict[str, type[Happening]] = {"event": Happening, "impact": Impact}


@dataclass(frozen=True)
class Record:
    """Arrays by name, each with a row for every time, and what is known of the run.

    Those named in `outputs` were computed from the states.
    """

    arrays: Mapping[str, Array]
    outputs: tuple[str, ...]
    about: Mapping[str, Any]

    @property
    def text(self) -> str:
        """What is known, with the arrays and their shapes, as JSON."""
        shapes = {name: list(array.shape[1:]) for name, array in self.arrays.items()}
        known = {**self.about, "arrays": shapes, "outputs": list(self.outputs)}
        return json.dumps(known, allow_nan=False)


def record_of(run: Run, outputs: Sequence[str] | None = None) -> Record:
    """Return a run as plain data, with outputs along it: by default the energy."""
    arrays = {
        item.name: value
        for item in fields(Run)
        if isinstance(value := getattr(run, item.name), np.ndarray)
    }
    computed = _outputs(run, outputs)
    about = {
        "schema": SCHEMA,
        "version": __version__,
        "name": run.mechanism.name,
        "mechanism": native_text(run.mechanism),
        "method": run.method,
        "statistics": asdict(run.statistics),
        "events": [_event(happening) for happening in run.happenings],
        **run.about.as_dict(),
    }
    return Record({**arrays, **computed}, tuple(computed), about)


def run_of(record: Record) -> Run:
    """Return the run of plain data; ReadError where they are not those of a run."""
    about = record.about
    if about.get("schema") != SCHEMA:
        raise ReadError(
            f"there is no run of the form {SCHEMA}",
            remedy="it was written by another program, or another version of chainform",
        )
    try:
        names = {item.name for item in fields(Run)}
        kept = {n: a for n, a in record.arrays.items() if n in names and n not in record.outputs}
        rows = {len(array) for array in record.arrays.values()}
        if len(rows) != 1:
            raise ValueError("columns differ in length")
        return Run(
            mechanism=read_text(about["mechanism"], "json"),
            happenings=tuple(map(_happening, about["events"])),
            statistics=Statistics(**{name: int(n) for name, n in about["statistics"].items()}),
            method=str(about["method"]),
            about=About.from_dict(about),
            computed={name: record.arrays[name] for name in record.outputs},
            **kept,
        )
    except (KeyError, TypeError, ValueError, AttributeError, Error) as problem:
        raise ReadError(
            f"what is said of the run is damaged: {type(problem).__name__}: {problem}",
            remedy="take an undamaged copy, or compute the run anew",
        ) from problem


def known_of(text: str) -> dict[str, Any]:
    """Return what a text in a file of results says; ReadError if it is none of ours."""
    try:
        known = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ReadError(
            f"what is said of the run cannot be read: {problem}",
            remedy="take an undamaged copy, or compute the run anew",
        ) from problem
    if not isinstance(known, dict) or not {"arrays", "outputs"} <= known.keys():
        raise ReadError("there is no run in it", remedy="name a file that chainform wrote")
    return known  # pyright: ignore[reportUnknownVariableType]


def _outputs(run: Run, outputs: Sequence[str] | None) -> dict[str, Array]:
    if outputs is not None:
        return {name: run.output(name) for name in dict.fromkeys([*USUAL, *outputs])}
    computed: dict[str, Array] = {}
    for name in USUAL:
        try:
            computed[name] = run.output(name)
        except (Error, RunError):
            continue
    return computed


def _event(happening: Happening) -> dict[str, Any]:
    kind = next(name for name, kind in HAPPENINGS.items() if type(happening) is kind)
    said = {item.name: getattr(happening, item.name) for item in fields(happening)}
    plain = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in said.items()}
    return {"kind": kind, **plain}


def _happening(said: Mapping[str, Any]) -> Happening:
    kind = HAPPENINGS[said["kind"]]
    given = {name: value for name, value in said.items() if name != "kind"}
    arrays = {
        name: np.array(value, dtype=np.float64) if isinstance(value, list) else value
        for name, value in given.items()
    }
    return kind(**arrays)
