"""What compiled functions hold on to, what they let go, and their use from several threads."""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
import subprocess
import sys
import tracemalloc
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from chainform.errors import RunError
from chainform.runtime import Program
from unit.runtime.programs import Array, close, small

Q = np.array([0.3, -0.7, 1.1])
O = np.array([2 * np.sin(0.3) * 1.1 - np.cos(0.7) / 3, np.cos(0.7) ** 2 * 0.3 + 0.5])


@pytest.fixture(scope="module")
def program() -> Program:
    return Program(small())


def test_references_are_not_lost(program: Program) -> None:
    q, out, rows, bad = Q.copy(), np.zeros(2), np.ones((9, 3)), np.zeros(5)
    strided, function = np.zeros(4)[::2], program.o
    watched = (q, out, rows, bad, strided, function, np.ndarray, np.dtype(float), None)
    calls: list[tuple[Any, dict[str, Any]]] = [
        *((q, {}), (q, {"out": out}), (rows, {}), (q, {"out": strided}), (q, {"out": q[:2]})),
        *((bad, {}), (q, {"out": bad})),
    ]

    def use() -> None:
        for _, (argument, keywords) in product(range(200), calls):
            try:
                function(argument, **keywords)
            except RunError:
                assert argument is bad or keywords.get("out") is bad

    use()
    gc.collect()
    before = [sys.getrefcount(x) for x in watched]
    use()
    gc.collect()
    after = [sys.getrefcount(x) for x in watched]
    for new, old in zip(after, before, strict=True):
        assert abs(new - old) < 50


def test_results_are_freed(program: Program) -> None:
    tracemalloc.start()
    try:
        program.o(Q)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(5000):
            program.o(Q)
        assert tracemalloc.get_traced_memory()[0] - before < 5000
    finally:
        tracemalloc.stop()
    first = weakref.ref(program.o(Q))
    assert first() is None


def test_a_function_outlives_its_program() -> None:
    function = Program(small()).o
    slow = Program(small()).function("o", "o")
    gc.collect()
    # Whatever takes the place of memory that was freed must not matter.
    others = [Program(small(), lanes=lanes) for lanes in (2, 4, 8)]
    for other in others:
        close(other.o(Q), O, 1e-15)
    close(function(Q), O, 1e-15)
    close(function(np.tile(Q, (9, 1)))[8], O, 1e-15)
    close(slow(Q.tolist())[1], O, 1e-15)


def test_programs_come_and_go() -> None:
    gone: list[weakref.ref[Any]] = []
    for _ in range(12):
        program = Program(small())
        close(program.o(Q), O, 1e-15)
        gone += [weakref.ref(program), weakref.ref(program.kernel("o").library("single"))]
        del program
    gc.collect()
    assert [ref() for ref in gone] == [None] * 24


def test_eight_threads_at_once() -> None:
    """All compile, all call; each has its own arrays."""
    program, barrier = Program(small()), Barrier(8)

    def work(seed: int) -> bool:
        barrier.wait()
        address = program.address("o")
        q = np.random.default_rng(seed).uniform(-1, 1, (50, 3))
        out, first = np.empty(2), program.o(q)
        singles = [program.o(row, out=out).copy() for _ in range(20) for row in q]
        again = [program.o(q).tobytes() for _ in range(20)]
        assert program.address("o") == address
        close(np.array(singles[-50:]), first, 1e-14)
        return {row.tobytes() for row in singles} == {row.tobytes() for row in singles[:50]} and (
            set(again) == {first.tobytes()}
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


# --- the ends of arrays ---------------------------------------------------------------------


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


# --- the end of the process -----------------------------------------------------------------

END = """
import threading
from chainform.graph import parse_graph
from chainform.runtime import Program

lines = ["chainform graph 1", "input q 0 q1", "s = sin(q1)", "output o []: s"]
programs = [Program(parse_graph("\\n".join(lines)), threads=2) for _ in range(3)]
functions = [program.o for program in programs]
batch = functions[0]([[0.5]] * 100)
del programs[0]
threading.Thread(target=functions[1], args=([0.5],)).start()
print(len(batch), float(functions[2]([0.0])))
"""


def test_processes_end_quietly() -> None:
    """Whatever order programs, libraries and threads go in at the end."""
    done = subprocess.run(
        [sys.executable, "-c", END], capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "100 0.0\n", "")
