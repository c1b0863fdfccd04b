"""A reduction in seconds: common parts taken out, then a short walk."""

from __future__ import annotations

from chainform.algebra import Prices, Settler, System, multiply_out, system_of
from chainform.graph import Graph
from chainform.search.neighbourhood import Walk

LONGEST, TOTAL = 60, 600
"""Terms of one output, and of all, up to which multiplying everything out is tried as a start."""

FEWEST, MOST = 100, 1000
WORK = 250_000


def fast_steps(graph: Graph) -> int:
    """Return the length of the walk: shorter where a step takes longer."""
    return max(FEWEST, min(MOST, WORK // (len(graph.factor) + 1)))


def settled(graph: Graph, prices: Prices) -> System:
    """Return the better of two starts, common parts taken out: as it is, and multiplied out."""
    starts = [system_of(graph, prices)]
    expanded = system_of(graph, prices)
    if multiply_out(expanded.sums, LONGEST, TOTAL):
        starts.append(expanded)
    for system in starts:
        Settler(system).settle(resubstitute=True)
    return min(starts, key=lambda system: system.sums.cost)


def walked(graph: Graph, prices: Prices, steps: int, seed: int = 0) -> Graph:
    """Return the best graph of a walk."""
    walk = Walk(system_of(graph, prices), seed)
    while walk.steps < steps:
        walk.step()
    return walk.best_graph()
