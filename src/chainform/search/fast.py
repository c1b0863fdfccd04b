"""A reduction in seconds: common parts taken out, then a short walk."""

from __future__ import annotations

import gc
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter

from chainform.algebra import Prices, Settler, SumSystem, graph_of, multiply_out, system_of
from chainform.graph import Graph
from chainform.search.neighbourhood import Walk

LONGEST, TOTAL = 60, 600
"""Terms of one output, and of all, up to which multiplying everything out is tried as a start."""

DEAR = 1000.0
"""A price of sines and cosines at which no more of them are made."""

STARTS, TRIAL = 3, 60
"""How many starts are walked from, and for how many steps before all but the best are left."""
LARGE, FAR = 250.0, 0.1
"""From this cost on, a start that is dearer than the best by this part is not walked from: what a
short walk saves makes up for that in small systems only."""

FEWEST, MOST = 100, 1000
WORK = 1_200_000
CHANGES, PER_VARIABLE, MOST_CHANGES = 30_000, 50, 80_000
"""The most terms that come or go in a walk; more, up to a limit, where there are many variables."""


@contextmanager
def without_collection() -> Generator[None, None, None]:
    """Let no cyclic garbage be looked for meanwhile: sums make none, and many small objects."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass(frozen=True)
class StartGraph:
    """A graph to start from, its sums with common parts taken out, their cost, and the time."""

    graph: Graph
    system: SumSystem
    cost: float
    seconds: float

    @cached_property
    def settled(self) -> Graph:
        """The graph with common parts taken out."""
        return graph_of(self.system)


def fast_steps(graph: Graph) -> int:
    """Return the length of the walk: shorter where a step takes longer."""
    return max(FEWEST, min(MOST, WORK // (len(graph.factor) + 1)))


def _changes(graph: Graph) -> int:
    return max(CHANGES, min(MOST_CHANGES, PER_VARIABLE * len(graph.factor)))


def settled(graph: Graph, prices: Prices, *, is_expanded: bool = False) -> SumSystem | None:
    """Return a graph as sums, common parts taken out; first multiplied out, unless that is long."""
    system = system_of(graph, prices)
    if is_expanded and not multiply_out(system.sums, LONGEST, TOTAL):
        return None
    Settler(system).settle(resubstitute=True)
    return system


def _variants(graph: Graph, prices: Prices, *, is_expanded: bool) -> list[SumSystem]:
    """Return a graph settled, and settled as if no further sine or cosine were worth its price."""
    system = settled(graph, prices, is_expanded=is_expanded)
    if system is None:
        return []
    if not system.sums.identities or prices.call >= DEAR:
        return [system]
    few = settled(graph, replace(prices, call=DEAR), is_expanded=is_expanded)
    assert few is not None
    return [system, system_of(graph_of(few), prices)]


def best_starts(graphs: Sequence[Graph], prices: Prices) -> list[StartGraph]:
    """Return graphs of the same values, the one with the lowest cost once settled first."""
    starts: dict[float, StartGraph] = {}
    for number, graph in enumerate(graphs):
        began = perf_counter()
        systems = _variants(graph, prices, is_expanded=False)
        # Multiplied out they are all the same.
        if number == 0:
            systems += _variants(graph, prices, is_expanded=True)
        system = min(systems, key=lambda system: system.sums.cost)
        cost = system.sums.cost
        if cost not in starts:
            starts[cost] = StartGraph(graph, system, cost, perf_counter() - began)
    return [starts[cost] for cost in sorted(starts)]


def best_walk(
    starts: Sequence[StartGraph], prices: Prices, seed: int = 0, until: float | None = None
) -> tuple[StartGraph, Walk]:
    """Walk a little from each of the first starts, then on from the one that got farthest."""
    least = starts[0].cost
    near = [s for s in starts[:STARTS] if least < LARGE or s.cost <= (1 + FAR) * least]
    walks = [Walk(system_of(start.settled, prices), seed) for start in near]
    if len(walks) > 1:
        for walk in walks:
            walk.go_on(TRIAL, CHANGES, until)
    best = min(range(len(walks)), key=lambda number: walks[number].best_cost)
    start, walk = starts[best], walks[best]
    walk.go_on(fast_steps(start.settled), _changes(start.settled), until)
    return start, walk
