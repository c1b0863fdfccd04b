"""Motion under constraints, as procedures: multipliers, and a state held on the constraints.

    H qdd = r + J^T s,    J qdd = gamma

Rows of J may be redundant, and each row may be active or not: stops and contacts come and go. With
H = L L^T and Y = L^-1 J^T, the multipliers solve (Y^T Y) s = gamma - J H^-1 r, a matrix whose rank
is determined on the way. Of all multipliers that fit, those of least norm are taken.
"""

from __future__ import annotations

from functools import cache

from chainform.runtime import Floats, Ints, Translation, fmax, fmin, integers
from chainform.simulation.machine.factors import (
    add_right,
    factorised,
    is_clear,
    largest_of,
    may_hide,
    measure_rows,
    measured_rank,
    note_redundant,
    strengthen,
)
from chainform.simulation.machine.layout import SystemLayout
from chainform.simulation.machine.linear import (
    backward,
    forward,
    least_norm,
    solve_pivoted,
    spread_pivoted,
)
from chainform.simulation.machine.records import NO_SOLUTION

ROUNDS = 10
CLOSE = 1e-13
"""How near a state is brought to the constraints,"""
FINE = 1e-12
"""and what change of q is not worth while then."""
OPEN = 1e-6
"""A residual that stands for a larger share of q leaves a loop open,"""
SHUT = 1e-10
"""unless it is smaller than this."""

SELDOM = (
    *(measured_rank, is_clear, may_hide, strengthen, add_right, note_redundant, measure_rows),
    *(spread_pivoted, least_norm),
)
"""What is called seldom, or does little where nothing is redundant."""


@cache
def seldom() -> Translation:
    """Return procedures that know a system by its layout only, compiled once for all systems."""
    translation = Translation({})
    for procedure in SELDOM:
        translation.add(procedure)
    return translation


def terms(t: Floats, y: Floats, p: Floats, area: Floats) -> None:
    """Stand for the parts of the equations, which are compiled from a graph."""


def moved(t: Floats, y: Floats, p: Floats, out: Floats) -> None:
    """Stand for the rates of the coordinates, given q and qd."""


def constrained_acceleration(p: Floats, layout: SystemLayout, acceleration: Floats) -> int:
    """Set qdd and the multipliers; return the rank, or a status as `factorised` does."""
    rank = factorised(p, layout, 0)
    if rank < 0:
        return rank
    m = layout.m
    S = p[layout.S :]
    right = p[layout.right :]
    order = integers(p[layout.order :])
    multipliers = p[layout.multipliers :]
    missing_acceleration(p, layout, acceleration)
    solve_pivoted(S, order, right, multipliers, m, rank)
    if has_shares(p[layout.scales :], order, m, rank) == 1:
        spread = p[layout.spread :]
        spread_pivoted(S, spread, m, rank)
        least_norm(spread, spread[m * m :], order, multipliers, m, rank)
    add_forces(p, layout, p[layout.Y :], acceleration)
    return rank


def missing_acceleration(p: Floats, layout: SystemLayout, acceleration: Floats) -> None:
    """Set L^-1 r, and what the rows lack of their accelerations without forces of their own."""
    n = layout.n
    r = p[layout.r :]
    Y = p[layout.Y :]
    gamma = p[layout.gamma :]
    right = p[layout.right :]
    for e in range(n):
        acceleration[e] = r[e]
    forward(p[layout.H :], acceleration, n)
    for i in range(layout.m):
        total = gamma[i]
        for e in range(n):
            total -= Y[i * n + e] * acceleration[e]
        right[i] = total


def add_forces(p: Floats, layout: SystemLayout, rows: Floats, acceleration: Floats) -> None:
    """Add the forces of rows, which were multiplied by L^-1, and set qdd."""
    n = layout.n
    multipliers = p[layout.multipliers :]
    for i in range(layout.m):
        for e in range(n):
            acceleration[e] += rows[i * n + e] * multipliers[i]
    backward(p[layout.H :], acceleration, n)


def has_shares(scales: Floats, order: Ints, m: int, rank: int) -> int:
    """Tell whether a redundant row is more than zero, so that forces could be shared otherwise."""
    for i in range(rank, m):
        if scales[order[i]] > 0.0:
            return 1
    return 0


def correction(
    p: Floats, layout: SystemLayout, residuals: Floats, change: Floats, rank: int
) -> None:
    """Set the smallest change of rates (in the metric H) that J turns into minus the residuals."""
    n = layout.n
    m = layout.m
    Y = p[layout.Y :]
    right = p[layout.right :]
    weights = p[layout.weights :]
    for i in range(m):
        right[i] = -residuals[i]
    solve_pivoted(p[layout.S :], integers(p[layout.order :]), right, weights, m, rank)
    for e in range(n):
        change[e] = 0.0
    for i in range(m):
        for e in range(n):
            change[e] += Y[i * n + e] * weights[i]
    backward(p[layout.H :], change, n)


def active_size(values: Floats, mask: Floats, m: int) -> float:
    """Return the largest residual of an active row."""
    found = 0.0
    for i in range(m):
        if mask[i] != 0.0 and (values[i] > found or -values[i] > found):
            found = values[i]
            if found < 0.0:
                found = -found
    return found


