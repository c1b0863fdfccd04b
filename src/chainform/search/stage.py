"""What a reduction did, step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from chainform.graph import Cost, Graph, cost

Option = float | int | str | None


@dataclass(frozen=True)
class Stage:
    """A graph on the way, what it costs, and how long the step to it took."""

    name: str
    graph: Graph
    cost: Cost
    seconds: float = 0.0
    options: dict[str, Option] = field(default_factory=dict[str, Option])


Observer = Callable[[Stage], None]
Progress = Callable[[int, float, Graph], None]
"""Called with the number of steps so far, the lowest cost and its graph."""


def stage_of(
    name: str,
    graph: Graph,
    seconds: float = 0.0,
    options: dict[str, Option] | None = None,
) -> Stage:
    """Return the stage of a graph, its operations counted."""
    return Stage(name, graph, cost(graph), seconds, options or {})
