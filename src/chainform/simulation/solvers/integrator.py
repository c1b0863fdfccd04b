"""Drives a machine from one time to another: arrays, pauses, events, errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.machine.failures import (
    ValuelessEventError,
    cause,
    runaway,
    unresisted,
)
from chainform.simulation.machine.machine import Machine
from chainform.simulation.machine.method import Settings, Statistics, Tableau
from chainform.simulation.machine.pauses import Pause
from chainform.simulation.machine.records import (
    EVENT,
    NO_MASS,
    NO_VALUE,
    PAUSED,
    REACHED,
    UNRESISTED,
    EventMark,
    Integration,
    Marks,
    room_for,
)

Array = NDArray[np.float64]

FIRST_PAUSE = 256
"""After so many steps the loop comes back first, to show progress and to hear Ctrl-C."""
SHORT, LONG = 0.02, 0.1
"""Between pauses there are more steps next time if they took less than this (s), or fewer."""

SAME = 4.0
"""A function that is not so many times farther from zero than at its event is still there."""

TOO_MANY, PATIENCE = 1e9, 20
"""A motion that has so many steps before it at so many pauses in a row is given up."""


@dataclass
class Integrator:
    """One motion by a compiled loop: its state, and how to go on with it."""

    machine: Machine
    settings: Settings
    t: float
    y: Array
    p: Array
    directions: Sequence[float] = ()
    breaks: Sequence[float] = ()
    statistics: Statistics = field(default_factory=Statistics)

    def __post_init__(self) -> None:
        settings, equations = self.settings, self.machine.equations
        tableau = settings.method.tableau
        assert tableau is not None
        rows, functions = settings.method.room(equations), self._watched()
        self.work = np.zeros(room_for(len(self.y), rows, functions))
        self.marks = Marks(EventMark, max(1, functions), self.machine.lanes)
        for mark, direction in zip(self.marks, self.directions, strict=False):
            mark.direction = direction
        self.integration = Integration(lanes=self.machine.lanes)
        self._set_step(tableau, rows)
        self._set_control(tableau)
        self._set_times()
        self._is_fresh = True
        self._is_later = False
        """Whether the motion was put at a later time, so that events lie between."""
        self._met = np.zeros(0, dtype=np.intp)
        """The events at which the motion stands."""
        self._crawling = 0
        """At how many pauses in a row the steps were too short."""
        self._out = np.zeros((0, self.width))

    def _watched(self) -> int:
        """Return how many functions are watched: of events, and rates of gaps."""
        return len(self.directions) + self.machine.equations.row_counts.touching

    def _set_step(self, tableau: Tableau, rows: int) -> None:
        step, equations = self.integration.step, self.machine.equations
        step.size, step.coordinates, step.rates = len(self.y), equations.nq, equations.nv
        step.stages, step.rows, step.tableau = tableau.stages, rows, tableau.array()
        watch, row_counts = step.watch, equations.row_counts
        watch.count, watch.rates = len(self.directions), row_counts.touching
        watch.armed_from = len(self.directions) - row_counts.watched
        watch.armed = row_counts.touching + row_counts.tangential + row_counts.sticking
        watch.marks = self.marks

    def _set_control(self, tableau: Tableau) -> None:
        settings, equations = self.settings, self.machine.equations
        control = self.integration.control
        control.rtol, control.atol = settings.rtol, settings.atol
        control.longest, control.exponent = settings.longest, -1 / tableau.order
        control.length = settings.step or settings.first or 0.0
        control.is_fixed = settings.step is not None
        control.has_second = tableau.second_error is not None
        control.is_projected = bool(equations.rows) and self.machine.projects
        control.sums = equations.balance_states

    def _set_times(self) -> None:
        integration, output, hold = self.integration, self.integration.output, self.settings.hold
        integration.time = integration.start = self.t
        integration.hold, integration.limit = hold or 0.0, FIRST_PAUSE
        integration.breaks = np.array([*self.breaks, np.inf], dtype=np.float64)
        integration.break_count = len(self.breaks)
        integration.work = self.work
        output.tail = self.machine.layout.tail(is_held=hold is not None)
        output.tail_from = self.machine.layout.place("tau")

    @property
    def width(self) -> int:
        """The length of a row of output: a state, and efforts that are held."""
        return len(self.y) + self.integration.output.tail

    @property
    def delivered(self) -> Array:
        """The rows of output of the stretch that is under way, or was the last one."""
        return self._out[: self.integration.output.next]

    def restart(self, y: Array, t: float | None = None) -> None:
        """Go on from another state at the present time, as after an impact, or at a later one.

        The equations may be others from now on, so that the step is chosen anew.
        """
        self.y[:] = y
        if t is not None:
            self.t = self.integration.time = t
            self.integration.lost = 0.0
            self._is_later = True
        self._is_fresh = True
        if self.settings.step is None:
            self.integration.control.length = 0.0

    def jump(self) -> None:
        """Go on with other inputs; each stretch begins with a new first stage anyway."""

    def memory(self) -> dict[str, Array]:
        """Return what it takes, besides t, y and p, to go on later as if nothing had happened."""
        if self._is_fresh:
            self._mark_events()
        now = self.integration
        return {
            "control": np.array([now.control.length, now.start, now.lost]),
            "counts": np.array(
                [now.ticks, now.accepted, now.rejected, now.calls], dtype=np.float64
            ),
            "marks": self._all_marks().copy(),
        }

    def recall(self, memory: Mapping[str, Array]) -> None:
        """Take up what another motion of the same method remembered."""
        now = self.integration
        now.control.length, now.start, now.lost = memory["control"].tolist()
        now.ticks, now.accepted, now.rejected, now.calls = memory["counts"].astype(int).tolist()
        if len(memory["marks"]) == len(self._all_marks()):
            self._all_marks()[:] = memory["marks"]
            self._is_fresh = False
        self._note_progress()

    def advance(
        self, end: float, times: Array, pause: Pause | None = None
    ) -> tuple[Array, tuple[int, ...]]:
        """Integrate to `end`, or to events; return the states at `times`, and the events' numbers.

        Of `times` those after the events are left out. `pause` is called now and then.
        """
        out = self._out = np.zeros((len(times) + 1, self.width))
        output = self.integration.output
        self.integration.end = end
        output.times, output.rows = np.ascontiguousarray(times, dtype=np.float64), out.ravel()
        output.count, output.next = len(times), 0
        if self._is_fresh:
            self._mark_events()
        try:
            found = self._loop(pause)
        finally:
            self._note_progress()
        return self.delivered, found

    def _note_progress(self) -> None:
        now = self.integration
        self.t = now.time
        self.statistics.steps = now.accepted
        self.statistics.rejected = now.rejected
        self.statistics.evaluations = now.calls

    def _run(self, procedure: str) -> int:
        """Call a procedure of the loop for the motion as it is now."""
        step = self.integration.step
        step.y, step.p = self.y, self.p
        return self.machine.procedures[procedure](self.integration.address)

    def _loop(self, pause: Pause | None) -> tuple[int, ...]:
        now, equations = self.integration, self.machine.equations
        while True:
            began = perf_counter()
            status = self._run("integrate")
            self.machine.raise_pending()
            if status == REACHED:
                return ()
            if status == EVENT:
                self._met = np.flatnonzero(self._events("part") <= 1)
                return tuple(self._met.tolist())
            if status == NO_VALUE:
                self._note_progress()
                raise ValuelessEventError(now.step.watch.first, self.t)
            if status == NO_MASS:
                self._note_progress()
                raise unresisted(equations, UNRESISTED - now.step.failed, self.t)
            if status != PAUSED:
                raise cause(status, equations, now.time, self.y, self.p, now.control.length)
            self._choose_pause(perf_counter() - began)
            self._watch_progress()
            if pause is not None:
                self._note_progress()
                pause(self.t)

    def _watch_progress(self) -> None:
        """Raise where the steps have been so short for a while that the end is out of reach."""
        step, time = self.integration.control.length, self.integration.time
        left = self.integration.end - time
        self._crawling = self._crawling + 1 if left > TOO_MANY * step else 0
        if self._crawling > PATIENCE and self.settings.step is None:
            raise runaway(self.machine.equations, time, self.y, step, left)

    def _choose_pause(self, seconds: float) -> None:
        """Let the next pause come sooner or later; the call that it costs is not counted."""
        now = self.integration
        now.calls -= 1
        if seconds < SHORT:
            now.limit *= 2
        elif seconds > LONG and now.limit > 1:
            now.limit //= 2

    def _events(self, field: str) -> Array:
        """Return one field of the marks of all events, not a copy."""
        return self.marks.memory[field][: len(self.directions)]

    def _all_marks(self) -> Array:
        """Return all fields of all marks, one after the other, not a copy."""
        return self.marks.memory.view(np.float64)

    def _mark_events(self) -> None:
        """Note the values of event functions at a state that the motion did not come to by itself.

        What has just happened, and was not moved from its zero, is at zero.
        """
        self._is_fresh = False
        if not len(self.directions):
            return
        laws = self.integration.step.watch.armed_from
        before, then = self._events("before"), self._events("after")
        earlier = before[:laws].copy()
        self._run("mark_events")
        if self._is_later:
            # A change of sign on the way is found at the start of the next step.
            before[: len(earlier)] = earlier
            self._is_later = False
        requested = self._met[self._met < laws]
        before[requested[np.abs(before[requested]) <= SAME * np.abs(then[requested])]] = 0.0
        self._met = np.zeros(0, dtype=np.intp)
