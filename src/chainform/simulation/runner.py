"""Runs a motion from start to end, over the events on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.simulation.run import Happening
from chainform.simulation.solvers import Motion
from chainform.simulation.watches import Event

Array = NDArray[np.float64]

MOST_AT_ONCE = 1000
"""Events without any progress in time after which a motion is given up."""


class Runner:
    """One motion: it asks the integrator for the next stretch until the end is reached.

    What was computed stays in `times` and `states` when the motion is interrupted or fails.
    """

    def __init__(self, integrator: Motion, events: Sequence[Event], nq: int) -> None:
        self.integrator = integrator
        self.events = events
        self.nq = nq
        self.times: list[Array] = []
        self.states: list[Array] = []
        self.happenings: list[Happening] = []
        self.is_over = False
        """Whether an event ended the motion."""

    def run(self, end: float, times: Array, pause: Callable[[float], None] | None = None) -> None:
        """Compute the states at `times` up to `end`, or up to an event that ends the motion."""
        given, stuck, before = 0, 0, self.integrator.t
        while self.integrator.t < end and not self.is_over:
            states, found = self.integrator.advance(end, times[given:], pause)
            self.times.append(times[given : given + len(states)])
            self.states.append(states)
            given += len(states)
            if found is None:
                continue
            stuck = stuck + 1 if self.integrator.t == before else 0
            before = self.integrator.t
            if stuck > MOST_AT_ONCE:
                raise RunError(
                    f"{self.events[found].name} happens again and again at t = {before:.9g} s",
                    element="events",
                    remedy="let the event end the motion, or change the state so that it is left",
                )
            self._happen(self.events[found])

    def _happen(self, event: Event) -> None:
        t, y = self.integrator.t, self.integrator.y
        q, qd = y[: self.nq].copy(), y[self.nq :].copy()
        self.happenings.append(Happening(event.name, t, q, qd))
        if event.change is not None:
            q, qd = event.change(t, q, qd)
            self.integrator.restart(np.concatenate([q, qd]))
        if event.stop:
            self.is_over = True

    def result(self) -> tuple[Array, Array]:
        """Return the times and states so far."""
        if not self.times:
            return np.zeros(0), np.zeros((0, self.integrator.width))
        return np.concatenate(self.times), np.concatenate(self.states)
