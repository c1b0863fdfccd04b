"""Runs and batches of them as plain data, and back: arrays are checked against the mechanism.

Of many motions, in NPZ files arrays have their shapes: q (b, m, nq), energy (b, m), values.m (b,).
In CSV and Parquet files every row is one time of one motion, which are counted from 1:

    motion, t, q.*, qd.*, values.*, energy, outputs

What is known of the batch goes with it, as for single runs: also when and how each motion ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, ReadError
from chainform.given import Given, plain
from chainform.mechanism import Mechanism
from chainform.readers import read_text
from chainform.simulation.equations.events import EventRecord, Impact
from chainform.simulation.equations.initial import rest_names
from chainform.simulation.files.record import (
    LONGEST_NAME,
    REMEDY,
    data_of,
    numbers_in,
)
from chainform.simulation.machine.method import Statistics

Array = NDArray[np.float64]
PUSHES = {
    "contact_force": (),
    "contact_load": (3,),
    "contact_wrench": (6,),
    "friction_force": (),
    "motion_force": (),
}
"""The shapes of what pushes, by the beginning of a name: contact_load(toe)."""


def pushes_in(arrays: Mapping[str, Array], kind: str) -> dict[str, Array]:
    """Return what a file brought along under such names as contact_force(toe), by toe."""
    found = {n: a for n, a in arrays.items() if n.startswith(f"{kind}(")}
    return {name.removeprefix(f"{kind}(").removesuffix(")"): a for name, a in found.items()}


def forces_in(arrays: Mapping[str, Array], unknowns: Sequence[str]) -> Array | None:
    """Return the forces that a model leaves unknown, (m, n), if all are among the arrays."""
    known = [arrays[name] for name in unknowns if name in arrays]
    return np.column_stack(known) if known and len(known) == len(unknowns) else None


@dataclass(frozen=True)
class Shapes:
    """What arrays of a mechanism look like that have a row for each of so many times."""

    mechanism: Mechanism
    rows: int

    def check(self, arrays: Mapping[str, Array], outputs: Sequence[str]) -> None:
        """Raise ReadError where an array is missing, or is not what it should be."""
        for name in ("t", "q", "qd", "tau", *outputs):
            if name not in arrays:
                raise _damaged("there are no such numbers", name)
        for name, array in arrays.items():
            if array.shape[:1] != (self.rows,):
                count = array.shape[0] if array.shape else 0
                raise _damaged(f"there are {count} rows, and {self.rows} were written", name)
            wanted = self._shape(name)
            if wanted is not None and array.shape[1:] != wanted:
                raise _damaged(f"it has the shape {array.shape[1:]} in place of {wanted}", name)
        self._check_others(arrays)
        t = arrays["t"]
        if not np.all(np.isfinite(t)) or np.any(np.diff(t) < 0):
            raise _damaged("the times do not grow", "t")

    def _shape(self, name: str) -> tuple[int, ...] | None:
        """Return the shape of a row; None where it may have any."""
        mechanism = self.mechanism
        nq, nv, nx, nu = mechanism.nq, mechanism.nv, len(mechanism.states), len(mechanism.signals)
        shapes = {"t": (), "energy": (), "q": (nq,), "x": (nx,), "u": (nu,)}
        shapes |= dict.fromkeys(("qd", "qdd", "tau", "drives"), (nv,))
        shapes |= {"reactions": (len(mechanism.body_names), 6)}
        return PUSHES.get(name.partition("(")[0], shapes.get(name))

    def _check_others(self, arrays: Mapping[str, Array]) -> None:
        """Check arrays whose length depends on more than the mechanism."""
        least = len(rest_names(self.mechanism))
        for name, fits in (("energy_balance", (0, 2)), ("further", None), ("sigma", None)):
            shape = arrays[name].shape[1:] if name in arrays else None
            if shape is None:
                continue
            is_right = len(shape) == 1 and (fits is None or shape[0] in fits)
            if not is_right or (name == "further" and shape[0] < least):
                raise _damaged(f"it has the shape {shape}", name)


def _damaged(message: str, name: str) -> ReadError:
    return ReadError(message, element=name[:60], remedy=REMEDY)


RUN_SCHEMA = "chainform-run/1"
STATES = ("t", "q", "qd", "tau", "u", "further", "energy_balance")
"""Arrays of a run that nothing else follows from; those without any columns are left out."""
FIELDS = {"further": "extra_states"}
"""Fields of a run whose arrays have another name in files."""
EVENT_KINDS: dict[str, type[EventRecord]] = {"event": EventRecord, "impact": Impact}


def state_arrays(states: Mapping[str, Array | None]) -> dict[str, Array]:
    """Return the arrays of states; those without columns that need not be there are left out.

    An energy balance without columns tells that there was nothing to add up.
    """
    needed = (*STATES[:4], "energy_balance")
    return {
        name: array
        for name, array in states.items()
        if array is not None and (name in needed or np.prod(array.shape[1:]))
    }


def known_run(
    arrays: Mapping[str, Array], outputs: Sequence[str], data: Mapping[str, Any]
) -> Given:
    """Return what is known of a run, its arrays checked; ReadError where there is no run."""
    if data.get("schema") != RUN_SCHEMA:
        raise ReadError(
            f"there is no run of the form {RUN_SCHEMA}",
            remedy="it was written by another program, or another version of chainform"
            if data.get("schema") != "chainform-batch/1"
            else "it has many motions: read it with chainform.simulation.BatchRun.load",
        )
    table = data_of(data)
    mechanism = mechanism_in(table["mechanism"])
    Shapes(mechanism, table["rows"].whole()).check(arrays, outputs)
    return table


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


def event_data(event: EventRecord) -> dict[str, Any]:
    """Return an event as plain data."""
    kind = next(name for name, kind in EVENT_KINDS.items() if type(event) is kind)
    values = {item.name: plain(getattr(event, item.name)) for item in fields(event)}
    return {"kind": kind, **values}


def event_record(given: Given, mechanism: Mechanism) -> EventRecord:
    """Return the event of plain data; ReadError where they are not those of one."""
    nq, nv, table = mechanism.nq, mechanism.nv, given.table()
    name, t = table["name"].name(LONGEST_NAME), table["t"].number()
    q, qd = (numbers_in(table[key], n, finite=True) for key, n in (("q", nq), ("qd", nv)))
    met = (name, t, q, qd)
    if EVENT_KINDS[table["kind"].choice(tuple(EVENT_KINDS))] is EventRecord:
        return EventRecord(*met)
    impulses = {name: push.number() for name, push in table["impulses"].table().items()}
    after = numbers_in(table["qd_after"], nv, finite=True)
    return Impact(*met, after, impulses, table["loss"].number())


# --- many motions -----------------------------------------------------------------------------


BATCH_SCHEMA = "chainform-batch/1"
WHOLE = ".npz"
"""The ending of files in which arrays keep their shapes."""


def check_schema(about: Mapping[str, Any]) -> None:
    """Raise ReadError where plain data are not those of a batch."""
    if about.get("schema") == BATCH_SCHEMA:
        return
    is_single = str(about.get("schema")).startswith("chainform-run/")
    remedy = "it was written by another program, or another version of chainform"
    single = "it has a single motion: read it with chainform.Run.load"
    raise ReadError(
        f"there is no batch of the form {BATCH_SCHEMA}", remedy=single if is_single else remedy
    )


def flat(computed: Mapping[str, Array]) -> dict[str, Array]:
    """Return what was computed with a row for each time of each motion."""
    return {n: a.reshape(a.shape[0] * a.shape[1], *a.shape[2:]) for n, a in computed.items()}


def problems_in(table: Given, count: int) -> dict[int, str]:
    """Return what went wrong by the number of the motion."""
    known = {str(motion): motion for motion in range(count)}
    for name, problem in table.items():
        if name not in known:
            raise problem.error("there is no such motion")
    return {known[name]: problem.text() for name, problem in table.items()}


def interrupted_in(given: Given, count: int) -> NDArray[np.bool_]:
    """Return which motions Ctrl-C stopped, (b,)."""
    numbers = numbers_in(given, finite=True)
    if not set(numbers.tolist()) <= set(range(count)):
        raise given.error("there is no such motion")
    flags = np.zeros(count, dtype=np.bool_)
    flags[numbers.astype(np.int64)] = True
    return flags


def shaped(
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
