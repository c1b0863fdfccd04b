"""What came out of many motions, whichever way they were run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.solver import Statistics

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
Truth = NDArray[np.bool_]


@dataclass(frozen=True)
class Found:
    """States (b, times, size) of all motions, when each ended, by which event, and what it took.

    Where a motion did not come to a time there is no number. `interrupted` are motions that Ctrl-C
    kept from their end; `problems` tells by number what went wrong with others.
    """

    states: Array
    ends: Array
    events: Whole
    interrupted: Truth
    statistics: Statistics
    problems: Mapping[int, str] = field(default_factory=dict[int, str])

    def among(self, count: int, places: Sequence[int], problems: Mapping[int, str]) -> Found:
        """Return these motions at their places among `count`; the others had problems before."""
        chosen = np.asarray(places, dtype=np.intp)
        states = np.full((count, *self.states.shape[1:]), np.nan)
        ends, events = np.full(count, np.nan), np.full(count, -1, dtype=np.int64)
        interrupted = np.zeros(count, dtype=np.bool_)
        states[chosen], ends[chosen], events[chosen] = self.states, self.ends, self.events
        interrupted[chosen] = self.interrupted
        told = {int(chosen[i]): text for i, text in self.problems.items()}
        return replace(
            self,
            states=states,
            ends=ends,
            events=events,
            interrupted=interrupted,
            problems={**problems, **told},
        )


def nothing(times: int, size: int) -> Found:
    """Return what comes out of no motions at all."""
    states, truths = np.zeros((0, times, size)), np.zeros(0, dtype=np.bool_)
    return Found(states, np.zeros(0), np.zeros(0, dtype=np.int64), truths, Statistics())
