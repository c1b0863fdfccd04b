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
from chainform.search.neighbourhood import FARTHER, FARTHEST, Reach, Walk, portable_exp

Report = Callable[[int, float, Graph | None], None]
"""Called with steps done, cost and graph where a better graph is found, or with no graph."""

_BETWEEN_REPORTS = 2.0
"""The least time between two reports of a graph, and between two without."""

COOLING = -0.5108256237659907
"""The logarithm of 0.6, the temperature at the end of a stretch as a part of that at its start."""

WORK = 100
"""Products of two terms that may be formed in multiplying out, for each term that may be left."""


@dataclass(frozen=True)
class SearchTask:
    """Where to start and how far to go."""

    graph: Graph
    seed: int
    steps: int
    temperature: float
    prices: Prices
    expansion: int = 0
    """Multiply the outputs out first, unless they have more terms than this in all."""
    max_cost: float = float("inf")
    """What may cost more than this once it is multiplied out is left as it was."""
    is_wide: bool = True
    """Whether a step may change much at once."""
    until: float | None = None
    """When to stop, by the clock (`time.time`)."""

    def as_data(self) -> dict[str, Any]:
        """Return the task as plain data."""
        rest = {name: getattr(self, name) for name in _PLAIN}
        return {"graph": graph_text(self.graph), "prices": asdict(self.prices), **rest}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> SearchTask:
        """Return the task that plain data describe."""
        rest = {name: data[name] for name in _PLAIN}
        return cls(parse_graph(data["graph"]), prices=Prices(**data["prices"]), **rest)


_PLAIN = ("seed", "steps", "temperature", "expansion", "max_cost", "is_wide", "until")


@dataclass(frozen=True)
class SearchResult:
    """The best graph of a task, its cost in the objective, and how many steps were made."""

    graph: Graph
    cost: float
    steps: int


def run(task: SearchTask, report: Report | None = None) -> SearchResult:
    """Carry out a task."""
    walk = _multiplied_out(task) if task.expansion and not _is_over(task) else None
    if walk is None:
        if _is_over(task):
            return SearchResult(task.graph, float("inf"), 0)
        walk = Walk(system_of(task.graph, task.prices), task.seed, task.temperature, _reach(task))
    walk.until = task.until
    reporter = _Reporter(walk, report) if report else None
    while walk.steps < task.steps and not _is_over(task):
        walk.temperature = task.temperature * portable_exp(COOLING * walk.steps / task.steps)
        walk.step()
        if reporter:
            reporter.look()
    return SearchResult(walk.best_graph(), walk.best_cost, walk.steps)


def _multiplied_out(task: SearchTask) -> Walk | None:
    """Return a walk from the outputs multiplied out, unless they are too long or too dear then."""
    system = system_of(task.graph, task.prices)
    work = WORK * task.expansion
    if not multiply_out(system.sums, task.expansion, task.expansion, work) or _is_over(task):
        return None
    walk = Walk(system, task.seed, task.temperature, _reach(task))
    return walk if walk.best_cost <= task.max_cost else None


class _Reporter:
    """Reports now and then how far a walk has got."""

    def __init__(self, walk: Walk, report: Report) -> None:
        self.walk = walk
        self.report = report
        self.reported = walk.best_cost
        self.graph_at = self.steps_at = monotonic()

    def look(self) -> None:
        """Report if there is something new and the last time is long enough ago."""
        walk, now = self.walk, monotonic()
        # Only where the walk is at its best, so that reporting it does not move it.
        is_better = walk.is_at_best and walk.best_cost < self.reported
        if is_better and now - self.graph_at > _BETWEEN_REPORTS:
            self.reported, self.graph_at, self.steps_at = walk.best_cost, now, now
            self.report(walk.steps, walk.best_cost, walk.best_graph())
        elif now - self.steps_at > _BETWEEN_REPORTS:
            self.steps_at = now
            self.report(walk.steps, float("inf"), None)


def _reach(task: SearchTask) -> Reach:
    return FARTHEST if task.is_wide else FARTHER


def _is_over(task: SearchTask) -> bool:
    return task.until is not None and time() > task.until
