"""Drives a machine from one time to another: arrays, pauses, events, errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.loops import places
from chainform.simulation.machines.machine import Machine, addresses
from chainform.simulation.machines.troubles import (
    ValuelessEventError,
    cause,
    runaway,
    unresisted,
)
from chainform.simulation.solver import Pause, Settings, Statistics

Array = NDArray[np.float64]

FIRST_PAUSE = 256
"""After so many steps the loop comes back first, to show progress and to hear Ctrl-C."""
SHORT, LONG = 0.02, 0.1
"""Between pauses there are more steps next time if they took less than this (s), or fewer."""

SAME = 4.0
"""A function that is not so many times farther from zero than at its event is still there."""

TOO_MANY, PATIENCE = 1e9, 20
"""A motion that has so many steps before it at so many pauses in a row is given up."""

REMEMBERED = {
    "control": [places.STEP, places.START, places.LOST],
    "counts": [places.TICK, places.ACCEPTED, places.REJECTED, places.CALLS],
}
"""What the loop takes along when it goes on later."""


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
        tableau = settings.solver.tableau
        assert tableau is not None
        size, rows = len(self.y), settings.solver.room(equations)
        self.control = np.zeros(places.CONTROLS)
        self.counts = np.zeros(places.COUNTS, dtype=np.int64)
        self.control[places.TIME] = self.control[places.START] = self.t
        self.control[places.RTOL] = settings.rtol
        self.control[places.ATOL] = settings.atol
        self.control[places.LARGEST] = settings.longest
        self.control[places.EXPONENT] = -1 / tableau.order
        self.control[places.HOLD] = settings.hold or 0.0
        self.control[places.STEP] = settings.step or settings.first or 0.0
        self.counts[places.SIZE] = size
        self.counts[places.COORDINATES] = equations.nq
        self.counts[places.RATES] = equations.nv
        self.counts[places.STAGES] = tableau.stages
        self.counts[places.ROWS] = rows
        self.counts[places.LIMIT] = FIRST_PAUSE
        self.counts[places.EVENTS] = len(self.directions)
        self.counts[places.TWICE] = tableau.second_error is not None
        self.counts[places.FIXED] = settings.step is not None
        self.counts[places.BREAKS] = len(self.breaks)
        sorts = equations.sorts
        self.counts[places.BOOKS] = equations.books
        self.counts[places.PUTTING] = bool(equations.rows) and self.machine.projects
        self.counts[places.ARMED_AT] = len(self.directions) - sorts.watched
        self.counts[places.ARMED] = sorts.touching + sorts.beside + sorts.sticking
        self.counts[places.TURNING] = sorts.touching
        self.counts[places.TAIL] = self.machine.layout.tail(is_held=settings.hold is not None)
        self.counts[places.TAIL_AT] = self.machine.layout.place("tau")
        self.tableau = tableau.array()
        watched = len(self.directions) + sorts.touching
        self.work = np.zeros((rows + 3) * size + 6 * watched + 2)
        self.marks = np.zeros(places.PER_EVENT * max(1, watched))
        self._of_events(places.DIRECTION)[:] = self.directions
        self.jumps = np.array([*self.breaks, np.inf], dtype=np.float64)
        self._is_fresh = True
        self._is_later = False
        """Whether the motion was put at a later time, so that events lie between."""
        self._met = np.zeros(0, dtype=np.intp)
        """The events at which the motion stands."""
        self._crawling = 0
        """At how many pauses in a row the steps were too short."""
        self._out = np.zeros((0, self.width))

    @property
    def width(self) -> int:
        """The length of a row of output: a state, and efforts that are held."""
        return len(self.y) + int(self.counts[places.TAIL])

    @property
    def delivered(self) -> Array:
        """The rows of output of the stretch that is under way, or was the last one."""
        return self._out[: self.counts[places.NEXT]]

    def restart(self, y: Array, t: float | None = None) -> None:
        """Go on from another state at the present time, as after an impact, or at a later one.

        The equations may be others from now on, so that the step is chosen anew.
        """
        self.y[:] = y
        if t is not None:
            self.t = self.control[places.TIME] = t
            self.control[places.LOST] = 0.0
            self._is_later = True
        self._is_fresh = True
        if self.settings.step is None:
            self.control[places.STEP] = 0.0

    def memory(self) -> dict[str, Array]:
        """Return what it takes, besides t, y and p, to go on later as if nothing had happened."""
        if self._is_fresh:
            self._mark_events()
        kept = {name: getattr(self, name)[list(at)] for name, at in REMEMBERED.items()}
        kept["marks"] = self.marks.copy()
        return {name: np.array(values, dtype=np.float64) for name, values in kept.items()}

    def recall(self, memory: Mapping[str, Array]) -> None:
        """Take up what another motion of the same method remembered."""
        for name, at in REMEMBERED.items():
            getattr(self, name)[at] = memory[name]
        if len(memory["marks"]) == len(self.marks):
            self.marks[:] = memory["marks"]
            self._is_fresh = False
        self._note_progress()

    def advance(
        self, end: float, times: Array, pause: Pause | None = None
    ) -> tuple[Array, tuple[int, ...]]:
        """Integrate to `end`, or to events; return the states at `times`, and the events' numbers.

        Of `times` those after the events are left out. `pause` is called now and then.
        """
        control, counts = self.control, self.counts
        control[places.END] = end
        counts[places.TIMES], counts[places.NEXT] = len(times), 0
        out = self._out = np.zeros((len(times) + 1, self.width))
        wanted = np.ascontiguousarray(times, dtype=np.float64)
        if self._is_fresh:
            self._mark_events()
        try:
            found = self._loop(wanted, out, pause)
        finally:
            self._note_progress()
        return self.delivered, found

    def _note_progress(self) -> None:
        self.t, counts = float(self.control[places.TIME]), self.counts
        self.statistics.steps = int(counts[places.ACCEPTED])
        self.statistics.rejected = int(counts[places.REJECTED])
        self.statistics.evaluations = int(counts[places.CALLS])

    def _loop(self, times: Array, out: Array, pause: Pause | None) -> tuple[int, ...]:
        arrays = (self.control, self.counts, self.tableau, self.y, self.p, self.work, times, out)
        places_of_all = addresses(*arrays, self.marks, self.jumps)
        integrate = self.machine.procedures["integrate"]
        while True:
            began = perf_counter()
            status = integrate(*places_of_all)
            self.machine.raise_pending()
            if status == places.REACHED:
                return ()
            if status == places.EVENT:
                self._met = np.flatnonzero(self._of_events(places.PART) <= 1)
                return tuple(self._met.tolist())
            if status == places.NO_VALUE:
                self._note_progress()
                raise ValuelessEventError(int(self.counts[places.FOUND]), self.t)
            if status == places.NO_MASS:
                self._note_progress()
                loose = places.UNRESISTED - int(self.counts[places.FAILED])
                raise unresisted(self.machine.equations, loose, self.t)
            if status != places.PAUSED:
                step, time = float(self.control[places.STEP]), float(self.control[places.TIME])
                raise cause(status, self.machine.equations, time, self.y, self.p, step)
            self._choose_pause(perf_counter() - began)
            self._watch_progress()
            if pause is not None:
                self._note_progress()
                pause(self.t)

    def _watch_progress(self) -> None:
        """Raise where the steps have been so short for a while that the end is out of reach."""
        step, time = float(self.control[places.STEP]), float(self.control[places.TIME])
        left = float(self.control[places.END]) - time
        self._crawling = self._crawling + 1 if left > TOO_MANY * step else 0
        if self._crawling > PATIENCE and self.settings.step is None:
            raise runaway(self.machine.equations, time, self.y, step, left)

    def _choose_pause(self, seconds: float) -> None:
        """Let the next pause come sooner or later; the call that it costs is not counted."""
        self.counts[places.CALLS] -= 1
        if seconds < SHORT:
            self.counts[places.LIMIT] *= 2
        elif seconds > LONG and self.counts[places.LIMIT] > 1:
            self.counts[places.LIMIT] //= 2

    def _of_events(self, place: int) -> Array:
        """Return one of the marks of all events, not a copy."""
        return self.marks[place : places.PER_EVENT * len(self.directions) : places.PER_EVENT]

    def _mark_events(self) -> None:
        """Note the values of event functions at a state that the motion did not come to by itself.

        What has just happened, and was not moved from its zero, is at zero.
        """
        self._is_fresh = False
        if not len(self.directions):
            return
        arrays = (self.control, self.counts, self.y, self.p, self.work[-1:], self.work, self.marks)
        before, then = self._of_events(places.BEFORE), self._of_events(places.AFTER)
        earlier = before[: self.counts[places.ARMED_AT]].copy()
        self.machine.procedures["mark_events"](*addresses(*arrays))
        if self._is_later:
            # A change of sign on the way is found at the start of the next step.
            before[: len(earlier)] = earlier
            self._is_later = False
        asked = self._met[self._met < self.counts[places.ARMED_AT]]
        before[asked[np.abs(before[asked]) <= SAME * np.abs(then[asked])]] = 0.0
        self._met = np.zeros(0, dtype=np.intp)
