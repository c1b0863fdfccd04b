"""Backward differences of variable order: CVODE for stiff motions, IDA for stiff closed loops.

IDA takes differential-algebraic equations; its unknowns are the state and, for each row of
constraints, two multipliers. Without constraints the residual is y' - f(t, y). With z = (q, qd, s,
m), s the multipliers and m those that keep the coordinates on the constraints (Gear, Gupta,
Leimkuhler 1985), the solver wants the residuals of

    dq/dt = N(q) (qd + J^T m)         N: from rates to rates of coordinates
    H d(qd)/dt = r + J^T s
    0 = rates of the constraints      one row for each s
    0 = values of the constraints     one row for each m

Of redundant rows all but a largest independent set are left out, and so are rows that are not
active: their s and m are zero. Constraints of rates have no m.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.runtime import Floats, Struct
from chainform.simulation.equations.builder import Equations
from chainform.simulation.machine.constrained import moved, terms
from chainform.simulation.machine.factors import NO_ROW
from chainform.simulation.machine.layout import SystemLayout
from chainform.simulation.machine.linear import pivoted
from chainform.simulation.machine.machine import CompiledLoop
from chainform.simulation.machine.method import CONTROLLED, Method
from chainform.simulation.solvers.sundials import Sundials, library

Array = NDArray[np.float64]

LEFT_OUT, OF_RATES, OF_VALUES = range(3)
"""What a row of constraints asks for."""


class ResidualRows(Struct):
    """What the residual needs to know of the rows."""

    kinds: Floats
    """What each of them asks for."""
    room: Floats
    """Room for a state."""
    system: SystemLayout


def residual(
    t: Floats, z: Floats, slope: Floats, p: Floats, found: Floats, rows: ResidualRows
) -> None:
    """Set the residuals at z with z' = slope."""
    layout = rows.system
    nq = layout.nq
    n = layout.n
    m = layout.m
    kinds = rows.kinds
    room = rows.room
    s = z[nq + n :]
    more = z[nq + n + m :]
    H = p[layout.H :]
    r = p[layout.r :]
    J = p[layout.J :]
    terms(t, z, p, H)
    for e in range(nq + n):
        room[e] = z[e]
    for i in range(m):
        if kinds[i] != LEFT_OUT:
            for e in range(n):
                room[nq + e] += J[i * n + e] * more[i]
    moved(t, room, p, found)
    for e in range(nq):
        found[e] = slope[e] - found[e]
    for e in range(n):
        total = -r[e]
        for k in range(n):
            total += H[e * n + k] * slope[nq + k]
        for i in range(m):
            if kinds[i] != LEFT_OUT:
                total -= J[i * n + e] * s[i]
        found[nq + e] = total
    for i in range(m):
        of_rate = nq + n + i
        found[of_rate] = s[i]
        found[of_rate + m] = more[i]
        if kinds[i] != LEFT_OUT:
            found[of_rate] = p[layout.speeds + i]
        if kinds[i] == OF_VALUES:
            found[of_rate + m] = p[layout.residuals + i]


# --- IDA --------------------------------------------------------------------------------------


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


def ida_refuses(equations: Equations) -> str | None:
    """Say why IDA cannot take a system."""
    if not equations.size:
        return "needs something that moves"
    if equations.row_counts.watched:
        return "does not take stops, contacts or joints that stick"
    if equations.rows and (equations.nx or equations.nu):
        return (
            "does not take actuators or integrating controllers together with loops and constraints"
        )
    return None


IDA = Method(
    "ida",
    5,
    Ida,
    (CONTROLLED,),
    CompiledLoop(procedures=(residual,), asking=("terms",)),
    refuses=ida_refuses,
    remedy="choose one of the explicit methods",
)


# --- CVODE ------------------------------------------------------------------------------------


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


def cvode_refuses(equations: Equations) -> str | None:
    """Say why CVODE cannot take a system."""
    if not equations.size:
        return "needs something that moves"
    return "does not hold closed loops or constraints" if equations.rows else None


CVODE = Method(
    "cvode",
    5,
    Cvode,
    (CONTROLLED,),
    CompiledLoop(),
    refuses=cvode_refuses,
    remedy="choose ida, which does, or one of the explicit methods",
)
