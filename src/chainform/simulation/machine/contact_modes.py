"""Motion while constraints come and go, as procedures: stops, contacts, joints that stick.

Rows of constraints stand in this order:

    always      loops and constraints of the file; they always hold
    touching    gaps of barriers, one row each: their multipliers push, and must not pull
    tangential  places in planes of contact, two rows for each of the first gaps
    sticking    rates of joints with dry friction; their multipliers stay within a bound

`mask` tells which rows hold now. While none does, the motion is that of the free mechanism, with
one kernel for y' and no matrices. Each barrier and each joint with friction has a function whose
fall through zero is an event that ends the present state of affairs:

    open         gap + slack           closed      multiplier
    sliding      direction * rate      sticking    bound - |multiplier|

and so has each contact in its plane (sliding_contacts.py).

`slack` is zero but for rows that touch without any force between them: those may go a little
deeper before it counts.

The kernel `gaps` computes gaps, their rates, speeds in planes of contact, rates of joints with
friction, and gaps of stiff contacts.
"""

from __future__ import annotations

from math import fabs

from chainform.runtime import Floats
from chainform.simulation.machine.constrained import constrained_rate, constrained_state, unit
from chainform.simulation.machine.layout import SystemLayout
from chainform.simulation.machine.records import rhs
from chainform.simulation.machine.sliding_contacts import (
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
    """Stand for the events that are requested."""


def extra(t: Floats, y: Floats, p: Floats, rate: Floats) -> None:
    """Stand for the rates of what stands in y behind q and qd."""


def any_of(mask: Floats, first: int, last: int) -> int:
    """Tell whether one of some rows holds."""
    for i in range(first, last):
        if mask[i] != 0.0:
            return 1
    return 0


def switched_rate(t: Floats, y: Floats, p: Floats, rate: Floats, layout: SystemLayout) -> int:
    """Set y' under the rows that hold now, and the multipliers; return the rank, or a failure."""
    nq = layout.nq
    multipliers = p[layout.multipliers :]
    if any_of(p[layout.mask :], 0, layout.m) == 0:
        free(t, y, p, rate)
        return 0
    slides = any_grip(p[layout.grips :], layout.gripping)
    if slides == 1:
        rank = sliding_rate(t, y, p, rate, layout)
    else:
        rank = constrained_rate(t, y, p, rate, layout)
    if rank < 0:
        return rank
    extra(t, y, p, rate[nq + layout.n :])
    if layout.impulse >= 0:
        rate[layout.impulse] = 0.0
        for i in range(layout.always, layout.m):
            # Each with a share of its own, so that they do not cancel.
            rate[layout.impulse] += multipliers[i] / (1.0 + i)
    if layout.work >= 0:
        rate[layout.work] += power_of(y[nq:], p, layout)
        if slides == 1:
            rate[layout.work + 1] += friction_power(p, layout)
    return rank


def power_of(rates: Floats, p: Floats, layout: SystemLayout) -> float:
    """Return the power of the constraints: none, unless they move with time.

    In the stages of a step lasting rows have a rate that is not quite zero, and forces that are
    large near a singular position. It goes at the end of the step, and does no work.
    """
    n = layout.n
    mask = p[layout.mask :]
    speeds = p[layout.speeds :]
    multipliers = p[layout.multipliers :]
    total = 0.0
    for i in range(layout.m):
        if mask[i] != 0.0:
            row = p[layout.J + i * n :]
            speed = 0.0
            if i < layout.always:
                speed = -speeds[i]
            for e in range(n):
                speed += row[e] * rates[e]
            total += multipliers[i] * speed
    return total


def switched_state(t: Floats, new: Floats, p: Floats, y: Floats, layout: SystemLayout) -> int:
    """Take a new state over and move it onto the rows that hold now; return 0, or a failure."""
    if any_of(p[layout.mask :], 0, layout.m) == 0:
        unit(t, new, p, y)
        return 0
    return constrained_state(t, new, p, y, layout)


def watched(t: Floats, y: Floats, p: Floats, values: Floats, layout: SystemLayout) -> int:
    """Set the functions of all events: of the user, of barriers, of friction, of stiff contacts.

    Behind them stand the rates of the gaps that are open. What is returned is below zero where the
    forces of rows that hold are not known.
    """
    status = 0
    touching = layout.touching
    planes = 2 * layout.gripping
    sticking = layout.sticking
    stiff = layout.stiff
    mask = p[layout.mask :]
    room = p[layout.watching :]
    seen(t, y, p, values)
    gaps(t, y, p, room)
    plane = room[2 * touching :]
    rates = plane[planes:]
    depths = rates[sticking:]
    if any_of(mask, layout.always, layout.m) == 1:
        status = rhs(t, y, p, depths[stiff:])
    falling = values[layout.laws :]
    watch_gaps(falling, falling[touching + planes + sticking + stiff :], p, layout)
    falling = falling[touching:]
    for i in range(layout.gripping):
        watch_contact(i, falling[2 * i :], plane[2 * i :], p, layout)
    falling = falling[planes:]
    watch_sticking(falling, rates, p, layout)
    for i in range(stiff):
        falling[sticking + i] = depths[i]
    return status


def watch_gaps(falling: Floats, turning: Floats, p: Floats, layout: SystemLayout) -> None:
    """Set the functions of gaps, and the rates of those that are open."""
    mask = p[layout.mask :]
    room = p[layout.watching :]
    for i in range(layout.touching):
        row = layout.always + i
        if mask[row] != 0.0:
            falling[i] = p[layout.multipliers + row]
            turning[i] = 1.0
        else:
            falling[i] = room[i] + p[layout.slack + row]
            turning[i] = room[layout.touching + i]


def watch_sticking(falling: Floats, rates: Floats, p: Floats, layout: SystemLayout) -> None:
    """Set the functions of joints with dry friction."""
    mask = p[layout.mask :]
    slack = p[layout.slack :]
    for i in range(layout.sticking):
        row = layout.m - layout.sticking + i
        if mask[row] != 0.0:
            falling[i] = p[layout.bounds + i] - fabs(p[layout.multipliers + row])
        elif slack[row] != 0.0:
            falling[i] = slack[row] - fabs(rates[i])
        else:
            falling[i] = p[layout.modes + i] * rates[i]
