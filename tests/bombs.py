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
    machine = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    piece = fill * (2**22 // len(fill))
    count = LONG // len(piece)
    # A piece that refers to nothing before it is compressed once, and stands there many times.
    first, again = (machine.compress(x) + machine.flush(zlib.Z_FULL_FLUSH) for x in (start, piece))
    check = zlib.adler32(start)
    for _ in range(count):
        check = zlib.adler32(piece, check)
    return b"\x78\xda" + first + count * again + machine.flush() + check.to_bytes(4, "big")


def peak_of(task: Callable[[], object]) -> int:
    """Return the most memory that a task took, in bytes."""
    tracemalloc.start()
    try:
        task()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
