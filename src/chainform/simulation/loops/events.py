"""The first event in a step, as procedures.

Event functions are looked at in stretches of the step: at both ends of a stretch and at three
places between them, by the cubic between the ends of the step, which costs next to nothing. A
stretch whose values do not tell what a function does in between (course.py) is halved. Where one
goes through zero, or comes near it and turns back, all are looked at by shorter steps of the method
itself, and zeros are located by them (closer.py).

`marks` has four numbers for each function: the direction that counts, its value where the motion
was looked at last, its value at the end of the step, and the place of its event in the step (2:
none). Once an event has happened the third one is its value then.
"""

from __future__ import annotations

from math import fabs

from chainform.runtime.procedures import Floats, Ints, Number, Numbers, fmax, fmin
from chainform.simulation.loops.closer import (
    AT_ONCE,
    NONE,
    closer,
    take,
    together,
)
from chainform.simulation.loops.course import LAST, PLACES, is_rough, next_dip
from chainform.simulation.loops.dips import has_rate, may_dip
from chainform.simulation.loops.looking import (
    clock_at,
    crossing,
    events,
    functions_of,
    glance,
    look,
    note_failure,
    values_at,
)
from chainform.simulation.loops.places import (
    AFTER,
    ARMED,
    ARMED_AT,
    BEFORE,
    DIRECTION,
    EPSILON,
    EVENTS,
    PART,
    PER_EVENT,
    SIZE,
    TIME,
)

SHORTEST = 0.001
"""Stretches that are shorter parts of a step are not halved."""
BARELY = 1e-300
ROUNDING = 4.0 * EPSILON
"""The share by which rounding may have moved an entry of a state."""


def mark_events(
    control: Numbers,
    counts: Ints,
    y: Floats,
    p: Floats,
    clock: Floats,
    values: Floats,
    marks: Floats,
) -> None:
    """Note the values of the event functions where a motion begins, or goes on after a change.

    A law that is zero there, up to rounding, has no event until it has left zero and comes back. A
    function that ends a state of affairs is not at its end while that lasts: whether it begins just
    above zero or just below is a matter of rounding.
    """
    clock[0] = control[TIME]
    note_failure(counts, events(clock, y, p, values))
    for i in range(functions_of(counts)):
        marks[PER_EVENT * i + BEFORE] = values[i]
    if counts[ARMED_AT] > 0:
        mark_zeros(control[TIME], counts, y, p, clock, values, marks)
    for i in range(counts[ARMED_AT], counts[ARMED_AT] + counts[ARMED]):
        marks[PER_EVENT * i + BEFORE] = fmax(values[i], BARELY)


def mark_zeros(
    t: Number, counts: Ints, y: Floats, p: Floats, clock: Floats, values: Floats, marks: Floats
) -> None:
    """Note those laws as zero whose values are no more than rounding of the time and the state.

    The last mark of each law is room for what rounding makes of it.
    """
    laws = counts[ARMED_AT]
    other = values[functions_of(counts) :]
    clock[0] = t + ROUNDING * t
    note_failure(counts, events(clock, y, p, other))
    clock[0] = t
    for i in range(laws):
        marks[PER_EVENT * i + PART] = fabs(other[i] - values[i])
    for e in range(counts[SIZE]):
        exact = y[e]
        y[e] = exact + ROUNDING * exact
        note_failure(counts, events(clock, y, p, other))
        y[e] = exact
        for i in range(laws):
            marks[PER_EVENT * i + PART] += fabs(other[i] - values[i])
    # What else is computed with the events belongs to the state as it is.
    note_failure(counts, events(clock, y, p, values))
    for i in range(laws):
        mark = marks[PER_EVENT * i :]
        if fabs(values[i]) <= mark[PART]:
            mark[BEFORE] = 0.0
        mark[PART] = NONE


def pass_values(counts: Ints, marks: Floats) -> None:
    """Let the values at the end of a step be those at the start of the next one."""
    for i in range(functions_of(counts)):
        marks[PER_EVENT * i + BEFORE] = marks[PER_EVENT * i + AFTER]


def mark_found(
    counts: Ints, t: Number, new: Floats, p: Floats, work: Floats, marks: Floats
) -> None:
    """Note the values at the state at which events were found.

    Those that happened have their zero just behind them, whatever rounding says.
    """
    values = work[values_at(counts) :]
    clock = work[clock_at(counts) :]
    clock[0] = t
    note_failure(counts, events(clock, new, p, values))
    for i in range(functions_of(counts)):
        mark = marks[PER_EVENT * i :]
        value = values[i]
        if mark[PART] <= 1.0:
            # From now on it has the sign that was noted when it was found.
            mark[BEFORE] = BARELY * mark[AFTER] / fabs(mark[AFTER])
            if value * mark[AFTER] > 0.0:
                mark[BEFORE] = value
            mark[AFTER] = value
        else:
            mark[BEFORE] = value
    for i in range(counts[ARMED_AT], counts[ARMED_AT] + counts[ARMED]):
        marks[PER_EVENT * i + BEFORE] = fmax(marks[PER_EVENT * i + BEFORE], BARELY)


