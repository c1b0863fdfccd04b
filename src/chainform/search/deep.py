"""A long search: several walks, each from its own start, that learn from one another.

The walks go on for a round, then the worse half starts again where the better half has got to. Once
that leads nowhere, walks that stand still start again from the beginning. Walks and rounds have
fixed seeds, so that the same number of steps gives the same graph with any number of processes; a
time limit cuts the sequence short.
"""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from threading import current_thread, main_thread
from time import time
from types import FrameType
from typing import overload

from chainform.algebra import STANDARD, Prices, system_of
from chainform.graph import Graph
from chainform.search.fast import StartGraph, best_starts, best_walk, with_stages
from chainform.search.stages import Progress
from chainform.search.task import SearchTask
from chainform.search.workers import Answer, LostError, WorkerPool


@contextmanager
def later_interrupt() -> Generator[None, None, None]:
    """Keep the first interrupt back until something short is done; a second one comes through."""
    before = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(before):
        yield
        return
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if len(came) > 1:
            before(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        before(came[0], None)


WALKS = 8
TEMPERATURES = (0.6, 0.3, 0.4, 0.4, 0.69, 0.3, 0.3, 0.5)
NARROW = (2, 3, 6, 7)
"""The walks that change little in a step, and so make more steps in the same time."""
PATIENCE = 2
"""After so many rounds without a better graph, walks that stand still start again."""
EXPANSION = 1000
"""Terms in all up to which every second walk starts from outputs that are multiplied out."""
WORTH = 1.15
"""Unless that costs more than so many times what the same start costs as it is."""


@dataclass(frozen=True)
class _Best:
    graph: Graph
    cost: float


@dataclass
class _Island:
    graph: Graph
    cost: float
    expansion: int = 0
    max_cost: float = float("inf")
    idle: int = 0
    """How many rounds brought nothing better."""


def deep(
    starts: Sequence[Graph],
    *,
    prices: Prices = STANDARD,
    steps: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    cores: int | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Return the graph with the fewest operations found in some steps or seconds.

    The starts are graphs of the same values; the walks are spread over the best of them. An
    interrupt (Ctrl-C) ends the search; the best graph so far is returned, and that is no worse than
    what a fast reduction finds: the first interrupt waits for it, the second does not. Where the
    processes of the search do not stay alive, it ends with a warning and the best graph so far;
    a walk that fails is left out, with a warning.
    """
    search = _Search(starts, prices, steps, seconds, seed, progress)
    try:
        with ExitStack() as stack:
            with later_interrupt():
                pool = stack.enter_context(WorkerPool(min(cores or os.cpu_count() or 1, WALKS)))
                search.begin()
            while search.goes_on():
                search.round(pool)
    except KeyboardInterrupt:
        pass
    except LostError as problem:
        message = f"the search ended early, with the best so far: {problem}"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    if search.problems:
        message = f"{len(search.problems)} walks of the search failed ({search.problems[0]}) and "
        message += "were left out; this is a defect of chainform, please report it"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return search.result()


class _InTime(Sequence[Graph]):
    """Graphs of which, once time is over, there are no more than were taken already, or one."""

    def __init__(self, graphs: Sequence[Graph], deadline: float | None) -> None:
        self.graphs = graphs
        self.deadline = deadline

    def __len__(self) -> int:
        return len(self.graphs)

    @overload
    def __getitem__(self, place: int) -> Graph: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Graph]: ...
    def __getitem__(self, place: int | slice) -> Graph | Sequence[Graph]:
        return self.graphs[place]

    def __iter__(self) -> Iterator[Graph]:
        for number, graph in enumerate(self.graphs):
            if number and self.deadline is not None and time() >= self.deadline:
                return
            yield graph


class _Search:
    def __init__(
        self,
        starts: Sequence[Graph],
        prices: Prices,
        steps: int | None,
        seconds: float | None,
        seed: int,
        progress: Progress | None,
    ) -> None:
        self.deadline = None if seconds is None else time() + seconds
        self.given = _InTime(starts, self.deadline)
        self.best = _Best(starts[0], float("inf"))
        self.latest = self.best
        """The best graph so far, perhaps in a round that did not come to its end."""
        self.prices = prices
        self.left = steps
        self.seed = seed
        self.progress = progress
        self.steps = 0
        self.rounds = 0
        self.idle = 0
        self.problems: list[str] = []
        """What went wrong in walks that failed."""
        self.starts: list[_Island] = []
        self.islands: list[_Island] = []

    def begin(self) -> None:
        """Find what a fast reduction finds, as far as there is time, and where the walks start."""
        self._take(_Best(self.best.graph, system_of(self.best.graph, self.prices).sums.cost))
        ranked = best_starts(self.given, self.prices)
        if self._is_in_time():
            ranked, _ = with_stages(ranked, self.given[0], self.prices)
        self._take(_Best(ranked[0].settled, ranked[0].cost))
        if self._is_in_time():
            walk = best_walk(ranked, self.prices, self.seed, self.deadline)[1]
            self._take(_Best(walk.best_graph(), walk.best_cost))
        chosen = ranked[: WALKS // 2]
        self.starts = [_island(chosen[n // 2 % len(chosen)], n % 2 == 1) for n in range(WALKS)]
        self.islands = [replace(start) for start in self.starts]
        self.islands[0] = _Island(self.best.graph, self.best.cost)

    def _take(self, best: _Best) -> None:
        """Take what costs no more, and report it."""
        if best.cost < self.best.cost + 1e-9:
            self.best = self.latest = best
        self._report(0)

    def _report(self, steps: int) -> None:
        if self.progress:
            self.progress(self.steps + steps, self.latest.cost, self.latest.graph)

    def result(self) -> Graph:
        """Return the best graph; that of a round cut short only if it is better."""
        is_better = self.latest.cost < self.best.cost - 1e-9
        return self.latest.graph if is_better else self.best.graph

    def _is_in_time(self) -> bool:
        return self.deadline is None or time() < self.deadline

    def goes_on(self) -> bool:
        """Whether steps and time are left."""
        return (self.left is None or self.left > 0) and self._is_in_time()

    def round(self, pool: WorkerPool) -> None:
        """Let every walk go on for a while, then let the worse ones follow the better ones."""
        tasks = [self._task(number) for number in range(WALKS)]
        if self.left is not None:
            self.left -= sum(task.steps for task in tasks)
        made = [0] * WALKS
        for answer in pool.run(tasks, self.deadline):
            if answer.cost < self.latest.cost - 1e-9:
                self.latest = _Best(answer.graph, answer.cost)
            # One that is carried out again begins at nothing, which need not be reported.
            made[answer.task] = max(made[answer.task], answer.steps)
            if answer.problem:
                self.problems.append(answer.problem)
            if answer.is_done:
                self.islands[answer.task] = _after(self.islands[answer.task], answer)
            self._report(sum(made))
        # Whatever order the answers came in: the first of the cheapest walks.
        self.idle += 1
        for island in self.islands:
            if island.cost < self.best.cost - 1e-9:
                self.best, self.idle = _Best(island.graph, island.cost), 0
        self.steps += sum(made)
        self.rounds += 1
        if self.idle >= PATIENCE:
            self._start_again()
        elif self.rounds % 2 == 0:
            self._follow()

    def _task(self, number: int) -> SearchTask:
        island = self.islands[number]
        steps = round_steps(island.graph)
        if self.left is not None:
            steps = min(steps, max(1, self.left // WALKS))
        return SearchTask(
            island.graph,
            seed=seed_of(self.seed, self.rounds, number),
            steps=steps,
            temperature=TEMPERATURES[number],
            prices=self.prices,
            expansion=island.expansion,
            max_cost=island.max_cost,
            is_wide=number not in NARROW,
            until=self.deadline,
        )

    def _ranked(self) -> list[int]:
        return sorted(range(WALKS), key=lambda number: (self.islands[number].cost, number))

    def _follow(self) -> None:
        """Let the worse half start again where the better half has got to."""
        ranked = self._ranked()
        for index in range(WALKS // 2):
            better, worse = ranked[index], ranked[WALKS - 1 - index]
            self.islands[worse] = replace(self.islands[better])

    def _start_again(self) -> None:
        """Let the walks that stand still start from the beginning, but for the best."""
        for number in self._ranked()[1:]:
            if self.islands[number].idle >= PATIENCE:
                self.islands[number] = replace(self.starts[number])


def _island(start: StartGraph, is_multiplied_out: bool) -> _Island:
    """Return where a walk begins."""
    if start.stage:
        return _Island(start.settled, float("inf"))
    if not is_multiplied_out:
        return _Island(start.graph, float("inf"))
    return _Island(start.graph, float("inf"), EXPANSION, WORTH * start.cost)


def _after(island: _Island, answer: Answer) -> _Island:
    """Return where a walk stands after a round."""
    if answer.cost < island.cost - 1e-9:
        return _Island(answer.graph, answer.cost)
    graph = answer.graph if answer.cost <= island.cost else island.graph
    return _Island(graph, island.cost, idle=island.idle + 1)


def seed_of(seed: int, rounds: int, walk: int) -> int:
    """Return the seed of a walk in a round: another for each, and the same everywhere."""
    return int.from_bytes(sha256(f"{seed} {rounds} {walk}".encode()).digest()[:8], "little")


def round_steps(graph: Graph) -> int:
    """Return how many steps a walk makes in a round: fewer where a step takes longer."""
    return max(200, min(8_000, 1_500_000 // (len(graph.factor) + 1)))
