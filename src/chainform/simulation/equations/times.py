"""From when to when a motion goes, and the times of its output, also those of a scenario."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, lcm
from sys import float_info
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import ReadError, RunError
from chainform.given import real_array

Array = NDArray[np.float64]
POINTS = 201
"""How many times are put out when none are given."""
MOST_TIMES = 50_000_000
"""The most times of output."""
MOST_NUMBERS = 10**9
"""The most numbers of output, 8 GB."""


def span_of(t: tuple[float, float] | float, t_eval: Any) -> tuple[tuple[float, float], Array]:
    """Return start and end, and the times of output, checked."""
    first, last = _ends(t)
    if not (np.isfinite(first) and np.isfinite(last) and first < last):
        raise RunError(
            f"the time cannot go from {first:g} to {last:g}",
            element="t",
            remedy="give start and end in s, the end after the start",
        )
    times = np.linspace(first, last, POINTS) if t_eval is None else _listed(t_eval)
    wrong = times.ndim != 1 or np.any(np.diff(times) < 0) or np.any(~np.isfinite(times))
    if wrong or (len(times) and (times[0] < first or times[-1] > last)):
        raise RunError(
            "the times of output must grow and lie between start and end",
            element="t_eval",
            remedy=f"choose them between {first:g} and {last:g}",
        )
    return (first, last), times


def later(t: float) -> float:
    """Return a time that differs by rounding only, but for sure is not before it."""
    return t + 4 * float_info.epsilon * abs(t)


def check_size(times: int, width: int, motions: int = 1) -> None:
    """Refuse output that would not fit in memory, before room is made for it."""
    if times * width * motions <= MOST_NUMBERS:
        return
    of_motions = f" of {motions} motions" if motions > 1 else ""
    raise RunError(
        f"{times} times{of_motions} with {width} numbers each are {times * width * motions:.3g}"
        " numbers of output",
        element="t_eval",
        remedy=f"take fewer, at most {MOST_NUMBERS:.0e} numbers"
        + (", or fewer motions at a time" if motions > 1 else ""),
    )


def _listed(t_eval: Any) -> Array:
    """Return times of output as they were given; RunError for too many of them."""
    count = len(t_eval) if hasattr(t_eval, "__len__") else 0
    if count > MOST_TIMES:
        raise RunError(
            f"there would be {count} times of output",
            element="t_eval",
            remedy=f"give at most {MOST_TIMES}",
        )
    return real_array("t_eval", t_eval)


def _ends(t: Any) -> tuple[float, float]:
    ends = real_array("t", t)
    if ends.ndim == 0:
        return 0.0, float(ends)
    if ends.shape != (2,):
        raise RunError(
            f"the times are a start and an end, not {ends.size} numbers",
            element="t",
            remedy="give start and end in s: t=(0, 2)",
        )
    return float(ends[0]), float(ends[1])


# --- times of a scenario ----------------------------------------------------------------------


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
