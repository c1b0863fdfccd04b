"""Motion while constraints come and go, as procedures: stops, contacts, joints that stick.

Rows of constraints stand in this order:

    always      loops and constraints of the file; they always hold
    touching    gaps of barriers, one row each: their multipliers push, and must not pull
    beside      places in planes of contact, two rows for each of the first gaps
    sticking    rates of joints with dry friction; their multipliers stay within a bound

`mask` tells which rows hold now. While none does, the motion is that of the free mechanism, with
one kernel for y' and no matrices. Each barrier and each joint with friction has a function whose
fall through zero is an event that ends the present state of affairs:

    open         gap + slack           closed      multiplier
    sliding      direction * rate      sticking    bound - |multiplier|

and so has each contact in its plane (sliding.py).

`slack` is zero but for rows that touch without any force between them: those may go a little
deeper before it counts.

The kernel `gaps` computes gaps, their rates, speeds in planes of contact, rates of joints with
friction, and gaps of stiff contacts.
"""

from __future__ import annotations

from math import fabs

from chainform.runtime.procedures import Floats, Ints
from chainform.simulation.loops.constrained import constrained_rate, constrained_state, unit
from chainform.simulation.loops.runge_kutta import rhs
from chainform.simulation.loops.sliding import (
    any_grip,
    friction_power,
    sliding_rate,
    watch_contact,
)


def free(t: Floats, y: Floats, p: Floats, rate: Floats) -> None:
    """Stand for y' without any constraints, which is compiled from a graph."""


def gaps(t: Floats, y: Floats, p: Floats, values: Floats) -> None:
    """Stand for gaps and the rates that may come to rest."""


def seen(t: Floats, y: Floats, p: Floats, values: Floats) -> None:
    """Stand for the events that the user asked for."""


def beside(t: Floats, y: Floats, p: Floats, rate: Floats) -> None:
    """Stand for the rates of what stands in y behind q and qd."""


def any_of(mask: Floats, first: int, last: int) -> int:
    """Tell whether one of some rows holds."""
    for i in range(first, last):
        if mask[i] != 0.0:
            return 1
    return 0


def switched_rate(
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
    columns: Ints,
    across: Floats,
    grips: Floats,
    nq: int,
    n: int,
    m: int,
    impulse: int,
    book: int,
    always: int,
    touching: int,
    gripping: int,
) -> int:
    """Set y' under the rows that hold now, and the multipliers; return the rank, or a failure.

    `impulse` is the place in y where forces of what comes and goes are added up, and `book` where
    work is, with losses behind it; -1 where there is no such place.
    """
    if any_of(mask, 0, m) == 0:
        free(t, y, p, rate)
        return 0
    slides = any_grip(grips, gripping)
    if slides == 1:
        rank = sliding_rate(
            t,
            y,
            p,
            rate,
            area,
            mask,
            room,
            order,
            multipliers,
            columns,
            across,
            grips,
            nq,
            n,
            m,
            always,
            touching,
            gripping,
        )
    else:
        rank = constrained_rate(
            t, y, p, rate, area, mask, room, order, multipliers, lowest, nq, n, m
        )
    if rank < 0:
        return rank
    beside(t, y, p, rate[nq + n :])
    if impulse >= 0:
        rate[impulse] = 0.0
        for i in range(always, m):
            # Each with a share of its own, so that they do not cancel.
            rate[impulse] += multipliers[i] / (1.0 + i)
    if book >= 0:
        rate[book] += power_of(area, mask, multipliers, y[nq:], n, m, always)
        if slides == 1:
            rate[book + 1] += friction_power(
                area, multipliers, grips, n, m, always, touching, gripping
            )
    return rank


def power_of(
    area: Floats, mask: Floats, multipliers: Floats, rates: Floats, n: int, m: int, always: int
) -> float:
    """Return the power of the constraints: none, unless they move with time.

    In the stages of a step lasting rows have a rate that is not quite zero, and forces that are
    large near a singular position. It goes at the end of the step, and does no work.
    """
    total = 0.0
    for i in range(m):
        if mask[i] != 0.0:
            row = area[n * n + n + i * n :]
            speed = 0.0
            if i < always:
                speed = -area[n * n + n + m * n + 2 * m + i]
            for e in range(n):
                speed += row[e] * rates[e]
            total += multipliers[i] * speed
    return total


def switched_state(
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
    """Take a new state over and move it onto the rows that hold now; return 0, or a failure."""
    if any_of(mask, 0, m) == 0:
        unit(t, new, p, y)
        return 0
    return constrained_state(t, new, p, y, area, mask, room, order, change, lowest, nq, n, m)


def watched(
    t: Floats,
    y: Floats,
    p: Floats,
    values: Floats,
    mask: Floats,
    slack: Floats,
    directions: Floats,
    bounds: Floats,
    cones: Floats,
    grips: Floats,
    multipliers: Floats,
    room: Floats,
    nq: int,  # noqa: ARG001, as all procedures of this sort have it
    n: int,  # noqa: ARG001
    m: int,
    always: int,
    touching: int,
    gripping: int,
    sticking: int,
    stiff: int,
    asked: int,
) -> int:
    """Set the functions of all events: of the user, of barriers, of friction, of stiff contacts.

    Behind them stand the rates of the gaps that are open. `room` holds what `gaps` gives, and a y'.
    What is returned is below zero where the forces of rows that hold are not known.
    """
    status = 0
    seen(t, y, p, values)
    gaps(t, y, p, room)
    plane = room[2 * touching :]
    rates = room[2 * touching + 2 * gripping :]
    depths = room[2 * touching + 2 * gripping + sticking :]
    if any_of(mask, always, m) == 1:
        status = rhs(t, y, p, room[2 * touching + 2 * gripping + sticking + stiff :])
    falling = values[asked:]
    turning = values[asked + touching + 2 * gripping + sticking + stiff :]
    for i in range(touching):
        row = always + i
        if mask[row] != 0.0:
            falling[i] = multipliers[row]
            turning[i] = 1.0
        else:
            falling[i] = room[i] + slack[row]
            turning[i] = room[touching + i]
    falling = values[asked + touching :]
    for i in range(gripping):
        row = always + touching + 2 * i
        watch_contact(
            falling[2 * i :],
            grips[2 * i :],
            plane[2 * i :],
            mask[row:],
            slack[row:],
            multipliers[row:],
            multipliers[always + i],
            cones[i],
        )
    falling = values[asked + touching + 2 * gripping :]
    for i in range(sticking):
        row = m - sticking + i
        if mask[row] != 0.0:
            falling[i] = bounds[i] - fabs(multipliers[row])
        elif slack[row] != 0.0:
            falling[i] = slack[row] - fabs(rates[i])
        else:
            falling[i] = directions[i] * rates[i]
    for i in range(stiff):
        falling[sticking + i] = depths[i]
    return status
