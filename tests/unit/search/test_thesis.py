"""The reduction of Racković 1996: the same values, and at no stage more operations than printed."""

from __future__ import annotations

from typing import Any

import pytest

import chainform as cf
from chainform.graph import cost, evaluate, verify
from chainform.search.efforts import Stage
from chainform.search.thesis import (
    FINAL_GRAPH,
    INITIAL_GRAPH,
    TABLE_3_3,
    Thesis,
    comparison,
    thesis,
)
from zoo import exact_state, random_tree, reference

MODEL = ["mass_matrix", "coriolis", "gravity"]


def reduced(
    mechanism: cf.Mechanism, formulation: str, outputs: list[str], **options: Any
) -> list[Stage]:
    """Return the stages of a reduction, with the values of the last one checked."""
    graph = cf.derive(mechanism, outputs, formulation=formulation).graph
    stages: list[Stage] = []
    final = Thesis(**options)(graph, stages.append)
    verify(final)
    state = exact_state(mechanism, 2)
    before, after = evaluate(graph, state), evaluate(final, state)
    assert all((after[name] == before[name]).all() for name in before)
    assert cost(final) == stages[-1].cost
    return stages


def assert_no_dearer(case: str, stages: list[Stage]) -> None:
    for row in comparison(case, stages):
        if row.published is not None:
            multiplications, additions = row.published
            assert row.ours.multiplications <= multiplications, row.stage
            assert row.ours.additions <= additions, row.stage


def test_example_2_1() -> None:
    stages = reduced(reference("rackovic_2_1"), "closed_form", MODEL)
    assert_no_dearer("example_2_1", stages)
    assert len(stages) == 10


@pytest.mark.parametrize(("by_parts", "factoring"), TABLE_3_3)
def test_the_four_cases(by_parts: bool, factoring: bool) -> None:
    mechanism = reference("rackovic_2_1")
    stages = reduced(mechanism, "closed_form", MODEL, by_parts=by_parts, factoring=factoring)
    final = stages[-1].cost
    figures = (final.multiplications, final.additions, final.sin, final.cos)
    printed = TABLE_3_3[by_parts, factoring]
    assert all(ours <= theirs for ours, theirs in zip(figures, printed, strict=True)), figures


@pytest.mark.slow
def test_the_first_chain_of_the_biped() -> None:
    chain = reference("rackovic_4_1").subtree("ground", ["body8"])
    assert_no_dearer("example_4_1_chain_1", reduced(chain, "closed_form", MODEL))


@pytest.mark.slow
def test_the_whole_biped() -> None:
    stages = reduced(reference("rackovic_4_1"), "closed_form", MODEL)
    assert_no_dearer("example_4_1", stages)


@pytest.mark.parametrize("limit", [1, 20, 1000])
def test_any_graph_whatever_the_limit(limit: int) -> None:
    for mechanism, formulation, outputs in (
        (reference("puma560"), "newton_euler", ["inverse_dynamics"]),
        (reference("sliding_links_3"), "closed_form", ["mass_matrix", "gravity"]),
        (random_tree(4), "composite_body", ["mass_matrix"]),
    ):
        stages = reduced(mechanism, formulation, outputs, limit=limit)
        first, last = stages[0], stages[-1]
        assert (first.name, last.name) == (INITIAL_GRAPH, FINAL_GRAPH)
        assert _operations(last) <= _operations(first)


def _operations(stage: Stage) -> int:
    return stage.cost.multiplications + stage.cost.additions


def test_without_an_observer() -> None:
    graph = cf.derive(reference("rackovic_2_1"), ["gravity"], formulation="closed_form").graph
    assert cost(thesis(graph)).multiplications < cost(graph).multiplications
