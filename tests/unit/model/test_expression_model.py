"""Files of expressions: models without a mechanism, like any others."""

from __future__ import annotations

import math
from fractions import Fraction
from inspect import signature
from itertools import product
from math import atan2, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import chainform as cf
from chainform.errors import ReadError
from chainform.expressions import FUNCTIONS, parse, read_statements, value_of
from chainform.graph import EXACT, evaluate, verify
from chainform.model.expression_model import model_of_text

TEXT = """
# comments and empty lines say nothing

s = sin(q1)                  # an intermediate name
Y = a*b + s^2 + p[2]         # p comes later
p = [s, b + 1]
M = [[a, b],
     [b, p_1*qd2]]
"""
STATE: dict[str, Any] = {"q": [0.5, 0.0], "qd": [1.0, 2.0], "values": {"a": 2, "b": 3}}


def read(folder: Path, text: str, **options: Any) -> cf.Model:
    path = folder / "case.expr"
    path.write_text(text, encoding="utf-8")
    model = cf.read_expressions(path, **options)
    verify(model.graph)
    return model


def test_a_file_is_a_model(tmp_path: Path) -> None:
    model = read(tmp_path, TEXT)
    assert model.outputs == ("Y", "M")
    assert set(model.quantities) == {"s", "p"}
    assert set(model.free_parameters) == {"a", "b"}
    assert (model.mechanism.nq, model.mechanism.segments) == (2, ())
    sine = math.sin(0.5)
    expected = {"Y": 6 + sine**2 + 4, "M": [[2, 3], [3, sine * 2]], "p": [sine, 4]}
    for made in (model, model.reduce("fast"), model.reduce("thesis")):
        numbers = made.evaluate(**STATE, outputs=["Y", "M"])
        for name in ("Y", "M"):
            assert numbers[name] == pytest.approx(np.array(expected[name]), rel=1e-12)
        assert made.emit("latex")
        assert repr(made)
        assert "expressions of 4 inputs" in str(made)
    assert model["p"].evaluate(**STATE) == pytest.approx(expected["p"], rel=1e-12)
    plain = read(tmp_path, "Y = a*b + sin(q1)^2 + b + 1")
    assert model["Y"].expand() == plain["Y"].expand()
    assert model["Y"].diff("a").evaluate(**STATE) == pytest.approx(3)
    assert model.compile()["M"](STATE["q"], STATE["qd"], values=STATE["values"]) == pytest.approx(
        np.array(expected["M"]), rel=1e-12
    )
    assert model.mechanism.describe()["nq"] == 2


def test_parameters_alone(tmp_path: Path) -> None:
    """What expressions compute from parameters alone is counted, and reduced."""
    model = read(tmp_path, "Y = a*x^2 + a*x*y + b*x*y + b*y^2")
    assert (model.count().multiplications, model.count().additions) == (8, 3)
    assert model.count(once=True).multiplications == 0
    reduced = model.reduce("fast")
    assert (reduced.count().multiplications, reduced.count().additions) == (3, 2)
    values = {"a": 1, "b": 2, "x": np.arange(20.0), "y": 4}
    expected = (values["x"] + 2 * 4) * (values["x"] + 4)
    assert reduced.evaluate(values=values)["Y"] == pytest.approx(expected, rel=1e-12)
    assert reduced.compile().Y(values=values) == pytest.approx(expected, rel=1e-12)


def test_declarations(tmp_path: Path) -> None:
    model = read(tmp_path, "parameters a, b = 0.25\noutputs s, Y\ns = a^2\nY = s*b")
    assert model.outputs == ("s", "Y")
    assert model.evaluate(values={"a": 2})["Y"] == 1
    assert read(tmp_path, "s = a^2\nY = s*b", outputs=["s"]).outputs == ("s",)
    with pytest.raises(ReadError, match="aa is not defined") as caught:
        read(tmp_path, "parameters a, b = 0.25\nY = aa*b")
    assert caught.value.remedy
    assert caught.value.element == "line 2, Y"


def test_from_python() -> None:
    model = cf.read_expressions({"s": "x + 1/3", "Y": ["s^2", 2]})
    assert model.evaluate(values={"x": 1})["Y"] == pytest.approx([16 / 9, 2])
    more = model.with_outputs({"H": "Y[1]*x", "f": "s"})
    assert more.evaluate(values={"x": 1})["H"] == pytest.approx(16 / 9)


