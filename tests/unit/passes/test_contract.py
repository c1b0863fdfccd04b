"""Every pass keeps the contract: legal graphs, the same outputs and values, no higher cost."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any

import pytest
from hypothesis import given

import chainform as cf
from chainform.errors import RunError
from chainform.graph import EXACT, Graph, cost, evaluate, verify
from chainform.passes import (
    PASSES,
    DropNeutral,
    DropUnused,
    Expand,
    ExtractDivisors,
    ExtractMonomials,
    FactorProducts,
    MergeEqual,
    Pass,
    ReducePart,
    TrigIdentities,
)
from strategies import (
    ALL,
    EXACT_CALLS,
    POLYNOMIAL,
    TRIGONOMETRIC,
    Point,
    Program,
    examples,
    graph_of,
    graphs,
    points,
    programs,
)
from zoo import exact_state, random_tree, reference

SETTINGS: tuple[Pass, ...] = (
    DropNeutral(),
    DropUnused(),
    DropUnused(keep_quantities=True),
    Expand(limit=2000, beyond="stop"),
    Expand(limit=2000, beyond="stop", trig=True),
    Expand(limit=2000, beyond="stop", angles="split"),
    Expand(limit=2000, beyond="stop", angles="split", trig=True),
    Expand(limit=3, beyond="stop", trig=True),
    TrigIdentities(),
    TrigIdentities(choose="first", sine_cost=0),
    TrigIdentities(angles="kept"),
    MergeEqual(sign=False),
    MergeEqual(),
    MergeEqual(scale=True),
    ExtractDivisors(),
    ExtractDivisors(resubstitute=False),
    ExtractDivisors(sine_cost=0),
    ExtractMonomials(),
    ExtractMonomials(degree=4),
    ExtractMonomials(limit=1),
    FactorProducts(),
    FactorProducts(limit=5),
    ReducePart(("*",), (Expand(limit=2000, beyond="stop", trig=True), TrigIdentities())),
    ReducePart(("*",), (TrigIdentities(), FactorProducts(), MergeEqual(), ExtractMonomials())),
)


@cache
def zoo() -> list[tuple[Graph, dict[str, Any]]]:
    """Return graphs of mechanisms, each with a state."""
    cases = (
        (reference("rackovic_2_1"), "closed_form", "numeric", ["mass_matrix", "coriolis"]),
        (reference("rackovic_2_1"), "composite_body", "symbolic", ["mass_matrix", "gravity"]),
        (reference("sliding_links_3"), "newton_euler", "symbolic", ["inverse_dynamics"]),
        (random_tree(5), "newton_euler", "numeric", ["inverse_dynamics"]),
        (random_tree(3), "closed_form", "symbolic", ["mass_matrix"]),
    )
    return [
        (
            cf.derive(mechanism, outputs, formulation=formulation, parameters=parameters).graph,
            exact_state(mechanism, 3),
        )
        for mechanism, formulation, parameters, outputs in cases
    ]


def operations(graph: Graph) -> int:
    count = cost(graph)
    return count.multiplications + count.additions


def check(step: Pass, before: Graph, values: dict[str, Any] | None) -> Graph:
    """Return the graph after a pass, with the contract checked."""
    after = step(before)
    verify(after)
    assert [*after.outputs] == [*before.outputs]
    for name, block in before.outputs.items():
        assert after.outputs[name].shape == block.shape
        assert after.outputs[name].labels == block.labels
    assert [*after.inputs.values()] == [*before.inputs.values()]
    if not step.may_cost_more:
        assert operations(after) <= operations(before)
    if values is not None:
        names = [*after.outputs, *after.quantities]
        old, new = (evaluate(graph, values, EXACT, names) for graph in (before, after))
        assert all((new[name] == old[name]).all() for name in names)
    return after


def test_every_pass_is_tried() -> None:
    assert {type(step) for step in SETTINGS} == set(PASSES.values())
    for name, kind in PASSES.items():
        assert kind.name == name
        assert isinstance(kind(), Pass)


@pytest.mark.parametrize("step", SETTINGS, ids=repr)
@examples(20)
@given(programs(ALL), points)
def test_random_programs(step: Pass, program: Program, point: Point) -> None:
    check(step, graph_of(program), point.values())


@pytest.mark.parametrize("step", SETTINGS, ids=repr)
@examples(20)
@given(programs(POLYNOMIAL + TRIGONOMETRIC, most_steps=16), points)
def test_random_trigonometric_programs(step: Pass, program: Program, point: Point) -> None:
    check(step, graph_of(program), point.values())


@pytest.mark.parametrize("step", SETTINGS, ids=repr)
@examples(20)
@given(graphs(calls=("abs", "sign")))
def test_random_graphs(step: Pass, graph: Graph) -> None:
    values = {given.name: i + 2 for i, given in enumerate(graph.inputs.values())}
    check(step, graph, values)


@pytest.mark.parametrize("step", SETTINGS, ids=repr)
@examples(10)
@given(graphs())
def test_random_graphs_with_every_call(step: Pass, graph: Graph) -> None:
    with suppress(RunError):  # a reciprocal of zero that only shows when it is simplified
        check(step, graph, None)


@pytest.mark.parametrize("step", SETTINGS, ids=repr)
def test_the_zoo(step: Pass) -> None:
    for graph, values in zoo():
        after = check(step, graph, values)
        # A number is one row, whatever names it has: an entry that is zero needs none of its own.
        numbers = [*after.number_value.values()]
        assert len(numbers) == len({*numbers})


@examples(40)
@given(programs(POLYNOMIAL + TRIGONOMETRIC + EXACT_CALLS, most_steps=14), points)
def test_passes_follow_one_another(program: Program, point: Point) -> None:
    graph = graph_of(program)
    for step in SETTINGS:
        graph = check(step, graph, point.values())
