"""Functions that go over zero and come back within a stretch of a step, as procedures.

Places are parts of the step.
"""

from __future__ import annotations

from math import fabs

from chainform.simulation.machine.records import EventWatch, TimeStep, functions_of
from chainform.simulation.solvers.events.evaluate import crossing, lowest_of, value_at, zero_of
from chainform.simulation.solvers.events.sampling import (
    FINE_PLACES,
    LAST,
    PLACES,
    is_rough,
    next_dip,
)

TWICE = 2.0
"""A gap is believed to come down with no more than so many times its speed at two places."""


def place_of(share: float, watch: EventWatch) -> float:
    """Return the place that stands after a share of the stretch."""
    return watch.low + share * (watch.high - watch.low)


def rate_of(i: int, watch: EventWatch) -> int:
    """Return which of all functions is the rate of one that ends a state of affairs."""
    return watch.count + i - watch.armed_from


def has_rate(i: int, watch: EventWatch) -> int:
    """Tell whether the rate of a function is among the functions: that of a gap that is open."""
    total = functions_of(watch)
    turn = rate_of(i, watch)
    if i < watch.armed_from or turn >= total:
        return 0
    for j in range(LAST + 1):
        if watch.samples[j * total + turn] != 1.0:
            return 1
    return 0


def may_dip(i: int, j: int, time: float, watch: EventWatch) -> int:
    """Tell whether a gap may close and open again between two places.

    Where it could not even come down within a `time` at its speed at one of them it does not.
    """
    total = functions_of(watch)
    turn = rate_of(i, watch)
    length = (PLACES[j + 1] - PLACES[j]) * time
    here = watch.samples[j * total + i]
    there = watch.samples[(j + 1) * total + i]
    down = watch.samples[j * total + turn]
    up = watch.samples[(j + 1) * total + turn]
    if not here > 0.0 or not there > 0.0 or not down < 0.0 or not up > 0.0:
        return 0
    if here > -down * length or there > up * length:
        return 0
    return 1


def dip_by_rate(i: int, found: float, step: TimeStep) -> float:
    """Return the place of an event where a gap closes and opens again, if that is before `found`.

    A gap is least where its rate is zero.
    """
    watch = step.watch
    total = functions_of(watch)
    turn = rate_of(i, watch)
    first = found
    for j in range(LAST):
        here = place_of(PLACES[j], watch)
        there = place_of(PLACES[j + 1], watch)
        if here < first and may_dip(i, j, TWICE * (watch.high - watch.low) * step.h, watch) == 1:
            down = watch.samples[j * total + turn]
            up = watch.samples[(j + 1) * total + turn]
            least = zero_of(here, there, down, up, turn, step)
            first = dip_place(i, least, first, step)
    return first


def dip_by_shape(i: int, found: float, step: TimeStep) -> float:
    """Return the place of an event where a function goes over zero and back, if before `found`.

    The polynomial through its values tells where it comes near zero.
    """
    watch = step.watch
    total = functions_of(watch)
    first = found
    dip = next_dip(watch.samples, i, total, 0)
    while dip > 0:
        here = place_of(FINE_PLACES[dip - 1], watch)
        there = place_of(FINE_PLACES[dip + 1], watch)
        if here >= first:
            return first
        side = watch.samples[interval_of(FINE_PLACES[dip]) * total + i]
        least = lowest_of(here, there, side / fabs(side), i, step)
        first = dip_place(i, least, first, step)
        dip = next_dip(watch.samples, i, total, dip)
    return first


def interval_of(place: float) -> int:
    """Return the last of the five places before another one, but for the end."""
    j = 0
    while j < LAST - 1 and PLACES[j + 1] <= place:
        j += 1
    return j


def dip_place(i: int, least: float, found: float, step: TimeStep) -> float:
    """Return the place of an event on one side of the place where its function is least.

    Or `found`, if the function does not go over zero there, or that is before it.
    """
    if least > 1.0:
        return found
    watch = step.watch
    mark = watch.marks[i]
    below = value_at(least, i, step)
    j = interval_of((least - watch.low) / (watch.high - watch.low))
    here = place_of(PLACES[j], watch)
    left = value_at(here, i, step)
    if crossing(left, below, 0.0) == 0:
        here = watch.sure
        left = mark.before
    if crossing(left, below, 0.0) == 0:
        return found
    there = least
    right = below
    if crossing(left, right, mark.direction) == 0:
        # Going over does not count, coming back does.
        here = least
        there = place_of(PLACES[j + 1], watch)
        left = below
        right = value_at(there, i, step)
    if crossing(left, right, mark.direction) == 0:
        return found
    place = zero_of(here, there, left, right, i, step)
    if place < found:
        mark.after = -left
        return place
    return found


def any_rough(watch: EventWatch) -> int:
    """Tell whether the values of a function do not tell what it does between them."""
    total = functions_of(watch)
    for i in range(watch.count):
        if is_rough(watch.samples, i, total) == 1:
            return 1
    return 0


def any_near(time: float, watch: EventWatch) -> int:
    """Tell whether a function goes through zero, or near it and back, or has no value.

    `time` is the length of the stretch (s).
    """
    total = functions_of(watch)
    for i in range(watch.count):
        for j in range(LAST + 1):
            value = watch.samples[j * total + i]
            if value != value:
                return 1
            if j < LAST and crossing(value, watch.samples[(j + 1) * total + i], 0.0) == 1:
                return 1
        if has_rate(i, watch) == 1:
            for j in range(LAST):
                if may_dip(i, j, 4.0 * time, watch) == 1:
                    return 1
        elif next_dip(watch.samples, i, total, 0) > 0:
            return 1
    return 0
