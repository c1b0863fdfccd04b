"""Stages of a reduction: each graph on the way, what it costs, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from chainform.display import Displayed
from chainform.graph import Cost, Graph, cost

Option = float | int | str | None
LARGEST = 10**18
"""The largest whole number of an option."""
TAKEN, LEFT = "taken", "left"
"""What came of a stage, where several ways were tried: how a fate begins."""


@dataclass(frozen=True, repr=False)
class Stage(Displayed):
    """A graph on the way, what it costs, and how long the step to it took.

    Where several ways were tried, or a part was reduced by itself, `branch` names the way and
    `fate` tells what came of it: `TAKEN`, or `LEFT` and the reason.
    """

    name: str
    graph: Graph = field(repr=False)
    cost: Cost
    seconds: float = 0.0
    options: dict[str, Option] = field(default_factory=dict[str, Option])
    branch: str = ""
    fate: str = ""
    back: int = 1
    """How many stages earlier the graph stands that the step started from."""

    def with_graph(self, graph: Graph) -> Stage:
        """Return the same stage of another graph, its operations counted."""
        return replace(self, graph=graph, cost=cost(graph))

    def __repr__(self) -> str:
        way = "".join(f", {text}" for text in (self.branch, self.fate) if text)
        return f"<Stage {self.name}{way}: {self.cost}, {self.seconds:.2f} s>"


def path_of(stages: Sequence[Stage]) -> list[Stage]:
    """Return the stages that lead from the first graph to the last one."""
    path = [len(stages) - 1] if stages else []
    while path and path[-1] > 0:
        path.append(max(path[-1] - stages[path[-1]].back, 0))
    return [stages[number] for number in path[::-1]]


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
