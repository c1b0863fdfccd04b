"""Work in pieces, shared among threads: this one, and those that happen to be there.

The calling thread works off the pieces itself, and helpers take what they can get meanwhile. So
nothing is ever waited for that nobody works on: not where threads cannot be started, not when the
interpreter is about to end, and not in a copy of the process, which has none of the threads.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import TypeVar

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
        begun = [helper for helper in helpers if not helper.cancel()]
        wait(begun)
    for helper in begun:
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
