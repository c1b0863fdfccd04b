"""IDA: backward differences for differential-algebraic equations, for stiff closed loops.

The unknowns are the state and, for each row of constraints, two multipliers: see loops/implicit.py.
Without constraints the residual is y' - f(t, y).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.equations import Equations
from chainform.simulation.loops.factors import NO_ROW
from chainform.simulation.loops.implicit import (
    LEFT_OUT,
    OF_RATES,
    OF_VALUES,
    ResidualRows,
    residual,
)
from chainform.simulation.loops.linear import pivoted
from chainform.simulation.loops.loop import Loop
from chainform.simulation.solver import CONTROLLED, Solver
from chainform.simulation.solvers.sundials import Sundials, library

Array = NDArray[np.float64]

FREE = 1e8
"""What is tolerated of multipliers: their errors shall not shorten the steps."""
INDEPENDENT = 1e-11
"""Rows whose part that the others lack is smaller, by its square, are redundant."""


class Ida(Sundials):
    """One motion by IDA."""

    def begin(self) -> Any:
        """Return a solver at the present time and state, multipliers and rates consistent."""
        sizes, layout = self.machine.equations, self.machine.layout
        rate = self.machine.rate(self.t, self.y, self.p)
        multipliers = layout.part(self.p, "multipliers").copy()
        nothing = np.zeros(sizes.rows)
        z = np.concatenate([self.y, multipliers, nothing])
        slope = np.concatenate([rate, nothing, nothing])
        options = self.options()
        if sizes.rows:
            free = np.full(2 * sizes.rows, FREE)
            options["atol"] = np.concatenate([np.full(len(self.y), options["atol"]), free])
            options["algebraic_idx"] = list(range(len(self.y), len(z)))

        function = self._constrained() if sizes.rows else self._free
        made = library("ida").IDA(function, **options)
        made.init_step(self.t, z, slope)
        return made

    def state_of(self, whole: Array) -> Array:
        """Return the state in the unknowns of the solver, where it stands first."""
        return np.ascontiguousarray(whole[: len(self.y)])

    def _free(self, t: float, y: Array, slope: Array, into: Array) -> None:
        self.rate(t, y, into)
        np.subtract(slope, into, out=into)

    def _constrained(self) -> Any:
        """Return the residual of a system with constraints, its rows as they are now."""
        rows = ResidualRows()
        rows.kinds, rows.room = self._kinds(), np.zeros(len(self.y))
        rows.system.memory[...] = self.machine.layout.record().memory
        compute = self.machine.procedures["residual"]
        clock, p = self._clock.ctypes.data, self.p.ctypes.data

        def function(t: float, z: Array, slope: Array, into: Array) -> None:
            self._clock[0] = min(t, self._latest)
            given = (clock, z.ctypes.data, slope.ctypes.data, p, into.ctypes.data)
            compute(*given, rows.address)
            self.machine.raise_pending()
            self.check(t, into)

        return function

    def _kinds(self) -> Array:
        """Return what each row asks for: an independent set of those that are active."""
        sizes, layout = self.machine.equations, self.machine.layout
        n, m = sizes.nv, sizes.rows
        self.machine.rate(self.t, self.y, self.p)
        J = layout.part(self.p, "J").reshape(m, n)
        active = J * layout.part(self.p, "mask")[:, None]
        square, order = (active @ active.T).ravel(), np.zeros(m, dtype=np.int64)
        sizes = np.diag(square.reshape(m, m))
        is_row = sizes > NO_ROW**2 * sizes.max(initial=0.0)
        scales = np.where(is_row, 1 / np.where(is_row, sizes, 1.0), 0.0)
        rank = pivoted(square, order, scales, m, INDEPENDENT)
        kinds = np.full(m, float(LEFT_OUT))
        kinds[order[:rank]] = self._asks()[order[:rank]]
        return kinds

    def _asks(self) -> Array:
        """Return for each row whether it is one of values or, not holonomic, one of rates."""
        equations = self.machine.equations
        kinds = [c.kind for c in equations.mechanism.constraints if c.kind != "unilateral"]
        own = [float(OF_RATES if kind == "nonholonomic" else OF_VALUES) for kind in kinds]
        return np.array([float(OF_VALUES)] * (equations.rows - len(own)) + own)


def refuses(equations: Equations) -> str | None:
    """Say why IDA cannot take a system."""
    if not equations.size:
        return "needs something that moves"
    if equations.sorts.watched:
        return "does not take stops, contacts or joints that stick"
    if equations.rows and (equations.nx or equations.nu):
        return "does not take actuators or integrating controllers beside loops and constraints"
    return None


IDA = Solver(
    "ida",
    5,
    Ida,
    (CONTROLLED,),
    Loop(procedures=(residual,), asking=("terms",)),
    refuses=refuses,
    remedy="choose one of the explicit methods",
)
