"""What is compiled for a method, and the loop over many motions.

Many motions go one after the other, or several in lanes side by side. In lanes all of them have the
same steps, so the steps are fixed: nothing that a state decides can differ from lane to lane. What
would look at states is left out there (`WITHOUT_DECISIONS`): the estimate of the error, events, and
the test whether all is finite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from chainform.runtime.procedures import Floats, Structs
from chainform.simulation.loops.adaptive import integrate
from chainform.simulation.loops.events import mark_events
from chainform.simulation.loops.integration import Integration
from chainform.simulation.loops.runge_kutta import trial

Procedure: TypeAlias = Callable[..., Any]

WITHOUT_DECISIONS = {
    "error_of": 0.0,
    "lasting_error": 0.0,
    "first_event": 2.0,
    "is_finite": 1,
    "first_step": 0,
    "mark_found": None,
    "mark_zeros": None,
    "is_same": 0,
}
"""What stands in lanes in the place of procedures that decide."""


@dataclass(frozen=True)
class Loop:
    """The machine code around the equations.

    `step` takes the place of the explicit step of Runge-Kutta. `kernels` are outputs of the system
    that the procedures call by their names, beside the usual ones; those in `asking` depend on
    efforts, so that functions of Python are called before them.
    """

    procedures: tuple[Procedure, ...] = (integrate, mark_events)
    step: Procedure = trial
    kernels: tuple[str, ...] = ()
    asking: tuple[str, ...] = ()


def prepare(t: Floats, y: Floats, p: Floats, into: Floats) -> None:
    """Stand for what depends on parameters only, which is computed once for each motion."""


def integrate_each(first: int, last: int, motions: Structs[Integration]) -> None:
    """Integrate motions from the one numbered `first` to the one before `last`.

    They may share the room for a step.
    """
    for i in range(first, last):
        motion = motions[i]
        step = motion.step
        prepare(motion.work, step.y, step.p, step.p)
        if step.watch.count > 0 and motion.calls == 0:
            mark_events(motion)
        motion.status = integrate(motion)
