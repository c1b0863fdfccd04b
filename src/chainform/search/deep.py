"""A long search: several walks, each from its own start, that learn from one another.

The walks go on for a round, then the worse half starts again where the better half has got to. Once
that leads nowhere, walks that stand still start again from the beginning. Walks and rounds have
fixed seeds, so that the same number of steps gives the same graph with any number of processes; a
time limit cuts the sequence short.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import time

from chainform.algebra import STANDARD, Prices, system_of
from chainform.graph import Graph
from chainform.search.crew import Answer, Crew
from chainform.search.fast import best_starts, best_walk
from chainform.search.task import Task

WALKS = 8
TEMPERATURES = (1.0, 0.5, 1.0, 0.5, 1.5, 0.5, 0.7, 0.7)
PATIENCE = 2
"""After so many rounds without a better graph, walks that stand still start again."""
EXPANSION = 1000
"""Terms in all up to which every second walk starts from outputs that are multiplied out."""

Progress = Callable[[int, float, Graph], None]
"""Called with the number of steps so far, the lowest cost and its graph."""


@dataclass
class _Island:
    graph: Graph
    cost: float
    expansion: int
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
    interrupt (Ctrl-C) ends the search; the best graph so far is returned.
    """
    search = _Search(starts, prices, steps, seconds, seed, progress)
    try:
        with Crew(min(cores or os.cpu_count() or 1, WALKS)) as crew:
            while search.goes_on():
                search.round(crew)
    except KeyboardInterrupt:
        pass
    return search.result()


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
        ranked = best_starts(starts, prices)
        # What a short walk finds is found in any case.
        walk = best_walk(ranked, prices, seed)[1]
        self.best, self.best_cost = walk.best_graph(), walk.best_cost
        before = system_of(starts[0], prices).sums.cost
        if before < self.best_cost - 1e-9:
            self.best, self.best_cost = starts[0], before
        self.latest = self.best
        """The best graph heard of, perhaps in a round that did not come to its end."""
        self.latest_cost = self.best_cost
        self.prices = prices
        self.left = steps
        self.deadline = None if seconds is None else time() + seconds
        self.seed = seed
        self.progress = progress
        self.steps = 0
        self.rounds = 0
        graphs = [start.graph for start in ranked[: WALKS // 2]]
        self.starts = [
            _Island(
                graphs[number // 2 % len(graphs)],
                float("inf"),
                EXPANSION if number % 2 else 0,
            )
            for number in range(WALKS)
        ]
        self.islands = [replace(start) for start in self.starts]
        self.islands[0] = _Island(self.best, self.best_cost, 0)
        self.idle = 0

    def result(self) -> Graph:
        """Return the best graph; that of a round cut short only if it is better."""
        return self.latest if self.latest_cost < self.best_cost - 1e-9 else self.best

    def goes_on(self) -> bool:
        """Whether steps and time are left."""
        return (self.left is None or self.left > 0) and (
            self.deadline is None or time() < self.deadline
        )

    def round(self, crew: Crew) -> None:
        """Let every walk go on for a while, then let the worse ones follow the better ones."""
        tasks = [self._task(number) for number in range(WALKS)]
        if self.left is not None:
            self.left -= sum(task.steps for task in tasks)
        done = 0
        for answer in crew.run(tasks):
            if answer.cost < self.latest_cost - 1e-9:
                self.latest_cost, self.latest = answer.cost, answer.graph
            if answer.is_done:
                done += answer.steps
                self.islands[answer.task] = self._after(self.islands[answer.task], answer)
            if self.progress:
                self.progress(self.steps + done, self.latest_cost, self.latest)
        # Whatever order the answers came in: the first of the cheapest walks.
        self.idle += 1
        for island in self.islands:
            if island.cost < self.best_cost - 1e-9:
                self.best_cost, self.best, self.idle = island.cost, island.graph, 0
        self.steps += done
        self.rounds += 1
        if self.idle >= PATIENCE:
            self._start_again()
        elif self.rounds % 2 == 0:
            self._follow()

    def _after(self, island: _Island, answer: Answer) -> _Island:
        """Return where a walk stands after a round."""
        if answer.cost < island.cost - 1e-9:
            return _Island(answer.graph, answer.cost, 0)
        graph = answer.graph if answer.cost <= island.cost else island.graph
        return _Island(graph, island.cost, 0, island.idle + 1)

    def _task(self, number: int) -> Task:
        island = self.islands[number]
        steps = round_steps(island.graph)
        if self.left is not None:
            steps = min(steps, max(1, self.left // WALKS))
        return Task(
            island.graph,
            seed=hash((self.seed, self.rounds, number)),
            steps=steps,
            temperature=TEMPERATURES[number],
            prices=self.prices,
            expansion=island.expansion,
            until=self.deadline,
        )

    def _ranked(self) -> list[int]:
        return sorted(range(WALKS), key=lambda number: (self.islands[number].cost, number))

    def _follow(self) -> None:
        """Let the worse half start again where the better half has got to."""
        ranked = self._ranked()
        for place in range(WALKS // 2):
            better, worse = ranked[place], ranked[WALKS - 1 - place]
            self.islands[worse] = replace(self.islands[better])

    def _start_again(self) -> None:
        """Let the walks that stand still start from the beginning, but for the best."""
        for number in self._ranked()[1:]:
            if self.islands[number].idle >= PATIENCE:
                self.islands[number] = replace(self.starts[number])


def round_steps(graph: Graph) -> int:
    """Return how many steps a walk makes in a round: fewer where a step takes longer."""
    return max(200, min(6_000, 500_000 // (len(graph.factor) + 1)))
