"""Quantities along many motions: outputs of the equations at all states at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.mechanism import Mechanism, automatic_parameters, names_in
from chainform.model import Model, output_of
from chainform.pipeline import derive
from chainform.simulation.contact.switches import without_loops
from chainform.simulation.energy_balance import stiff_energy
from chainform.simulation.outputs import AT_ONCE, OF_RUN

if TYPE_CHECKING:
    from chainform.simulation.batches.batch_run import BatchRun
    from chainform.simulation.run import Run

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
    if any(run.switches.stiff for run in batch.runs):
        energy += _of_runs(
            batch,
            "energy",
            lambda run: stiff_energy(run.mechanism, run.switches.stiff, run.t, run.q),
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
