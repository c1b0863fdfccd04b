"""Models that are wrong: each defect fails the check that is there for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.graph import Graph
from chainform.verification import certificates

EXAMPLES = Path(__file__).parents[3] / "examples"
OUTPUTS = ["inverse_dynamics", "mass_matrix", "gravity", "coriolis_matrix"]


@pytest.fixture(scope="module")
def model() -> cf.Model:
    """The equations of a four-bar linkage; nothing is wrong with them."""
    return cf.derive(EXAMPLES / "four_bar.toml", OUTPUTS)


def failed(found: cf.Certificate) -> set[str]:
    """Return the kinds of checks that fail."""
    assert not found.holds
    assert "FAIL" in found.verdict
    return {check.kind for check in found.failed}


def with_sign(graph: Graph, output: str) -> Graph:
    """Return a graph in which one term of an entry of an output has another sign."""
    v = next(
        v for v in graph.block(output).variables if graph.term_start[v + 1] > graph.term_start[v]
    )
    t = graph.term_start[v]
    coefficients = (*graph.coefficients, -graph.coefficients[graph.coefficient[t]])
    chosen = graph.coefficient.copy()
    chosen[t] = len(graph.coefficients)
    return replace(graph, coefficients=coefficients, coefficient=chosen)


def with_swap(graph: Graph, output: str) -> Graph:
    """Return a graph in which the first entry of an output changes places with another one."""
    block = graph.outputs[output]
    variables = list(block.variables)
    other = next(k for k, v in enumerate(variables) if v != variables[0])
    variables[0], variables[other] = variables[other], variables[0]
    swapped = replace(block, variables=tuple(variables))
    return replace(graph, outputs={**graph.outputs, output: swapped})


DEFECTS: dict[str, Callable[[Graph, str], Graph]] = {"sign": with_sign, "swap": with_swap}


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("defect", DEFECTS)
def test_a_wrong_formula_disagrees_with_all_others(
    model: cf.Model, defect: str, output: str
) -> None:
    wrong = model.with_graph(DEFECTS[defect](model.graph, output))
    found = cf.verify(wrong, only=["reference", "formulations", "peers"], states=2)
    assert {"reference", "formulations"} <= failed(found)
    figures = " ".join(check.figure + check.law for check in found.failed)
    assert output in figures
    # The same formulas in other languages are as wrong as the model, and agree with it.
    assert cf.verify(wrong, only=["rows", "text"], states=2).holds


def test_a_wrong_law_of_mechanics_fails(model: cf.Model) -> None:
    laws = {
        "mass_matrix": "H is symmetric",
        "gravity": "gravity is the gradient of the potential energy",
        "coriolis_matrix": "dH/dt - 2 Cm is skew",
    }
    for output, law in laws.items():
        wrong = model.with_graph(with_swap(model.graph, output))
        found = cf.verify(wrong, only="laws", states=1)
        assert law in {check.law for check in found.failed}, str(found)


def test_the_law_of_rates_holds_for_elements_and_fails_where_they_are_wrong() -> None:
    arm = cf.derive("examples/stanford_elements.toml", ["coriolis_matrix"])
    law = "dH/dt - 2 Cm is skew"
    for model, holds in (
        (arm, True),
        (arm.with_graph(with_swap(arm.graph, "coriolis_matrix")), False),
    ):
        found = cf.verify(model, only="laws", states=1)
        assert {check.law: check.holds for check in found.checks}[law] is holds


def test_a_stale_program_fails(model: cf.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = model.with_graph(with_sign(model.graph, "gravity")).compile()
    monkeypatch.setattr(cf.Model, "compile", lambda _: stale)
    found = cf.verify(model, only=["program", "rows"], states=2)
    assert failed(found) == {"program"}
    assert len(found.failed) == 2
    assert "gravity" in found.failed[0].figure


def test_a_lost_lane_fails(model: cf.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    function = cf.Program.function

    def without_the_last_lane(self: cf.Program, *outputs: str) -> Callable[..., Any]:
        whole = function(self, *outputs)

        def call(*args: Any, **options: Any) -> Any:
            found = whole(*args, **options)
            if len(outputs) > 1:
                found[0][self.lanes - 1] = 0.0
            return found

        return call

    monkeypatch.setattr(cf.Program, "function", without_the_last_lane)
    found = cf.verify(model, only="program", states=3)
    assert [check.law for check in found.failed] == ["lanes of a batch compute the model"]


def test_wrong_text_fails(model: cf.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    emit, export = cf.Model.emit, cf.Model.export

    def emitted(self: cf.Model, language: str) -> str:
        return emit(self, language).replace(" - ", " + ", 1)

    def exported(self: cf.Model, *args: Any, **options: Any) -> Path:
        folder = export(self, *args, **options)
        text = (folder / "verified.c").read_text()
        (folder / "verified.c").write_text(text.replace("0.24", "0.25"))
        return folder

    monkeypatch.setattr(cf.Model, "emit", emitted)
    found = cf.verify(model, only="text", states=2)
    assert [check.law for check in found.failed] == ["text in Python computes the model"]
    monkeypatch.undo()
    monkeypatch.setattr(cf.Model, "export", exported)
    found = cf.verify(model, only="text", states=2)
    assert [check.law for check in found.failed] == ["text in C computes the model"]


def test_a_value_that_is_not_finite_fails(model: cf.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    emit = cf.Model.emit
    monkeypatch.setattr(
        cf.Model, "emit", lambda self, language: emit(self, language).replace("9.81", "1e400", 1)
    )
    found = cf.verify(model, only="text", states=2)
    assert failed(found) == {"text"}
    assert found.document["checks"][0]["deviation"] is None


BROKEN: dict[str, Callable[[str], str]] = {
    "a sign too many": lambda text: f"{text}\n)(",
    "no function": lambda _: "",
    "no result": lambda text: text.partition("    return {")[0],
    "a name that is not known": lambda text: text.replace(" = q[0]", " = zz[0]"),
    "a coordinate that is not there": lambda text: text.replace("q[0]", "q[99]"),
    "no import": lambda text: text.replace("from math import cos", ""),
    "another default": lambda text: text.replace("g=9.81", "g=9.9"),
    "one parameter more": lambda text: text.replace("g=9.81", "g=9.81, h=1.0"),
    "one output more": lambda text: text.replace("return {", "return {'heat': 1.0,"),
    "another statement": lambda text: f"print(1)\n{text}",
}


@pytest.mark.parametrize("change", BROKEN)
def test_text_that_is_no_formula_fails(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = cf.derive(EXAMPLES / "four_bar.toml", ["gravity"], parameters=["g"])
    text = model.emit("python")
    broken = BROKEN[change](text)
    assert broken != text
    monkeypatch.setattr(cf.Model, "emit", lambda _self, _language: broken)
    found = cf.verify(model, only="text", states=2)
    assert [check.law for check in found.failed] == ["text in Python computes the model"]
    assert found.failed[0].figure.startswith("it cannot be computed: ")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [("verified.c", "verified_all", "verified_none"), ("verified.h", "_batch", "_bulk")],
)
def test_text_in_c_without_its_functions_fails(
    file: str, old: str, new: str, model: cf.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = cf.Model.export

    def exported(self: cf.Model, *args: Any, **options: Any) -> Path:
        folder = export(self, *args, **options)
        text = (folder / file).read_text()
        assert old in text
        (folder / file).write_text(text.replace(old, new))
        return folder

    monkeypatch.setattr(cf.Model, "export", exported)
    found = cf.verify(model, only="text", states=2)
    assert [check.law for check in found.failed] == ["text in C computes the model"]


def test_a_derivative_that_is_almost_right_fails() -> None:
    """By a millionth of one term, which central differences cannot see."""
    model = cf.derive(EXAMPLES / "driven_arm.toml", ["derivative(inverse_dynamics,q)"])
    graph = model.graph
    v = max(v for v in graph.output_variables() if graph.term_start[v + 1] > graph.term_start[v])
    t = graph.term_start[v]
    more = graph.coefficients[graph.coefficient[t]] * Fraction(1_000_001, 1_000_000)
    chosen = graph.coefficient.copy()
    chosen[t] = len(graph.coefficients)
    wrong = replace(graph, coefficients=(*graph.coefficients, more), coefficient=chosen)
    only = ["reference", "formulations"]
    assert cf.verify(model, only=only, states=1).holds
    assert failed(cf.verify(model.with_graph(wrong), only=only, states=1)) == {"formulations"}


CHANGES = {
    "a coefficient": "UPDATE terms SET value = -value, coefficient = -coefficient WHERE owner = "
    "(SELECT max(owner) FROM terms)",
    "a double alone": "UPDATE terms SET value = value + 0.001 WHERE value > 9",
    "a shape": "DELETE FROM shapes WHERE quantity = 'mass_matrix'",
    "an input": "DELETE FROM inputs WHERE source = 'q'",
    "a formulation": "UPDATE revisions SET formulation = 'lagrange'",
    "a factor": "UPDATE factors SET variable = variable - 1 WHERE variable = "
    "(SELECT max(variable) FROM factors)",
    "a value of a parameter": "UPDATE parameters SET exact = '7', value = 7.0 WHERE place = 0",
    "the step that made it": "UPDATE revisions SET step = 'reduce'",
}


@pytest.mark.parametrize("change", CHANGES)
def test_rows_changed_behind_the_store_fail(model: cf.Model, change: str, tmp_path: Path) -> None:
    file = tmp_path / "models.db"
    with cf.open_store(file) as store:
        store.save(model, "linkage")
        assert store.check_revision("linkage") == []
    with sqlite3.connect(file) as base:
        assert base.execute(CHANGES[change]).rowcount > 0
    with cf.open_store(file) as store:
        found = cf.verify("linkage", only=["reference", "rows"], store=store, states=2)
        assert failed(found) == {"rows"}
        assert set(store.check_revision("linkage")) == set(store.check())
        assert store.check()[0] in found.failed[0].figure
        (kept,) = certificates(store, "linkage")
        assert not kept.holds
        assert store.check_revision("linkage@1")


def test_a_table_that_is_gone_fails(model: cf.Model, tmp_path: Path) -> None:
    """The model itself comes from the cache."""
    file = tmp_path / "models.db"
    with cf.open_store(file) as store:
        store.save(model, "linkage")
    with sqlite3.connect(file) as base:
        base.execute("DROP TABLE factors")
    with cf.open_store(file) as store:
        found = cf.verify("linkage", only=["reference", "rows"], store=store, states=1, save=False)
    assert [check.figure for check in found.failed] == ["no such table: factors"]


def test_rows_changed_after_they_were_seen_to_be_right_fail(
    model: cf.Model, tmp_path: Path
) -> None:
    file = tmp_path / "models.db"
    with cf.open_store(file) as store:
        store.save(model, "linkage")
        store.save(cf.derive(model.mechanism, ["gravity"], parameters=["g"]), "heavy")
        for name, change in (
            ("heavy", "UPDATE parameters SET exact = '9.5' WHERE exact = '9.81'"),
            ("linkage", "UPDATE aliases SET place = place + 1000"),
        ):
            assert cf.verify(name, only="rows", store=store, states=1).holds
            with sqlite3.connect(file) as base:
                assert base.execute(change).rowcount > 0
            found = cf.verify(name, only="rows", store=store, states=1)
            assert "not what was saved" in found.failed[0].figure


def test_a_wrong_certificate_of_an_old_revision_is_not_that_of_the_next(
    model: cf.Model, tmp_path: Path
) -> None:
    with cf.open_store(tmp_path / "models.db") as store:
        store.save(model.with_graph(with_sign(model.graph, "gravity")), "linkage")
        store.save(model, "linkage")
        assert not cf.verify("linkage@1", only="reference", store=store).holds
        assert certificates(store, "linkage@2") == []
        assert cf.verify("linkage@2", only="reference", store=store).holds
        assert [c.holds for c in certificates(store, "linkage@1")] == [False]


def test_noise_of_rounding_is_no_defect_and_more_is(
    model: cf.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A value that is off by one last place holds; by a part in a thousand millions it fails."""
    evaluate = cf.Model.evaluate
    for share, holds in ((2.0**-52, True), (1e-9, False)):

        def off(self: cf.Model, _share: float = share, **given: Any) -> dict[str, np.ndarray]:
            found = evaluate(self, **given)
            return {**found, "gravity": found["gravity"] * (1 + _share)}

        monkeypatch.setattr(cf.Model, "evaluate", off)
        assert cf.verify(model, only="text", states=2).holds is holds
