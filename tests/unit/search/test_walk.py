"""A walk: the values stay on every step, and the best graph costs what the walk says."""

from __future__ import annotations

from typing import Any

import pytest

import chainform as cf
from chainform.algebra import Prices, graph_of, is_same, system_of
from chainform.graph import Graph, cost, graph_text
from chainform.search.neighbourhood import Walk
from reductions import check_kept, operations
from zoo import exact_state, random_tree, reference

CASES: list[tuple[Any, list[str], str]] = [
    (reference("rackovic_2_1"), ["mass_matrix", "coriolis", "gravity"], "numeric"),
    (reference("manipulator_5dof"), ["inverse_dynamics"], "symbolic"),
    (reference("manipulator_5dof"), ["forward_dynamics"], "numeric"),
    (reference("sliding_links_3"), ["mass_matrix", "gravity"], "symbolic"),
    (random_tree(2), ["inverse_dynamics", "com"], "numeric"),
]


def priced(graph: Graph, prices: Prices) -> float:
    count = cost(graph)
    return operations(graph) + prices.call * (count.sin + count.cos)


@pytest.mark.parametrize(("mechanism", "outputs", "parameters"), CASES)
def test_every_place_has_the_same_values(
    mechanism: Any, outputs: list[str], parameters: str
) -> None:
    graph = cf.derive(mechanism, outputs, parameters=parameters).graph
    state = exact_state(mechanism, 4) | {f"tau{i}": i for i in range(1, 9)}
    system = system_of(graph)
    walk = Walk(system, seed=3, temperature=2.0)
    for _ in range(3):
        for _ in range(8):
            walk.step()
        after = graph_of(system)
        assert is_same(graph, after, seed=9)
        check_kept(graph, after, state)
    best = walk.best_graph()
    check_kept(graph, best, state)
    assert operations(best) <= operations(graph)
    assert priced(best, system.sums.prices) == walk.best_cost


def test_the_best_graph_is_the_cheapest_place() -> None:
    graph = cf.derive(reference("rackovic_2_1"), ["mass_matrix", "gravity"]).graph
    system = system_of(graph)
    walk = Walk(system, seed=5, temperature=3.0)
    lowest = system.sums.cost
    for _ in range(60):
        walk.step()
        lowest = min(lowest, system.sums.cost)
        assert walk.best_cost == lowest
    best = walk.best_graph()
    assert priced(best, system.sums.prices) == lowest
    assert system.sums.cost == lowest
    walk.step()  # it can go on from there
    assert walk.best_cost <= lowest


def test_the_same_seed_is_the_same_walk() -> None:
    graph = cf.derive(reference("manipulator_5dof"), ["mass_matrix", "gravity"]).graph
    texts: list[str] = []
    for seed in (1, 1, 2):
        walk = Walk(system_of(graph), seed)
        for _ in range(30):
            walk.step()
        texts.append(graph_text(graph_of(walk.system)))
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


def test_a_sweep_brings_what_short_walks_did_not_find() -> None:
    """Its end is noted as the best, and nothing is left to sweep."""
    graph = cf.derive(reference("rackovic_2_1"), ["mass_matrix", "coriolis", "gravity"]).graph
    walk = Walk(system_of(graph), 0)
    walk.go_on(20, 10_000)
    walk.go_back()
    before = walk.best_cost
    walk.sweep()
    assert walk.best_cost == walk.sums.cost < before
    swept = walk.best_graph()
    assert is_same(graph, swept)
    walk.sweep()
    assert graph_text(walk.best_graph()) == graph_text(swept)


def test_time_ends_a_sweep() -> None:
    graph = cf.derive(reference("manipulator_5dof"), ["mass_matrix", "gravity"]).graph
    walk = Walk(system_of(graph), 0)
    walk.go_on(10, 10_000, until=0.0)
    before = walk.best_cost
    walk.sweep()
    assert (walk.steps, walk.best_cost) == (0, before)


def test_nothing_to_do() -> None:
    graph = cf.derive(random_tree(3), ["gravity"]).graph
    walk = Walk(system_of(graph), 0)
    for _ in range(3):
        walk.step()
    check_kept(graph, walk.best_graph())
