"""Progress on a terminal: of motions, of tasks, and of a search for fewer operations."""

from __future__ import annotations

import sys
import warnings
from argparse import Namespace
from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias

from chainform.analysis import Progress as TaskProgress
from chainform.graph import Graph, cost
from chainform.search import DEFAULT_SECONDS, seconds_of
from chainform.search import Progress as SearchProgress

if TYPE_CHECKING:
    from rich.progress import Progress

Reporter: TypeAlias = Callable[[float], None]
"""What is called with the time, or the number of motions, that has been reached."""

PATIENCE = 0.5
"""So long (s) a motion may take before anything is shown."""

TIME, MOTIONS = "t = {t:.6g} of {last:g} s", "{t:.0f} of {last:.0f} motions"
STEPS = "{t:.0f} of {last:.0f}"
"""How far it has come: a format of t."""


# --- motions ------------------------------------------------------------------------------------


class Bar:
    """A bar that appears when a motion takes a while, what came before it not counted."""

    def __init__(self, name: str, span: tuple[float, float], words: str = TIME) -> None:
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
        first, last = self.span
        self.progress.update(task, completed=t - first, total=last - first, words=self._text(t))

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
        progress.add_task(self.name, total=last - first, words=self._text(first))
        progress.start()
        return progress

    def _text(self, t: float) -> str:
        return self.words.format(t=t, last=self.span[1])

    def stop(self) -> None:
        """Take the bar away."""
        if self.progress is not None:
            self.progress.stop()


@contextmanager
def motion_progress(
    name: str, span: tuple[float, float], words: str = TIME, *, quiet: bool = False
) -> Generator[Reporter | None]:
    """Yield the reporter of a motion, or of many; none where nobody would see it."""
    if quiet or not _is_seen():
        yield None
        return
    bar = Bar(name, span, words)
    try:
        yield bar.show
    finally:
        bar.stop()


@contextmanager
def task_progress(name: str) -> Generator[TaskProgress | None]:
    """Yield the reporter of a task, what comes before it counted; none where nobody sees it."""
    if not _is_seen():
        yield None
        return
    bar = Bar(name, (0.0, 1.0), STEPS)
    bar.began = monotonic()

    def show(done: int, total: int) -> None:
        bar.span = (0.0, float(total))
        bar.show(done)

    try:
        yield show
    finally:
        bar.stop()


def _is_seen() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


# --- a search -----------------------------------------------------------------------------------


class Status:
    """The line that tells how far a search has got; the time in it goes on by itself."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        """How long the search may take, if that is bounded."""
        self.began: float | None = None
        self.found = "deriving the model"

    def progress(self, steps: int, _: float, graph: Graph) -> None:
        """Take note of what a search has found."""
        if self.began is None:
            self.began = monotonic()
        best = cost(graph)
        made = f"{steps} steps" if steps else "a first look"
        self.found = f"{made}, best {best.multiplications} multiplications and {best.additions} "
        self.found += "additions; Ctrl-C keeps it"

    def __rich__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Return the line as it is now."""
        if self.began is None:
            return self.found
        elapsed = monotonic() - self.began
        if self.seconds is None:
            return f"{_clock(elapsed)}: {self.found}"
        left = max(0.0, self.seconds - elapsed)
        return f"{_clock(elapsed)}, {_clock(left)} left: {self.found}"


def _clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _bound(args: Namespace) -> float | None:
    """Return the seconds a search may take; None where its steps are counted alone."""
    if args.budget is not None:
        return seconds_of(args.budget)
    return None if args.steps_made is not None else DEFAULT_SECONDS


@contextmanager
def search_progress(args: Namespace) -> Generator[SearchProgress | None]:
    """Show how far a deep search has got, on a terminal; yield the reporter.

    A search that had to end early says so in a line on stderr.
    """
    if getattr(args, "reduce", None) != "deep":
        yield None
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        with _shown_status(args) as progress:
            yield progress
    for warning in caught:
        print(f"chainform: note: {warning.message}", file=sys.stderr)


@contextmanager
def _shown_status(args: Namespace) -> Generator[SearchProgress | None]:
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    status = Status(_bound(args))
    console = Console(stderr=True, markup=False, highlight=False)
    with console.status(status):
        yield status.progress
