"""Contacts that slide with friction, as procedures.

A closed contact with the normal force s slides in its plane with the velocity v; friction is a
force mu s against it, so that forces enter by other rows than those that are held:

    H qdd = r + Z^T s,    J qdd = gamma,    Z = J - mu (d_1 J_1 + d_2 J_2),    d = v / |v|

where J_1 and J_2 are the rows of the plane. J H^-1 Z^T is not symmetric.

`grips` has mu d of the last event for each row in a plane of contact, zero where it does not slide.
These rows stand behind those of all gaps, two for each of the first gaps.

A contact that slides slowly turns at once into the way in which no force acts across it, faster
than any step could follow. So it is held across its way, and at an event its way is chosen anew:
then the axes of its plane are turned, the first one into the way. This holds for the mask of the
second row.

While v goes through zero within a step, d stays as it was, so that the step is smooth and the zero
can be found as an event. At rest d is that of the event.
"""

from __future__ import annotations

from math import fabs, sqrt

from chainform.runtime import Floats, Ints, fmin, integers
from chainform.simulation.machine.constrained import add_forces, missing_acceleration, moved, terms
from chainform.simulation.machine.factors import factorised
from chainform.simulation.machine.layout import SystemLayout
from chainform.simulation.machine.linear import (
    eliminated,
    forward,
    least_norm,
    solve_eliminated,
    spread_eliminated,
)

TOLERANCE = 1e-11

SLOW = 1e-7
"""Speeds (m/s) far below this do not tell in which way a contact slides."""

TURNED = 0.5
"""The cosine of the angle that a way of sliding turns before it is noted anew."""

ASTRAY = 0.005
"""The share of friction that may act across the way of a contact that slides slowly."""


def any_grip(grips: Floats, gripping: int) -> int:
    """Tell whether a contact slides with friction."""
    for i in range(2 * gripping):
        if grips[i] != 0.0:
            return 1
    return 0


def present_grips(speeds: Floats, grips: Floats, mask: Floats, now: Floats, gripping: int) -> None:
    """Set mu d for the present speeds in the planes of contact; `mask` is that of their rows.

    Contacts that are held across their way keep it. To v is added what is nothing at speeds above
    `SLOW` and gives the way of the last event at rest. Beyond a zero v points backwards.
    """
    for i in range(gripping):
        a = grips[2 * i]
        b = grips[2 * i + 1]
        now[2 * i] = a
        now[2 * i + 1] = b
        if (a != 0.0 or b != 0.0) and mask[2 * i + 1] == 0.0:
            mu = sqrt(a * a + b * b)
            x = speeds[2 * i]
            y = speeds[2 * i + 1]
            side = 1.0
            if a * x + b * y < 0.0:
                side = -1.0
            square = (x * x + y * y) / (SLOW * SLOW)
            x = side * x + SLOW / (1.0 + square) * a / mu
            y = side * y + SLOW / (1.0 + square) * b / mu
            size = sqrt(x * x + y * y)
            now[2 * i] = mu * x / size
            now[2 * i + 1] = mu * y / size


def way_left(grips: Floats, speeds: Floats, slack: float) -> float:
    """Return what falls through zero when a contact comes to rest, or has turned a good deal."""
    a = grips[0]
    b = grips[1]
    mu = sqrt(a * a + b * b)
    speed = sqrt(speeds[0] * speeds[0] + speeds[1] * speeds[1])
    along = (a * speeds[0] + b * speeds[1]) / mu
    return along - TURNED * speed * speed / (speed + SLOW) + slack


def watch_contact(i: int, falling: Floats, speeds: Floats, p: Floats, layout: SystemLayout) -> None:
    """Set the two functions of a contact in its plane that end its present state of affairs.

    sliding      its speed in the way of the last event, less the part that turned away from it;
                 its speed above the one at which it becomes slow
    slowly       its speed, or what is left up to the one at which it becomes fast;
                 a share of friction, less the force across its way
    sticking     mu push - |force|
    """
    row = layout.always + layout.touching + 2 * i
    grips = p[layout.grips + 2 * i :]
    mask = p[layout.mask + row :]
    slack = p[layout.slack + row :]
    forces = p[layout.multipliers + row :]
    push = p[layout.multipliers + layout.always + i]
    cone = p[layout.cones + i]
    falling[0] = 1.0
    falling[1] = 1.0
    if grips[0] != 0.0 or grips[1] != 0.0:
        if mask[1] != 0.0:
            falling[0] = fmin(speeds[0] + slack[0], slack[1] - speeds[0])
            falling[1] = ASTRAY * cone * push - fabs(forces[1])
        else:
            falling[0] = way_left(grips, speeds, slack[0])
        if mask[1] == 0.0 and slack[1] > 0.0:
            speed = sqrt(speeds[0] * speeds[0] + speeds[1] * speeds[1])
            if grips[0] * speeds[0] + grips[1] * speeds[1] < 0.0:
                speed = -speed
            falling[1] = speed - slack[1]
    elif mask[0] != 0.0 or mask[1] != 0.0:
        falling[0] = cone * push - sqrt(forces[0] * forces[0] + forces[1] * forces[1])


