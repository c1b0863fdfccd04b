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

from chainform.runtime.procedures import Floats
from chainform.simulation.loops.constrained import moved, terms

LEFT_OUT, OF_RATES, OF_VALUES = range(3)
"""What a row of constraints asks for."""


def residual(
    t: Floats,
    z: Floats,
    slope: Floats,
    p: Floats,
    found: Floats,
    area: Floats,
    kinds: Floats,
    room: Floats,
    nq: int,
    n: int,
    m: int,
) -> None:
    """Set the residuals at z with z' = slope. `room` is for a state."""
    s = z[nq + n :]
    more = z[nq + n + m :]
    terms(t, z, p, area)
    J = area[n * n + n :]
    values = area[n * n + n + m * n + m :]
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
        total = -area[n * n + e]
        for k in range(n):
            total += area[e * n + k] * slope[nq + k]
        for i in range(m):
            if kinds[i] != LEFT_OUT:
                total -= J[i * n + e] * s[i]
        found[nq + e] = total
    for i in range(m):
        of_rate = nq + n + i
        found[of_rate] = s[i]
        found[of_rate + m] = more[i]
        if kinds[i] != LEFT_OUT:
            found[of_rate] = values[m + i]
        if kinds[i] == OF_VALUES:
            found[of_rate + m] = values[i]
