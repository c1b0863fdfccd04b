"""What is compiled for a method: the procedures called from outside, and what they call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from chainform.simulation.loops.adaptive import integrate
from chainform.simulation.loops.events import mark_events
from chainform.simulation.loops.runge_kutta import trial

Procedure: TypeAlias = Callable[..., Any]


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
