"""Motion under constraints, as procedures: multipliers, and a state kept on the constraints.

    H qdd = r + J^T s,    J qdd = gamma

Rows of J may be redundant, and each row may be active or not: stops and contacts come and go. With
H = L L^T and Y = L^-1 J^T, the multipliers solve (Y^T Y) s = gamma - J H^-1 r, a matrix whose rank
is found on the way; redundant rows get s = 0.

The kernel `terms` puts into one area, with n rates and m rows of constraints,

    H (n n), r (n), J (m n), gamma (m), position residuals (m), velocity residuals (m)

and behind it there is room for the work here. `mask` has a number for each row: 0 if it is not
active.
"""

from __future__ import annotations

from chainform.runtime.procedures import Floats, Ints
from chainform.simulation.loops.linear import (
    backward,
    cholesky,
    forward,
    pivoted,
    solve_pivoted,
)

TOLERANCE = 1e-11
"""Of the pivots, against the first: rows whose square is smaller are redundant."""
ROUNDS = 10
CLOSE = 1e-13
"""How near a state is brought to the constraints."""


def terms(t: Floats, y: Floats, p: Floats, area: Floats) -> None:
    """Stand for the parts of the equations, which are compiled from a graph."""


def moved(t: Floats, y: Floats, p: Floats, out: Floats) -> None:
    """Stand for the rates of the coordinates, given q and qd."""


def rows_of(area: Floats, mask: Floats, y_rows: Floats, n: int, m: int) -> None:
    """Set Y^T: the rows of J, each multiplied by L^-1; rows that are not active become zero."""
    for i in range(m):
        row = y_rows[i * n :]
        source = area[n * n + n + i * n :]
        for e in range(n):
            row[e] = source[e]
        if mask[i] == 0.0:
            for e in range(n):
                row[e] = 0.0
        else:
            forward(area, row, n)


def normal_matrix(y_rows: Floats, s: Floats, n: int, m: int) -> None:
    """Set the lower half of Y^T Y."""
    for i in range(m):
        for j in range(i + 1):
            total = 0.0
            for e in range(n):
                total += y_rows[i * n + e] * y_rows[j * n + e]
            s[i * m + j] = total


def factorised(area: Floats, mask: Floats, room: Floats, order: Ints, n: int, m: int) -> int:
    """Factorise H and the matrix of the multipliers; return the rank, or -1 where H is singular."""
    if cholesky(area, n) == 1:
        return -1
    rows_of(area, mask, room, n, m)
    normal_matrix(room, room[m * n :], n, m)
    return pivoted(room[m * n :], order, m, TOLERANCE)


def constrained_acceleration(
    area: Floats,
    mask: Floats,
    room: Floats,
    order: Ints,
    acceleration: Floats,
    multipliers: Floats,
    n: int,
    m: int,
) -> int:
    """Set qdd and the multipliers; return the rank, or -1 where H is singular."""
    rank = factorised(area, mask, room, order, n, m)
    if rank < 0:
        return rank
    s = room[m * n :]
    right = room[m * n + m * m :]
    for e in range(n):
        acceleration[e] = area[n * n + e]
    forward(area, acceleration, n)
    for i in range(m):
        total = area[n * n + n + m * n + i]
        for e in range(n):
            total -= room[i * n + e] * acceleration[e]
        right[i] = total
    solve_pivoted(s, order, right, multipliers, m, rank)
    for i in range(m):
        for e in range(n):
            acceleration[e] += room[i * n + e] * multipliers[i]
    backward(area, acceleration, n)
    return rank


def correction(
    area: Floats,
    mask: Floats,
    room: Floats,
    order: Ints,
    residuals: Floats,
    change: Floats,
    n: int,
    m: int,
    rank: int,
) -> None:
    """Set the smallest change of rates (in the metric H) that J turns into minus the residuals."""
    right = room[m * n + m * m :]
    weights = room[m * n + m * m + m :]
    for i in range(m):
        right[i] = -residuals[i]
        if mask[i] == 0.0:
            right[i] = 0.0
    solve_pivoted(room[m * n :], order, right, weights, m, rank)
    for e in range(n):
        change[e] = 0.0
    for i in range(m):
        for e in range(n):
            change[e] += room[i * n + e] * weights[i]
    backward(area, change, n)


def active_size(values: Floats, mask: Floats, m: int) -> float:
    """Return the largest residual of an active row."""
    found = 0.0
    for i in range(m):
        if mask[i] != 0.0 and (values[i] > found or -values[i] > found):
            found = values[i]
            if found < 0.0:
                found = -found
    return found


def project(
    t: Floats,
    y: Floats,
    p: Floats,
    area: Floats,
    mask: Floats,
    room: Floats,
    order: Ints,
    change: Floats,
    nq: int,
    n: int,
    m: int,
) -> int:
    """Move q, then qd, onto the active constraints; return the rank, or -1 where that fails.

    `change` has room for a state and for the rates of the coordinates.
    """
    base = n * n + n + m * n + m
    for _ in range(ROUNDS):
        terms(t, y, p, area)
        if active_size(area[base:], mask, m) <= CLOSE:
            break
        rank = factorised(area, mask, room, order, n, m)
        if rank < 0:
            return rank
        for e in range(nq):
            change[e] = y[e]
        correction(area, mask, room, order, area[base:], change[nq:], n, m, rank)
        moved(t, change, p, change[nq + n :])
        for e in range(nq):
            y[e] += change[nq + n + e]
    terms(t, y, p, area)
    rank = factorised(area, mask, room, order, n, m)
    if rank < 0:
        return rank
    correction(area, mask, room, order, area[base + m :], change, n, m, rank)
    for e in range(n):
        y[nq + e] += change[e]
    return rank


def constrained_rate(
    t: Floats,
    y: Floats,
    p: Floats,
    rate: Floats,
    area: Floats,
    mask: Floats,
    room: Floats,
    order: Ints,
    multipliers: Floats,
    nq: int,
    n: int,
    m: int,
) -> int:
    """Set y' under the active constraints, and the multipliers; return the rank."""
    terms(t, y, p, area)
    moved(t, y, p, rate)
    return constrained_acceleration(area, mask, room, order, rate[nq:], multipliers, n, m)


def constrained_state(
    t: Floats,
    new: Floats,
    p: Floats,
    y: Floats,
    area: Floats,
    mask: Floats,
    room: Floats,
    order: Ints,
    change: Floats,
    lowest: Floats,
    nq: int,
    n: int,
    m: int,
) -> None:
    """Take a new state over, its quaternions of length 1, and move it onto the constraints."""
    unit(t, new, p, y)
    rank = project(t, y, p, area, mask, room, order, change, nq, n, m)
    note_rank(t[0], room[m * n :], lowest, m, rank)


def note_rank(t: float, s: Floats, lowest: Floats, m: int, rank: int) -> None:
    """Note the lowest rank so far, and how near rows came to depending on each other, and when.

    `lowest` has the share of the last pivot in the first, its time, the rank and its time; the
    share is that of squares. Where nothing was noted yet, the share is zero.
    """
    if rank <= 0:
        return
    last = s[(rank - 1) * m + rank - 1] / s[0]
    if lowest[0] == 0.0 or last * last < lowest[0]:
        lowest[0] = last * last
        lowest[1] = t
    if lowest[2] == 0.0 or rank < lowest[2]:
        lowest[2] = float(rank)
        lowest[3] = t


def unit(t: Floats, new: Floats, p: Floats, y: Floats) -> None:
    """Stand for the copy of a state with quaternions of length 1."""
