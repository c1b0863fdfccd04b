"""Batches shared among threads: when it pays, and where threads cannot be had."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from chainform.runtime import Program, kernel
from chainform.runtime import threads as work_sharing
from unit.runtime.programs import graph_of, same_bits, small

pytestmark = pytest.mark.any_processor


def test_large_batches_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces: list[tuple[int, int]] = []
    whole = kernel.CompiledFunction._piece

    def piece(self: kernel.CompiledFunction, start: int, end: int, arrays: Any) -> None:
        pieces.append((start, end))
        whole(self, start, end, arrays)

    monkeypatch.setattr(kernel.CompiledFunction, "_piece", piece)
    monkeypatch.setattr(kernel, "PIECE", 1000)
    monkeypatch.setattr(kernel, "cores", lambda: 3)
    values = np.random.default_rng(0).uniform(-3, 3, (1001, 3))
    shared = Program(small(), lanes=4).o(values)
    assert sorted(pieces) == [(0, 336), (336, 672), (672, 1001)]
    pieces.clear()
    same_bits(Program(small(), lanes=4, threads=1).o(values), shared)
    for threads in (None, 2, 64):
        Program(small(), lanes=4, threads=threads).o(values[:9])
    assert pieces == [(0, 1001), (0, 9), (0, 9), (0, 9)]


def test_a_batch_is_as_much_work_as_its_outputs() -> None:
    """Not as the whole graph, most of which may belong to others."""
    lines = [
        "input q 0 q1",
        *(f"a{i} = {i}*q1*{'q1' if i == 3 else f'a{i - 1}'}" for i in range(3, 199)),
    ]
    both = Program(graph_of(*lines, "output long []: a198", "output short []: a3"))
    assert both.kernel("short").work < 10
    assert both.kernel("long").work > 200
    count = 2 * kernel.PIECE // both.kernel("long").work + 1
    functions: list[Any] = [both.function(name, name) for name in ("long", "short")]
    assert [f.pieces(count) for f in functions] == [min(2, work_sharing.cores()), 1]


# --- sharing --------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_every_piece_is_done_once(threads: int) -> None:
    done: list[int] = []
    work_sharing.share(done.append, range(100), threads)
    assert sorted(done) == list(range(100))
    work_sharing.share(done.append, [], threads)
    assert len(done) == 100


def test_this_thread_works_too() -> None:
    """So that it does not matter how busy the others are."""
    names: set[str] = set()
    free = threading.Event()

    def work(piece: int) -> None:
        names.add(threading.current_thread().name)
        if threading.current_thread() is threading.main_thread():
            free.set()
        assert free.wait(20)

    work_sharing.share(work, range(8), 4)
    assert threading.main_thread().name in names


@pytest.mark.parametrize("in_main", [True, False])
def test_troubles_are_told_when_nobody_works_any_more(in_main: bool) -> None:
    running: list[int] = []
    both = threading.Barrier(2)

    def work(piece: int) -> None:
        running.append(piece)
        both.wait(20)
        if (threading.current_thread() is threading.main_thread()) == in_main:
            raise MemoryError("no more")
        running.remove(piece)

    with pytest.raises(MemoryError, match="no more"):
        work_sharing.share(work, range(2), 2)
    assert len(running) == 1


def test_where_threads_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    done: list[int] = []
    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(pool, "submit", refuse)
        monkeypatch.setattr(work_sharing, "_pool", lambda: pool)
        work_sharing.share(done.append, range(5), 3)
    assert done == list(range(5))


def test_a_pool_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    monkeypatch.setattr(work_sharing, "_pool", lambda: pool)
    done: list[int] = []
    work_sharing.share(done.append, range(5), 3)
    assert done == list(range(5))


def test_batches_within_batches() -> None:
    """Threads that wait for each other's helpers must not wait forever."""
    total: list[int] = []

    def inner(_: int) -> None:
        work_sharing.share(total.append, range(3), 3)

    work_sharing.share(inner, range(4 * (os.cpu_count() or 1)), 1 + (os.cpu_count() or 1))
    assert len(total) == 12 * (os.cpu_count() or 1)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads are not bound here")
def test_only_processors_that_may_be_used_count() -> None:
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert work_sharing.cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)
    assert work_sharing.cores() == len(allowed)


def test_cores_where_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert work_sharing.cores() == 1


# --- no memory ------------------------------------------------------------------------------


def test_batches_without_memory(no_memory: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The function in machine code says so; neither results nor the process are lost."""
    program = Program(small(), threads=2)
    q = np.zeros((40, 3))
    out = np.full((40, 2), 7.0)
    for piece in (kernel.PIECE, 1):
        monkeypatch.setattr(kernel, "PIECE", piece)
        with pytest.raises(MemoryError, match="no memory left to compute o"):
            program.o(q, out=out)
    assert (out == 7).all()
    assert program.o(q[0]).shape == (2,)
    with pytest.raises(MemoryError):
        program.function("o", "o")(q)


# --- the end of the process -----------------------------------------------------------------

AT_THE_END = """
import atexit
from chainform.graph import parse_graph
from chainform.runtime import Program, kernel

kernel.PIECE = 1
lines = ["chainform graph 1", "input q 0 q1", "s = sin(q1)", "output o []: s"]
function = Program(parse_graph("\\n".join(lines)), threads=4).o
{used}
atexit.register(lambda: print(len(function([[0.5]] * 100))))
"""


@pytest.mark.parametrize("used", ["", "function([[0.5]] * 100)"])
def test_batches_while_the_interpreter_ends(used: str) -> None:
    """Threads cannot be started any more, or have ended; the last functions work all the same."""
    done = subprocess.run(
        [sys.executable, "-c", AT_THE_END.format(used=used)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "100\n", "")
