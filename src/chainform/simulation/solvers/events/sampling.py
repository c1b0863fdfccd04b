"""How a function goes over a stretch of time, from its values at five places, as procedures.

The places are uneven: a function that goes up and down several times in the stretch has other
values at each of them, and is not taken for one that stays where it is. Five values are on a
parabola, but for a small share of their spread, or they do not tell what the function does in
between. Where they do, the polynomial through them tells where the function comes near zero.

Values stand in an array: those of one function at `first`, `first + stride` and so on.
"""

from __future__ import annotations

from math import cos, fabs, pi, prod

import numpy as np

from chainform.runtime.procedures import Floats, fmax, fmin

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
