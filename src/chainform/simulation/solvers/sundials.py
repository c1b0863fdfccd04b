"""What CVODE and IDA have in common: stretches between jumps, output, events, errors.

Both come with the package scikit-sundae. They call the compiled equations back through Python,
some microseconds for each call.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.simulation.loops.places import EPSILON
from chainform.simulation.machines.machine import Machine
from chainform.simulation.solver import Pause, Settings, Statistics

Array = NDArray[np.float64]

EVENT = 2
"""What the solvers return at an event."""
MOST_STEPS = 10**9
UNBOUNDED = 1e30
"""A longest step that is none."""


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
        self.directions = directions
        self.statistics = Statistics()
        self._jumps = [time for time in breaks if time > t]
        self._start, self._ticks = t, 0
        self._clock = np.zeros(1)
        self._latest = math.inf
        self._solver: Any = None
        """None before the first step, and where the past does not count any more."""
        self._before = 0
        self._rows: list[Array] = []

    @abstractmethod
    def begin(self) -> Any:
        """Return a solver at the present time and state."""

    @abstractmethod
    def state_of(self, found: Any) -> Array:
        """Return the state in what the solver found."""

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

    def restart(self, y: Array) -> None:
        """Go on from another state at the present time, as after an impact."""
        self.y = np.array(y)
        self._solver = None

    def memory(self) -> dict[str, Array]:
        """Return what it takes, besides t, y and p, to go on later: samples taken, what it took."""
        counted = self.statistics
        counts = [self._ticks, counted.steps, counted.rejected, counted.evaluations]
        return {"start": np.array([self._start]), "counts": np.array(counts, dtype=np.float64)}

    def recall(self, memory: Mapping[str, Array]) -> None:
        """Take up what another motion of the same method remembered."""
        self._start = float(memory["start"][0])
        self._ticks, *counts = (int(count) for count in memory["counts"])
        self.statistics.steps, self.statistics.rejected, self.statistics.evaluations = counts

    def advance(
        self, end: float, times: Array, pause: Pause | None = None
    ) -> tuple[Array, int | None]:
        """Integrate to `end`, or to an event; return the states at `times`, and the event's number.

        Of `times` those after the event are left out. `pause` is called after each of them.
        """
        rows = self._rows = []
        found: int | None = None
        while True:
            self._pass_jumps()
            while len(rows) < len(times) and times[len(rows)] <= self.t:
                rows.append(np.concatenate([self.y, self._held()]))
            if found is not None or self.t >= end:
                break
            stop = self._next_stop(end)
            wanted = min(stop, times[len(rows)]) if len(rows) < len(times) else stop
            found = self._go(wanted, stop)
            if pause is not None:
                pause(self.t)
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
        while self._jumps and self._jumps[0] <= self.t:
            self._jumps.pop(0)
            self._solver = None
        if hold is not None and self._start + self._ticks * hold <= self.t:
            self.call("hold", self.t, self.y, self.p)
            self._ticks += 1
            self._solver = None

    def _go(self, wanted: float, stop: float) -> int | None:
        """Go to a time, or to an event before it; return the number of that event."""
        self._latest = stop - 4 * EPSILON * max(abs(stop), 1e-300)
        if self._solver is None:
            self._before = self.statistics.evaluations
            self._solver = self.begin()
        found = self._solver.step(wanted, tstop=stop)
        self.statistics.evaluations = self._before + found.nfev
        if not found.success:
            raise self._trouble(found)
        self.t = float(found.t)
        self.y = self.machine.settled(self.t, self.state_of(found), self.p)
        if found.status != EVENT:
            self.t = wanted
            return None
        return int(np.flatnonzero(found.i_events[-1])[0])

    def _trouble(self, found: Any) -> RunError:
        return RunError(
            f"{self.settings.solver.name} gave up at t = {float(found.t):.9g} s: {found.message}",
            element="simulate",
            remedy="look at the state there, choose a larger rtol, or bound the step by largest",
        )

    # --- what the solvers call --------------------------------------------------------------

    def call(self, name: str, t: float, y: Array, into: Array) -> None:
        """Call a function of time and state in machine code; faults of Python come up here."""
        self._clock[0] = t
        self.machine.procedures[name](
            self._clock.ctypes.data, y.ctypes.data, self.p.ctypes.data, into.ctypes.data
        )
        self.machine.raise_pending()

    def rate(self, t: float, y: Array, into: Array) -> None:
        """Set y'; times after a jump that comes next are as before it."""
        self.call("evaluate", min(t, self._latest), y, into)
        self.check(t, into)

    def check(self, t: float, values: Array) -> None:
        """Raise where something has no finite value."""
        if not math.isfinite(float(values.sum())):
            raise RunError(
                f"the motion has no finite value at t = {t:.9g} s",
                element="simulate",
                remedy="look at the state there: a singular position, or a force without a value",
            )

    def options(self) -> dict[str, Any]:
        """Return what both solvers are told."""
        settings = self.settings
        return {
            "rtol": max(settings.rtol, 1e-15),
            "atol": settings.atol,
            "max_num_steps": MOST_STEPS,
            "min_step": 16 * EPSILON * max(abs(self.t), 1e-3),
            "max_step": settings.largest or UNBOUNDED,
        }

    def watched(self, watch: Callable[..., None]) -> dict[str, Any]:
        """Return what the solvers are told about events."""
        if not self.directions:
            return {}
        described: Any = watch
        described.direction = [int(direction) for direction in self.directions]
        described.terminal = [True] * len(self.directions)
        return {"eventsfn": watch, "num_events": len(self.directions)}
