"""Functions that go over zero and come back within a stretch of a step, as procedures.

Places are parts of the step.
"""

from __future__ import annotations

from math import fabs

from chainform.runtime.procedures import Floats, Ints, Number, Numbers
from chainform.simulation.loops.course import FINE_PLACES, LAST, PLACES, next_dip
from chainform.simulation.loops.looking import crossing, functions_of, look, values_at
from chainform.simulation.loops.places import (
    AFTER,
    ARMED_AT,
    BEFORE,
    DIRECTION,
    EVENTS,
    PER_EVENT,
)
from chainform.simulation.loops.zeros import lowest_of, zero_of

TWICE = 2.0
"""A gap is believed to come down with no more than so many times its speed at two places."""


def has_rate(i: int, samples: Floats, counts: Ints) -> int:
    """Tell whether the rate of a function is among the functions: that of a gap that is open."""
    total = functions_of(counts)
    turn = counts[EVENTS] + i - counts[ARMED_AT]
    if i < counts[ARMED_AT] or turn >= total:
        return 0
    for j in range(LAST + 1):
        if samples[j * total + turn] != 1.0:
            return 1
    return 0


def may_dip(i: int, j: int, time: float, samples: Floats, counts: Ints) -> int:
    """Tell whether a gap may close and open again between two places.

    Where it could not even come down within a `time` at its speed at one of them it does not.
    """
    total = functions_of(counts)
    turn = counts[EVENTS] + i - counts[ARMED_AT]
    length = (PLACES[j + 1] - PLACES[j]) * time
    here = samples[j * total + i]
    there = samples[(j + 1) * total + i]
    down = samples[j * total + turn]
    up = samples[(j + 1) * total + turn]
    if not here > 0.0 or not there > 0.0 or not down < 0.0 or not up > 0.0:
        return 0
    if here > -down * length or there > up * length:
        return 0
    return 1


def dip_by_rate(
    i: int,
    low: float,
    high: float,
    sure: float,
    found: float,
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
    """Return the place of an event where a gap closes and opens again, if that is before `found`.

    A gap is least where its rate is zero.
    """
    total = functions_of(counts)
    turn = counts[EVENTS] + i - counts[ARMED_AT]
    first = found
    for j in range(LAST):
        here = low + PLACES[j] * (high - low)
        there = low + PLACES[j + 1] * (high - low)
        if here < first and may_dip(i, j, TWICE * (high - low) * h, samples, counts) == 1:
            down = samples[j * total + turn]
            up = samples[(j + 1) * total + turn]
            least = zero_of(here, there, down, up, turn, t, h, latest, y, p, work, tableau, counts)
            first = dip_place(
                i,
                least,
                low,
                high,
                sure,
                first,
                t,
                h,
                latest,
                y,
                p,
                work,
                marks,
                tableau,
                counts,
            )
    return first


def dip_by_shape(
    i: int,
    low: float,
    high: float,
    sure: float,
    found: float,
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
    """Return the place of an event where a function goes over zero and back, if before `found`.

    The polynomial through its values tells where it comes near zero.
    """
    total = functions_of(counts)
    first = found
    dip = next_dip(samples, i, total, 0)
    while dip > 0:
        here = low + FINE_PLACES[dip - 1] * (high - low)
        there = low + FINE_PLACES[dip + 1] * (high - low)
        if here >= first:
            return first
        side = samples[interval_of(FINE_PLACES[dip]) * total + i]
        least = lowest_of(
            here, there, side / fabs(side), i, t, h, latest, y, p, work, tableau, counts
        )
        first = dip_place(
            i,
            least,
            low,
            high,
            sure,
            first,
            t,
            h,
            latest,
            y,
            p,
            work,
            marks,
            tableau,
            counts,
        )
        dip = next_dip(samples, i, total, dip)
    return first


def interval_of(place: float) -> int:
    """Return the last of the five places before another one, but for the end."""
    j = 0
    while j < LAST - 1 and PLACES[j + 1] <= place:
        j += 1
    return j


def dip_place(
    i: int,
    least: float,
    low: float,
    high: float,
    sure: float,
    found: float,
    t: Number,
    h: Number,
    latest: Number,
    y: Floats,
    p: Floats,
    work: Floats,
    marks: Floats,
    tableau: Numbers,
    counts: Ints,
) -> float:
    """Return the place of an event on one side of the place where its function is least.

    Or `found`, if the function does not go over zero there, or that is before it.
    """
    if least > 1.0:
        return found
    mark = marks[PER_EVENT * i :]
    values = work[values_at(counts) :]
    look(least, t, h, latest, y, p, work, tableau, counts)
    below = values[i]
    j = interval_of((least - low) / (high - low))
    here = low + PLACES[j] * (high - low)
    look(here, t, h, latest, y, p, work, tableau, counts)
    left = values[i]
    if crossing(left, below, 0.0) == 0:
        here = sure
        left = mark[BEFORE]
    if crossing(left, below, 0.0) == 0:
        return found
    there = least
    right = below
    if crossing(left, right, mark[DIRECTION]) == 0:
        # Going over does not count, coming back does.
        here = least
        there = low + PLACES[j + 1] * (high - low)
        left = below
        look(there, t, h, latest, y, p, work, tableau, counts)
        right = values[i]
    if crossing(left, right, mark[DIRECTION]) == 0:
        return found
    place = zero_of(here, there, left, right, i, t, h, latest, y, p, work, tableau, counts)
    if place < found:
        mark[AFTER] = -left
        return place
    return found