def force_rows(p: Floats, layout: SystemLayout) -> None:
    """Set the rows of Z, each multiplied by L^-1, from those of J."""
    n = layout.n
    Y = p[layout.Y :]
    across = p[layout.across :]
    grips = p[layout.present :]
    for i in range(layout.m):
        for e in range(n):
            across[i * n + e] = Y[i * n + e]
    for i in range(2 * layout.gripping):
        if grips[i] != 0.0:
            place = layout.always + layout.touching + i
            plane = p[layout.J + place * n :]
            row = across[place * n :]
            for e in range(n):
                row[e] = plane[e]
            forward(p[layout.H :], row, n)
            gap = across[(layout.always + i // 2) * n :]
            for e in range(n):
                gap[e] -= grips[i] * row[e]
                row[e] = 0.0


def sliding_rate(t: Floats, y: Floats, p: Floats, rate: Floats, layout: SystemLayout) -> int:
    """Set y' under the active rows and the friction of sliding contacts, and all their forces.

    Rows are measured by their inertia without friction. The rank is returned, or a failure.
    """
    terms(t, y, p, p[layout.H :])
    moved(t, y, p, rate)
    m = layout.m
    acceleration = rate[layout.nq :]
    plane = layout.always + layout.touching
    now = p[layout.present :]
    multipliers = p[layout.multipliers :]
    present_grips(
        p[layout.speeds + plane :],
        p[layout.grips :],
        p[layout.mask + plane :],
        now,
        layout.gripping,
    )
    rank = factorised(p, layout, 0)
    if rank < 0:
        return rank
    force_rows(p, layout)
    missing_acceleration(p, layout, acceleration)
    scale_system(p, layout)
    S = p[layout.S :]
    scales = p[layout.scales :]
    columns = integers(p[layout.columns :])
    order = integers(p[layout.order :])
    rank = eliminated(S, order, columns, m, TOLERANCE)
    solve_eliminated(S, order, columns, p[layout.right :], multipliers, m, rank)
    for i in range(m):
        multipliers[i] = scales[i] * multipliers[i]
    share_forces(S, columns, scales, p[layout.spread :], multipliers, m, rank)
    add_forces(p, layout, p[layout.across :], acceleration)
    for i in range(2 * layout.gripping):
        if now[i] != 0.0:
            multipliers[plane + i] = -now[i] * multipliers[layout.always + i // 2]
    return rank


def scale_system(p: Floats, layout: SystemLayout) -> None:
    """Set the matrix of the multipliers with friction, and scale it and its right side."""
    n = layout.n
    m = layout.m
    Y = p[layout.Y :]
    S = p[layout.S :]
    across = p[layout.across :]
    right = p[layout.right :]
    scales = p[layout.scales :]
    for i in range(m):
        scales[i] = sqrt(scales[i])
    for i in range(m):
        right[i] = scales[i] * right[i]
        for j in range(m):
            total = 0.0
            for e in range(n):
                total += Y[i * n + e] * across[j * n + e]
            S[i * m + j] = scales[i] * scales[j] * total


def share_forces(
    s: Floats, columns: Ints, scales: Floats, spread: Floats, multipliers: Floats, m: int, rank: int
) -> None:
    """Make multipliers those of least norm where forces could be shared otherwise.

    `scales` is what rows and columns of the matrix that was eliminated were multiplied by.
    """
    shared = 0
    for j in range(rank, m):
        if scales[columns[j]] > 0.0:
            shared = 1
    if shared == 0:
        return
    spread_eliminated(s, spread, m, rank)
    for j in range(m - rank):
        own = scales[columns[rank + j]]
        for k in range(rank):
            if own > 0.0:
                spread[j * m + k] = spread[j * m + k] * scales[columns[k]] / own
            else:
                spread[j * m + k] = 0.0
    least_norm(spread, spread[m * m :], columns, multipliers, m, rank)


def friction_power(p: Floats, layout: SystemLayout) -> float:
    """Return the power that sliding contacts lose."""
    total = 0.0
    grips = p[layout.grips :]
    speeds = p[layout.speeds :]
    multipliers = p[layout.multipliers :]
    for i in range(layout.gripping):
        if grips[2 * i] != 0.0 or grips[2 * i + 1] != 0.0:
            place = layout.always + layout.touching + 2 * i
            total -= multipliers[place] * speeds[place]
            total -= multipliers[place + 1] * speeds[place + 1]
    return total
