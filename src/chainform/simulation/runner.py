"""Runs a motion from start to end, over the events on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.simulation.contact.switching import Switching
from chainform.simulation.run import Happening
from chainform.simulation.solvers import Motion
from chainform.simulation.watches import Event

Array = NDArray[np.float64]

MOST_AT_ONCE = 1000
"""Events without any progress in time after which a motion is given up."""
STANDSTILL = 1e-11
"""What is no progress, as a share of the time to the end."""


class Runner:
    """One motion: it asks the integrator for the next stretch until the end is reached.

    There is room for all output from the start. What was computed stays when the motion is
    interrupted or fails.
    """

    def __init__(
        self,
        integrator: Motion,
        events: Sequence[Event],
        nq: int,
        switching: Switching | None = None,
    ) -> None:
        self.integrator = integrator
        self.events = events
        self.nq = nq
        self.switching = switching
        self.times = np.zeros(0)
        self.rows = np.zeros((0, integrator.width))
        self.given = 0
        """How many rows of output there are, apart from those of the stretch under way."""
        self.is_under_way = False
        self.happenings: list[Happening] = []
        self.is_over = False
        """Whether an event ended the motion, and its name."""
        self.ending = ""
        self.is_begun = False
        """Whether the motion goes on from where it was before."""

    def run(self, end: float, times: Array, pause: Callable[[float], None] | None = None) -> None:
        """Compute the states at `times` up to `end`, or up to an event that ends the motion."""
        self.times, self.rows = times, np.zeros((len(times), self.integrator.width))
        self.given, stuck, before = 0, 0, self.integrator.t
        if self.switching is not None and not self.is_begun:
            self.happenings += self.switching.begin()
        while self.integrator.t < end and not self.is_over:
            self.is_under_way = True
            try:
                _, found = self.integrator.advance(end, times[self.given :], pause)
            finally:
                self._keep()
            if found is None:
                continue
            if self.integrator.t > before + STANDSTILL * (end - before):
                stuck, before = 0, self.integrator.t
            stuck += 1
            if stuck > MOST_AT_ONCE:
                raise self._standstill(found)
            if found < len(self.events):
                self._happen(self.events[found])
            elif self.switching is not None:
                self.happenings += self.switching.happen(found - len(self.events))

    def _happen(self, event: Event) -> None:
        t, y = self.integrator.t, self.integrator.y
        size = self.nq + self.integrator.machine.equations.nv
        q, qd = y[: self.nq].copy(), y[self.nq : size].copy()
        self.happenings.append(Happening(event.name, t, q, qd))
        if event.change is not None:
            q, qd = event.change(t, q, qd)
            self.integrator.restart(np.concatenate([q, qd, y[size:]]))
            if self.switching is not None:
                self.happenings += self.switching.settle()
        if event.stop:
            self.is_over, self.ending = True, event.name

    def _standstill(self, found: int) -> RunError:
        t = f"t = {self.integrator.t:.9g} s"
        if found >= len(self.events):
            return RunError(
                f"stops and friction change without end at {t}",
                element="stops",
                remedy="make one of them stiff, or end the motion there by an event",
            )
        return RunError(
            f"{self.events[found].name} happens again and again at {t}",
            element="events",
            remedy="let the event end the motion, or change the state so that it is left",
        )

    def _keep(self) -> None:
        """Take over the rows of a stretch."""
        self.given = self._taken_over()
        self.is_under_way = False

    def _taken_over(self) -> int:
        rows = self.integrator.delivered
        self.rows[self.given : self.given + len(rows)] = rows
        return self.given + len(rows)

    def result(self) -> tuple[Array, Array]:
        """Return the times and states so far."""
        given = self._taken_over() if self.is_under_way else self.given
        return self.times[:given], self.rows[:given]
