"""Threads that share work in pieces, and locks for a process that may be copied (fork) any time.

The calling thread works off the pieces itself, and helpers take what they can get meanwhile. So
nothing is ever waited for that nobody works on: not where threads cannot be started, not when the
interpreter is about to end, and not in a copy of the process, which has none of the threads.

The copy has only the thread that made it: what another one held then would stay locked for good,
and what it was working on would stay half done. So a lock is free in the copy, and for LLVM, whose
own state must be whole, a fork waits until it has finished what it is doing.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache, cached_property
from threading import RLock
from typing import Any, TypeVar, cast
from weakref import WeakSet

Piece = TypeVar("Piece")


def cores() -> int:
    """Return how many processors this process may use, often fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def share(work: Callable[[Piece], None], pieces: Iterable[Piece], threads: int) -> None:
    """Do the work on every piece, in up to so many threads; return when all of it is done."""
    left = deque(pieces)
    helpers = _helpers(work, left, min(threads, len(left)) - 1)
    try:
        _work_off(work, left)
    finally:
        # After an exception as well: nobody may go on writing when the caller has gone on.
        left.clear()
        running = [helper for helper in helpers if not helper.cancel()]
        wait(running)
    for helper in running:
        helper.result()


def _helpers(work: Callable[[Piece], None], left: deque[Piece], count: int) -> list[Future[None]]:
    """Ask for helpers; there are fewer, or none, where threads cannot be started any more."""
    helpers: list[Future[None]] = []
    for _ in range(count):
        try:
            helpers.append(_pool().submit(_work_off, work, left))
        except RuntimeError:
            break
    return helpers


def _work_off(work: Callable[[Piece], None], left: deque[Piece]) -> None:
    """Take piece after piece until there are none left."""
    while left:
        try:
            piece = left.popleft()
        except IndexError:
            # Another thread took the last one.
            return
        work(piece)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="chainform")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


# --- locks ----------------------------------------------------------------------------------------


class Gate:
    """A lock that is free in a copy of the process; the thread that has it may take it again."""

    def __init__(self) -> None:
        self._lock = RLock()
        _gates.add(self)

    @contextmanager
    def held(self) -> Generator[None]:
        """Hold the lock; the very one that was taken is given back, though another may be new."""
        lock = self._lock
        with lock:
            yield

    @contextmanager
    def held_if_free(self) -> Generator[bool]:
        """Hold the lock unless another thread has it; say whether it is held."""
        lock = self._lock
        is_held = lock.acquire(blocking=False)
        try:
            yield is_held
        finally:
            if is_held:
                lock.release()

    def close(self) -> None:
        """Take the lock, until `open`."""
        self._lock.acquire()

    def open(self) -> None:
        """Give the lock back."""
        self._lock.release()

    def renew(self) -> None:
        """Forget who has the lock."""
        self._lock = RLock()


_gates: WeakSet[Gate] = WeakSet()
LLVM = Gate()
"""Held while LLVM compiles, loads or frees."""


def _renew_all() -> None:
    for gate in list(_gates):
        gate.renew()
    if sys.version_info < (3, 12):
        _renew_properties()


def _renew_properties() -> None:
    """Free the lock that Python 3.11 has for each cached property, later versions for none."""
    for name, module in list(sys.modules.items()):
        if name.startswith("chainform."):
            classes = [item for item in list(vars(module).values()) if isinstance(item, type)]
            for item in [item for kind in classes for item in vars(kind).values()]:
                if isinstance(item, cached_property):
                    cast(Any, item).lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LLVM.close, after_in_parent=LLVM.open, after_in_child=_renew_all)
