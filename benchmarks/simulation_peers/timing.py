"""Times of what takes turns: seconds of this thread, which no other program lengthens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import thread_time
from typing import Any

from chainform.simulation.solvers.integrator import Integrator


def in_turn(runs: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Run competitors one after the other, round by round; return the seconds of each."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(rounds):
        for name, run in runs.items():
            start = thread_time()
            run()
            taken[name].append(thread_time() - start)
    return taken


def ratio(theirs: list[float], ours: list[float]) -> str:
    """Return how often the best of one holds the best of the other, and the range over rounds."""
    each = [a / b for a, b in zip(theirs, ours, strict=True)]
    return f"{min(theirs) / min(ours):.3g} ({min(each):.3g}-{max(each):.3g})"


class Inside:
    """Seconds within the compiled loop alone, while `with` lasts: the best of the runs."""

    def __init__(self) -> None:
        self.taken: list[float] = []
        self._whole = 0.0

    def __enter__(self) -> Inside:
        original = self._original = Integrator._loop  # noqa: SLF001, there is no other way in

        def timed(integrator: Integrator, *arguments: Any) -> Any:
            start = thread_time()
            try:
                return original(integrator, *arguments)
            finally:
                self._whole += thread_time() - start

        Integrator._loop = timed  # noqa: SLF001
        return self

    def __exit__(self, *_: object) -> None:
        Integrator._loop = self._original  # noqa: SLF001

    def run(self, function: Callable[[], Any]) -> Any:
        """Run something, and note what its loops took."""
        self._whole = 0.0
        result = function()
        self.taken.append(self._whole)
        return result

    @property
    def best(self) -> float:
        """The shortest time."""
        return min(self.taken)
