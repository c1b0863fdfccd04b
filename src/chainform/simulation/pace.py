"""When a motion pauses, by the clock: to hear Ctrl-C, to show progress, to keep what there is."""

from __future__ import annotations

from time import perf_counter

from chainform.simulation.solver import Pause

BETWEEN = 0.05
"""So long (s) nothing need be heard."""


class Pace:
    """Calls a pause, and tells when it is time for another one."""

    def __init__(self, pause: Pause | None) -> None:
        self._pause = pause
        self._last = perf_counter()

    @property
    def is_due(self) -> bool:
        """Whether the last pause was a while ago."""
        return perf_counter() - self._last > BETWEEN

    def pause(self, t: float) -> None:
        """Pause at a time of the motion."""
        if self._pause is not None:
            self._pause(t)
        self._last = perf_counter()