def test_stored_with_its_history(tmp_path: Path) -> None:
    model = read(tmp_path, TEXT)
    expected = model.evaluate(**STATE)["Y"]
    with cf.open_store(tmp_path / "models.db") as store:
        store.save(model.reduce("fast"), "poly")
        loaded = store.load("poly")
        assert loaded.formulation == "expressions"
        assert loaded.mechanism.file == "case.expr"
        assert (loaded.mechanism.source or b"").decode() == TEXT
        assert loaded.evaluate(**STATE)["Y"] == pytest.approx(expected, rel=1e-12)
        assert store.evaluate("poly", **STATE)["Y"] == pytest.approx(expected, rel=1e-12)
        bound = store.bind("poly", {"a": 2})
        again = store.load(bound.reference)
        assert set(again.free_parameters) == {"b"}
        state: dict[str, Any] = {**STATE, "values": {"b": 3}}
        assert again.evaluate(**state)["Y"] == pytest.approx(expected, rel=1e-12)
        assert again.reduce("fast").evaluate(**state)["Y"] == pytest.approx(expected, rel=1e-12)
        store.save(store.load("poly@1").with_outputs({"more": "Y^2"}), "poly")
        assert [revision.step for revision in store.log("poly")][-1] in ("define", "derive")


def test_without_parameters_and_inputs(tmp_path: Path) -> None:
    model = read(tmp_path, "Y = 2/3\nZ = [1, 2]")
    assert model.evaluate()["Y"] == pytest.approx(2 / 3)
    with cf.open_store(tmp_path / "models.db") as store:
        store.save(model, "numbers")
        assert store.load("numbers").evaluate()["Z"].tolist() == [1, 2]


