"""Drives a machine from one time to another: arrays, pauses, events, errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.simulation.loops import places
from chainform.simulation.machine import Machine, addresses
from chainform.simulation.solver import Pause, Settings, Statistics

Array = NDArray[np.float64]

STEPS_BETWEEN_PAUSES = 20_000
"""After so many steps the loop comes back, to show progress and to hear Ctrl-C."""


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
        self.control[places.LARGEST] = settings.largest or np.inf
        self.control[places.EXPONENT] = -1 / tableau.order
        self.control[places.HOLD] = settings.hold or 0.0
        self.control[places.STEP] = settings.step or settings.first or 0.0
        self.counts[places.SIZE] = size
        self.counts[places.COORDINATES] = equations.nq
        self.counts[places.RATES] = equations.nv
        self.counts[places.STAGES] = tableau.stages
        self.counts[places.ROWS] = rows
        self.counts[places.LIMIT] = STEPS_BETWEEN_PAUSES
        self.counts[places.EVENTS] = len(self.directions)
        self.counts[places.TWICE] = tableau.second_error is not None
        self.counts[places.FIXED] = settings.step is not None
        self.counts[places.BREAKS] = len(self.breaks)
        if settings.hold is not None:
            layout = self.machine.layout
            self.counts[places.TAIL] = layout.length("tau")
            self.counts[places.TAIL_AT] = layout.place("tau")
        self.tableau = tableau.array()
        self.work = np.zeros((rows + 2) * size + len(self.directions) + 1)
        self.marks = np.zeros(3 * max(1, len(self.directions)))
        self.marks[: 3 * len(self.directions) : 3] = self.directions
        self.jumps = np.array([*self.breaks, np.inf], dtype=np.float64)
        self._is_fresh = True

    @property
    def width(self) -> int:
        """The length of a row of output: a state, and efforts that are held."""
        return len(self.y) + int(self.counts[places.TAIL])

    def restart(self, y: Array) -> None:
        """Go on from another state at the present time, as after an impact."""
        self.y[:] = y
        self._is_fresh = True

    def advance(
        self, end: float, times: Array, pause: Pause | None = None
    ) -> tuple[Array, int | None]:
        """Integrate to `end`, or to an event; return the states at `times`, and the event's number.

        Of `times` those after the event are left out. `pause` is called now and then.
        """
        control, counts = self.control, self.counts
        control[places.END] = end
        counts[places.TIMES], counts[places.NEXT] = len(times), 0
        tail = int(counts[places.TAIL])
        out = np.zeros((len(times) + 1, len(self.y) + tail))
        wanted = np.ascontiguousarray(times, dtype=np.float64)
        while len(times) > counts[places.NEXT] and wanted[counts[places.NEXT]] <= self.t:
            out[counts[places.NEXT], : len(self.y)] = self.y
            counts[places.NEXT] += 1
        if self._is_fresh:
            self._mark_events()
        found = self._loop(wanted, out, pause)
        self.t = float(control[places.TIME])
        names = ("steps", "rejected", "evaluations")
        for name, place in zip(
            names, (places.ACCEPTED, places.REJECTED, places.CALLS), strict=True
        ):
            setattr(self.statistics, name, int(counts[place]))
        return out[: counts[places.NEXT]], found

    def _loop(self, times: Array, out: Array, pause: Pause | None) -> int | None:
        arrays = (self.control, self.counts, self.tableau, self.y, self.p, self.work, times, out)
        places_of_all = addresses(*arrays, self.marks, self.jumps)
        integrate = self.machine.procedures["integrate"]
        while True:
            status = integrate(*places_of_all)
            self.machine.raise_pending()
            if status == places.REACHED:
                return None
            if status == places.EVENT:
                return int(self.counts[places.FOUND])
            if status != places.PAUSED:
                raise self._trouble(status)
            if pause is not None:
                pause(float(self.control[places.TIME]))

    def _mark_events(self) -> None:
        self._is_fresh = False
        if len(self.directions):
            arrays = (
                self.control,
                self.counts,
                self.y,
                self.p,
                self.work[-1:],
                self.work,
                self.marks,
            )
            self.machine.procedures["mark_events"](*addresses(*arrays))

    def _trouble(self, status: int) -> RunError:
        time = float(self.control[places.TIME])
        if status == places.TOO_SMALL:
            return RunError(
                f"the step became too small at t = {time:.9g} s",
                element="simulate",
                remedy="the equations are stiff or jump there: use method='cvode', a larger rtol, "
                "or a fixed step",
            )
        if status == places.NOT_SOLVED:
            return RunError(
                f"the equations of a step have no solution at t = {time:.9g} s",
                element="simulate",
                remedy="take a shorter step",
            )
        return RunError(
            f"the motion has no finite value after t = {time:.9g} s",
            element="simulate",
            remedy="look at the state there: a singular position, a force that has no value, or "
            "an instability",
        )
