"""Short bytes that would become very long, and how much memory a task takes."""

from __future__ import annotations

import tracemalloc
import zlib
from collections.abc import Callable

LONG = 2**29
"""What the bombs become, in bytes: half a gigabyte."""

MUCH = 2**28
"""More memory than any of them may take."""


def zlib_bomb(start: bytes = b"", fill: bytes = b" ") -> bytes:
    """Return a half a megabyte that zlib would make half a gigabyte of."""
    machine = zlib.compressobj(9)
    piece = fill * (2**22 // len(fill))
    parts = [machine.compress(start)]
    parts += [machine.compress(piece) for _ in range(LONG // len(piece))]
    return b"".join([*parts, machine.flush()])


def peak_of(task: Callable[[], object]) -> int:
    """Return the most memory that a task took, in bytes."""
    tracemalloc.start()
    try:
        task()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
