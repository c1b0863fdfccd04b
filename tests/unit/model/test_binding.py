"""Numbers for parameters in memory, and how the store records them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import chainform as cf
from chainform.errors import DeriveError, RunError, StoreError
from chainform.model import Store

EXAMPLES = Path(__file__).parents[3] / "examples"
Q = [0.1, 0.2, 0.3]


@pytest.fixture(scope="module")
def model() -> cf.Model:
    return cf.derive(
        EXAMPLES / "four_bar.toml", ["mass_matrix", "gravity"], parameters=["a", "b", "g"]
    )


def test_in_memory(model: cf.Model) -> None:
    bound = model.bind({"a": "1/3"}).bind({"g": 1.62})
    assert dict(bound.bound) == {"a": Fraction(1, 3), "g": Fraction("1.62")}
    assert list(bound.free_parameters) == ["b"]
    expected = model.evaluate(q=Q, values={"a": 1 / 3, "g": 1.62})
    for name, array in bound.evaluate(q=Q).items():
        np.testing.assert_allclose(array, expected[name], rtol=1e-14)
    assert dict(model.bound) == {}


def test_parameters_that_stay_free(model: cf.Model) -> None:
    moved = model.bind({"a": "1/3"}, keep_free=True)
    assert list(moved.free_parameters) == list(model.free_parameters)
    assert moved.free_parameters["a"] == Fraction(1, 3)
    expected = model.evaluate(q=Q, values={"a": 1 / 3})["mass_matrix"]
    np.testing.assert_allclose(moved.evaluate(q=Q)["mass_matrix"], expected, rtol=1e-14)
    again = cf.derive(moved.mechanism, moved.outputs, parameters=moved.parameters)
    np.testing.assert_allclose(again.evaluate(q=Q)["mass_matrix"], expected, rtol=1e-14)
    number = moved.bind({"b": 1})
    np.testing.assert_allclose(
        number.evaluate(q=Q)["mass_matrix"],
        model.evaluate(q=Q, values={"a": 1 / 3, "b": 1})["mass_matrix"],
        rtol=1e-14,
    )
    assert number.mechanism.parameters[0].value == Fraction(1, 3)


def test_what_is_no_free_parameter(model: cf.Model) -> None:
    with pytest.raises(DeriveError, match="c is not a free parameter") as caught:
        model.bind({"c": 1})
    assert (
        caught.value.remedy == "free are a, b, g; derive it with parameters=['c'] to keep it free"
    )
    with pytest.raises(DeriveError, match="bb is not") as caught:
        model.bind({"bb": 1})
    assert caught.value.remedy is not None
    assert caught.value.remedy.startswith("did you mean 'b'? free are")


def test_rows_have_only_the_derivatives_that_were_saved(store: Store, model: cf.Model) -> None:
    store.save(model, "linkage")
    with pytest.raises(RunError, match="no quantity") as caught:
        store.evaluate("linkage", q=Q, outputs=["d(H)/d(q)"])
    assert caught.value.remedy is not None
    assert "store.load" in caught.value.remedy
    assert "d(H)/d(q)" in store.load("linkage").evaluate(q=Q, outputs=["d(H)/d(q)"])


def test_a_loaded_model_remembers_where_it_came_from(store: Store, model: cf.Model) -> None:
    store.save(model, "linkage")
    store.save(model, "linkage")
    loaded = store.load("linkage@1")
    assert (str(loaded.origin), dict(loaded.bound)) == ("linkage@1", {})
    same = store.save(loaded.bind({"a": 1}), "linkage", tags=["short"])
    assert (same.step, same.parent, same.tags) == ("bind", 1, ("short",))
    assert same.options["values"] == {"a": "1"}
    assert "origin" not in same.options
    other = store.save(loaded.bind({"a": 1}, keep_free=True), "other")
    assert (other.step, other.parent, other.options["origin"]) == ("bind", None, "linkage@1")
    assert (other.options["keep_free"], other.origin) == (["a"], "linkage@1")
    assert store.load("other").free_parameters["a"] == 1
    fresh = store.save(model.bind({"a": 1}), "fresh")
    assert (fresh.step, fresh.parent, fresh.origin) == ("bind", None, "")


def test_a_name_in_another_store_is_no_parent(
    store: Store, model: cf.Model, tmp_path: Path
) -> None:
    """The same name and number, but another content, is not what the model was made from."""
    store.save(model, "linkage")
    loaded = store.load("linkage").bind({"a": 1})
    with cf.open_store(tmp_path / "second.db") as second:
        second.save(cf.derive(EXAMPLES / "four_bar.toml", ["gravity"]), "linkage")
        found = second.save(loaded, "linkage")
    assert (found.parent, found.options["origin"]) == (None, "linkage@1")


def test_binding_in_the_store(store: Store, model: cf.Model) -> None:
    store.save(model, "linkage")
    found = store.bind("linkage", {"a": "0.3"}, tags=["t"], keep_free=True)
    assert (found.tags, found.options["keep_free"]) == (("t",), ["a"])
    difference = store.diff("linkage@1", "linkage@2")
    assert [str(p) for p in difference.parameters] == ["a 0.2 (free) -> 0.3 (free)"]
    assert not difference.has_other_formulas
    with pytest.raises(StoreError, match="c is not a free parameter"):
        store.bind("linkage", {"c": 1})
    number = store.bind("linkage@t", {"a": "0.3"})
    kept = {p.name: p.value for p in store.database.parameters(number.reference)}
    assert (kept["a"], kept["c"]) == (Fraction("0.3"), Fraction("0.4"))
    assert repr(number).startswith("<linkage@3: bind from 2; a = 0.3; ")
