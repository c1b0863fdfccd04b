"""Runs as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, ReadError
from chainform.mechanism import Mechanism
from chainform.readers import native_text, read_text
from chainform.simulation.about import About
from chainform.simulation.contact.impacts import Impact
from chainform.simulation.results.plain import Record
from chainform.simulation.results.said import Said
from chainform.simulation.results.shapes import Shapes
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
    """Return an array of a run; None for one without columns that need not be there.

    Books without columns tell that there was nothing to add up.
    """
    value: Array | None = getattr(run, name)
    has_columns = value is not None and bool(np.prod(value.shape[1:]))
    return value if has_columns or name in (*STATES[:4], "books") else None


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
    said = Said(about)
    mechanism = mechanism_in(said)
    shapes = Shapes(mechanism, said.whole("rows"))
    shapes.check(arrays, outputs)
    states: dict[str, Any] = {name: arrays[name] for name in STATES if name in arrays}
    return Run(
        mechanism=mechanism,
        happenings=tuple(_happening(one, mechanism) for one in said.tables("events")),
        statistics=statistics_in(said),
        method=said.name("method"),
        report=said.texts("report"),
        about=About.from_dict(about),
        computed={name: arrays[name] for name in outputs},
        **states,
    )


def mechanism_in(said: Said) -> Mechanism:
    """Return the mechanism of a run, which is there as a text."""
    text = said.text("mechanism")
    try:
        return read_text(text, "json")
    except Error as problem:
        where = f" ({problem.element})" if problem.element else ""
        raise said.error(f"it is damaged: {problem.message}{where}", "mechanism") from problem


def statistics_in(said: Said) -> Statistics:
    """Return what the integration took."""
    table, names = said.table("statistics"), [item.name for item in fields(Statistics)]
    return Statistics(**{name: table.whole(name) for name in names})


def _event(happening: Happening) -> dict[str, Any]:
    kind = next(name for name, kind in HAPPENINGS.items() if type(happening) is kind)
    said = {item.name: getattr(happening, item.name) for item in fields(happening)}
    plain = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in said.items()}
    return {"kind": kind, **plain}


def _happening(said: Said, mechanism: Mechanism) -> Happening:
    nq, nv = mechanism.nq, mechanism.nv
    met = (said.name("name"), said.number("t"), said.finite("q", nq), said.finite("qd", nv))
    kind = said.text("kind")
    if kind not in HAPPENINGS:
        raise said.error(f"there is no {kind[:40]!r}", "kind")
    if HAPPENINGS[kind] is Happening:
        return Happening(*met)
    pushes = said.table("impulses")
    impulses = {name: pushes.number(name) for name in pushes.data}
    return Impact(*met, said.finite("qd_after", nv), impulses, said.number("loss"))
