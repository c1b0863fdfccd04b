"""What compiled functions hold on to, what they let go, and their use from several threads."""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from threading import Barrier, Event, Thread
from typing import Any

import numpy as np
import pytest

from chainform.errors import RunError
from chainform.runtime import Program, engine
from chainform.runtime.threads import LLVM
from unit.runtime.programs import close, small

pytestmark = pytest.mark.any_processor

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


LEAK = """
import gc
from pathlib import Path
from chainform.graph import parse_graph
from chainform.runtime import Program, engine

def kilobytes():
    return 4 * int(Path("/proc/self/statm").read_text().split()[1])

def use(number):
    lines = ["chainform graph 1", "input q 0 q1", f"a = {number}*q1*q1", "output o []: a"]
    assert Program(parse_graph("\\n".join(lines))).o([1.0]) == number

for number in range(2, 22):
    use(number)
gc.collect()
before = kilobytes()
for number in range(100, 160):
    use(number)
gc.collect()
print((kilobytes() - before) / 60)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is not told here")
def test_compiling_again_and_again_takes_little_memory() -> None:
    """Lists of passes, sessions and libraries go; LLVM's Python wrapper itself loses 2 kB or so."""
    done = subprocess.run(
        [sys.executable, "-c", LEAK], capture_output=True, text=True, timeout=100, check=True
    )
    assert float(done.stdout) < 20


def test_libraries_wait_to_be_freed() -> None:
    """While LLVM is at work in another thread, the garbage collector does not wait for it."""
    library = Program(small()).kernel("o").library("single")
    held, done = Event(), Event()

    def hold() -> None:
        with LLVM.held():
            held.set()
            assert done.wait(20)

    thread = Thread(target=hold)
    thread.start()
    assert held.wait(20)
    del library
    gc.collect()
    assert len(engine._doomed) == 1
    done.set()
    thread.join()
    Program(small()).o(Q)
    assert not engine._doomed


# --- the end of the process -----------------------------------------------------------------

END = """
import threading
from chainform.graph import parse_graph
from chainform.runtime import Program, engine
from chainform.runtime.threads import LLVM

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
