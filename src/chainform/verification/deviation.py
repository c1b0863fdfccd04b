"""Two answers to one question: how far they are apart, and how far they may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.given import counted
from chainform.verification.certificate import Check
from chainform.verification.state_samples import Sample

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Deviation:
    """How far one output is off at several states, against its largest entry or 1."""

    output: str
    largest: float
    allowed: float
    """What is allowed where the largest deviation is."""
    states: int
    """At how many states it was compared."""
    fails: bool
    where: str = ""
    """The entry and the state of the worst deviation."""


def largest_of(values: Array) -> float:
    """Return the largest size of an entry."""
    return float(np.abs(values).max(initial=0.0))


def deviation_of(
    output: str, found: Array, expected: Array, bound: Array | float, certain: NDArray[np.bool_]
) -> Deviation:
    """Compare an output (n, ...) at states of which some are certain.

    `bound` is what each entry may be off. A value that is not finite is off without bound.
    """
    if found.shape != expected.shape:
        words = f"it has the shape {found.shape[1:]}, expected was {expected.shape[1:]}"
        return Deviation(output, np.inf, 0.0, len(expected), True, words)
    count = int(certain.sum())
    if not count or not expected[0].size:
        return Deviation(output, 0.0, 0.0, 0, False)
    a, b, c = (
        np.broadcast_to(array, expected.shape)[certain].reshape(count, -1)
        for array in (found, expected, np.asarray(bound, dtype=np.float64))
    )
    size = np.maximum(1.0, np.abs(b).max(axis=1, keepdims=True))
    with np.errstate(all="ignore"):
        gap = np.abs(a - b)
        gap[~np.isfinite(gap)] = np.inf
        excess = np.where(gap > 0, gap / c, 0.0)
        excess[np.isnan(excess)] = np.inf
    at = int(np.argmax(excess)) if excess.max() > 1 else int(np.argmax(gap / size))
    state, entry = divmod(at, a.shape[1])
    index = np.unravel_index(entry, expected.shape[1:]) if expected.ndim > 1 else ()
    place = f"[{', '.join(str(int(i) + 1) for i in index)}]" if index else ""
    where = f"{output}{place} is {a[state, entry]:.6g}, expected was {b[state, entry]:.6g}"
    largest, allowed = gap[state, entry] / size[state, 0], c[state, entry] / size[state, 0]
    largest = np.inf if np.isnan(largest) else largest
    return Deviation(output, float(largest), float(allowed), count, bool(excess.max() > 1), where)


def check_of(law: str, compared: str, deviations: list[Deviation], rest: str = "") -> Check:
    """Return one check of all outputs; `rest` are words on what was left out."""
    counted_ones = [one for one in deviations if one.states]
    if not counted_ones:
        reason = "no state was certain enough, or there are no entries"
        return Check(law, "nothing", rest or reason, None, 0)
    silent = ", ".join(one.output for one in deviations if not one.states)
    if silent:
        rest = f"{rest}; " * bool(rest)
        rest += f"no state was certain enough for {silent}, or it has no entries"
    failed = [one for one in counted_ones if one.fails]
    worst = max(failed or counted_ones, key=lambda one: one.largest)
    figure = f"off by {worst.largest:.1e} at most, of {worst.output}"
    figure = figure if worst.largest else "no difference"
    if failed:
        others = ", ".join(one.output for one in failed if one is not worst)
        figure = f"DIFFERENT: {worst.where}{f'; so are {others}' if others else ''}"
    if rest:
        figure += f"; {rest}"
    states = max(one.states for one in counted_ones)
    words = f"{compared}, {counted(states, 'state')}"
    return Check(law, words, figure, not failed, states, worst.largest, worst.allowed)


def deviations_of(sample: Sample, found: Mapping[str, Array]) -> list[Deviation]:
    """Compare all outputs with `model.evaluate`; both compute the same formulas.

    One that was not found is off without bound.
    """
    return [
        deviation_of(n, found[n], sample.evaluated[n], sample.bounds[n], sample.certain[n])
        if n in found
        else Deviation(n, np.inf, 0.0, len(sample), True, f"{n} is missing")
        for n in sample.evaluated
    ]
