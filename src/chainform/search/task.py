"""One stretch of a search: a graph, a seed and a number of steps in, the best graph found out.

A task depends on nothing but itself, so that any number of processes, in any order, give the same
result; a time limit only ends it earlier.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import monotonic, time
from typing import Any

from chainform.algebra import Prices, multiply_out, system_of
from chainform.graph import Graph, graph_text, parse_graph
from chainform.search.neighbourhood import FAR, Walk

Report = Callable[[int, float, Graph], None]
"""Called with steps done, cost and graph whenever a better graph is found, but not too often."""

_BETWEEN_REPORTS = 2.0

COOLING = 0.15
"""The temperature at the end of a stretch, as a part of that at its start."""


@dataclass(frozen=True)
class Task:
    """Where to start and how far to go."""

    graph: Graph
    seed: int
    steps: int
    temperature: float
    prices: Prices
    expansion: int = 0
    """Multiply the outputs out first, unless they have more terms than this in all."""
    until: float | None = None
    """When to stop, by the clock (`time.time`)."""

    def as_data(self) -> dict[str, Any]:
        """Return the task as plain data."""
        rest = {name: getattr(self, name) for name in _PLAIN}
        return {"graph": graph_text(self.graph), "prices": asdict(self.prices), **rest}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Task:
        """Return the task that plain data describe."""
        rest = {name: data[name] for name in _PLAIN}
        return cls(parse_graph(data["graph"]), prices=Prices(**data["prices"]), **rest)


_PLAIN = ("seed", "steps", "temperature", "expansion", "until")


@dataclass(frozen=True)
class Result:
    """The best graph of a task, its cost in the objective, and how many steps were made."""

    graph: Graph
    cost: float
    steps: int


def run(task: Task, report: Report | None = None) -> Result:
    """Carry out a task."""
    if _is_over(task):
        return Result(task.graph, float("inf"), 0)
    system = system_of(task.graph, task.prices)
    if task.expansion:
        multiply_out(system.sums, task.expansion, task.expansion)
    walk = Walk(system, task.seed, task.temperature, FAR)
    told, reported = walk.best_cost, monotonic()
    while walk.steps < task.steps and not _is_over(task):
        walk.temperature = task.temperature * (COOLING ** (walk.steps / task.steps))
        walk.step()
        # Only where the walk is at its best, so that telling about it does not move it.
        is_better = walk.is_at_best and walk.best_cost < told
        if report and is_better and monotonic() - reported > _BETWEEN_REPORTS:
            told, reported = walk.best_cost, monotonic()
            report(walk.steps, told, walk.best_graph())
    return Result(walk.best_graph(), walk.best_cost, walk.steps)


def _is_over(task: Task) -> bool:
    return task.until is not None and time() > task.until
