"""Motion under constraints as equations of a differential-algebraic solver, as a procedure.

With z = (q, qd, s, m), s the multipliers and m those that keep the coordinates on the constraints
(Gear, Gupta, Leimkuhler 1985), the solver wants the residuals of

    dq/dt = N(q) (qd + J^T m)         N: from rates to rates of coordinates
    H d(qd)/dt = r + J^T s
    0 = rates of the constraints      one row for each s
    0 = values of the constraints     one row for each m

Of redundant rows all but a largest independent set are left out, and so are rows that are not
active: their s and m are zero. Constraints of rates have no m.
"""

from __future__ import annotations

from chainform.runtime.procedures import Floats, Struct
from chainform.simulation.loops.constrained import moved, terms
from chainform.simulation.loops.system import SystemLayout

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
