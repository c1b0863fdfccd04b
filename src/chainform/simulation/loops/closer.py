"""The first events in a stretch of a step where something comes near zero, as procedures.

They are located by exact values, those of shorter steps of the method from the same start. Places
are parts of the step.
"""

from __future__ import annotations

from math import fabs

from chainform.runtime.procedures import Floats, Ints, Number, Numbers, fmax, fmin
from chainform.simulation.loops.course import LAST, PLACES
from chainform.simulation.loops.dips import dip_by_rate, dip_by_shape, has_rate
from chainform.simulation.loops.looking import crossing, functions_of, look, values_at
from chainform.simulation.loops.places import (
    AFTER,
    BEFORE,
    DIRECTION,
    EPSILON,
    EVENTS,
    FOUND,
    PART,
    PER_EVENT,
)
from chainform.simulation.loops.zeros import zero_near

NONE = 2.0
"""The place of an event that is not in the step."""
AT_ONCE = 16.0
"""Events that are not so many rounding errors of the time apart happen at once."""
HALVINGS = 60


def take(work: Floats, samples: Floats, place: int, counts: Ints) -> None:
    """Take the values of all functions over as those at one of the five places."""
    total = functions_of(counts)
    values = work[values_at(counts) :]
    for i in range(total):
        samples[place * total + i] = values[i]


def closer(
    low: float,
    high: float,
    sure: float,
    t: Number,
    h: Number,
    latest: Number,
    y: Floats,
    p: Floats,
    work: Floats,
    samples: Floats,
    marks: Floats,
    tableau: Numbers,
    counts: Ints,
) -> float:
    """Return the place of the first event in a stretch, as `first_event` does.

    The values are nearly right, but for those at `sure`, the last place before, which are exact.
    Those at the end of the stretch are exact from here on. What is exact beyond the first event may
    be far from anything: a stop that is struck there changes all that comes after. So one goes from
    place to place.
    """
    total = functions_of(counts)
    if low <= sure and without_value(samples, counts) >= 0:
        counts[FOUND] = without_value(samples, counts)
        return -1.0 - low
    if high < 1.0:
        look(high, t, h, latest, y, p, work, tableau, counts)
        take(work, samples, LAST, counts)
    limit = high
    missing = -1
    for j in range(1, LAST + 1):
        if missing < 0 and without_value(samples[j * total :], counts) >= 0:
            place = low + PLACES[j] * (high - low)
            look(place, t, h, latest, y, p, work, tableau, counts)
            missing = without_value(work[values_at(counts) :], counts)
            if missing >= 0:
                good = low + PLACES[j - 1] * (high - low)
                limit = edge_of(good, place, t, h, latest, y, p, work, tableau, counts)
            take(work, samples, j, counts)
        elif missing >= 0:
            take(work, samples, j, counts)
    best = NONE
    for i in range(counts[EVENTS]):
        place = event_place(
            i, low, high, limit, sure, t, h, latest, y, p, work, samples, marks, tableau, counts
        )
        marks[PER_EVENT * i + PART] = place
        best = fmin(best, place)
    if best > 1.0 and missing >= 0:
        counts[FOUND] = missing
        return -1.0 - limit
    return together(best, t, h, marks, counts)


def without_value(values: Floats, counts: Ints) -> int:
    """Return the first event whose function has no value, or -1."""
    for i in range(counts[EVENTS]):
        if values[i] != values[i]:
            return i
    return -1


def edge_of(
    first: float,
    last: float,
    t: Number,
    h: Number,
    latest: Number,
    y: Floats,
    p: Floats,
    work: Floats,
    tableau: Numbers,
    counts: Ints,
) -> float:
    """Return the last place at which all functions have values, and set them there."""
    good = first
    bad = last
    values = work[values_at(counts) :]
    for _ in range(HALVINGS):
        place = 0.5 * (good + bad)
        look(place, t, h, latest, y, p, work, tableau, counts)
        if without_value(values, counts) < 0:
            good = place
        else:
            bad = place
    look(good, t, h, latest, y, p, work, tableau, counts)
    return good


def together(best: float, t: Number, h: Number, marks: Floats, counts: Ints) -> float:
    """Keep the events that happen at once with the first one; return the place where all have."""
    if best > 1.0:
        return NONE
    room = AT_ONCE * EPSILON * fmax(fabs(t), fabs(h)) / fabs(h)
    place = best
    counts[FOUND] = -1
    for i in range(counts[EVENTS]):
        mark = marks[PER_EVENT * i :]
        if mark[PART] <= best + room and mark[PART] <= 1.0:
            place = fmax(place, mark[PART])
            if counts[FOUND] < 0:
                counts[FOUND] = i
        else:
            mark[PART] = NONE
    return place


def event_place(
    i: int,
    low: float,
    high: float,
    limit: float,
    sure: float,
    t: Number,
    h: Number,
    latest: Number,
    y: Floats,
    p: Floats,
    work: Floats,
    samples: Floats,
    marks: Floats,
    tableau: Numbers,
    counts: Ints,
) -> float:
    """Return the first place in a stretch at which an event happens; 2 without one.

    The sign that its function has from there on is noted. Beyond `limit` there are no values.
    """
    found = crossing_place(
        i, low, high, limit, sure, t, h, latest, y, p, work, samples, marks, tableau, counts
    )
    if limit < high:
        return found
    if has_rate(i, samples, counts) == 1:
        return dip_by_rate(
            i, low, high, sure, found, t, h, latest, y, p, work, samples, marks, tableau, counts
        )
    return dip_by_shape(
        i, low, high, sure, found, t, h, latest, y, p, work, samples, marks, tableau, counts
    )


def crossing_place(
    i: int,
    low: float,
    high: float,
    limit: float,
    sure: float,
    t: Number,
    h: Number,
    latest: Number,
    y: Floats,
    p: Floats,
    work: Floats,
    samples: Floats,
    marks: Floats,
    tableau: Numbers,
    counts: Ints,
) -> float:
    """Return the first place at which a function is through zero, as its values tell; 2 if none."""
    total = functions_of(counts)
    mark = marks[PER_EVENT * i :]
    values = work[values_at(counts) :]
    here = sure
    left = mark[BEFORE]
    earlier = sure
    for j in range(LAST + 1):
        there = fmin(low + PLACES[j] * (high - low), limit)
        right = samples[j * total + i]
        if there > here:
            if crossing(left, right, mark[DIRECTION]) == 1:
                mark[AFTER] = -left
                found = zero_near(
                    earlier,
                    here,
                    there,
                    left,
                    right,
                    i,
                    t,
                    h,
                    latest,
                    y,
                    p,
                    work,
                    tableau,
                    counts,
                )
                if found <= 1.0:
                    return found
                # It is not through yet, or has a pole there.
                look(there, t, h, latest, y, p, work, tableau, counts)
                right = values[i]
            earlier = here
            here = there
            left = right
    return NONE
