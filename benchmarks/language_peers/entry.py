"""One language in the table: its results, the seconds of its compiler, and its time per call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from speed_peers.cases import Array


@dataclass(frozen=True)
class Entry:
    """A function in one language, ready to be called."""

    title: str
    found: Array
    """Its results at the first states, a row each."""
    timer: Callable[[], float]
    """Measures nanoseconds per call."""
    compiled: float | None = None
    """Seconds of the compiler, where there is one."""
    variant: str = ""
