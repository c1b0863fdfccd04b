"""How far a motion has come, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rich.progress import Progress

Told: TypeAlias = Callable[[float], None]

PATIENCE = 0.5
"""So long (s) a motion may take before anything is shown."""


class Bar:
    """A bar that appears when a motion takes a while, what came before it not counted.

    `words` tell how far it has come, a format of t.
    """

    def __init__(
        self, name: str, span: tuple[float, float], words: str = "t = {t:.6g} of {last:g} s"
    ) -> None:
        self.name, self.span, self.words = name, span, words
        self.began: float | None = None
        self.progress: Progress | None = None

    def show(self, t: float) -> None:
        """Take note of the time that a motion has come to."""
        if self.began is None:
            self.began = monotonic()
        if self.progress is None:
            if monotonic() - self.began < PATIENCE:
                return
            self.progress = self._started()
        task = self.progress.task_ids[0]
        self.progress.update(task, completed=t - self.span[0], words=self._told(t))

    def _started(self) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[words]}", markup=False),
            TimeRemainingColumn(),
            console=Console(stderr=True, markup=False, highlight=False),
            transient=True,
        )
        first, last = self.span
        progress.add_task(self.name, total=last - first, words=self._told(first))
        progress.start()
        return progress

    def _told(self, t: float) -> str:
        return self.words.format(t=t, last=self.span[1])

    def stop(self) -> None:
        """Take the bar away."""
        if self.progress is not None:
            self.progress.stop()


@contextmanager
def shown_motion(
    name: str, span: tuple[float, float], *, quiet: bool = False
) -> Generator[Told | None]:
    """Yield what a motion has to tell its time to; nothing where nobody would see it."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    with _shown(Bar(name, span)) as told:
        yield told


@contextmanager
def shown_motions(name: str, count: int, *, quiet: bool = False) -> Generator[Told | None]:
    """Yield what many motions have to tell the number of those to that are done."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    with _shown(Bar(name, (0.0, float(count)), "{t:.0f} of {last:.0f} motions")) as told:
        yield told


@contextmanager
def _shown(bar: Bar) -> Generator[Told]:
    try:
        yield bar.show
    finally:
        bar.stop()
