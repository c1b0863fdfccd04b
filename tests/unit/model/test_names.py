"""Letters and indices in Python mean what they mean on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainform as cf
from chainform.emitters import latex_name
from chainform.errors import RunError, StoreError
from chainform.graph import cost, parse_graph, verify
from chainform.model import Store
from chainform.model.names import find_block, resolve

EXAMPLES = Path(__file__).parents[3] / "examples"
Q = [0.1, 0.2, 0.3]


@pytest.fixture(scope="module")
def model() -> cf.Model:
    return cf.derive(
        EXAMPLES / "four_bar.toml", ["mass_matrix", "gravity", "coriolis", "jacobian(coupler)"]
    )


def test_letters_and_indices(model: cf.Model) -> None:
    whole = model["mass_matrix"]
    assert model["H"].variables.tolist() == whole.variables.tolist()
    assert model["H[1,2]"].variable == whole[0, 1].variable
    assert model["H[1,2]"].name == "H_1_2"
    assert model["H_2_1"].variable == whole[1, 0].variable
    assert model["H[:,2]"].labels.tolist() == ["H_1_2", "H_2_2", "H_3_2"]
    assert model["H[2]"].shape == (3,)
    assert model["C[1,:,2]"].shape == (3,)
    assert model["J(coupler)[1,:]"].shape == (3,)
    assert "hG[3]" in model
    assert "hG[4]" not in model
    assert 5 not in model
    assert model.count(["H"]) == model.count(["mass_matrix"])
    assert model.emit("python", ["hG"]) == model.emit("python", ["gravity"])


@pytest.mark.parametrize("text", ["hG[4]", "hG[0]", "hG[1,1]", "hG[x]", "hG[", "nothing", "tau"])
def test_what_is_not_there(model: cf.Model, text: str) -> None:
    with pytest.raises(RunError) as caught:
        model[text]
    assert caught.value.remedy
    with pytest.raises(RunError):
        model.evaluate(q=Q, outputs=[text])


def test_an_own_name_goes_before_a_letter(model: cf.Model) -> None:
    assert resolve(model.graph, "q1").name == "q1"
    assert find_block(model.graph, "cos_q1").shape == ()


def test_results_go_by_the_names_given(model: cf.Model, store: Store) -> None:
    store.save(model, "linkage")
    asked = ["H", "hG[3]", "H[1,:]", "H_2_1", "cos_q1", "gravity"]
    q = np.asarray([[Q, Q], [Q, [1, 2, 3]]])
    here, there = model.evaluate(q=q, outputs=asked), store.evaluate("linkage", q=q, outputs=asked)
    whole = model.evaluate(q=q)
    assert list(here) == list(there) == asked
    np.testing.assert_array_equal(here["H[1,:]"], whole["mass_matrix"][..., 0, :])
    np.testing.assert_array_equal(here["hG[3]"], whole["gravity"][..., 2])
    for name, array in there.items():
        assert array.shape == here[name].shape
        np.testing.assert_allclose(array, here[name], rtol=1e-12, atol=1e-12)


def test_the_store_takes_them_too(model: cf.Model, store: Store) -> None:
    store.save(model, "linkage")
    assert store.formula("linkage", "hG[3]") == str(model["gravity"][2])
    assert store.formula("linkage", "gravity") == str(model["gravity"])
    assert store.formula("linkage", "hG") == str(model["gravity"])
    assert list(store.expand("linkage", "H[1,:]")) == ["H_1_1", "H_1_2", "H_1_3"]
    assert store.expand("linkage", "hG") == store.expand("linkage", "gravity")
    assert store.cone("linkage", "hG[3]") == store.cone("linkage", "hG_3")
    assert store.uses("linkage", "cos_q1")
    for task in (store.cone, store.uses):
        with pytest.raises(StoreError, match="3 entries") as caught:
            task("linkage", "hG")
        assert caught.value.remedy == "name one of them, such as hG_1"
    calls: list[Any] = [store.formula, store.expand]
    for call in calls:
        with pytest.raises(StoreError, match=r"no entry \[4\]"):
            call("linkage", "hG[4]")


ENTRIES = ["H[1,1]", "H_2_1", "H[1,:]", "hG[2]", "J(coupler)[1,:]", "C[1,:,2]", "cos_q1", "q1"]


@pytest.mark.parametrize("text", ENTRIES)
def test_an_entry_is_answered_for_the_entry(model: cf.Model, text: str) -> None:
    quantity = model[text]
    assert model.count([text]) == model.count(text) == quantity.count()
    expected = model.evaluate(q=Q, outputs=[text])[text]
    (name,) = model.compile([text]).outputs
    np.testing.assert_allclose(model.compile([text])[name](Q), expected, rtol=1e-12, atol=1e-14)
    namespace: dict[str, Any] = {}
    exec(model.emit("python", [text]), namespace)  # noqa: S102 - the text is the test
    np.testing.assert_allclose(namespace["model"](Q)[name], expected, rtol=1e-12, atol=1e-14)
    graph = parse_graph(model.emit("text", [text]))
    verify(graph)
    assert list(graph.outputs) == [name]
    assert cost(graph) == quantity.count()
    formulas = model.emit("latex", [text])
    for label in quantity.labels.flat:
        assert label in model.graph.names or f"{latex_name(str(label))} &= " in formulas


def test_an_entry_takes_less_than_the_matrix() -> None:
    arm = cf.derive(EXAMPLES / "six_axis_arm.toml", ["mass_matrix"])
    entry, whole = arm.count(["H[1,1]"]), arm.count(["mass_matrix"])
    assert entry.multiplications < whole.multiplications
    assert len(arm.emit("python", ["H[1,1]"])) < len(arm.emit("python"))


def test_no_outputs_are_none(model: cf.Model) -> None:
    assert not any(model.count([]).as_dict().values())
    assert model.evaluate(q=Q, outputs=[]) == {}


def test_entries_are_not_functions_of_a_program_without_them(model: cf.Model) -> None:
    for text in ("H[1,1]", "H_1_1"):
        with pytest.raises(RunError) as caught:
            model.compile()[text]
        assert f"model.compile([{text!r}])" in (caught.value.remedy or "")


INDEX = st.one_of(st.just(":"), st.integers(-1, 5).map(str), st.sampled_from(["", "x", "1.0"]))


@given(
    st.sampled_from(["H", "mass_matrix", "hG", "C", "J(coupler)", "H_1_1", "zz"]),
    st.lists(INDEX, min_size=1, max_size=4),
)
def test_every_way_of_naming_agrees(model: cf.Model, name: str, indices: list[str]) -> None:
    text = f"{name}[{','.join(indices)}]"
    if text not in model:
        for refused in (model.count, model.compile, lambda n: model.emit("text", n)):
            with pytest.raises(RunError):
                refused([text])
        return
    assert model.count([text]) == model[text].count()
    assert model.evaluate(q=Q, outputs=[text])[text].shape == model[text].shape
