"""The reduction of Racković 1996: the same values, and at no stage more operations than printed."""

from __future__ import annotations

from typing import Any

import pytest

import chainform as cf
from chainform.graph import cost, evaluate, verify
from chainform.search.published import PUBLISHED, TABLE_3_3, comparison
from chainform.search.stages import Stage, path_of
from chainform.search.thesis import FINAL_GRAPH, INITIAL_GRAPH, Thesis
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
    figures = [row.published for row in comparison("example_2_1", stages) if row.published]
    assert figures == [*PUBLISHED["example_2_1"].values()]


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
    assert cost(Thesis()(graph)).multiplications < cost(graph).multiplications


def test_every_way_has_a_fate() -> None:
    stages = reduced(reference("rackovic_2_1"), "closed_form", MODEL)
    assert all(stage.fate.startswith(("taken", "left")) for stage in stages)
    ends = [stage for stage in stages if stage.name == FINAL_GRAPH]
    assert [end.fate for end in ends].count("taken") == 1
    assert ends[-1] is stages[-1]
    for end in ends[:-1]:
        more = _operations(end) - _operations(stages[-1])
        assert end.fate == f"left: {more} operations more"
    path = path_of(stages)
    assert path[0] is stages[0]
    assert all(stage.fate == "taken" for stage in path)
    assert all(1 <= stage.back <= number for number, stage in enumerate(stages) if number)
    # A stage stands once: by its name and the way it belongs to.
    assert len({(stage.name, stage.branch) for stage in stages}) == len(stages)


def test_expressions_that_are_too_long_are_left() -> None:
    stages = reduced(reference("rackovic_2_1"), "closed_form", MODEL, total=250)
    tried = [stage for stage in stages if stage.fate.endswith("terms in all")]
    assert [stage.branch for stage in tried] == [f"at most {n} terms each" for n in (72, 18, 4)]
    (expressions,) = (s for s in stages if s.name == "analytic expressions" and s not in tried)
    assert expressions.fate in ("taken", "left")


def test_options_as_text() -> None:
    model = cf.derive(reference("rackovic_2_1"), MODEL, formulation="closed_form")
    plain = model.reduce("thesis(by_parts=false, factoring=false)")
    count = plain.count()
    printed = TABLE_3_3[False, False]
    assert (count.multiplications, count.additions) <= printed[:2]
    assert not [stage for stage in plain.stages if "subgraph" in stage.name]
    assert not [stage for stage in plain.stages if stage.name == "after factoring"]
    assert plain.reduction == "thesis(by_parts=false, factoring=false)"
    assert plain.stages[-1].options == {"passes": "thesis(by_parts=false,factoring=false)"}
