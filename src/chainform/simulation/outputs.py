"""Quantities along a motion: what a run knows itself, and any output of the equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, RunError
from chainform.given import argument
from chainform.mechanism import Mechanism
from chainform.model import Model, output_of
from chainform.pipeline import available_outputs, derive
from chainform.simulation.contact.switches import without_loops

if TYPE_CHECKING:
    from chainform.simulation.run import Run

Array = NDArray[np.float64]

OF_RUN = (
    *("energy", "kinetic_energy", "potential_energy", "work", "losses", "balance"),
    *("t", "q", "qd", "qdd", "tau", "drives", "x", "u", "multipliers", "sigma", "reactions"),
)
"""What a run has itself."""

AT_ONCE = 10_000
"""How many states are computed at once, so that a long run does not need much more memory."""


def output_along(run: Run, name: object) -> Array:
    """Return a quantity at all times, (m, ...): energy, pose(tool), momentum, H, ..."""
    name = argument("outputs", name).text('write "pose(tool)", "momentum"')
    if name in run.computed:
        return run.computed[name]
    if name in OF_RUN:
        found = getattr(run, name)
        return np.zeros((len(run.t), 0)) if found is None else found
    try:
        output = output_of(name)
        return outputs_along(run, [output])[output]
    except Error as problem:
        raise _unknown(run.mechanism, name, problem) from problem


def check_output(mechanism: Mechanism, name: str) -> None:
    """Raise RunError where a run of a mechanism could not have an output."""
    if name in OF_RUN:
        return
    try:
        derive(mechanism, [output_of(name)])
    except Error as problem:
        raise _unknown(mechanism, name, problem) from problem


def outputs_along(run: Run, names: Sequence[str]) -> dict[str, Array]:
    """Return outputs of the equations at all times, each (m, ...)."""
    mechanism, touching = without_loops(run.mechanism, run.about.opened), run.contact_wrenches
    left_out = run.about.without
    model = derive(mechanism, names, without=left_out, wrenches=list(touching))
    groups = {item.group for item in model.graph.inputs.values()} - {"parameter"}
    known = (groups - {"wrench"}) | {"q", "t"}
    states = {group: _states(run, group, names) for group in sorted(known)}
    if "wrench" in groups:
        states["wrench"] = np.concatenate(list(touching.values()), axis=1)
    found = evaluated(model, states)
    # A single one may be written in another way than the model has it: jacobian(tool, local).
    return found if len(names) > 1 else {names[0]: found[model.outputs[0]]}


def evaluated(
    model: Model,
    states: Mapping[str, Array],
    values: Mapping[str, float] | None = None,
    outputs: Sequence[str] | None = None,
) -> dict[str, Array]:
    """Return outputs of a model for many states, some of them at a time."""
    names, count = outputs or model.outputs, len(states["t"])
    parts: dict[str, list[Array]] = {name: [] for name in names}
    for first in range(0, max(1, count), AT_ONCE):
        some: dict[str, Any] = {group: a[first : first + AT_ONCE] for group, a in states.items()}
        for name, value in model.evaluate(**some, values=values, outputs=names).items():
            shape = (len(some["t"]), *model.graph.outputs[name].shape)
            # What does not depend on the state comes without a row for each.
            parts[name].append(value if value.shape == shape else np.broadcast_to(value, shape))
    return {name: np.concatenate(part) for name, part in parts.items()}


def _states(run: Run, group: str, names: Sequence[str]) -> Array:
    value: Array | None = getattr(run, group, None)
    if value is None or len(value) != len(run.t):
        raise RunError(
            f"{group} is not known along a motion",
            element=", ".join(names),
            remedy="ask for outputs that do not depend on it",
        )
    return value


def _unknown(mechanism: Mechanism, name: str, problem: Error) -> Error:
    if not problem.message.endswith("for output"):
        return RunError(problem.message, element=name, remedy=problem.remedy)
    known = [*OF_RUN, *available_outputs(mechanism)]
    every = f"there are {', '.join(dict.fromkeys(known))}, and those of frames as pose(tool)"
    return argument("outputs", name).unknown("output", known, every)
