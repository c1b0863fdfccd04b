"""Quantities along a motion: what a run knows itself, and any output of the equations."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import DeriveError, Error, RunError
from chainform.model import Model
from chainform.model.names import output_of
from chainform.pipeline import available_outputs, derive

if TYPE_CHECKING:
    from chainform.simulation.run import Run

Array = NDArray[np.float64]

OF_RUN = (
    *("energy", "kinetic_energy", "potential_energy", "work", "losses", "balance"),
    *("qdd", "drives", "x", "u", "multipliers", "sigma", "reactions"),
)
"""What a run has itself."""

AT_ONCE = 10_000
"""How many states are computed at once, so that a long run does not need much more memory."""


def output_along(run: Run, name: str) -> Array:
    """Return a quantity at all times, (m, ...): energy, pose(tool), momentum, H, ..."""
    if name in run.computed:
        return run.computed[name]
    if name in OF_RUN:
        found = getattr(run, name)
        return np.zeros((len(run.t), 0)) if found is None else found
    try:
        output = output_of(name)
        model = derive(run.mechanism, [output], reduce="none", leave_out=run.about.leave_out)
    except DeriveError as problem:
        raise _unknown(run, name, problem) from problem
    states = _states(run, model)
    firsts = range(0, max(1, len(run.t)), AT_ONCE)
    return np.concatenate([_part(model, states, first) for first in firsts])


def _part(model: Model, states: Mapping[str, Array], first: int) -> Array:
    """Return the output of a model for some of the states, a row for each of them."""
    some: dict[str, Any] = {group: a[first : first + AT_ONCE] for group, a in states.items()}
    output = model.outputs[0]
    value = model.evaluate(**some)[output]
    shape = model.graph.outputs[output].shape
    return value if value.ndim > len(shape) else np.broadcast_to(value, (len(some["t"]), *shape))


def _states(run: Run, model: Model) -> dict[str, Array]:
    """Return the inputs that the equations of a model take."""
    groups = {item.group for item in model.graph.inputs.values()} - {"parameter"}
    found: dict[str, Array] = {}
    for group in sorted(groups | {"q", "t"}):
        value: Any = getattr(run, group, None)
        if value is None or len(value) != len(run.t):
            raise RunError(
                f"{group} is not known along a motion",
                element=", ".join(model.outputs),
                remedy="ask for outputs that do not depend on it",
            )
        found[group] = value
    return found


def _unknown(run: Run, name: str, problem: Error) -> RunError:
    if not problem.message.endswith("for output"):
        return RunError(problem.message, element=name, remedy=problem.remedy)
    known = [*OF_RUN, *available_outputs(run.mechanism)]
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    listed = f"there are {', '.join(dict.fromkeys(known))}, and those of frames as pose(tool)"
    return RunError(f"there is no output {name!r}", element="outputs", remedy=hint + listed)
