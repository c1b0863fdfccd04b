"""How far a task has come, and Ctrl-C: what was found by then is not lost.

    watch = Watch(progress)
    with watch.counting(len(times)):
        for k in range(len(times)):
            ...
            watch.tell(k + 1)
    q = q[: watch.done]
    ...
    return watch.finished(result)

Ctrl-C leaves the loop, and what comes after works with what is done; then `finished` raises
TaskInterrupted. Where nothing is done yet, KeyboardInterrupt goes on as usual.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeAlias

from chainform.analysis.results.result import Result
from chainform.given import argument

Progress: TypeAlias = Callable[[int, int], None]
"""What is called on the way, with how much is done and how much there is to do."""


class TaskInterrupted(KeyboardInterrupt):
    """Ctrl-C came; `result` is what the task had found by then, and the message how much it is."""

    def __init__(self, result: Result, message: str) -> None:
        super().__init__(message)
        self.result = result


class Watch:
    """Counts what a task has done, and takes note of Ctrl-C.

    One for which a part is no use lets KeyboardInterrupt through.
    """

    def __init__(self, progress: Progress | None = None, *, takes_parts: bool = True) -> None:
        if progress is not None and not callable(progress):
            raise argument("progress", progress).expected("a function", "leave it out")
        self.progress, self.takes_parts = progress, takes_parts
        self.done, self.total = 0, 0
        self.came = False
        """Whether Ctrl-C came."""

    def counting(self, total: int) -> Self:
        """Return the watch itself, with so much to do from now on."""
        self.done, self.total = 0, total
        return self

    def tell(self, done: int) -> None:
        """Take note of how much is done."""
        self.done = done
        self.show(done)

    def show(self, done: int) -> None:
        """Show how far the work has come, though it is of no use before more is done."""
        if self.progress is not None:
            self.progress(done, self.total)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        """Hold Ctrl-C back where something is done."""
        del problem, traceback
        is_interrupted = kind is not None and issubclass(kind, KeyboardInterrupt)
        holds_back = is_interrupted and self.takes_parts and self.done > 0
        self.came = self.came or holds_back
        return holds_back

    @property
    def lines(self) -> tuple[str, ...]:
        """What a report says of Ctrl-C."""
        return (f"interrupted: {self._part}",) if self.came else ()

    @property
    def _part(self) -> str:
        return f"{self.done} of {self.total} are done"

    def finished(self, result: Result) -> Result:
        """Return a result that is whole; TaskInterrupted with one that is not."""
        if self.came:
            raise TaskInterrupted(result, self._part)
        return result
