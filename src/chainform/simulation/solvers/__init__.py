"""Methods of integration by name. A new one is a file and a line in the table."""

from __future__ import annotations

import numpy as np

from chainform.errors import RunError
from chainform.simulation.solver import CONTROLLED, FIXED, Motion, Settings, Solver
from chainform.simulation.solvers.cvode import CVODE
from chainform.simulation.solvers.explicit import EXPLICIT
from chainform.simulation.solvers.ida import IDA
from chainform.simulation.solvers.semi_implicit import SEMI_IMPLICIT
from chainform.simulation.solvers.symplectic import SYMPLECTIC

SOLVERS: dict[str, Solver] = {
    **EXPLICIT,
    SEMI_IMPLICIT.name: SEMI_IMPLICIT,
    **SYMPLECTIC,
    CVODE.name: CVODE,
    IDA.name: IDA,
}

USUAL = {"rtol": 1e-9, "atol": 1e-12, "step": 0.001, "largest": 0.1, "hold": 0.01}
"""Settings that an error proposes (s, where they are times)."""


def settings_of(
    method: str,
    rtol: float = 1e-9,
    atol: float | None = None,
    step: float | None = None,
    largest: float | None = None,
    hold: float | None = None,
) -> Settings:
    """Return checked settings; without `atol` it is a thousandth of `rtol`."""
    if method not in SOLVERS:
        raise RunError(
            f"{method} is not a method", element="method", remedy=f"choose {', '.join(SOLVERS)}"
        )
    solver = SOLVERS[method]
    if FIXED not in solver.steps and step is not None:
        raise RunError(
            f"{method} chooses its steps itself", element="step", remedy="give rtol, or largest"
        )
    if CONTROLLED not in solver.steps and step is None:
        raise RunError(f"{method} has no step control", element="step", remedy="give step=0.001")
    absolute = rtol / 1000 if atol is None else atol
    given = {"rtol": rtol, "atol": absolute, "step": step, "largest": largest, "hold": hold}
    for name, value in given.items():
        if value is not None and not (np.isfinite(value) and value > 0):
            remedy = f"give {name}={USUAL[name]:g}, or leave it out"
            raise RunError(f"{name} must be a positive number", element=name, remedy=remedy)
    return Settings(solver, rtol, absolute, step, None, largest, hold)


__all__ = ["SOLVERS", "Motion", "Settings", "Solver", "settings_of"]
