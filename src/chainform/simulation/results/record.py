"""Runs as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, ReadError
from chainform.readers import native_text, read_text
from chainform.simulation.about import About
from chainform.simulation.contact.impacts import Impact
from chainform.simulation.results.plain import REMEDY, Record
from chainform.simulation.run import Happening, Run
from chainform.simulation.solver import Statistics
from chainform.version import VERSION

Array = NDArray[np.float64]

SCHEMA = "chainform-run/1"
STATES = ("t", "q", "qd", "tau", "u", "further", "books")
"""Arrays of a run that nothing else follows from; those without any columns are left out."""
USUAL = ("energy", "x")
"""What is kept beside them in any case, as far as it can be computed."""
HAPPENINGS: dict[str, type[Happening]] = {"event": Happening, "impact": Impact}


def record_of(run: Run, outputs: Sequence[str] | None = None) -> Record:
    """Return a run as plain data, with the energy and `outputs` along it."""
    arrays = {name: array for name in STATES if (array := _array(run, name)) is not None}
    computed = {**_usual(run), **run.beyond_states()}
    known = {*computed, *STATES}
    computed |= {name: run.output(name) for name in (outputs or ()) if name not in known}
    computed = {name: array for name, array in computed.items() if np.prod(array.shape[1:])}
    about = {
        "schema": SCHEMA,
        "version": VERSION,
        "name": run.mechanism.name,
        "mechanism": native_text(run.mechanism),
        "method": run.method,
        "statistics": asdict(run.statistics),
        "events": [_event(happening) for happening in run.happenings],
        "report": list(run.report),
        "rows": len(run.t),
        **run.about.as_dict(),
    }
    return Record({**arrays, **computed}, tuple(computed), about)


def _array(run: Run, name: str) -> Array | None:
    """Return an array of a run; None for one without columns that need not be there."""
    value: Array | None = getattr(run, name)
    has_columns = value is not None and bool(np.prod(value.shape[1:]))
    return value if has_columns or name in STATES[:4] else None


def _usual(run: Run) -> dict[str, Array]:
    computed: dict[str, Array] = {}
    for name in USUAL:
        try:
            computed[name] = run.output(name)
        except Error:
            continue
    return computed


def run_of(arrays: Mapping[str, Array], outputs: Sequence[str], about: Mapping[str, Any]) -> Run:
    """Return the run of plain data; ReadError where they are not those of a run."""
    if about.get("schema") != SCHEMA:
        raise ReadError(
            f"there is no run of the form {SCHEMA}",
            remedy="it was written by another program, or another version of chainform"
            if about.get("schema") != "chainform-batch/1"
            else "it has many motions: read it with chainform.simulation.BatchRun.load",
        )
    try:
        states: dict[str, Any] = {name: arrays[name] for name in STATES if name in arrays}
        run = Run(
            mechanism=read_text(about["mechanism"], "json"),
            happenings=tuple(map(_happening, about["events"])),
            statistics=Statistics(**{name: int(n) for name, n in about["statistics"].items()}),
            method=str(about["method"]),
            report=tuple(map(str, about["report"])),
            about=About.from_dict(about),
            computed={name: arrays[name] for name in outputs},
            **states,
        )
        _check(run, arrays, about)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, Error) as problem:
        raise ReadError(
            f"what is said of the run is damaged: {type(problem).__name__}: {problem}",
            remedy=REMEDY,
        ) from problem
    return run


def _check(run: Run, arrays: Mapping[str, Array], about: Mapping[str, Any]) -> None:
    mechanism, rows = run.mechanism, run.t.shape
    if about["rows"] != len(run.t):
        raise ValueError(f"there are {len(run.t)} rows, and {about['rows']} were written")
    if len(rows) != 1 or any(array.shape[:1] != rows for array in arrays.values()):
        raise ValueError("columns differ in length")
    shapes = {"q": mechanism.nq, "qd": mechanism.nv, "tau": mechanism.nv}
    for name, count in shapes.items():
        if getattr(run, name).shape != (*rows, count):
            raise ValueError(f"{name} has not {count} columns")


def _event(happening: Happening) -> dict[str, Any]:
    kind = next(name for name, kind in HAPPENINGS.items() if type(happening) is kind)
    said = {item.name: getattr(happening, item.name) for item in fields(happening)}
    plain = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in said.items()}
    return {"kind": kind, **plain}


def _happening(said: Mapping[str, Any]) -> Happening:
    kind = HAPPENINGS[said["kind"]]
    given: dict[str, Any] = {name: value for name, value in said.items() if name != "kind"}
    for name, value in given.items():
        given[name] = np.array(value, dtype=np.float64) if isinstance(value, list) else value
    return kind(**given)
