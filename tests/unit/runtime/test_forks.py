"""Processes that are copied (fork) while their threads compile, compute or wait."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from chainform.runtime import Program, kernel
from chainform.runtime.threads import LLVM, Gate
from unit.runtime.programs import Memory, graph_of, small

pytestmark = [
    pytest.mark.any_processor,
    pytest.mark.filterwarnings("ignore:.*fork"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here"),
]

Q = np.array([0.3, -0.7, 1.1])


def succeeds_in_a_copy(task: Callable[[], bool]) -> bool:
    """Run a task in a copy of the process, which is ended where it hangs."""
    child = os.fork()
    if not child:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(20)
        is_good = False
        try:
            is_good = task()
        finally:
            os._exit(0 if is_good else 1)
    return os.waitpid(child, 0)[1] == 0


class Slow(Memory):
    """A code_cache that lets somebody else go on while it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.go_on = threading.Event(), threading.Event()

    def get(self, key: str) -> bytes | None:
        """Wait, the first time."""
        if not self.asked.is_set():
            self.asked.set()
            assert self.go_on.wait(20)
        return super().get(key)


def test_a_fork_while_another_thread_has_the_function() -> None:
    code_cache = Slow()
    program = Program(small(), code_cache=code_cache)
    thread = threading.Thread(target=lambda: program.o(Q))
    thread.start()
    assert code_cache.asked.wait(20)
    good = succeeds_in_a_copy(lambda: program.o(Q).shape == (2,))
    code_cache.go_on.set()
    thread.join()
    assert good
    assert program.o(Q).shape == (2,)


def test_a_fork_waits_for_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a compilation is nothing that a copy could go on with."""
    steps: list[str] = []
    started = threading.Event()
    real = kernel.compiled

    def compiled(*given: object) -> bytes:
        with LLVM.held():
            started.set()
            threading.Event().wait(0.3)
            steps.append("compiled")
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(kernel, "compiled", compiled)
    program = Program(small())
    thread = threading.Thread(target=lambda: program.o(Q))
    thread.start()
    assert started.wait(20)
    good = succeeds_in_a_copy(lambda: bool(steps) and program.o(Q).shape == (2,))
    assert good
    thread.join()
    assert steps == ["compiled"]


AGAIN_AND_AGAIN = """
import os, signal, sys, threading, time
from chainform.graph import parse_graph
from chainform.runtime import Program

def program(number):
    lines = [f"a{i} = {number + i}*q1*{'q1' if i == 0 else f'a{i - 1}'}" for i in range(200)]
    text = ["chainform graph 1", "input q 0 q1", *lines, "s = sin(a199)", "output o []: s"]
    return Program(parse_graph("\\n".join(text)))

first, count = (float(word) for word in sys.argv[1:])
ended = threading.Event()

def compile_all_the_time():
    number = 1
    while not ended.is_set():
        program(number).o([0.5])
        number += 1

thread = threading.Thread(target=compile_all_the_time)
thread.start()
time.sleep(first)
codes = []
for k in range(int(count)):
    child = os.fork()
    if not child:
        signal.alarm(20)
        program(1000 + k).o([[0.5]] * 9)
        os._exit(0)
    codes.append(os.waitpid(child, 0)[1])
ended.set()
thread.join()
print(set(codes))
"""


def codes_of_copies(seconds: float, count: int) -> tuple[int, str, str]:
    """Return how a process ended that makes copies from a moment on, and what they said."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", AGAIN_AND_AGAIN, str(seconds), str(count)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_forks_while_a_thread_compiles_all_the_time() -> None:
    """At whatever moment, also while libraries are freed: the copy compiles too."""
    assert codes_of_copies(0.0, 36) == (0, "{0}\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("milliseconds", [5, 20, 30, 40, 50, 60, 90, 120, 150, 155, 160, 180])
def test_a_fork_while_a_thread_compiles_for_the_first_time(milliseconds: int) -> None:
    """Then modules are imported, and each step takes some of the locks for the first time."""
    assert codes_of_copies(milliseconds / 1000, 1) == (0, "{0}\n", "")


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="cached properties have no locks there")
def test_a_fork_while_another_thread_has_a_property() -> None:
    held, go_on = threading.Event(), threading.Event()
    lock: Any = vars(type(small()))["numbers"].lock

    def hold() -> None:
        with lock:
            held.set()
            go_on.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(20)
    good = succeeds_in_a_copy(lambda: bool(small().numbers))
    go_on.set()
    thread.join()
    assert good


def test_the_pool_of_threads_is_not_used_in_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is copied, but none of its threads are."""
    monkeypatch.setattr(kernel, "PIECE", 1)
    values = np.random.default_rng(0).uniform(-3, 3, (100, 3))
    program = Program(small(), threads=2)
    expected = program.o(values).tobytes()
    assert succeeds_in_a_copy(lambda: program.o(values).tobytes() == expected)


def test_a_code_cache_that_forks() -> None:
    """The thread that makes the copy has the locks in both."""

    class Forking(Memory):
        child: int | None = None

        def get(self, key: str) -> bytes | None:
            if self.child is None:
                self.child = os.fork()
            return super().get(key)

    code_cache = Forking()
    graph = graph_of("input q 0 q1", "a = q1*q1", "output o []: a")
    is_good = False
    try:
        is_good = bool(Program(graph, code_cache=code_cache).o([3.0]) == 9.0)
    finally:
        if code_cache.child == 0:
            os._exit(0 if is_good else 1)
    assert os.waitpid(code_cache.child or 0, 0)[1] == 0


def test_a_gate_may_be_taken_again_by_its_thread() -> None:
    gate = Gate()
    free: list[bool] = []

    def look() -> None:
        with gate.held_if_free() as is_held:
            free.append(is_held)

    with gate.held(), gate.held(), gate.held_if_free() as is_held:
        assert is_held
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    look()
    assert free == [False, True]