BAD = [
    ("", "no statement"),
    ("# nothing", "no statement"),
    ("Y", "line 1: 'Y' is not a statement"),
    ("Y =", "line 1: expected a number"),
    ("Y = a\n\nY = b", "line 3: Y is defined twice, on line 1 too"),
    ("A = B\nB = A", "line 1, A: the definitions go round in a circle: A -> B -> A"),
    ("Y = Y + 1", "circle"),
    ("Y = foo(x)", "line 1, Y: there is no function named 'foo'"),
    ("Y = sine(x)", "did you mean 'sin'"),
    ("Y = p[1]", "not defined"),
    ("p = [1, 2]\nY = p[3]", "line 2, Y: p has the shape (2,)"),
    ("p = [1, 2]\nY = p_3", "line 2, Y: p has the shape (2,)"),
    ("x = 1\np = [1, 2\nY = 3", "line 2: a bracket is not closed"),
    ("q1 = 2", "name of an input"),
    ("sin = 2", "word of expressions"),
    ("Y = [a, [b]]", "different shapes"),
    ("Y = [a,]", "entry of a list is missing"),
    ("Y = [a] + 1", "stands behind a list"),
    ("Y = a]", "line 1"),
    ("Y = [[[[[[[[[a]]]]]]]]]", "nested more than 8 deep"),
    ("p = [a]\np_1 = 2", "line 2, p_1: p_1 is the name of an entry of p"),
    ("parameters a\nparameters b\nY = a", "line 2: parameters are listed twice"),
    ("parameters a = x\nY = a", "line 1"),
    ("parameters Y\nY = a", "is defined as well"),
    ("outputs Z\nY = a", "Z is not defined"),
    ("Y = q2000", "at most 1000"),
    ("Y = a*sigma1", "sigma1 is not an input"),
    ("Y = " + "(" * 200 + "a" + ")" * 200, "nested more than 100 deep"),
    ("Y = ((a^60)^60)^60", "above the power 1000"),
    ("Y = 9^9^9^9", "exponent beyond 64"),
    ("Y = 1e400^64*a", "beyond all measure"),
    ("Y = 1/0", "divides by zero"),
    ("Y = a/(b - b)", "always zero"),
    ("Y = [a, b]*[a, b]", "stands behind a list"),
    ("p = [a, b]\nY = p*p", "product of two arrays"),
    ("é = 3", "not a name"),
    ("Y = a b", "expected an operator"),
    ("a1 = [x, x]\n" + "\n".join(f"a{k + 1} = [a{k}, a{k}]" for k in range(1, 25)), "entries"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ReadError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)
    assert caught.value.remedy
    assert str(caught.value.file).endswith("case.expr")


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such file"):
        cf.read_expressions(tmp_path / "nothing.expr")
    (tmp_path / "bytes.expr").write_bytes(b"Y = \xff\xfe")
    with pytest.raises(ReadError, match="UTF-8"):
        cf.read_expressions(tmp_path / "bytes.expr")
    (tmp_path / "long.expr").write_text("\n".join(f"a{k} = x" for k in range(100_002)))
    with pytest.raises(ReadError, match="too many statements"):
        cf.read_expressions(tmp_path / "long.expr")
    (tmp_path / "plain.expr").write_text("Y = a")
    with pytest.raises(ReadError, match="file of expressions"):
        cf.read(tmp_path / "plain.expr")


@pytest.mark.slow
def test_a_long_file(tmp_path: Path) -> None:
    """A chain of many lines is read in time that grows with it, not with its square."""
    lines = ["x0 = a", *(f"x{k} = x{k - 1}*b + {k}" for k in range(1, 5000))]
    model = read(tmp_path, "\n".join(lines))
    total = 0.5
    for k in range(1, 5000):
        total = total * 0.25 + k
    assert model.evaluate(values={"a": 0.5, "b": 0.25})["x4999"] == pytest.approx(total, rel=1e-12)


POLYNOMIALS = st.recursive(
    st.sampled_from(["x", "y", "z", "3", "0.5", "2/3"]),
    lambda part: (
        st.tuples(part, st.sampled_from("+-*"), part).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
        | st.tuples(part, st.sampled_from("23")).map(lambda t: f"({t[0]})^{t[1]}")
    ),
    max_leaves=12,
)


@given(POLYNOMIALS, POLYNOMIALS)
@settings(max_examples=30, deadline=None)
def test_polynomials_are_exact(first: str, second: str) -> None:
    """A polynomial keeps its value in fractions: read, with names, and after each reduction."""
    text = f"A = {first}\nB = A*({second}) - A^2\noutputs A, B"
    model = model_of_text(text)
    values = {"x": Fraction(2, 3), "y": Fraction(-5, 7), "z": Fraction(11, 4)}
    A = value_of(parse(first), values)
    expected = {"A": A, "B": A * value_of(parse(second), values) - A**2}
    passes = "drop_neutral,extract_divisors,extract_monomials,factor_products,merge_equal"
    for made in (model, model.reduce(passes)):
        inputs = {given.name: values[given.name] for given in made.graph.inputs.values()}
        numbers = evaluate(made.graph, inputs, EXACT)
        assert {name: numbers[name].item() for name in expected} == expected


NAMES = ["a", "b", "Y", "Z", "p", "q1", "qd2", "t", "2", "0.5", "1e3", *FUNCTIONS, "pi", "der"]
MARKS = ["+", "-", "*", "/", "^", "**", "(", ")", "[", "]", ",", "=", "\n", "#", ":", ".", "1"]
OTHERS = ["parameters ", "outputs ", "p[1]", "p_1", "input(q1)", "d(a)/d(b)", "é", "\t", "_"]


@given(
    st.lists(st.sampled_from([*NAMES, *MARKS, *OTHERS]), max_size=25).map(" ".join)
    | st.text(max_size=60)
)
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_a_file_holds(text: str) -> None:
    """Nothing but an error with a remedy leaves the reader."""
    try:
        read_statements(text)
        model = model_of_text(text)
    except cf.Error:
        return
    verify(model.graph)
    model.emit("python")


def test_functions_of_time_alone_take_the_time() -> None:
    program = cf.read_expressions({"Y": "a*t^2", "Z": "Y + q1"}, outputs=["Y"]).compile()
    assert str(signature(program["Y"])).startswith("(q, t")
    program = cf.read_expressions({"Y": "a*t^2"}).compile()
    assert str(signature(program["Y"])).startswith("(t")
    assert program["Y"]([1.0, 2.0], values={"a": 3}).tolist() == [3, 12]


def test_atan2_has_all_quarters_and_its_derivatives() -> None:
    """Also on the axes, where one of both is zero; far from 1 as well."""
    model = cf.read_expressions({"angle": "atan2(y, x)"}).with_outputs(
        {"by_x": "d(angle)/d(x)", "by_y": "d(angle)/d(y)"}
    )
    sides = [0.0, 1.0, -1.0, 0.3, -2.5, 1e-9, -1e-9, 1e9]
    for x, y in product(sides, sides):
        if x == y == 0:
            continue
        found = model.evaluate(values={"x": x, "y": y})
        assert float(found["angle"]) == pytest.approx(atan2(y, x), rel=4e-16, abs=0)
        square = x * x + y * y
        rounding = 1e-15 / sqrt(square)
        assert float(found["by_x"]) == pytest.approx(-y / square, rel=1e-14, abs=rounding)
        assert float(found["by_y"]) == pytest.approx(x / square, rel=1e-14, abs=rounding)


def test_atan2_of_very_large_and_very_small_numbers() -> None:
    model = cf.read_expressions({"angle": "atan2(y, x)"})
    for s, x, y in product((1e-250, 1e250), (1, -0.3), (2, -1)):
        found = float(model.evaluate(values={"x": x * s, "y": y * s})["angle"])
        assert found == pytest.approx(atan2(y, x), rel=1e-15)


def test_min_and_max_are_one_of_their_arguments() -> None:
    model = cf.read_expressions({"least": "min(x, y, z)", "most": "max(x, y, z)"})
    sizes = [0.1, 1e9, -1e200, 1e-3, 1e17, 1.0, -1e-300, 1e307]
    for x, y, z in product(sizes, repeat=3):
        found = model.evaluate(values={"x": x, "y": y, "z": z})
        assert (float(found["least"]), float(found["most"])) == (min(x, y, z), max(x, y, z))
