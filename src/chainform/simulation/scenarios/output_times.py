"""The times of output that a scenario asks for, for its own time and for any other."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, lcm

import numpy as np
from numpy.typing import NDArray

from chainform.errors import ReadError
from chainform.simulation.span import MOST_TIMES

Array = NDArray[np.float64]

EXACT = 2**53
"""Whole numbers up to this size are doubles."""


@dataclass(frozen=True)
class OutputTimes:
    """A time between outputs from the start on (s), or how many there are, or the times (s).

    One of them is given, or nothing: then `simulate` chooses.
    """

    every: Fraction | None = None
    points: int | None = None
    times: tuple[float, ...] | None = None

    def between(self, first: Fraction, last: Fraction) -> Array | None:
        """Return the times from start to end; ReadError where there would be too many."""
        if self.times is not None:
            return np.array(self.times)
        if self.points is not None:
            _check_count(self.points, 2, "points")
            return np.linspace(float(first), float(last), self.points)
        if self.every is None:
            return None
        if self.every <= 0:
            element, remedy = "output, every", "write every = 0.01"
            raise ReadError("it must be positive", element=element, remedy=remedy)
        count = floor((last - first) / self.every) + 1
        _check_count(count, 1, "every")
        return even_times(first, self.every, count)

    def within(self, first: Fraction, last: Fraction) -> Array | None:
        """Return the times for another start and end: of listed ones those between them."""
        times = self.between(first, last)
        if self.times is None or times is None:
            return times
        return times[(times >= float(first)) & (times <= float(last))]


def even_times(first: Fraction, every: Fraction, count: int) -> Array:
    """Return first + k every, each the double nearest to it.

    Over a common denominator all are whole numbers, mostly small enough to be doubles: then one
    division rounds each of them as it should be. With other numbers the ends are exact.
    """
    below = lcm(first.denominator, every.denominator)
    start, step = int(first * below), int(every * below)
    if max(below, abs(start) + (count - 1) * step) < EXACT:
        return (start + step * np.arange(count, dtype=np.float64)) / below
    last = float(first + (count - 1) * every)
    times = np.minimum(float(first) + float(every) * np.arange(count), last)
    times[-1] = last
    return times


def _check_count(count: int, least: int, field: str) -> None:
    if not least <= count <= MOST_TIMES:
        raise ReadError(
            f"there would be {count} times of output",
            element=f"output, {field}",
            remedy=f"let there be {least} to {MOST_TIMES}",
        )
