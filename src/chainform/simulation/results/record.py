"""Runs as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, ReadError
from chainform.given import Given, plain
from chainform.mechanism import Mechanism
from chainform.readers import native_text, read_text
from chainform.simulation.about import About
from chainform.simulation.contact.impacts import Impact
from chainform.simulation.results.plain import (
    LONGEST_NAME,
    Record,
    data_of,
    numbers_in,
    texts_in,
)
from chainform.simulation.results.shapes import Shapes
from chainform.simulation.run import EventRecord, Run
from chainform.simulation.solver import Statistics
from chainform.version import VERSION

Array = NDArray[np.float64]

SCHEMA = "chainform-run/1"
STATES = ("t", "q", "qd", "tau", "u", "further", "energy_balance")
"""Arrays of a run that nothing else follows from; those without any columns are left out."""
USUAL = ("energy", "x")
"""What is kept beside them in any case, as far as it can be computed."""
EVENT_KINDS: dict[str, type[EventRecord]] = {"event": EventRecord, "impact": Impact}


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
        "events": [_event(event) for event in run.events],
        "report": list(run.report),
        "rows": len(run.t),
        **run.about.as_dict(),
    }
    return Record({**arrays, **computed}, tuple(computed), about)


def _array(run: Run, name: str) -> Array | None:
    """Return an array of a run; None for one without columns that need not be there.

    An energy balance without columns tells that there was nothing to add up.
    """
    value: Array | None = getattr(run, name)
    has_columns = value is not None and bool(np.prod(value.shape[1:]))
    return value if has_columns or name in (*STATES[:4], "energy_balance") else None


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
    table = data_of(about)
    mechanism = mechanism_in(table["mechanism"])
    shapes = Shapes(mechanism, table["rows"].whole())
    shapes.check(arrays, outputs)
    states: dict[str, Any] = {name: arrays[name] for name in STATES if name in arrays}
    return Run(
        mechanism=mechanism,
        events=tuple(_event_record(one, mechanism) for one in table["events"].entries()),
        statistics=statistics_in(table["statistics"]),
        method=table["method"].name(LONGEST_NAME),
        report=texts_in(table["report"]),
        about=About.from_dict(about),
        computed={name: arrays[name] for name in outputs},
        **states,
    )


def mechanism_in(given: Given) -> Mechanism:
    """Return the mechanism of a run, which is there as a text."""
    try:
        return read_text(given.text(), "json")
    except Error as problem:
        where = f" ({problem.element})" if problem.element else ""
        raise given.error(f"it is damaged: {problem.message}{where}") from problem


def statistics_in(given: Given) -> Statistics:
    """Return what the integration took."""
    table, names = given.table(), [item.name for item in fields(Statistics)]
    return Statistics(**{name: table[name].whole() for name in names})


def _event(event: EventRecord) -> dict[str, Any]:
    kind = next(name for name, kind in EVENT_KINDS.items() if type(event) is kind)
    values = {item.name: plain(getattr(event, item.name)) for item in fields(event)}
    return {"kind": kind, **values}


def _event_record(given: Given, mechanism: Mechanism) -> EventRecord:
    nq, nv, table = mechanism.nq, mechanism.nv, given.table()
    name, t = table["name"].name(LONGEST_NAME), table["t"].number()
    q, qd = (numbers_in(table[key], n, finite=True) for key, n in (("q", nq), ("qd", nv)))
    met = (name, t, q, qd)
    if EVENT_KINDS[table["kind"].choice(tuple(EVENT_KINDS))] is EventRecord:
        return EventRecord(*met)
    impulses = {name: push.number() for name, push in table["impulses"].table().items()}
    after = numbers_in(table["qd_after"], nv, finite=True)
    return Impact(*met, after, impulses, table["loss"].number())
