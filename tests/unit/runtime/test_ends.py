"""The ends of arrays: nothing before them or behind them is touched."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from chainform.runtime import Program
from unit.runtime.programs import Array, small

Q = np.array([0.3, -0.7, 1.1])


class Guarded:
    """A page of memory between two that nobody may touch."""

    def __init__(self) -> None:
        self.map = mmap.mmap(-1, 3 * mmap.PAGESIZE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        for page in (0, 2):
            address = ctypes.c_void_p(start + page * mmap.PAGESIZE)
            assert ctypes.CDLL(None).mprotect(address, ctypes.c_size_t(mmap.PAGESIZE), 0) == 0

    def array(self, count: int, layout: str) -> Array:
        """Return an array that begins or ends where the page does."""
        bytes_before = mmap.PAGESIZE
        if not layout.startswith("first"):
            bytes_before += mmap.PAGESIZE - 8 * count
        array = np.frombuffer(self.map, np.float64, count, bytes_before)
        array[:] = 0.5
        return array


def shaped(array: Array, count: int, layout: str) -> Array:
    """Return numbers in a row as states: one after the other, side by side, or backwards."""
    if layout.endswith("lanes"):
        return array.reshape(-1, count).T
    rows = array.reshape(count, -1)
    return rows[::-1, ::-1] if layout.endswith("backwards") else rows


def touch_the_ends(programs: Sequence[Program]) -> None:
    """Compute with arguments and results at both ends of a page, in every layout and size."""
    layouts = [
        f"{end} {kind}" for end in ("first", "last") for kind in ("rows", "lanes", "backwards")
    ]
    given, room = Guarded(), Guarded()
    for program, layout, count in product(programs, layouts, range(1, 18)):
        q = shaped(given.array(3 * count, layout), count, layout)
        out = shaped(room.array(2 * count, layout), count, layout)
        program.o(q, out=out)
        program.o(q, out=np.empty((count, 2)))
        program.o(q[0], out=out[0])
        expected = 2 * np.sin(0.5) * 0.5 - np.cos(0.5) / 3
        assert np.abs(out[:, 0] - expected).max() < 1e-15


@pytest.mark.filterwarnings("ignore:.*fork")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_nothing_beyond_the_ends_is_touched() -> None:
    """In a copy of the process, since it would be ended at once."""
    programs = [Program(small(), lanes=lanes) for lanes in (4, 8)]
    for program in programs:
        program.o(Q[None])
    child = os.fork()
    if not child:
        is_done = False
        try:
            touch_the_ends(programs)
            is_done = True
        finally:
            os._exit(0 if is_done else 1)
    assert os.waitpid(child, 0)[1] == 0
