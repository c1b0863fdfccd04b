"""Contacts that slide with friction, as procedures.

A closed contact with the normal force s slides with the speed v in its plane; friction is a force
mu s against the direction d of v, which is known but for its size:

    H qdd = r + J^T s - sum mu s J_t^T d,    J qdd = gamma

so that forces enter by other rows than those that are held, Z = J - mu d J_t, and J H^-1 Z^T is no
longer symmetric. Where the contact comes to rest the direction turns at once; until that is noticed
it stays what it was: d = v / |v| while v goes along with a direction that is given, else that one.

`grips` has mu of each contact that slides now, and zero otherwise; `ways` the given directions. The
rows of the plane stand behind those of all gaps, two for each contact with friction.
"""

from __future__ import annotations

from math import sqrt

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
    for i in range(gripping):
        if grips[i] > 0.0:
            return 1
    return 0


def way_of(speeds: Floats, way: Floats, d: Floats) -> float:
    """Set the direction in which a contact slides, and return its speed that way."""
    along = speeds[0] * way[0] + speeds[1] * way[1]
    size = sqrt(speeds[0] * speeds[0] + speeds[1] * speeds[1])
    if along > 0.0 and size > 1e-200:
        d[0] = speeds[0] / size
        d[1] = speeds[1] / size
        return size
    d[0] = way[0]
    d[1] = way[1]
    return along


def force_rows(
    area: Floats,
    room: Floats,
    across: Floats,
    multipliers: Floats,
    grips: Floats,
    ways: Floats,
    n: int,
    m: int,
    always: int,
    touching: int,
    gripping: int,
) -> None:
    """Set Z L^-T from J L^-T; directions are left where the forces of the plane will stand."""
    for i in range(m):
        for e in range(n):
            across[i * n + e] = room[i * n + e]
    speeds = area[n * n + n + m * n + 2 * m :]
    for i in range(gripping):
        if grips[i] > 0.0:
            first = always + touching + 2 * i
            way_of(speeds[first:], ways[2 * i :], multipliers[first:])
            plane = area[n * n + n + first * n :]
            row = across[first * n :]
            for e in range(n):
                row[e] = multipliers[first] * plane[e] + multipliers[first + 1] * plane[n + e]
            forward(area, row, n)
            for e in range(n):
                across[(always + i) * n + e] -= grips[i] * row[e]
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
    ways: Floats,
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
    force_rows(area, room, across, multipliers, grips, ways, n, m, always, touching, gripping)
    # The directions have to wait until the normal forces are known.
    kept = room[m * n + m * m + m :]
    for i in range(m):
        kept[i] = multipliers[i]
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
    for i in range(gripping):
        if grips[i] > 0.0:
            first = always + touching + 2 * i
            for k in range(2):
                force = grips[i] * multipliers[always + i]
                multipliers[first + k] = -force * kept[first + k]
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
    for i in range(gripping):
        if grips[i] > 0.0:
            first = always + touching + 2 * i
            total -= multipliers[first] * speeds[first]
            total -= multipliers[first + 1] * speeds[first + 1]
    return total
