"""The outcome of many motions, whichever way they were run, and their progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock, get_ident
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.machine.method import Statistics
from chainform.simulation.machine.pauses import InterruptFlag

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
Truth = NDArray[np.bool_]


@dataclass(frozen=True)
class BatchOutcome:
    """States (b, times, size) of all motions, when each ended, by which event, and what it took.

    Where a motion did not come to a time there is no number. `interrupted` are motions that Ctrl-C
    stopped before their end; `problems` tells by number what went wrong with others.
    """

    states: Array
    ends: Array
    events: Whole
    interrupted: Truth
    statistics: Statistics
    problems: Mapping[int, str] = field(default_factory=dict[int, str])

    def among(self, count: int, places: Sequence[int], problems: Mapping[int, str]) -> BatchOutcome:
        """Return these motions at their places among `count`; the others had problems before."""
        chosen = np.asarray(places, dtype=np.intp)
        states = np.full((count, *self.states.shape[1:]), np.nan)
        ends, events = np.full(count, np.nan), np.full(count, -1, dtype=np.int64)
        interrupted = np.zeros(count, dtype=np.bool_)
        states[chosen], ends[chosen], events[chosen] = self.states, self.ends, self.events
        interrupted[chosen] = self.interrupted
        own = {int(chosen[i]): text for i, text in self.problems.items()}
        return replace(
            self,
            states=states,
            ends=ends,
            events=events,
            interrupted=interrupted,
            problems={**problems, **own},
        )


def nothing(times: int, size: int) -> BatchOutcome:
    """Return what comes out of no motions at all."""
    states, truths = np.zeros((0, times, size)), np.zeros(0, dtype=np.bool_)
    return BatchOutcome(states, np.zeros(0), np.zeros(0, dtype=np.int64), truths, Statistics())


class BatchProgress:
    """Counts motions, and tells whether to go on; made in the thread that waits for them all."""

    def __init__(
        self, interrupt: InterruptFlag | None = None, report: Callable[[int], None] | None = None
    ) -> None:
        self.interrupt = interrupt or InterruptFlag()
        self._report = report
        self._lock = Lock()
        self._thread = get_ident()
        self._began = 0.0
        self.done = 0

    def begin(self) -> None:
        """Take note that all is ready, and the motions begin now."""
        self._began = perf_counter()
        self.note(0)

    def end(self) -> float:
        """Take note that all are done; return the seconds that it took."""
        self.note(0)
        return perf_counter() - self._began

    @property
    def is_over(self) -> bool:
        """Whether Ctrl-C came, so that nothing more starts."""
        return self.interrupt.came

    def note(self, count: int) -> None:
        """Count motions that are done; progress is reported in the thread that waits."""
        with self._lock:
            self.done += count
            done = self.done
        if self._report is not None and get_ident() == self._thread:
            self._report(done)
