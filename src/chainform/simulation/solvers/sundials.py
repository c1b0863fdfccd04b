"""What CVODE and IDA have in common: stretches between jumps, output, events, errors.

Both come with the package scikit-sundae. They call the compiled equations back through Python,
some microseconds for each call.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.simulation.equations.times import later
from chainform.simulation.machine.failures import (
    ValuelessEventError,
    unresisted,
    unresisted_rate,
)
from chainform.simulation.machine.machine import Machine, addresses
from chainform.simulation.machine.method import Settings, Statistics
from chainform.simulation.machine.pauses import Pause, Throttle
from chainform.simulation.machine.records import EPSILON
from chainform.simulation.solvers.events.first_event import ROUNDING
from chainform.simulation.solvers.events.watcher import EventWatcher, SimultaneousEvents

Array = NDArray[np.float64]

MOST_STEPS = 10**9
UNBOUNDED = 1e30
"""A longest step that is none."""
SHORT, LONG = 0.01, 0.05
"""What takes less time than this (s) by the clock goes farther next time, or less far."""


def library(name: str) -> Any:
    """Return a module of scikit-sundae; RunError where it is not installed."""
    try:
        return import_module(f"sksundae.{name}")
    except ImportError as problem:
        raise RunError(
            f"{name} needs the package scikit-sundae",
            element="method",
            remedy="install it with: pip install 'chainform[stiff]', or choose another method",
        ) from problem


class Sundials(ABC):
    """One motion by a solver of SUNDIALS: its state, and how to go on with it.

    Where forces jump or a sample is taken the solver begins anew, since its steps look back.
    """

    def __init__(
        self,
        machine: Machine,
        settings: Settings,
        t: float,
        y: Array,
        p: Array,
        directions: Sequence[float] = (),
        breaks: Sequence[float] = (),
    ) -> None:
        self.machine, self.settings = machine, settings
        self.t, self.y, self.p = t, y, p
        self.watcher = EventWatcher(directions, settings.longest)
        self.statistics = Statistics()
        self._jumps = [time for time in breaks if time > t]
        self._start, self._ticks = t, 0
        self._clock = np.zeros(1)
        self._seen = np.zeros(max(1, len(directions)))
        self._clock_at, self._p_at = addresses(self._clock, p)
        self._latest = self._end = math.inf
        self._solver: Any = None
        """None before the first step, and where the past does not count any more."""
        self._reached, self._ahead = t, y
        """How far the solver is, and its whole state there; the motion may be behind it."""
        self._looked = t
        """How far events have been looked for."""
        self._meeting: SimultaneousEvents | None = None
        """The events that the motion comes to next."""
        self._stride = self._shortest = 0.0
        """How far (s) the solver goes at a time without events to look for; 0 at its start."""
        self._before = 0
        self._rows: list[Array] = []
        self._throttle = Throttle(None)

    @abstractmethod
    def begin(self) -> Any:
        """Return a solver at the present time and state."""

    @abstractmethod
    def state_of(self, whole: Array) -> Array:
        """Return the state in the unknowns of the solver."""

    @property
    def width(self) -> int:
        """The length of a row of output: a state, and efforts that are held."""
        return len(self.y) + len(self._held())

    def _held(self) -> Array:
        layout = self.machine.layout
        first = layout.place("tau")
        return self.p[first : first + layout.tail(is_held=self.settings.hold is not None)]

    @property
    def delivered(self) -> Array:
        """The rows of output of the stretch that is under way, or was the last one."""
        return np.array(self._rows).reshape(len(self._rows), self.width)

    def restart(self, y: Array, t: float | None = None) -> None:
        """Go on from another state, as after an impact, at the present time or at a later one."""
        self.y = np.array(y)
        self.t = self.t if t is None else t
        self._solver = None
        self.watcher.before = None

    def jump(self) -> None:
        """Go on with other inputs: what comes has no past."""
        self._solver = None

    def memory(self) -> dict[str, Array]:
        """Return what it takes, besides t, y and p, to go on later: samples taken, what it took."""
        counted = self.statistics
        counts = [self._ticks, counted.steps, counted.rejected, counted.evaluations]
        return {
            "start": np.array([self._start]),
            "counts": np.array(counts, dtype=np.float64),
            "marks": np.array(self._marks()),
        }

    def _marks(self) -> list[float]:
        """Return the values of event functions at the present state, as they are looked at."""
        self._begin_watch()
        marks = self.watcher.before or []
        # The solver may be ahead: what was seen there is seen again.
        return marks if self._looked == self.t else self._values(self.t, self.y)

    def recall(self, memory: Mapping[str, Array]) -> None:
        """Take up what another motion of the same method remembered."""
        self._start = float(memory["start"][0])
        self._ticks, *counts = (int(count) for count in memory["counts"])
        self.statistics.steps, self.statistics.rejected, self.statistics.evaluations = counts
        if len(memory["marks"]) == len(self.watcher.directions):
            self.watcher.before = memory["marks"].tolist()

    def advance(
        self, end: float, times: Array, pause: Pause | None = None
    ) -> tuple[Array, tuple[int, ...]]:
        """Integrate to `end`, or to events; return the states at `times`, and the events' numbers.

        Of `times` those after the events are left out. `pause` is called after each of them, and
        now and then in between.
        """
        rows: list[Array] = []
        found: tuple[int, ...] = ()
        self._rows, self._throttle, self._end = rows, Throttle(pause), end
        while True:
            self._pass_jumps()
            if self.t < end <= later(self.t):
                # A sample or a jump was there, but for rounding.
                self.t, self._solver = end, None
            while len(rows) < len(times) and times[len(rows)] <= later(self.t):
                rows.append(np.concatenate([self.y, self._held()]))
            if found or self.t >= end:
                break
            stop = self._next_stop(end)
            wanted = times[len(rows)] if len(rows) < len(times) else stop
            found = self._go(stop if later(wanted) >= stop else wanted, stop)
            self._throttle.pause(self.t)
        return self.delivered, found

    # --- from one stop to the next ----------------------------------------------------------

    def _next_stop(self, end: float) -> float:
        """Return the time that no step may go beyond: the end, a jump, the next sample."""
        stops = [end, *self._jumps[:1]]
        if self.settings.hold is not None:
            stops.append(self._start + self._ticks * self.settings.hold)
        return min(stops)

    def _pass_jumps(self) -> None:
        """Take samples and pass jumps that are due now; what comes after has no past."""
        hold = self.settings.hold
        while self._jumps and self._jumps[0] <= later(self.t):
            self._jumps.pop(0)
            self._solver = None
        if hold is not None and self._start + self._ticks * hold <= later(self.t):
            self.call("hold", self.t, self.y, self.p)
            self._ticks += 1
            self._solver = None

    def _go(self, wanted: float, stop: float) -> tuple[int, ...]:
        """Go to a time, or to events before it; return the numbers of these."""
        self._latest = stop - 4 * EPSILON * max(abs(stop), 1e-300)
        while True:
            if self._solver is None:
                self._begin_anew()
            self._look_out()
            if self._meeting is not None and self._meeting.t <= wanted:
                return self._meet(self._meeting)
            if self._reached >= wanted:
                self._place(wanted)
                return ()
            if self._throttle.is_due or not self.watcher.directions:
                self._place(self._reached)
            if self._throttle.is_due:
                self._throttle.pause(self.t)
            if self.watcher.directions or not self._stride:
                self._step(stop)
            else:
                self._stride_on(wanted, stop)

    def _begin_anew(self) -> None:
        """Let the solver begin at the present state, without a past."""
        self._before, self._stride = self.statistics.evaluations, 0.0
        self._solver, self._meeting = self.begin(), None
        self._reached = self._looked = self.t
        self._ahead = self.y
        self._begin_watch()

    def _begin_watch(self) -> None:
        """Look at events from a state on that the motion did not come to by itself."""
        if not self.watcher.directions or self.watcher.before is not None:
            return
        values, near = self._values(self.t, self.y), list[list[float]]()
        near.append(self._values(self.t + ROUNDING * self.t, self.y))
        for e in range(len(self.y)):
            moved = self.y.copy()
            moved[e] += ROUNDING * moved[e]
            near.append(self._values(self.t, moved))
        spread = np.abs(np.array(near) - np.array(values)).sum(axis=0)
        self.watcher.begin(self._values(self.t, self.y), spread.tolist())

    def _step(self, stop: float) -> None:
        """Let the solver make one step, but not beyond `stop`."""
        self._take(self._solver.step(stop, method="onestep", tstop=stop), stop)
        self._stride = self._shortest = self._reached - self.t

    def _stride_on(self, wanted: float, stop: float) -> None:
        """Let the solver make several steps, for a while by the clock.

        Where it comes to a halt has no influence on its steps.
        """
        began = perf_counter()
        to = min(wanted, self.t + self._stride)
        self._take(self._solver.step(to, tstop=stop), to)
        seconds = perf_counter() - began
        factor = 2.0 if seconds < SHORT else 0.5 if seconds > LONG else 1.0
        self._stride = max(factor * self._stride, self._shortest)

    def _take(self, found: Any, goal: float) -> None:
        """Take over how far the solver came."""
        self.statistics.evaluations = self._before + found.nfev
        if not found.success:
            raise self._failure(found)
        self._reached, self._ahead = float(found.t), found.y
        if later(self._reached) >= goal:
            self._reached = goal

    def _look_out(self) -> None:
        """Look for events up to where the solver is."""

        def look(t: float) -> list[float]:
            return self._values(t, self._whole(t))

        if self._looked < self._reached and self.watcher.directions:
            is_end = self._reached == self._end
            self._meeting = self.watcher.search(self._looked, self._reached, look, is_end=is_end)
        self._looked = self._reached

    def _meet(self, meeting: SimultaneousEvents) -> tuple[int, ...]:
        """Go to events, or to where a law of one has no value any more."""
        self._place(meeting.t)
        if meeting.missing is not None:
            raise ValuelessEventError(meeting.missing, self.t)
        self._looked, self._meeting = meeting.t, None
        return meeting.numbers

    def _whole(self, t: float) -> Array:
        """Return the whole state of the solver at a time within its last step."""
        return self._ahead if t == self._reached else self._solver.step(t).y

    def _values(self, t: float, whole: Array) -> list[float]:
        self.call("watch", t, whole, self._seen)
        return self._seen[: len(self.watcher.directions)].tolist()

    def _place(self, t: float) -> None:
        """Be at a time within the last step of the solver."""
        if t > self.t:
            self.y = self.machine.settled(t, self.state_of(self._whole(t)), self.p)
            self.t = t

    def _failure(self, found: Any) -> RunError:
        return RunError(
            f"{self.settings.method.name} gave up at t = {float(found.t):.9g} s: {found.message}",
            element="simulate",
            remedy="look at the state there, choose a larger rtol, or bound the step by largest",
        )

    # --- what the solvers call --------------------------------------------------------------

    def call(self, name: str, t: float, y: Array, into: Array) -> None:
        """Call a function of time and state in machine code; faults of Python come up here."""
        self._clock[0] = t
        call = self.machine.procedures[name]
        status = call(self._clock_at, y.ctypes.data, self._p_at, into.ctypes.data)
        self.machine.raise_pending()
        self.machine.check(status, t, into)

    def rate(self, t: float, y: Array, into: Array) -> None:
        """Set y'; times after a jump that comes next are as before it."""
        self.call("evaluate", min(t, self._latest), y, into)
        self.check(t, into)

    def check(self, t: float, values: Array) -> None:
        """Raise where something has no finite value, or where Ctrl-C came."""
        if self._throttle.is_due:
            # The motion stands where it was last; the solver is on its way from there.
            self._throttle.pause(self.t)
        if not math.isfinite(float(values.sum())):
            loose = unresisted_rate(self.machine.equations, t, self.y, self.p)
            if loose is not None:
                raise unresisted(self.machine.equations, loose, t)
            raise RunError(
                f"the motion has no finite value at t = {t:.9g} s",
                element="simulate",
                remedy="look at the state there: a singular position, or a force without a value",
            )

    def options(self) -> dict[str, Any]:
        """Return the options of both solvers."""
        settings = self.settings
        return {
            "rtol": max(settings.rtol, 1e-15),
            "atol": settings.atol,
            "max_num_steps": MOST_STEPS,
            "min_step": 16 * EPSILON * max(abs(self.t), 1e-3),
            "max_step": min(settings.longest, UNBOUNDED),
        }
