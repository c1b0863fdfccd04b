"""The result of many simulations at once, and quantities at all states of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.errors import Error, RunError
from chainform.given import counted
from chainform.mechanism import Mechanism, automatic_parameters, names_in
from chainform.model import Model, output_of
from chainform.pipeline import derive
from chainform.readers import native_text
from chainform.simulation.equations.contact.laws import without_loops
from chainform.simulation.equations.energy_balance import stiff_energy
from chainform.simulation.files.about import END, FAILED, INTERRUPTED, About, plain_numbers
from chainform.simulation.files.formats import form_of, made_of_file, write_record
from chainform.simulation.files.record import (
    LONGEST_NAME,
    ResultRecord,
    data_of,
    numbers_in,
    texts_in,
)
from chainform.simulation.files.run_record import (
    BATCH_SCHEMA,
    WHOLE,
    check_schema,
    flat,
    interrupted_in,
    mechanism_in,
    problems_in,
    shaped,
    statistics_in,
)
from chainform.simulation.machine.method import Statistics
from chainform.simulation.quantities import AT_ONCE, OF_RUN
from chainform.simulation.run import Run
from chainform.version import VERSION

Array = NDArray[np.float64]
OF_STATES = frozenset({"q", "qd", "t", "parameter"})
"""What is known of every motion, whichever way it was computed."""
ENERGIES = ("kinetic_energy", "potential_energy")


def output_along(batch: BatchRun, name: str) -> Array:
    """Return a quantity at all times of all motions, (b, m, ...)."""
    if name == "energy":
        return energy_along(batch)
    model = None if name in OF_RUN and name not in ENERGIES else _model(batch, [output_of(name)])
    if model is None or not _is_of_states(model):
        return _of_runs(batch, name, lambda run: run.output(name))
    return _evaluated(batch, model)[0]


def needs_runs(mechanism: Mechanism, names: Sequence[str], without: Sequence[str] = ()) -> bool:
    """Tell whether some outputs depend on more than coordinates, rates and time."""
    simple = [name for name in names if name not in OF_RUN]
    if simple:
        outputs = [output_of(name) for name in simple]
        model = derive(mechanism, outputs, without=without)
        if not _is_of_states(model):
            return True
    return any(name in OF_RUN and name not in ("energy", *ENERGIES) for name in names)


def energy_along(batch: BatchRun) -> Array:
    """Return the energy, (b, m), that of stiff contacts with it."""
    kinetic, potential = _evaluated(batch, _model(batch, ENERGIES))
    energy = kinetic + potential
    if any(run.barriers.stiff for run in batch.runs):
        energy += _of_runs(
            batch,
            "energy",
            lambda run: stiff_energy(run.mechanism, run.barriers.stiff, run.t, run.q),
        )
    return energy


def _free(batch: BatchRun) -> list[str]:
    """Return the parameters whose values are numbers of the equations."""
    known = names_in(batch.mechanism) | automatic_parameters(batch.mechanism).keys()
    return [name for name in batch.values if name in known]


def _model(batch: BatchRun, names: Sequence[str]) -> Model:
    mechanism, free = without_loops(batch.mechanism, batch.about.opened), _free(batch)
    left_out = batch.about.without
    return derive(mechanism, names, without=left_out, parameters=free or "numeric")


def _is_of_states(model: Model) -> bool:
    graph = model.graph
    needed = graph.cone(graph.output_variables(model.outputs))
    return {item.group for v, item in graph.inputs.items() if needed[v]} <= OF_STATES


def _evaluated(batch: BatchRun, model: Model) -> list[Array]:
    """Return outputs of the equations, each (b, m, ...), a few motions at a time."""
    b, m = batch.q.shape[:2]
    free = _free(batch)
    shapes = [model.graph.outputs[name].shape for name in model.outputs]
    found = [np.full((b, m, *shape), np.nan) for shape in shapes]
    some = max(1, AT_ONCE // max(1, m))
    t = np.broadcast_to(batch.t, (b, m))
    for first in range(0, b, some):
        part = slice(first, first + some)
        values = {name: batch.values[name][part, None] for name in free}
        q, qd = batch.q[part], batch.qd[part]
        with np.errstate(invalid="ignore"):
            made = model.evaluate(q=q, qd=qd, t=t[part], values=values)
        for target, name in zip(found, model.outputs, strict=True):
            target[part] = made[name]
    # What a motion did not come to has no value, even where it depends on nothing.
    for target in found:
        target[np.isnan(batch.q).any(axis=2)] = np.nan
    return found


def _of_runs(batch: BatchRun, name: str, values_of: Callable[[Run], Array]) -> Array:
    """Return what each run has, with no number where it did not come to."""
    if not batch.runs:
        raise RunError(
            f"{name} is not known in motions that were computed side by side",
            element=name,
            remedy="ask for outputs of coordinates, rates and time, or simulate one motion",
        )
    parts = [values_of(run) for run in batch.runs]
    shape = max((part.shape[1:] for part in parts), key=len)
    found = np.full((len(parts), len(batch.t), *shape), np.nan)
    for row, part in zip(found, parts, strict=True):
        if len(part):
            row[: len(part)] = part
    return found


Truth = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class BatchRun(Displayed):
    """Many motions: `q` (b, m, nq) and `qd` (b, m, nv) at the times `t` (m,).

    `values` are the parameters that were given, (b,) each. `ends` (b,) is when each motion ended;
    it is not a number where the motion has no finite value any more, or could not be followed to
    its end. `events` (b,) is the number of the event that ended it, or -1, and `event_names` what
    they are called. What a motion did not come to is not a number.

    `runs` has each motion as a Run where they were computed one by one; it is empty where they were
    computed side by side. `problems` tells by number, from 0, what went wrong with a motion, and
    `interrupted` (b,) which ones Ctrl-C stopped before their end.
    """

    mechanism: Mechanism
    t: Array
    q: Array
    qd: Array
    values: Mapping[str, Array]
    ends: Array
    events: NDArray[np.int64]
    statistics: Statistics = field(default_factory=Statistics)
    method: str = ""
    event_names: tuple[str, ...] = ()
    problems: Mapping[int, str] = field(default_factory=dict[int, str])
    interrupted: Truth = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    runs: tuple[Run, ...] = field(default=(), repr=False)
    about: About = About()
    computed: Mapping[str, Array] = field(default_factory=dict[str, Array], repr=False)
    """What was computed along the motions already, by name: a file brings it along."""

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        ended = ", ".join(f"{count} by {name}" for name, count in self.ended.items())
        times = f"{counted(len(self), 'motion')} at {counted(len(self.t), 'time')}"
        return f"<BatchRun of {self.mechanism.name}: {times} by {self.method}; ended {ended}>"

    @property
    def failed(self) -> Truth:
        """Which motions did not come to an end, (b,)."""
        return np.isnan(self.ends)

    @cached_property
    def endings(self) -> tuple[str, ...]:
        """How each motion ended: end, the name of an event, failed, interrupted."""
        stopped = self.interrupted if len(self.interrupted) else np.zeros(len(self), dtype=np.bool_)
        pairs = zip(self.failed.tolist(), stopped.tolist(), strict=True)
        others = [INTERRUPTED if stop else FAILED if lost else END for lost, stop in pairs]
        events: list[int] = self.events.tolist()
        return tuple(
            self.event_names[event] if event >= 0 else other
            for event, other in zip(events, others, strict=True)
        )

    @property
    def ended(self) -> dict[str, int]:
        """How many motions ended in which way, the most frequent first."""
        return dict(Counter(self.endings).most_common())

    @cached_property
    def energy(self) -> Array:
        """The sum of kinetic and potential energy, that of stiff contacts with it, (b, m)."""
        return self.output("energy")

    def output(self, name: str) -> Array:
        """Return any quantity along the motions, (b, m, ...): "pose(tool)", "energy".

        One that depends on more than coordinates, rates and time is known only where each motion
        was computed by itself.
        """
        return self.computed[name] if name in self.computed else output_along(self, name)

    def save(self, path: str | PathLike[str], outputs: Sequence[str] | None = None) -> None:
        """Write the motions to a file, whose ending tells the form: .parquet, .csv or .npz.

        In NPZ files arrays keep their shapes; in the others each row is one time of one motion.
        Energy and `outputs` are written with them. A file that is there is replaced.
        """
        form = form_of(path)
        is_whole = Path(path).suffix.lower() == WHOLE
        write_record(form, self._record(outputs or (), is_whole=is_whole), self.mechanism, path)

    @staticmethod
    def load(path: str | PathLike[str]) -> BatchRun:
        """Return the motions in a file that `save` wrote."""
        return made_of_file(path, BatchRun.from_record)

    def _record(self, outputs: Sequence[str], *, is_whole: bool) -> ResultRecord:
        """Return the motions as plain data; `is_whole`: arrays have their shapes."""
        computed = {**self._energy(), **{name: self.output(name) for name in outputs}}
        about = {
            "schema": BATCH_SCHEMA,
            "version": VERSION,
            "name": self.mechanism.name,
            "mechanism": native_text(self.mechanism),
            "method": self.method,
            "statistics": asdict(self.statistics),
            "times": plain_numbers(self.t),
            "values": {name: plain_numbers(value) for name, value in self.values.items()},
            "ends": plain_numbers(self.ends),
            "ended_by": self.events.tolist(),
            "event_names": list(self.event_names),
            "interrupted": np.flatnonzero(self.interrupted).tolist(),
            "problems": {str(motion): text for motion, text in self.problems.items()},
            "about": self.about.as_dict(),
        }
        arrays = (
            {**self._arrays(), **computed} if is_whole else {**self._columns(), **flat(computed)}
        )
        return ResultRecord(arrays, tuple(computed), about)

    def _energy(self) -> dict[str, Array]:
        try:
            return {"energy": self.energy}
        except Error:
            return {}

    def _arrays(self) -> dict[str, Array]:
        values = {f"values.{name}": np.array(value) for name, value in self.values.items()}
        ends: dict[str, Any] = {"ends": self.ends, "events": self.events}
        return {"t": self.t, "q": self.q, "qd": self.qd, **values, **ends}

    def _columns(self) -> dict[str, Array]:
        b, m = self.q.shape[:2]
        numbers: Any = range(1, b + 1)
        motion: Any = np.repeat(np.array(numbers, dtype=np.int64), m)
        states = flat({"q": self.q, "qd": self.qd})
        values = {f"values.{name}": np.repeat(value, m) for name, value in self.values.items()}
        return {"motion": motion, "t": np.tile(self.t, b), **states, **values}

    @staticmethod
    def from_record(record: ResultRecord) -> BatchRun:
        """Return the motions of plain data; ReadError where they are not those of a batch."""
        check_schema(record.about)
        table, arrays = data_of(record.about), record.arrays
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
        outputs = {n: shaped(arrays, n, (b, m), is_long=is_long) for n in record.outputs}
        return BatchRun(
            mechanism,
            t,
            shaped(arrays, "q", (b, m), (mechanism.nq,), is_long=is_long),
            shaped(arrays, "qd", (b, m), (mechanism.nv,), is_long=is_long),
            {name: numbers_in(value, b) for name, value in table["values"].table().items()},
            ends,
            ended.astype(np.int64),
            statistics_in(table["statistics"]),
            table["method"].name(LONGEST_NAME),
            event_names=known,
            problems=problems_in(table["problems"].table(), b),
            interrupted=interrupted_in(table["interrupted"], b),
            about=About.from_dict(table["about"].table().value),
            computed=outputs,
        )

    def plot(
        self,
        what: str | Sequence[str] | None = None,
        file: str | PathLike[str] | None = None,
        **options: Any,
    ) -> Any:
        """Return a figure of all motions over time, a thin line for each, and write it to a file.

        `what` is "q", "qd", "energy", or names of coordinates; all coordinates without it.
        """
        from chainform.pictures import plot_batch

        batch: Any = self
        return plot_batch(batch, what, file, **options)


class BatchInterrupted(KeyboardInterrupt):
    """Ctrl-C came; of `batch` the motions that were finished are there, the others not wholly."""

    def __init__(self, batch: BatchRun) -> None:
        super().__init__("the motions were interrupted")
        self.batch = batch
