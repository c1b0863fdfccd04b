"""Motion under constraints, as procedures: multipliers, and a state kept on the constraints.

    H qdd = r + J^T s,    J qdd = gamma

Rows of J may be redundant, and each row may be active or not: stops and contacts come and go. With
H = L L^T and Y = L^-1 J^T, the multipliers solve (Y^T Y) s = gamma - J H^-1 r, a matrix whose rank
is determined on the way. Of all multipliers that fit, those of least norm are taken.

The kernel `terms` puts into one area, with n rates and m rows of constraints,

    H (n n), r (n), J (m n), gamma (m), position residuals (m), velocity residuals (m)

and behind it there is room for the work (factors.py). `mask` has a number for each
row: 0 if it is not active.
"""

from __future__ import annotations

from chainform.runtime.procedures import Floats, Ints, fmax, fmin
from chainform.simulation.loops.factors import (
    factorised,
    largest_of,
    measure_rows,
    note_redundant,
)
from chainform.simulation.loops.integration import NO_SOLUTION
from chainform.simulation.loops.linear import (
    backward,
    forward,
    least_norm,
    solve_pivoted,
    spread_pivoted,
)

ROUNDS = 10
CLOSE = 1e-13
"""How near a state is brought to the constraints,"""
FINE = 1e-12
"""and what change of q is not worth while then."""
OPEN = 1e-6
"""A residual that stands for a larger share of q leaves a loop open,"""
SHUT = 1e-10
"""unless it is smaller than this."""


def terms(t: Floats, y: Floats, p: Floats, area: Floats) -> None:
    """Stand for the parts of the equations, which are compiled from a graph."""


def moved(t: Floats, y: Floats, p: Floats, out: Floats) -> None:
    """Stand for the rates of the coordinates, given q and qd."""


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
    """Set qdd and the multipliers; return the rank, or a status as `factorised` does."""
    rank = factorised(area, mask, room, order, n, m, 0)
    if rank < 0:
        return rank
    s = room[m * n :]
    right = room[m * n + m * m :]
    missing_acceleration(area, room, acceleration, right, n, m)
    solve_pivoted(s, order, right, multipliers, m, rank)
    if has_shares(room, order, n, m, rank) == 1:
        spread = room[m * n + m * m + 5 * m + 2 * n :]
        spread_pivoted(s, spread, m, rank)
        least_norm(spread, spread[m * m :], order, multipliers, m, rank)
    add_forces(area, room, multipliers, acceleration, n, m)
    return rank


def missing_acceleration(
    area: Floats, room: Floats, acceleration: Floats, right: Floats, n: int, m: int
) -> None:
    """Set L^-1 r, and what the rows lack of their accelerations without forces of their own."""
    for e in range(n):
        acceleration[e] = area[n * n + e]
    forward(area, acceleration, n)
    for i in range(m):
        total = area[n * n + n + m * n + i]
        for e in range(n):
            total -= room[i * n + e] * acceleration[e]
        right[i] = total


def add_forces(
    area: Floats, rows: Floats, multipliers: Floats, acceleration: Floats, n: int, m: int
) -> None:
    """Add the forces of rows, which were multiplied by L^-1, and set qdd."""
    for i in range(m):
        for e in range(n):
            acceleration[e] += rows[i * n + e] * multipliers[i]
    backward(area, acceleration, n)


def has_shares(room: Floats, order: Ints, n: int, m: int, rank: int) -> int:
    """Tell whether a redundant row is more than zero, so that forces could be shared otherwise."""
    scales = room[m * n + m * m + 2 * m :]
    for i in range(rank, m):
        if scales[order[i]] > 0.0:
            return 1
    return 0


def correction(
    area: Floats,
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


def is_open(
    residuals: Floats, mask: Floats, room: Floats, order: Ints, size: float, n: int, m: int
) -> int:
    """Tell whether an active row is far from closed, against the largest row of its group and q."""
    largest = room[m * n + m * m + 4 * m :]
    groups = order[m:]
    bound = OPEN * fmax(1.0, size)
    for i in range(m):
        share = residuals[i] * residuals[i]
        most = fmax(SHUT * SHUT, bound * bound * largest[groups[i]])
        if mask[i] != 0.0 and not share <= most:
            return 1
    return 0


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
    """Move q, then qd, onto the active constraints; return the rank, or a failure.

    Near a singular position a small residual may stand for a large change of q. So q is moved until
    both are small, or until rounding keeps changes from becoming smaller. It is a failure if a row
    stays open. `change` has room for two states.
    """
    base = n * n + n + m * n + m
    rank = 0
    measured = 0
    before = 1e300
    is_closed = 0
    for number in range(ROUNDS + 1):
        terms(t, y, p, area)
        rank = factorised(area, mask, room, order, n, m, is_closed)
        is_closed = 1
        if rank < 0:
            return rank
        if measured == 0:
            measure_rows(area[n * n + n :], room, order, n, m)
            measured = 1
        correction(area, room, order, area[base:], change[nq:], n, m, rank)
        largest = largest_of(change[nq:], n)
        is_done = 0
        if largest <= FINE or largest >= 0.5 * before:
            is_done = 1
        if number == ROUNDS or (is_done == 1 and active_size(area[base:], mask, m) <= CLOSE):
            break
        before = largest
        for e in range(nq):
            change[e] = y[e]
        moved(t, change, p, change[nq + n :])
        for e in range(nq):
            y[e] += change[nq + n + e]
    if is_open(area[base:], mask, room, order, largest_of(y, nq), n, m) == 1:
        return NO_SOLUTION
    if active_size(area[base:], mask, m) <= SHUT:
        note_redundant(mask, order, m, rank)
    correction(area, room, order, area[base + m :], change, n, m, rank)
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
    lowest: Floats,
    nq: int,
    n: int,
    m: int,
) -> int:
    """Set y' under the active constraints, and the multipliers; return the rank, or a status."""
    terms(t, y, p, area)
    moved(t, y, p, rate)
    rank = constrained_acceleration(area, mask, room, order, rate[nq:], multipliers, n, m)
    note_rank(t[0], lowest, smallest_share(area, room, order, n, m, rank), rank)
    return rank


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
) -> int:
    """Take a new state over, its quaternions of length 1, and move it onto the constraints.

    Return the rank, or a status.
    """
    unit(t, new, p, y)
    rank = project(t, y, p, area, mask, room, order, change, nq, n, m)
    note_rank(t[0], lowest, smallest_share(area, room, order, n, m, rank), rank)
    return rank


