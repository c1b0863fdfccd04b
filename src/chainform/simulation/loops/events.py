"""Zeros of event functions within a step, and output at given times, as procedures.

Both come from a shorter step of the same method from the same start: they are as accurate as the
method itself.
"""

from __future__ import annotations

from math import fabs

from chainform.runtime.procedures import Floats, Ints, Number, Numbers, fmax, fmin
from chainform.simulation.loops.places import (
    ARMED_AT,
    EPSILON,
    EVENTS,
    FOUND,
    NEXT,
    SIZE,
    TAIL,
    TAIL_AT,
    TIMES,
    TURNING,
)
from chainform.simulation.loops.runge_kutta import trial

ROUNDS = 80
"""The most steps towards a zero."""


def events(t: Floats, y: Floats, p: Floats, value: Floats) -> None:
    """Stand for the functions whose zeros are events, which are compiled from a graph."""


def settle(t: Floats, y: Floats, p: Floats, into: Floats) -> None:
    """Stand for what keeps a state where it belongs: unit quaternions, closed loops."""


def zero_of(
    t: Number,
    h: Number,
    latest: Number,
    y: Floats,
    p: Floats,
    k: Floats,
    at: Floats,
    clock: Floats,
    values: Floats,
    before: float,
    after: float,
    event: int,
    tableau: Numbers,
    counts: Ints,
) -> float:
    """Return the part of a step after which an event function is at or just past its zero.

    False position, where the value at an end that stays is halved (Illinois): this converges
    faster than bisection and never leaves the bracket.
    """
    low = 0.0
    high = 1.0
    left = before
    right = after
    side = 0
    for _ in range(ROUNDS):
        if (high - low) * fabs(h) <= 4.0 * EPSILON * fmax(fabs(t), fabs(h)):
            break
        part = high - right * (high - low) / (right - left)
        if not part > low or not part < high:
            part = 0.5 * (low + high)
        trial(t, part * h, latest, y, p, k, at, clock, tableau, counts)
        clock[0] = t + part * h
        events(clock, at, p, values)
        value = values[event]
        if (value > 0.0 and after > 0.0) or (value < 0.0 and after < 0.0) or value == 0.0:
            high = part
            right = value
            if side == 1:
                left = 0.5 * left
            side = 1
        else:
            low = part
            left = value
            if side == 2:
                right = 0.5 * right
            side = 2
    return high


def crossing(before: float, after: float, direction: float) -> int:
    """Tell whether a function went through zero in the direction that counts (0: in both)."""
    if before < 0.0 and after >= 0.0 and direction >= 0.0:
        return 1
    if before > 0.0 and after <= 0.0 and direction <= 0.0:
        return 1
    return 0


def first_event(
    counts: Ints,
    tableau: Numbers,
    t: Number,
    h: Number,
    latest: Number,
    y: Floats,
    p: Floats,
    k: Floats,
    new: Floats,
    at: Floats,
    clock: Floats,
    values: Floats,
    marks: Floats,
) -> float:
    """Return the part of a step up to the first event in it, and note which; 2 without one.

    `marks` holds three numbers for each event: the direction that counts, and the values of the
    function at the start and at the end of the step. The last ones are rates of functions that may
    dip below zero and come up again within the step.
    """
    best = 2.0
    clock[0] = t + h
    events(clock, new, p, values)
    for i in range(counts[EVENTS] + counts[TURNING]):
        marks[3 * i + 2] = values[i]
    for i in range(counts[EVENTS]):
        before = marks[3 * i + 1]
        after = marks[3 * i + 2]
        if crossing(before, after, marks[3 * i]) == 1:
            part = zero_of(
                t,
                h,
                latest,
                y,
                p,
                k,
                at,
                clock,
                values,
                before,
                after,
                i,
                tableau,
                counts,
            )
            if part < best:
                best = part
                counts[FOUND] = i
    for i in range(counts[TURNING]):
        part = dip_of(counts, tableau, t, h, latest, y, p, k, at, clock, values, marks, i)
        if part < best:
            best = part
            counts[FOUND] = counts[ARMED_AT] + i
    return best


def dip_of(
    counts: Ints,
    tableau: Numbers,
    t: Number,
    h: Number,
    latest: Number,
    y: Floats,
    p: Floats,
    k: Floats,
    at: Floats,
    clock: Floats,
    values: Floats,
    marks: Floats,
    dip: int,
) -> float:
    """Return the part of a step at which a function falls below zero that is above it at both ends.

    Its least value lies where its rate is zero. Where it could not even come down with twice its
    speed at one of the ends there is nothing to look for.
    """
    event = counts[ARMED_AT] + dip
    turn = counts[EVENTS] + dip
    above = fmin(marks[3 * event + 1], marks[3 * event + 2])
    down = marks[3 * turn + 1]
    up = marks[3 * turn + 2]
    if not above > 0.0 or not down < 0.0 or not up > 0.0:
        return 2.0
    if marks[3 * event + 1] > -2.0 * down * h or marks[3 * event + 2] > 2.0 * up * h:
        return 2.0
    lowest = zero_of(t, h, latest, y, p, k, at, clock, values, down, up, turn, tableau, counts)
    trial(t, lowest * h, latest, y, p, k, at, clock, tableau, counts)
    clock[0] = t + lowest * h
    events(clock, at, p, values)
    below = values[event]
    if below > 0.0:
        return 2.0
    return lowest * zero_of(
        t,
        lowest * h,
        latest,
        y,
        p,
        k,
        at,
        clock,
        values,
        marks[3 * event + 1],
        below,
        event,
        tableau,
        counts,
    )


def deliver(
    counts: Ints,
    tableau: Numbers,
    t: Number,
    after: Number,
    latest: Number,
    y: Floats,
    new: Floats,
    p: Floats,
    k: Floats,
    at: Floats,
    clock: Floats,
    times: Numbers,
    out: Floats,
) -> None:
    """Write the states at all output times up to the end `after` of a step that was accepted.

    Behind each come numbers of p that stay the same over a step, such as efforts that are held.
    """
    n = counts[SIZE]
    tail = counts[TAIL]
    while counts[NEXT] < counts[TIMES] and times[counts[NEXT]] <= after:
        wanted = times[counts[NEXT]]
        row = out[counts[NEXT] * (n + tail) :]
        if wanted == after:
            for e in range(n):
                at[e] = new[e]
        else:
            trial(t, wanted - t, latest, y, p, k, at, clock, tableau, counts)
        clock[0] = wanted
        settle(clock, at, p, row)
        for e in range(tail):
            row[n + e] = p[counts[TAIL_AT] + e]
        counts[NEXT] += 1
