"""Models after a reduction: their stages, what can still be asked, and how they go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import DeriveError
from chainform.model.store import Store
from chainform.search import Stage
from reductions import check_kept, operations
from zoo import exact_state, reference

pytestmark = pytest.mark.reduces

EXAMPLES = Path(__file__).parents[3] / "examples"
OUTPUTS = ["mass_matrix", "gravity"]
FAST = ["extract_divisors", "search_neighbourhoods"]
DEEP: dict[str, Any] = {"steps": 8, "cores": 1}


def four_bar(reduce: str = "fast", **options: Any) -> cf.Model:
    return cf.derive(EXAMPLES / "four_bar.toml", OUTPUTS, reduce=reduce, **options)


def steps_of(model: cf.Model) -> list[str]:
    return [stage.name for stage in model.stages]


# --- in memory --------------------------------------------------------------------------------


def test_a_model_is_reduced_further() -> None:
    plain = four_bar("none")
    model = plain.reduced("fast")
    assert steps_of(plain) == ["formulation"]
    assert steps_of(model) == ["formulation", *FAST]
    assert (plain.reduce, model.reduce) == ("none", "fast")
    assert operations(model.graph) < operations(plain.graph)
    assert model.derived is plain.graph
    check_kept(plain.graph, model.graph, exact_state(plain.mechanism, 1))
    deep = model.reduced("deep", **DEEP)
    assert steps_of(deep) == ["formulation", *FAST, "search_deep"]
    assert operations(deep.graph) <= operations(model.graph)
    assert deep.derived is plain.graph


def test_deriving_so_has_more_starts() -> None:
    derived = four_bar()
    assert steps_of(derived) == ["formulation", "choose_start", *FAST]
    assert operations(derived.graph) <= operations(four_bar("none").reduced("fast").graph)


def test_stages_and_progress_are_told() -> None:
    seen: list[Stage] = []
    told: list[int] = []
    model = four_bar("none").reduced(
        "deep",
        **DEEP,
        observe=seen.append,
        progress=lambda steps, _cost, _graph: told.append(steps),
    )
    assert [stage.name for stage in seen] == ["before", "search_deep"]
    assert seen[-1].graph is model.graph
    assert told[-1] == 8


def test_bad_options_are_refused() -> None:
    bad: list[dict[str, Any]] = [{"reduce": "most"}, {"reduce": "fast", "steps": 4}, {"seed": -1}]
    for options in bad:
        with pytest.raises(DeriveError):
            four_bar("none").reduced(**options)


@pytest.mark.slow
def test_intermediate_quantities_can_be_asked_for() -> None:
    mechanism = reference("rackovic_2_1")
    model = cf.derive(mechanism, OUTPUTS, formulation="closed_form")
    plain = cf.derive(mechanism, OUTPUTS, formulation="closed_form", reduce="none")
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
    model = four_bar(parameters=["a", "g"])
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
    model = four_bar()
    revision = store.save(model, "bar", tags=["short"], note="reduced")
    assert revision.number == 4
    steps = ["derive", "choose_start", *FAST]
    assert lineage(store, "bar") == [
        (number, step, number - 1 or None) for number, step in enumerate(steps, start=1)
    ]
    for number, stage in enumerate(model.stages, start=1):
        found = store.load(f"bar@{number}")
        assert operations(found.graph) == operations(stage.graph)
        assert store.revision(f"bar@{number}").cost == stage.cost
    assert store.load("bar@1").reduce == "none"
    assert store.load("bar@short").reduce == "fast"
    assert store.check() == []


@pytest.mark.slow
def test_a_search_goes_on_from_the_store(store: Store) -> None:
    store.save(four_bar(), "bar")
    revision = store.save(store.load("bar").reduced("deep", **DEEP), "bar")
    assert (revision.number, revision.parent, revision.step) == (5, 4, "search_deep")
    assert revision.options["steps"] == 8
    from_first = store.save(store.load("bar@1").reduced("deep", **DEEP), "bar", ["other"])
    assert lineage(store, "bar@other") == [(1, "derive", None), (6, "search_deep", 1)]
    assert from_first.tags == ("other",)
    loaded = store.load("bar@5")
    check_kept(four_bar("none").graph, loaded.graph, exact_state(loaded.mechanism, 2))


def test_several_reductions_before_saving(store: Store) -> None:
    store.save(four_bar("none"), "bar")
    model = store.load("bar").reduced("fast").reduced("deep", **DEEP)
    store.save(model, "bar")
    assert [step for _, step, _ in lineage(store, "bar")] == ["derive", *FAST, "search_deep"]


def test_under_another_name_it_begins_anew(store: Store) -> None:
    store.save(four_bar("none"), "bar")
    store.save(store.load("bar").reduced("fast"), "copy")
    assert lineage(store, "copy") == [(1, "copy", None), (2, FAST[0], 1), (3, FAST[1], 2)]
    assert len(store.log("bar")) == 1


def test_a_bound_model_is_one_step(store: Store) -> None:
    store.save(four_bar(parameters=["a"]), "bar")
    revision = store.save(store.load("bar").bind({"a": "1/3"}), "bar")
    assert (revision.step, revision.parent) == ("bind", 4)
