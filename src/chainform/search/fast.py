"""A reduction in seconds: common parts taken out, then a short walk."""

from __future__ import annotations

import gc
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter

from chainform.algebra import (
    Prices,
    Settler,
    SumSystem,
    graph_of,
    multiply_out,
    needs_more,
    system_of,
)
from chainform.graph import Graph, cost
from chainform.search.neighbourhood import Walk
from chainform.search.stages import Stage

LONGEST, TOTAL = 60, 600
"""Terms of one output, and of all, up to which multiplying everything out is tried as a start."""

SHORT, PER_OPERATION = 1000, 3
"""Terms of the expressions of the thesis up to which all its stages are gone through, and, where
there are more, how many for each operation of the graph up to which the expressions are a start."""

FEW_PRODUCTS, PRODUCTS = 50_000, 25
"""Products of terms that are formed to get them, or so many for each operation if that is more."""

DEAR = 1000.0
"""A price of sines and cosines at which no more of them are made."""

STARTS, TRIAL = 3, 60
"""How many starts are walked from, and for how many steps before all but the best are left."""
LARGE, FAR = 250.0, 0.1
"""From this cost on, a start that is dearer than the best by this part is not walked from: what a
short walk saves makes up for that in small systems only."""

FEWEST, MOST = 100, 1000
WORK = 1_200_000
CHANGES, PER_VARIABLE, MOST_CHANGES = 40_000, 50, 80_000
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
    stage: str = ""
    """The stage of the thesis that it is."""

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
        system = min(systems, key=_cost)
        start = StartGraph(graph, system, _cost(system), perf_counter() - began)
        starts.setdefault(start.cost, start)
    return [starts[cost] for cost in sorted(starts)]


def with_stages(
    starts: Sequence[StartGraph], graph: Graph, prices: Prices
) -> tuple[list[StartGraph], Stage | None]:
    """Return starts, and before them what the stages of the thesis make of a graph if that is less.

    Expressions in sums of angles show what a graph in single angles hides. The last stage of the
    thesis comes with them where its expressions are short: as a start it leads to nothing dearer,
    but for operations within angles, which a walk leaves as they are.
    """
    # Its passes are imported when something is reduced.
    from chainform.search.thesis import Thesis, ThesisRun, is_multiplied_out, live_terms

    count, began = cost(graph), perf_counter()
    operations = count.multiplications + count.additions
    run = ThesisRun(Thesis(), graph, max(FEW_PRODUCTS, PRODUCTS * operations))
    most = max(SHORT, PER_OPERATION * operations)
    # A part that becomes longer than the whole graph is no part of sines and cosines alone.
    number = run.expressions(most, max(SHORT, live_terms(graph)))
    if number is None:
        return list(starts), None
    stages = [run.stages[number]]
    is_short = live_terms(stages[0].graph) <= SHORT
    if not is_short and not is_multiplied_out(stages[0].graph):
        return list(starts), None
    if is_short:
        stages.append(run.finish()[-1])
    found: list[StartGraph] = []
    for stage in stages:
        if needs_more(graph, stage.graph):
            continue
        system = min(_variants(stage.graph, prices, is_expanded=False), key=_cost)
        seconds = perf_counter() - began
        found.append(StartGraph(stage.graph, system, _cost(system), seconds, stage.name))
    least = min(start.cost for start in starts)
    better = [start for start in found if start.cost < least]
    last = stages[-1] if is_short and not needs_more(graph, stages[-1].graph) else None
    return sorted([*better, *starts], key=lambda start: start.cost), last


def _cost(system: SumSystem) -> float:
    return system.sums.cost


def best_walk(
    starts: Sequence[StartGraph], prices: Prices, seed: int = 0, until: float | None = None
) -> tuple[StartGraph, Walk]:
    """Walk a little from each of the first starts, then on from the one that got farthest.

    A stage of the thesis that is hardly cheaper than the other starts is walked from only where
    these do not lead below it.
    """
    plain = min((start.cost for start in starts if not start.stage), default=float("inf"))
    close = [s for s in starts if s.stage and s.cost > (1 - FAR) * plain]
    raced = [s for s in starts if not s.stage or s.cost <= (1 - FAR) * plain]
    least = raced[0].cost
    near = [s for s in raced[:STARTS] if least < LARGE or s.cost <= (1 + FAR) * least]
    walks = [Walk(system_of(start.settled, prices), seed) for start in near]
    if len(walks) > 1:
        for walk in walks:
            walk.go_on(TRIAL, CHANGES, until)
    best = min(range(len(walks)), key=lambda number: walks[number].best_cost)
    start, walk = raced[best], walks[best]
    _go_far(walk, start, until)
    for other in close:
        if other.cost < walk.best_cost:
            start, walk = other, Walk(system_of(other.settled, prices), seed)
            _go_far(walk, start, until)
    return start, walk


def _go_far(walk: Walk, start: StartGraph, until: float | None) -> None:
    """Walk on to the end, and look once more through the windows of the best that was found."""
    walk.go_on(fast_steps(start.settled), _changes(start.settled), until)
    walk.go_back()
    walk.sweep()
