"""Ctrl-C while a motion is computed: what there is of it is kept."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import TYPE_CHECKING

from chainform.errors import Error, RunError

if TYPE_CHECKING:
    from chainform.simulation.batches.batch_run import BatchRun
    from chainform.simulation.run import Run


class Interrupted(KeyboardInterrupt):
    """Ctrl-C came; `run` is the motion up to then, and `simulate(..., resume=run)` goes on."""

    def __init__(self, run: Run) -> None:
        super().__init__("the motion was interrupted")
        self.run = run


class BatchInterrupted(KeyboardInterrupt):
    """Ctrl-C came; of `batch` the motions that were finished are there, the others not wholly."""

    def __init__(self, batch: BatchRun) -> None:
        super().__init__("the motions were interrupted")
        self.batch = batch


class MotionError(RunError):
    """A motion that could not be computed to its end; `run` is what there is of it."""

    def __init__(self, problem: Error, run: Run) -> None:
        super().__init__(
            problem.message, file=problem.file, element=problem.element, remedy=problem.remedy
        )
        self.run = run


class HeardError(Exception):
    """Raised at a pause of the loop, where the state is whole, to end it."""


class Ear:
    """Notes Ctrl-C; `came` tells whether it did."""

    def __init__(self) -> None:
        self.came = False

    def ask(self) -> None:
        """Raise HeardError where Ctrl-C came."""
        if self.came:
            raise HeardError


@contextmanager
def listening() -> Generator[Ear]:
    """Note the first Ctrl-C instead of raising KeyboardInterrupt wherever the program is just then.

    A second one comes through at once. Where Ctrl-C belongs to somebody else, as in a thread,
    nothing changes.
    """
    ear = Ear()
    before = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(before):
        yield ear
        return

    def note(number: int, frame: FrameType | None) -> None:
        if ear.came:
            before(number, frame)
        ear.came = True

    signal.signal(signal.SIGINT, note)
    try:
        yield ear
    finally:
        signal.signal(signal.SIGINT, before)
