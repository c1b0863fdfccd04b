"""Outputs of one's own and files of expressions on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import chainform as cf
from chainform.cli.commands.schema import schema_text

Call = Callable[..., Any]
TEXT = """
s = a*x + b*y          # an intermediate quantity
Y = s*x + b*x*y + b*y^2
v = [s, sin(q1)]
"""
VALUES = {"a": 1, "b": 2, "x": 3, "y": 4}
STATE = json.dumps({"q": [0.5], "values": VALUES})


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHAINFORM_DB", str(tmp_path / "models.db"))
    path = tmp_path / "poly.expr"
    path.write_text(TEXT)
    return path


def valid(result: Any, name: str) -> Any:
    assert (result.code, result.err) == (0, "")
    Draft202012Validator(json.loads(schema_text(name))).validate(result.document)
    return result.document


def test_every_command_takes_a_file_of_expressions(call: Call, file: Path) -> None:
    document = valid(call("derive", file, "--reduce", "fast", "--save", "poly", "--json"), "derive")
    assert list(document["outputs"]) == ["Y", "v"]
    assert document["formulation"] == "expressions"
    assert call("show", file, "s", "v[1:2]").out.splitlines()[0] == "s = a*x + b*y"
    counts = valid(call("count", file, "--by-entry", "--by-pass", "--json"), "count")
    (step,) = counts["by_entry"]
    assert step["entries"]["v_2"]["sin"] == 1
    for name in (file, "poly"):
        numbers = valid(call("eval", name, "--at", STATE, "--json"), "eval")["outputs"]
        assert numbers["Y"]["values"] == pytest.approx(11 * 3 + 24 + 32)
    assert "def model(q, a, b, x_, y):" in call("export", file, "--to", "python").out
    assert valid(call("bind", file, "a=1/3", "--json"), "bind")["free_parameters"] == [
        "b",
        "x",
        "y",
    ]
    assert "not timed: no values of a, b, x, y" in call("compile", file).out
    assert valid(call("reduce", "poly", "--json"), "reduce")["saved"]["name"] == "poly"
    assert call("log", "poly").code == 0
    assert call("show", "poly", "Y", "--expand").out.startswith("Y = ")


def test_what_a_file_of_expressions_cannot_do(call: Call, file: Path) -> None:
    for arguments in (
        ("check", file),
        ("compare", file),
        ("derive", file, "--formulation", "lagrange"),
        ("derive", file, "--payload", "a:1"),
        ("export", file, "--to", "native"),
        ("export", file, "--to", "urdf"),
        ("derive", file, "--outputs", "Z"),
        ("derive", file, "--save", "x.expr"),
    ):
        result = call(*arguments)
        assert (result.code, result.out) == (2, "")
        assert "remedy" in result.err
    file.write_text("Y = a\nY = b")
    result = call("derive", file)
    assert result.code == 2
    assert "poly.expr: line 2: Y is defined twice" in result.err


def test_define(call: Call, four_bar: Path, tmp_path: Path) -> None:
    define = ("--define", "power = tau1*qd1", "--define", "w = [power, H[1,2]^2]")
    document = valid(call("derive", four_bar, *define, "--json"), "derive")
    assert list(document["outputs"])[-2:] == ["power", "w"]
    groups = {"q": [0.1, 0.2, 0.3], "qd": [1, 2, 3], "qdd": [0.1, 0, 0], "sigma": [1] * 3}
    state = json.dumps(groups)
    named = ("--outputs", "H", "tau", "power", "w")
    numbers = valid(call("eval", four_bar, *define, *named, "--at", state, "--json"), "eval")
    values = {name: entry["values"] for name, entry in numbers["outputs"].items()}
    assert values["power"] == pytest.approx(values["inverse_dynamics"][0])
    assert values["w"][1] == pytest.approx(values["mass_matrix"][0][1] ** 2)
    assert call("show", four_bar, "w[2]", *define).code == 0
    further = valid(call("derive", four_bar, *define, "--outputs", "H,tau", "--json"), "derive")
    assert list(further["outputs"]) == ["mass_matrix", "inverse_dynamics", "power", "w"]
    alone = valid(call("count", four_bar, *define, "--outputs", "power", "--json"), "count")
    assert list(alone["outputs"]) == ["power"]
    assert "power" in call("export", four_bar, *define, "--to", "python").out
    db = ("--db", tmp_path / "models.db")
    assert call("derive", four_bar, *define, "--reduce", "fast", "--save", "bar", *db).code == 0
    more = ("--define", "twice = 2*power", "--outputs", "power", "twice")
    stored = valid(call("eval", "bar", *more, "--at", state, *db, "--json"), "eval")["outputs"]
    assert stored["power"]["values"] == pytest.approx(values["power"])
    assert stored["twice"]["values"] == pytest.approx(2 * values["power"])


def test_derivatives_of_own_outputs(call: Call, four_bar: Path, file: Path) -> None:
    # Y is the letter of another output, and x the word for states of actuators.
    slope = ("--outputs", "d(Y)/d(x)", "d(v)/d(q1)", "d(Y)/d(parameters)")
    assert call("derive", file, "--save", "poly").code == 0
    for name in (file, "poly"):
        numbers = valid(call("eval", name, *slope, "--at", STATE, "--json"), "eval")["outputs"]
        assert numbers["derivative(Y,x)"]["values"] == pytest.approx(2 * 3 + 2 * 4 + 2 * 4)
        assert numbers["derivative(v,q1)"]["values"] == pytest.approx([0, 0.8775825618903728])
        assert numbers["derivative(Y,parameters)"]["values"][2] == pytest.approx(22)
    assert call("show", file, "d(Y)/d(y)", "s").out.splitlines()[1] == "s = a*x + b*y"
    define = ("--define", "power = 3*qd1^2*H[1,1]")
    state = json.dumps({"q": [0, 0, 0], "qd": [2, 0, 0]})
    named = ("--outputs", "H", "d(power)/d(qd)")
    numbers = valid(call("eval", four_bar, *define, *named, "--at", state, "--json"), "eval")
    values = {name: entry["values"] for name, entry in numbers["outputs"].items()}
    H = values["mass_matrix"][0][0]
    assert values["derivative(power,qd)"] == pytest.approx([12 * H, 0, 0])


def test_corners_of_expressions_are_noted(call: Call, file: Path) -> None:
    file.write_text("Z = abs(q1)")
    result = call("show", file, "d(Z)/d(q1)")
    assert (result.code, result.out) == (0, "Z_by_q1 = sign(q1)\n")
    assert "abs(q1) has a corner at 0" in result.err
    file.write_text("Z = abs(1 - 2*sign(x - y)*x)")
    noted = call("show", file, "d(Z)/d(x)").err
    assert "abs(-2*x*sign(x - y) + 1) has a corner at 0" in noted


def test_derivatives_of_stored_derivatives(call: Call, four_bar: Path, file: Path) -> None:
    assert call("derive", four_bar, "--outputs", "d(hG)/d(q)", "--save", "slope").code == 0
    assert file.exists()
    state = json.dumps({"q": [0.1, 0.2, 0.3]})
    for text in ("derivative(hG,q,q)[3,3,3]", "d(d(hG)/d(q))/d(q)[3,3,3]"):
        stored, derived = (
            valid(call("eval", name, "--outputs", text, "--at", state, "--json"), "eval")
            for name in ("slope", four_bar)
        )
        assert stored["outputs"] == derived["outputs"]


@pytest.mark.parametrize(
    ("define", "message"),
    [
        ("power", "is not NAME=EXPRESSION"),
        ("H = 1", "short for mass_matrix"),
        ("p = nothing", "no quantity nothing"),
        ("p = sinn(q1)", "did you mean 'sin'"),
        ("p = 1 +", "found the end"),
        ("p = H*qd", "product of two arrays"),
    ],
)
def test_bad_definitions(call: Call, four_bar: Path, define: str, message: str) -> None:
    result = call("derive", four_bar, "--define", define)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert "--define" in result.err


def test_entries_by_step(call: Call, four_bar: Path) -> None:
    arguments = ("count", four_bar, "--outputs", "H", "--by-entry", "--reduce", "drop_unused")
    document = valid(call(*arguments, "--json"), "count")
    assert [step["name"] for step in document["by_entry"]] == ["formulation", "drop_unused"]
    assert list(document["by_entry"][0]["entries"])[:3] == ["H_1_1", "H_1_2", "H_1_3"]
    lines = call(*arguments).out.splitlines()
    assert lines[1].split() == ["entry", "formulation", "drop_unused"]


def test_ranges_of_entries(call: Call, four_bar: Path) -> None:
    lines = call("show", four_bar, "H[1:2,3]").out.splitlines()
    assert [line.split(" = ")[0] for line in lines] == ["H_1_3", "H_2_3"]
    state = json.dumps({"q": [0.1, 0.2, 0.3]})
    document = valid(
        call("eval", four_bar, "--outputs", "H[2:,1]", "--at", state, "--json"), "eval"
    )
    assert document["outputs"]["mass_matrix[2:,1]"]["shape"] == [2]
    assert call("show", four_bar, "H[2:9]").code == 2


def test_intermediate_quantities_are_named_like_outputs(
    call: Call, file: Path, four_bar: Path
) -> None:
    assert call("derive", file, "--save", "poly").code == 0
    for name in (file, "poly"):
        wanted = ("--outputs", "s", "d(s)/d(a)", "--at", STATE, "--json")
        numbers = valid(call("eval", name, *wanted), "eval")["outputs"]
        assert numbers["s"]["values"] == pytest.approx(11)
        assert numbers["derivative(s,a)"]["values"] == pytest.approx(3)
        assert call("eval", name, "--outputs", "ss", "--at", STATE).err.count("did you mean 's'?")
    method = ("--formulation", "kinetostatic")
    names = ("beta_2_1", "beta_2_1[2]", "d(beta_2_1[2])/d(crank)", "H[1,1]")
    state = '{"q": [0.3, 0.2, 0.1]}'
    found = valid(
        call("eval", four_bar, "--outputs", *names, *method, "--at", state, "--json"), "eval"
    )["outputs"]
    model = cf.derive(four_bar, ["mass_matrix"], formulation="kinetostatic")
    expected = model.evaluate(q=[0.3, 0.2, 0.1], outputs=names)
    for value, numbers in zip(found.values(), expected.values(), strict=True):
        np.testing.assert_allclose(value["values"], numbers, atol=1e-15)
    assert call("count", four_bar, "--outputs", "theta_2", *method).code == 0
    shown = call("show", four_bar, "d(beta_2_1[2])/d(q1)", *method)
    assert shown.out.startswith("beta_2_1_y_by_q1 = ")
    assert "did you mean 'beta_2_1'" in call("count", four_bar, "--outputs", "bta_2_1", *method).err


def test_counts_of_derivatives_in_every_step(call: Call, file: Path) -> None:
    more = ("--by-entry", "--by-pass", "--reduce", "fast", "--json")
    counts = valid(call("count", file, "--outputs", "d(Y)/d(x)", *more), "count")
    assert len(counts["passes"]) == len(counts["by_entry"]) > 1
    for step, entry in zip(counts["passes"], counts["by_entry"], strict=True):
        assert entry["entries"] == {"Y_by_x": step["operations"]}


def test_an_output_is_defined_once(
    call: Call, refused: Callable[[Any], str], four_bar: Path
) -> None:
    twice = ("--define", "power = tau1*qd1", "--define", "power = qd1")
    assert "power is defined twice" in refused(call("derive", four_bar, *twice))
