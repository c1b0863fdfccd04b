"""Contacts that slide with friction, as procedures.

A closed contact with the normal force s slides in a direction of its plane; friction is a force
mu s against it, so that forces enter by other rows than those that are held:

    H qdd = r + Z^T s,    J qdd = gamma,    Z = J - mu d J_t

where d is 1 or -1, and J_t the row of that direction. J H^-1 Z^T is not symmetric.

`grips` has mu d for each row in a plane of contact, zero where it does not slide. These rows stand
behind those of all gaps, two for each of the first gaps.
"""

from __future__ import annotations

from chainform.runtime.procedures import Floats, Ints
from chainform.simulation.loops.constrained import moved, rows_of, terms
from chainform.simulation.loops.linear import (
    backward,
    cholesky,
    eliminated,
    forward,
    solve_eliminated,
)

TOLERANCE = 1e-11


def any_grip(grips: Floats, gripping: int) -> int:
    """Tell whether a contact slides with friction."""
    for i in range(2 * gripping):
        if grips[i] != 0.0:
            return 1
    return 0


def force_rows(
    area: Floats,
    room: Floats,
    across: Floats,
    grips: Floats,
    n: int,
    m: int,
    always: int,
    touching: int,
    gripping: int,
) -> None:
    """Set Z L^-T from J L^-T."""
    for i in range(m):
        for e in range(n):
            across[i * n + e] = room[i * n + e]
    for i in range(2 * gripping):
        if grips[i] != 0.0:
            place = always + touching + i
            plane = area[n * n + n + place * n :]
            row = across[place * n :]
            for e in range(n):
                row[e] = plane[e]
            forward(area, row, n)
            gap = across[(always + i // 2) * n :]
            for e in range(n):
                gap[e] -= grips[i] * row[e]
                row[e] = 0.0


def sliding_rate(
    t: Floats,
    y: Floats,
    p: Floats,
    rate: Floats,
    area: Floats,
    mask: Floats,
    room: Floats,
    order: Ints,
    multipliers: Floats,
    columns: Ints,
    across: Floats,
    grips: Floats,
    nq: int,
    n: int,
    m: int,
    always: int,
    touching: int,
    gripping: int,
) -> int:
    """Set y' under the active rows and the friction of sliding contacts, and all their forces."""
    terms(t, y, p, area)
    moved(t, y, p, rate)
    acceleration = rate[nq:]
    if cholesky(area, n) == 1:
        return -1
    rows_of(area, mask, room, n, m)
    force_rows(area, room, across, grips, n, m, always, touching, gripping)
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
        for j in range(m):
            total = 0.0
            for e in range(n):
                total += room[i * n + e] * across[j * n + e]
            s[i * m + j] = total
    rank = eliminated(s, order, columns, m, TOLERANCE)
    solve_eliminated(s, order, columns, right, multipliers, m, rank)
    for i in range(m):
        for e in range(n):
            acceleration[e] += across[i * n + e] * multipliers[i]
    backward(area, acceleration, n)
    for i in range(2 * gripping):
        if grips[i] != 0.0:
            multipliers[always + touching + i] = -grips[i] * multipliers[always + i // 2]
    return rank


def friction_power(
    area: Floats,
    multipliers: Floats,
    grips: Floats,
    n: int,
    m: int,
    always: int,
    touching: int,
    gripping: int,
) -> float:
    """Return the power that sliding contacts lose."""
    total = 0.0
    speeds = area[n * n + n + m * n + 2 * m :]
    for i in range(2 * gripping):
        if grips[i] != 0.0:
            place = always + touching + i
            total -= multipliers[place] * speeds[place]
    return total