def lasting_change(
    t: Floats,
    y: Floats,
    p: Floats,
    given: Floats,
    area: Floats,
    mask: Floats,
    room: Floats,
    order: Ints,
    change: Floats,
    nq: int,
    n: int,
    m: int,
) -> int:
    """Take from a small change of q and qd what goes when the state is put onto the constraints.

    What is left obeys J dq = 0, J dqd = 0. `change` has room as in `project`.
    """
    terms(t, y, p, area)
    rank = factorised(area, mask, room, order, n, m, 0)
    if rank < 0:
        return rank
    rates_from(t, y, p, given, change, nq, n)
    without_normal(area, room, order, change[nq:], n, m, rank)
    moved(t, change, p, given)
    without_normal(area, room, order, given[nq:], n, m, rank)
    return rank


def rates_from(
    t: Floats, y: Floats, p: Floats, given: Floats, change: Floats, nq: int, n: int
) -> None:
    """Set rates behind q in `change` that move q nearly as given.

    The rates of the coordinates by one rate are at right angles to those by any other.
    """
    column = change[nq + n :]
    for e in range(nq):
        change[e] = y[e]
    for e in range(n):
        change[nq + e] = 0.0
    for k in range(n):
        change[nq + k] = 1.0
        moved(t, change, p, column)
        along = 0.0
        square = 0.0
        for e in range(nq):
            along += column[e] * given[e]
            square += column[e] * column[e]
        change[nq + k] = 0.0
        column[nq + k] = along / square
    for k in range(n):
        change[nq + k] = column[nq + k]


def without_normal(
    area: Floats,
    room: Floats,
    order: Ints,
    rates: Floats,
    n: int,
    m: int,
    rank: int,
) -> None:
    """Take from rates what is at right angles, in the metric H, to all that the rows allow."""
    speeds = room[m * n + m * m + 5 * m + 2 * n :]
    J = area[n * n + n :]
    for i in range(m):
        total = 0.0
        for e in range(n):
            total += J[i * n + e] * rates[e]
        speeds[i] = total
    back = speeds[m:]
    correction(area, room, order, speeds, back, n, m, rank)
    for e in range(n):
        rates[e] += back[e]


def note_rank(t: float, lowest: Floats, share: float, rank: int) -> None:
    """Note the lowest rank so far, and how near rows came to depending on each other, and when.

    `lowest` has the smallest share of a row that does not follow from others, its time, the rank
    and its time. Where nothing was noted yet, the share is zero.
    """
    if rank <= 0:
        return
    if lowest[0] == 0.0 or share < lowest[0]:
        lowest[0] = share
        lowest[1] = t
    if lowest[2] == 0.0 or rank < lowest[2]:
        lowest[2] = float(rank)
        lowest[3] = t


def smallest_share(area: Floats, room: Floats, order: Ints, n: int, m: int, rank: int) -> float:
    """Return the smallest share of an independent row that does not follow from others."""
    found = 1.0
    for k in range(rank):
        found = fmin(found, share_of(area[n * n + n :], room, order, n, m, k))
    return found


def share_of(J: Floats, room: Floats, order: Ints, n: int, m: int, place: int) -> float:
    """Return the share, by its square, of a row that does not follow from those before its place.

    The row counts as large as it is against the largest of its group in the motion so far.
    """
    row = order[place]
    pivot = room[m * n + place * m + place]
    largest = room[m * n + m * m + 4 * m :]
    size = 0.0
    square = 0.0
    for e in range(n):
        size += J[row * n + e] * J[row * n + e]
        square += room[row * n + e] * room[row * n + e]
    return pivot * pivot / square * size / fmax(size, largest[order[m + row]])


def unit(t: Floats, new: Floats, p: Floats, y: Floats) -> None:
    """Stand for the copy of a state with quaternions of length 1."""
