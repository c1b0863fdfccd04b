"""Models after a reduction: their stages, what can still be asked, and how they go on."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import DeriveError
from chainform.graph import graph_text
from chainform.model import Store
from chainform.search import Stage
from reductions import check_kept, operations
from robots import example_robot
from zoo import exact_state, reference

EXAMPLES = Path(__file__).parents[3] / "examples"
OUTPUTS = ["mass_matrix", "gravity"]
FAST = ["choose_start", "extract_divisors", "search_neighbourhoods"]
DEEP: dict[str, Any] = {"steps": 8, "cores": 1}


def four_bar(**options: Any) -> cf.Model:
    return cf.derive(EXAMPLES / "four_bar.toml", OUTPUTS, **options)


@cache
def reduced(*parameters: str) -> cf.Model:
    """Return the linkage after a fast reduction, some parameters free."""
    return four_bar(parameters=parameters or "numeric").reduce()


def steps_of(model: cf.Model) -> list[str]:
    return [stage.name for stage in model.stages]


# --- in memory --------------------------------------------------------------------------------


def test_a_model_is_reduced_further() -> None:
    plain = four_bar()
    model = plain.reduce("fast")
    assert steps_of(plain) == ["formulation"]
    assert steps_of(model) == ["formulation", *FAST]
    assert (plain.reduction, model.reduction) == ("none", "fast")
    assert (plain.is_reduced, model.is_reduced) == (False, True)
    assert operations(model.graph) < operations(plain.graph)
    assert model.derived is plain.graph
    check_kept(plain.graph, model.graph, exact_state(plain.mechanism, 1))
    deep = model.reduce("deep", **DEEP)
    assert steps_of(deep) == ["formulation", *FAST, "search_deep"]
    assert operations(deep.graph) <= operations(model.graph)
    assert deep.derived is plain.graph


def test_nothing_is_reduced_unasked() -> None:
    plain = four_bar()
    assert plain.graph is plain.derived is plain.stages[0].graph
    assert plain.reduce("none") is plain
    assert reduced().reduce("none") is reduced()


def test_the_short_form_is_the_same() -> None:
    short, long = four_bar(reduce="fast"), reduced()
    assert graph_text(short.graph) == graph_text(long.graph)
    assert (steps_of(short), short.reduction) == (steps_of(long), long.reduction)


def test_a_robot_is_reduced_as_far_as_on_record() -> None:
    """The best start is not the cheapest choice of axes: with that one it is 126/96."""
    model = cf.derive(cf.read(example_robot("ur5_robot.urdf")), ["tau"])
    counts = [stage.cost for stage in model.reduce("fast").stages]
    assert (counts[0].multiplications, counts[0].additions) == (144, 119)
    assert (counts[-1].multiplications, counts[-1].additions) == (118, 92)


@pytest.mark.parametrize(
    ("name", "outputs"),
    [
        ("puma560", ["inverse_dynamics"]),
        ("rackovic_2_1", ["mass_matrix", "coriolis", "gravity"]),
        ("stanford_toolbox", ["mass_matrix", "inverse_dynamics", "com"]),
    ],
)
def test_axes_that_are_found_again_lead_to_the_same(name: str, outputs: list[str]) -> None:
    """A model that was stored or bound has no choices of axes; they are counted anew."""
    model = cf.derive(reference(name), outputs)
    assert model.axis_choices
    others = list(model._graphs_in_other_axes())
    again = list(replace(model, axis_choices=None)._graphs_in_other_axes())
    assert others
    assert list(map(graph_text, again)) == list(map(graph_text, others))
    assert all(list(graph.outputs) == outputs for graph in others)


def test_there_are_no_other_axes_for_other_equations() -> None:
    model = cf.derive(reference("puma560"), ["inverse_dynamics"])
    lighter = model.mechanism.with_payload(model.mechanism.segments[-1].name, "0.1", [0, 0, 0])
    other = replace(model, mechanism=lighter, axis_choices=None)
    assert list(other._graphs_in_other_axes()) == []
    assert list(replace(model, reduction="fast")._graphs_in_other_axes()) == []


def test_stages_and_progress_are_told() -> None:
    seen: list[Stage] = []
    told: list[int] = []
    model = four_bar().reduce(
        "deep",
        **DEEP,
        observe=seen.append,
        progress=lambda steps, _cost, _graph: told.append(steps),
    )
    assert [stage.name for stage in seen] == ["before", "search_deep"]
    assert seen[-1].graph is model.graph
    assert told[-1] == 8


def test_bad_options_are_refused() -> None:
    bad: list[dict[str, Any]] = [{"effort": "most"}, {"effort": "fast", "steps": 4}, {"seed": -1}]
    bad += [{"effort": "none", "budget": "5m"}, {"effort": "deep", "cores": 0}]
    for options in bad:
        with pytest.raises(DeriveError):
            four_bar().reduce(**options)


@pytest.mark.slow
def test_intermediate_quantities_can_be_asked_for() -> None:
    mechanism = reference("rackovic_2_1")
    plain = cf.derive(mechanism, OUTPUTS, formulation="closed_form")
    model = plain.reduce()
    assert model.quantities == plain.quantities
    assert "Q_1" in model
    q = np.linspace(0.1, 1.1, 6)
    for name in ("Q_1", "e_2", "Q_3[1,:]"):
        assert str(model[name]) == str(plain[name])
        wanted: dict[str, Any] = {"q": q, "outputs": [name]}
        np.testing.assert_array_equal(
            model.evaluate(**wanted)[name], plain.evaluate(**wanted)[name]
        )
    both = model.evaluate(q=q, outputs=["Q_1", "mass_matrix"])
    expected = model.evaluate(q=q)["mass_matrix"]
    np.testing.assert_allclose(both["mass_matrix"], expected, rtol=1e-12, atol=1e-12)
    assert "Q_1" in model.emit("python", ["Q_1"])
    assert model.count(["Q_1"]) == plain.count(["Q_1"])
    assert "Q_99" not in model


def test_numbers_enter_every_stage() -> None:
    model = reduced("a", "g")
    bound = model.bind({"a": "1/3"})
    assert steps_of(bound) == steps_of(model)
    for before, after in zip(model.stages, bound.stages, strict=True):
        assert [given.name for given in before.graph.inputs.values() if given.name == "a"]
        assert not [given for given in after.graph.inputs.values() if given.name == "a"]
    values = {"a": 1 / 3}
    q = [1, -0.8, 1.9]
    for name, array in bound.evaluate(q=q).items():
        np.testing.assert_allclose(array, model.evaluate(q=q, values=values)[name], rtol=1e-12)


# --- in the store -----------------------------------------------------------------------------


def lineage(store: Store, name: str) -> list[tuple[int, str, int | None]]:
    return [(r.number, r.step, r.parent) for r in store.lineage(name)]


def test_every_step_is_a_revision(store: Store) -> None:
    model = reduced()
    revision = store.save(model, "bar", tags=["short"], note="reduced")
    assert revision.number == 4
    steps = ["derive", *FAST]
    assert lineage(store, "bar") == [
        (number, step, number - 1 or None) for number, step in enumerate(steps, start=1)
    ]
    for number, stage in enumerate(model.stages, start=1):
        found = store.load(f"bar@{number}")
        assert operations(found.graph) == operations(stage.graph)
        assert store.revision(f"bar@{number}").cost == stage.cost
    assert store.load("bar@1").reduction == "none"
    assert store.load("bar@short").reduction == "fast"
    assert store.check() == []


@pytest.mark.slow
def test_a_search_goes_on_from_the_store(store: Store) -> None:
    store.save(reduced(), "bar")
    revision = store.save(store.load("bar").reduce("deep", **DEEP), "bar")
    assert (revision.number, revision.parent, revision.step) == (5, 4, "search_deep")
    assert revision.options["steps"] == 8
    from_first = store.save(store.load("bar@1").reduce("deep", **DEEP), "bar", ["other"])
    assert lineage(store, "bar@other") == [(1, "derive", None), (6, "search_deep", 1)]
    assert from_first.tags == ("other",)
    loaded = store.load("bar@5")
    check_kept(four_bar().graph, loaded.graph, exact_state(loaded.mechanism, 2))


def test_several_reductions_before_saving(store: Store) -> None:
    store.save(four_bar(), "bar")
    model = store.load("bar").reduce("fast").reduce("deep", **DEEP)
    store.save(model, "bar")
    assert [step for _, step, _ in lineage(store, "bar")] == ["derive", *FAST, "search_deep"]


def test_under_another_name_it_begins_anew(store: Store) -> None:
    store.save(four_bar(), "bar")
    store.save(store.load("bar").reduce("fast"), "copy")
    assert lineage(store, "copy") == [
        (1, "copy", None),
        (2, FAST[0], 1),
        (3, FAST[1], 2),
        (4, FAST[2], 3),
    ]
    assert len(store.log("bar")) == 1


@cache
def reduced_reference(name: str, outputs: tuple[str, ...], parameters: str) -> cf.Model:
    return cf.derive(reference(name), outputs, parameters=parameters, reduce="fast")


@pytest.mark.usefixtures("short_walks")
@pytest.mark.parametrize(
    ("name", "outputs", "parameters"),
    [
        ("puma560", ["inverse_dynamics"], "numeric"),
        ("stanford_toolbox", ["gravity", "com", "mass_matrix"], "symbolic"),
    ],
)
def test_a_stored_model_is_reduced_as_far(
    store: Store, name: str, outputs: list[str], parameters: str
) -> None:
    model = cf.derive(reference(name), outputs, parameters=parameters)
    store.save(model, "arm")
    loaded = store.load("arm")
    assert loaded.outputs == tuple(outputs)
    direct, stored = reduced_reference(name, tuple(outputs), parameters), loaded.reduce()
    assert steps_of(stored)[1:] == steps_of(direct)[1:]
    assert [s.cost for s in stored.stages] == [s.cost for s in direct.stages]


@pytest.mark.usefixtures("short_walks")
def test_a_bound_model_is_reduced_as_far_from_the_store(store: Store) -> None:
    model = four_bar(parameters=["a", "g"]).bind({"a": "1/3"})
    store.save(model, "bar")
    direct, stored = model.reduce(), store.load("bar").reduce()
    assert [s.cost for s in stored.stages] == [s.cost for s in direct.stages]


def test_a_bound_model_is_one_step(store: Store) -> None:
    store.save(reduced("a"), "bar")
    revision = store.save(store.load("bar").bind({"a": "1/3"}), "bar")
    assert (revision.step, revision.parent) == ("bind", 4)
