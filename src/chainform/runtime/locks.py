"""Locks in a process that may be copied (fork) at any moment, by any of its threads.

The copy has only the thread that made it: what another one held then would stay locked for good,
and what it was working on would stay half done. So a lock is free in the copy, and for LLVM, whose
own state must be whole, a fork waits until it has finished what it is doing.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from functools import cached_property
from threading import RLock
from typing import Any, cast
from weakref import WeakSet


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
_classes: list[type] = []

LLVM = Gate()
"""Held while LLVM compiles, loads or frees."""


def free_properties_in_copies(*classes: type) -> None:
    """Let the cached properties of classes be free in a copy of the process.

    Python 3.11 has a lock for each of them, later versions have none.
    """
    _classes.extend(classes)


def _renew_all() -> None:
    for gate in list(_gates):
        gate.renew()
    for kind in _classes:
        for item in vars(kind).values():
            if isinstance(item, cached_property):
                found: Any = cast(Any, item)
                if hasattr(found, "lock"):
                    found.lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LLVM.close, after_in_parent=LLVM.open, after_in_child=_renew_all)
