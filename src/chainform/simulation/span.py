"""From when to when a motion goes, and the times of its output."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.simulation.loops.places import EPSILON

Array = NDArray[np.float64]

POINTS = 201
"""How many times are put out when none are given."""
MOST_TIMES = 50_000_000
"""The most times of output."""
MOST_NUMBERS = 10**9
"""The most numbers of output, 8 GB."""


def span_of(t: tuple[float, float] | float, t_eval: Any) -> tuple[tuple[float, float], Array]:
    """Return start and end, and the times of output, checked."""
    where = "t"
    try:
        first, last = _ends(t)
        times, where = np.linspace(first, last, POINTS), "t_eval"
        if t_eval is not None:
            times = _listed(t_eval)
    except (TypeError, ValueError, OverflowError) as problem:
        remedies = {"t": "give start and end in s: t=(0, 2)", "t_eval": "give a list of times in s"}
        raise RunError(
            f"the times are not numbers: {problem}", element=where, remedy=remedies[where]
        ) from None
    if not (np.isfinite(first) and np.isfinite(last) and first < last):
        raise RunError(
            f"the time cannot go from {first:g} to {last:g}",
            element="t",
            remedy="give start and end in s, the end after the start",
        )
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
    if isinstance(t_eval, np.ma.MaskedArray):
        raise TypeError("some of them are masked")
    given = np.asarray(t_eval)
    if given.dtype.kind not in "iufO" and given.size:
        raise TypeError(f"they are of the type {given.dtype}")
    return given.astype(np.float64)


def _ends(t: Any) -> tuple[float, float]:
    if isinstance(t, str):
        raise TypeError(f"{t[:40]!r} is a text")
    if np.ndim(t) == 0:
        return 0.0, float(t)
    ends = [float(time) for time in t]
    if len(ends) != 2:
        raise ValueError(f"a start and an end are needed, and there are {len(ends)}")
    return ends[0], ends[1]
