"""How functions go over a stretch of a step, by values at five places; dips to zero: procedures.

The places are uneven: a function that goes up and down several times in the stretch has other
values at each of them, and is not taken for one that stays where it is. Five values are on a
parabola, but for a small share of their spread, or they do not tell what the function does in
between. Where they do, the polynomial through them tells where the function comes near zero.

Values stand in an array: those of one function at `first`, `first + stride` and so on. A dip goes
over zero and comes back within the stretch. Places of events are parts of the step.
"""

from __future__ import annotations

from math import cos, fabs, pi, prod

import numpy as np

from chainform.runtime import Floats, fmax, fmin
from chainform.simulation.machine.records import EventWatch, TimeStep, functions_of
from chainform.simulation.solvers.events.roots import crossing, lowest_of, value_at, zero_of

PLACES = (0.0, 0.16, 0.38, 0.73, 1.0)
"""Where the values are, as parts of the stretch."""
LAST = 4
REACH = 3.0
"""A function that is farther from zero than so many times its spread does not come there."""
ROUGH = 0.08
"""How far from a parabola values may be, as a share of their spread."""
NOISE = 1e-10
"""What may be rounding errors, as a share of the largest value."""
NEAR = 0.1
"""How near to zero a function that turns back there is looked at, as a share of its spread."""
DEEP = 0.4
"""How far below its values a function may be between them, as a share of their spread, and more."""
FINE = 24
"""In so many parts the polynomial is looked at, the first and the last ones the shortest."""
FINE_PLACES = tuple((1 - cos(pi * k / FINE)) / 2 for k in range(FINE + 1))


def _weights() -> tuple[float, ...]:
    """Return what each value counts for in the polynomial at each fine place (Lagrange)."""
    return tuple(
        prod((x - b) / (a - b) for b in PLACES if b != a) for x in FINE_PLACES for a in PLACES
    )


def _misfits() -> tuple[float, ...]:
    """Return what each value counts for in the distances from the parabola that fits best."""
    powers = np.vander(PLACES, 3)
    return tuple((np.eye(len(PLACES)) - powers @ np.linalg.pinv(powers)).ravel().tolist())


WEIGHTS = _weights()
MISFITS = _misfits()
OWNERS = tuple(float(sum(x >= place for place in PLACES[1:-1])) for x in FINE_PLACES)
"""The place at or before each fine place."""


def spread_of(values: Floats, first: int, stride: int) -> float:
    """Return how far apart five values are."""
    low = values[first]
    high = values[first]
    for j in range(1, LAST + 1):
        low = fmin(low, values[first + j * stride])
        high = fmax(high, values[first + j * stride])
    return high - low


def nearest_of(values: Floats, first: int, stride: int) -> float:
    """Return how near to zero five values come; 0 where they are on both sides of it."""
    nearest = fabs(values[first])
    for j in range(1, LAST + 1):
        value = values[first + j * stride]
        if value * values[first] <= 0.0:
            return 0.0
        nearest = fmin(nearest, fabs(value))
    return nearest


def is_away(values: Floats, first: int, stride: int) -> int:
    """Tell whether five values are on one side of zero, and far from it."""
    nearest = nearest_of(values, first, stride)
    if nearest > 0.0 and nearest > REACH * spread_of(values, first, stride):
        return 1
    return 0


def is_rough(values: Floats, first: int, stride: int) -> int:
    """Tell whether five values near zero do not tell what the function does between them."""
    if is_away(values, first, stride) == 1:
        return 0
    spread = spread_of(values, first, stride)
    largest = 0.0
    for j in range(LAST + 1):
        largest = fmax(largest, fabs(values[first + j * stride]))
    for j in range(LAST + 1):
        misfit = 0.0
        for k in range(LAST + 1):
            misfit += MISFITS[j * (LAST + 1) + k] * values[first + k * stride]
        if fabs(misfit) > ROUGH * spread + NOISE * largest:
            return 1
    return 0


def fine_value(values: Floats, first: int, stride: int, place: int) -> float:
    """Return the polynomial through five values at one of the fine places."""
    total = 0.0
    for j in range(LAST + 1):
        total += WEIGHTS[place * (LAST + 1) + j] * values[first + j * stride]
    return total


def next_dip(values: Floats, first: int, stride: int, after: int) -> int:
    """Return the next fine place where a function comes near zero and turns back; 0 without one.

    Between two values on different sides of zero there is nothing to look for: the function goes
    through zero there in any case.
    """
    spread = spread_of(values, first, stride)
    if nearest_of(values, first, stride) > DEEP * spread:
        return 0
    near = NEAR * spread
    before = fine_value(values, first, stride, after)
    here = fine_value(values, first, stride, after + 1)
    for m in range(after + 1, FINE):
        beyond = fine_value(values, first, stride, m + 1)
        owner = int(OWNERS[m])
        side = values[first + owner * stride]
        if side * values[first + (owner + 1) * stride] > 0.0:
            sign = side / fabs(side)
            if (
                sign * here <= near
                and sign * (here - before) <= 0.0
                and sign * (here - beyond) <= 0.0
            ):
                return m
        before = here
        here = beyond
    return 0


# --- dips -------------------------------------------------------------------------------------


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
