"""Explicit Runge-Kutta methods: a solver for each tableau."""

from __future__ import annotations

from chainform.simulation.loops.loop import Loop
from chainform.simulation.loops.tableaus import METHODS, Tableau
from chainform.simulation.machines.integrator import Integrator
from chainform.simulation.solver import CONTROLLED, FIXED, Solver


def explicit(tableau: Tableau) -> Solver:
    """Return the solver of a tableau; without an estimate of the error its steps are fixed."""
    steps = (FIXED,) if tableau.error is None else (CONTROLLED, FIXED)
    return Solver(
        tableau.name,
        tableau.order,
        Integrator,
        steps,
        Loop(),
        tableau,
        switches=True,
        in_lanes=True,
    )


EXPLICIT = {name: explicit(tableau) for name, tableau in METHODS.items()}
