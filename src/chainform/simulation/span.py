"""From when to when a motion goes, and the times of its output."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.given import real_array
from chainform.simulation.loops.integration import EPSILON

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
    return t + 4 * EPSILON * abs(t)


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
