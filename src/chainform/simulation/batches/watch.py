"""What is looked after while many motions run in threads: Ctrl-C, and how many are done."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, get_ident
from time import perf_counter

from chainform.simulation.interruption import Ear


class Watch:
    """Counts motions, and tells whether to go on; made in the thread that waits for them all."""

    def __init__(self, ear: Ear | None = None, told: Callable[[int], None] | None = None) -> None:
        self.ear = ear or Ear()
        self._told = told
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
        """Whether Ctrl-C came, so that nothing more is begun."""
        return self.ear.came

    def note(self, count: int) -> None:
        """Count motions that are done; who asked for progress hears of it in their own thread."""
        with self._lock:
            self.done += count
            done = self.done
        if self._told is not None and get_ident() == self._thread:
            self._told(done)
