"""Pauses of a motion by the clock, and Ctrl-C: noted at once, obeyed where the state is whole."""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import current_thread, main_thread
from time import perf_counter
from types import FrameType
from typing import TypeAlias

Pause: TypeAlias = Callable[[float], None]
BETWEEN = 0.05
"""The shortest time (s) between two pauses."""


class Throttle:
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


class InterruptError(Exception):
    """Raised at a pause of the loop, where the state is whole, to end it."""


class InterruptFlag:
    """Notes Ctrl-C; `came` tells whether it did."""

    def __init__(self) -> None:
        self.came = False

    def check(self) -> None:
        """Raise InterruptError where Ctrl-C came."""
        if self.came:
            raise InterruptError


@contextmanager
def interrupt_flag() -> Generator[InterruptFlag]:
    """Note the first Ctrl-C instead of raising KeyboardInterrupt wherever the program is just then.

    A second one comes through at once. Where Ctrl-C belongs to somebody else, as in a thread,
    nothing changes.
    """
    interrupt = InterruptFlag()
    before = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(before):
        yield interrupt
        return

    def note(number: int, frame: FrameType | None) -> None:
        if interrupt.came:
            before(number, frame)
        interrupt.came = True

    signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)
