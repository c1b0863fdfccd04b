"""CVODE: backward differences of variable order, for stiff motions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.equations import Equations
from chainform.simulation.loops.loop import Loop
from chainform.simulation.solver import CONTROLLED, Solver
from chainform.simulation.solvers.sundials import Sundials, library

Array = NDArray[np.float64]


class Cvode(Sundials):
    """One motion by CVODE."""

    def begin(self) -> Any:
        """Return a solver at the present time and state."""

        def watch(t: float, y: Array, events: Array) -> None:
            self.call("watch", t, y, events)

        made = library("cvode").CVODE(self.rate, **self.options(), **self.watched(watch))
        made.init_step(self.t, self.y)
        return made

    def state_of(self, found: Any) -> Array:
        """Return the state in what the solver found."""
        return found.y


def refuses(equations: Equations) -> str | None:
    """Say why CVODE cannot take a system."""
    return "does not hold closed loops or constraints" if equations.rows else None


CVODE = Solver(
    "cvode",
    5,
    Cvode,
    (CONTROLLED,),
    Loop(procedures=()),
    refuses=refuses,
    remedy="choose ida, which does, or one of the explicit methods",
)
