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
        made = library("cvode").CVODE(self.rate, **self.options())
        made.init_step(self.t, self.y)
        return made

    def state_of(self, whole: Array) -> Array:
        """Return the state in the unknowns of the solver: there are no others."""
        return whole


def refuses(equations: Equations) -> str | None:
    """Say why CVODE cannot take a system."""
    if not equations.size:
        return "needs something that moves"
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