def first_event(
    counts: Ints,
    tableau: Numbers,
    t: Number,
    h: Number,
    latest: Number,
    y: Floats,
    p: Floats,
    work: Floats,
    marks: Floats,
    calls: int,
    is_end: int,
) -> float:
    """Return the part of a step up to the first event in it, and note which happen then.

    2 without one; -1 less that part where a function has no value any more. `calls` tells how often
    a step evaluates the equations: where it does not, nothing is cheaper than a step. At the end of
    the motion events happen as well that rounding puts just behind it.
    """
    part = search(counts, tableau, t, h, latest, y, p, work, marks, calls)
    room = AT_ONCE * EPSILON * fmax(fabs(t), fabs(h)) / fabs(h)
    if is_end == 0 or part < 1.0 - room:
        return part
    total = functions_of(counts)
    samples = work[values_at(counts) + total :]
    for i in range(counts[EVENTS]):
        mark = marks[PER_EVENT * i :]
        value = samples[LAST * total + i]
        rise = value - samples[(LAST - 1) * total + i]
        # In the last stretch, which is no longer than the step, it changes by this.
        is_near = 0
        if mark[PART] > 1.0 and rise * value < 0.0 and fabs(value) <= room * fabs(rise):
            is_near = crossing(value, -value, mark[DIRECTION])
        if is_near == 1:
            mark[PART] = 1.0
            mark[AFTER] = -value
            part = 1.0
    return together(part, t, h, marks, counts)


def search(
    counts: Ints,
    tableau: Numbers,
    t: Number,
    h: Number,
    latest: Number,
    y: Floats,
    p: Floats,
    work: Floats,
    marks: Floats,
    calls: int,
) -> float:
    """Return the first event in a step as `first_event` does, apart from the end of a motion."""
    total = functions_of(counts)
    samples = work[values_at(counts) + total :]
    look(1.0, t, h, latest, y, p, work, tableau, counts)
    values = work[values_at(counts) :]
    for i in range(total):
        mark = marks[PER_EVENT * i :]
        mark[AFTER] = values[i]
        mark[PART] = NONE
        samples[i] = mark[BEFORE]
    sure = 0.0
    low = 0.0
    width = 1.0
    while low < 1.0:
        high = fmin(low + width, 1.0)
        for j in range(1, LAST):
            part = low + PLACES[j] * (high - low)
            peek(part, t, h, latest, y, p, work, tableau, counts, calls)
            take(work, samples, j, counts)
        if high < 1.0:
            peek(high, t, h, latest, y, p, work, tableau, counts, calls)
            take(work, samples, LAST, counts)
        else:
            take_end(samples, marks, counts)
        if high - low > SHORTEST and any_rough(samples, counts) == 1:
            width = 0.5 * (high - low)
            continue
        if any_near(high - low, h, samples, counts) == 1:
            part = closer(
                low, high, sure, t, h, latest, y, p, work, samples, marks, tableau, counts
            )
            if part < NONE:
                return part
            sure = high
            for i in range(total):
                marks[PER_EVENT * i + BEFORE] = samples[LAST * total + i]
        width = 2.0 * (high - low)
        low = high
        for i in range(total):
            samples[i] = samples[LAST * total + i]
    return NONE


def take_end(samples: Floats, marks: Floats, counts: Ints) -> None:
    """Take over the values at the end of the step, which are known."""
    total = functions_of(counts)
    for i in range(total):
        samples[LAST * total + i] = marks[PER_EVENT * i + AFTER]


def peek(
    part: float,
    t: Number,
    h: Number,
    latest: Number,
    y: Floats,
    p: Floats,
    work: Floats,
    tableau: Numbers,
    counts: Ints,
    calls: int,
) -> None:
    """Set the values of all functions at a place in the cheapest way."""
    if calls == 0:
        look(part, t, h, latest, y, p, work, tableau, counts)
    else:
        glance(part, t, h, y, p, work, counts)


def any_rough(samples: Floats, counts: Ints) -> int:
    """Tell whether the values of a function do not tell what it does between them."""
    total = functions_of(counts)
    for i in range(counts[EVENTS]):
        if is_rough(samples, i, total) == 1:
            return 1
    return 0


def any_near(length: float, h: Number, samples: Floats, counts: Ints) -> int:
    """Tell whether a function goes through zero, or near it and back, or has no value."""
    total = functions_of(counts)
    for i in range(counts[EVENTS]):
        for j in range(LAST + 1):
            value = samples[j * total + i]
            if value != value:
                return 1
            if j < LAST and crossing(value, samples[(j + 1) * total + i], 0.0) == 1:
                return 1
        if has_rate(i, samples, counts) == 1:
            for j in range(LAST):
                if may_dip(i, j, 4.0 * length * h, samples, counts) == 1:
                    return 1
        elif next_dip(samples, i, total, 0) > 0:
            return 1
    return 0
