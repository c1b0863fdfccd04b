"""Events of two runs: the k-th of a name belongs to the k-th of the same name."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from chainform.simulation import EventRecord, Impact, Run

Array = NDArray[np.float64]
FAR = 0.005
"""An event that is elsewhere by more than this share of the motion is another one."""


def _by_name(run: Run) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for event in run.events:
        found.setdefault(event.name, []).append(event.t)
    return found


def paired(run: Run, other: Run) -> Iterator[tuple[EventRecord, EventRecord | None]]:
    """Yield each event of a run with that of another run; with None where it is not there."""
    there: dict[str, deque[EventRecord]] = {}
    for event in other.events:
        there.setdefault(event.name, deque()).append(event)
    for event in run.events:
        same = there.get(event.name)
        yield event, same.popleft() if same else None


def event_pairs(run: Run, other: Run) -> Sequence[tuple[float, float] | None]:
    """Return the times of the same events; None where the other run has none."""
    return [None if b is None else (a.t, b.t) for a, b in paired(run, other)]


def event_parts(event: EventRecord) -> tuple[Array, Array, Array, Array]:
    """Return coordinates, rates, impulses and the loss at an event."""
    if not isinstance(event, Impact):
        return event.q, event.qd, np.zeros(0), np.zeros(0)
    pushes = np.array([event.impulses[name] for name in sorted(event.impulses)])
    return event.q, np.concatenate([event.qd, event.qd_after]), pushes, np.array([event.loss])


def first_difference(run: Run, other: Run) -> float:
    """Return the time of the first event that one of two runs has more than the other.

    One that is elsewhere by more than a small share of the motion is another event.
    """
    a, b = _by_name(run), _by_name(other)
    far = FAR * (run.about.span[1] - run.about.span[0])
    first = np.inf
    for name in {*a, *b}:
        mine, theirs = a.get(name, []), b.get(name, [])
        longer, count = max(mine, theirs, key=len), min(len(mine), len(theirs))
        moved = [min(pair) for pair in zip(mine, theirs, strict=False) if abs(np.diff(pair)) > far]
        first = min([first, *longer[count : count + 1], *moved])
    return float(first)