def is_open(p: Floats, layout: SystemLayout, size: float) -> int:
    """Tell whether an active row is far from closed, against the largest row of its group and q."""
    mask = p[layout.mask :]
    residuals = p[layout.residuals :]
    largest = p[layout.largest :]
    groups = integers(p[layout.groups :])
    bound = OPEN * fmax(1.0, size)
    for i in range(layout.m):
        share = residuals[i] * residuals[i]
        most = fmax(SHUT * SHUT, bound * bound * largest[groups[i]])
        if mask[i] != 0.0 and not share <= most:
            return 1
    return 0


def project(t: Floats, y: Floats, p: Floats, layout: SystemLayout) -> int:
    """Move q, then qd, onto the active constraints; return the rank, or a failure.

    Near a singular position a small residual may stand for a large change of q. So q is moved until
    both are small, or until rounding keeps changes from becoming smaller. It is a failure if a row
    stays open.
    """
    nq = layout.nq
    n = layout.n
    m = layout.m
    mask = p[layout.mask :]
    residuals = p[layout.residuals :]
    change = p[layout.change :]
    rank = 0
    measured = 0
    before = 1e300
    is_closed = 0
    for number in range(ROUNDS + 1):
        terms(t, y, p, p[layout.H :])
        rank = factorised(p, layout, is_closed)
        is_closed = 1
        if rank < 0:
            return rank
        if measured == 0:
            measure_rows(p, layout)
            measured = 1
        correction(p, layout, residuals, change[nq:], rank)
        largest = largest_of(change[nq:], n)
        is_done = 0
        if largest <= FINE or largest >= 0.5 * before:
            is_done = 1
        if number == ROUNDS or (is_done == 1 and active_size(residuals, mask, m) <= CLOSE):
            break
        before = largest
        for e in range(nq):
            change[e] = y[e]
        moved(t, change, p, change[nq + n :])
        for e in range(nq):
            y[e] += change[nq + n + e]
    if is_open(p, layout, largest_of(y, nq)) == 1:
        return NO_SOLUTION
    if active_size(residuals, mask, m) <= SHUT:
        note_redundant(p, layout, rank)
    correction(p, layout, p[layout.speeds :], change, rank)
    for e in range(n):
        y[nq + e] += change[e]
    return rank


def constrained_rate(t: Floats, y: Floats, p: Floats, rate: Floats, layout: SystemLayout) -> int:
    """Set y' under the active constraints, and the multipliers; return the rank, or a status."""
    terms(t, y, p, p[layout.H :])
    moved(t, y, p, rate)
    rank = constrained_acceleration(p, layout, rate[layout.nq :])
    note_rank(t[0], p[layout.lowest :], smallest_share(p, layout, rank), rank)
    return rank


def constrained_state(t: Floats, new: Floats, p: Floats, y: Floats, layout: SystemLayout) -> int:
    """Take a new state over, its quaternions of length 1, and move it onto the constraints.

    Return the rank, or a status.
    """
    unit(t, new, p, y)
    rank = project(t, y, p, layout)
    note_rank(t[0], p[layout.lowest :], smallest_share(p, layout, rank), rank)
    return rank


def lasting_change(t: Floats, y: Floats, p: Floats, given: Floats, layout: SystemLayout) -> int:
    """Take from a small change of q and qd what goes when the state is put onto the constraints.

    What is left obeys J dq = 0, J dqd = 0.
    """
    nq = layout.nq
    change = p[layout.change :]
    terms(t, y, p, p[layout.H :])
    rank = factorised(p, layout, 0)
    if rank < 0:
        return rank
    rates_from(t, y, p, given, change, nq, layout.n)
    without_normal(p, layout, change[nq:], rank)
    moved(t, change, p, given)
    without_normal(p, layout, given[nq:], rank)
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


def without_normal(p: Floats, layout: SystemLayout, rates: Floats, rank: int) -> None:
    """Take from rates what is at right angles, in the metric H, to all that the rows allow."""
    n = layout.n
    m = layout.m
    J = p[layout.J :]
    speeds = p[layout.spread :]
    for i in range(m):
        total = 0.0
        for e in range(n):
            total += J[i * n + e] * rates[e]
        speeds[i] = total
    back = speeds[m:]
    correction(p, layout, speeds, back, rank)
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


def smallest_share(p: Floats, layout: SystemLayout, rank: int) -> float:
    """Return the smallest share of an independent row that does not follow from others."""
    found = 1.0
    for k in range(rank):
        found = fmin(found, share_of(k, p, layout))
    return found


def share_of(place: int, p: Floats, layout: SystemLayout) -> float:
    """Return the share, by its square, of a row that does not follow from those before its place.

    The row counts as large as it is against the largest of its group in the motion so far.
    """
    n = layout.n
    m = layout.m
    row = integers(p[layout.order :])[place]
    group = integers(p[layout.groups :])[row]
    J = p[layout.J + row * n :]
    Y = p[layout.Y + row * n :]
    pivot = p[layout.S + place * m + place]
    size = 0.0
    square = 0.0
    for e in range(n):
        size += J[e] * J[e]
        square += Y[e] * Y[e]
    return pivot * pivot / square * size / fmax(size, p[layout.largest + group])


def unit(t: Floats, new: Floats, p: Floats, y: Floats) -> None:
    """Stand for the copy of a state with quaternions of length 1."""
