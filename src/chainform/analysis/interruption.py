"""How far a task has come, and Ctrl-C: what was found by then is kept.

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

from chainform.analysis.result import Result
from chainform.given import argument

Progress: TypeAlias = Callable[[int, int], None]
"""What is called on the way, with how much is done and how much there is to do."""


class TaskInterrupted(KeyboardInterrupt):
    """Ctrl-C came; `result` is what the task had found by then."""

    def __init__(self, result: Result) -> None:
        super().__init__("the task was interrupted")
        self.result = result


class Watch:
    """Counts what a task has done, and takes note of Ctrl-C.

    One that does not keep what is done lets KeyboardInterrupt through.
    """

    def __init__(self, progress: Progress | None = None, *, keeps: bool = True) -> None:
        if progress is not None and not callable(progress):
            raise argument("progress", progress).expected("a function", "leave it out")
        self.progress, self.keeps = progress, keeps
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
        """Keep Ctrl-C for later where something is done."""
        del problem, traceback
        is_kept = (
            kind is not None
            and issubclass(kind, KeyboardInterrupt)
            and self.keeps
            and self.done > 0
        )
        self.came = self.came or is_kept
        return is_kept

    @property
    def lines(self) -> tuple[str, ...]:
        """What a report says of it."""
        if not self.came:
            return ()
        return (f"interrupted: {self.done} of {self.total} are done",)

    def finished(self, result: Result) -> Result:
        """Return a result that is whole; TaskInterrupted with one that is not."""
        if self.came:
            raise TaskInterrupted(result)
        return result
