"""Quantities as SymPy expressions."""

from __future__ import annotations

import sys
from fractions import Fraction

import pytest
import sympy
from hypothesis import given

from chainform.errors import RunError
from chainform.graph import CALLS, FLOAT, Builder, evaluate, evaluate_variables, sympy_expressions
from strategies import (
    ANGLES,
    NUMBERS,
    POLYNOMIAL,
    RATIONAL,
    TRIGONOMETRIC,
    Point,
    Program,
    examples,
    graph_of,
    points,
    programs,
)


@given(programs(POLYNOMIAL + RATIONAL + TRIGONOMETRIC, 6), points)
@examples(25)
def test_sympy_computes_the_same(program: Program, point: Point) -> None:
    graph = graph_of(program)
    last = graph.outputs["out"].variables[-1]
    (expression,) = sympy_expressions(graph, [last])
    numbers = {
        sympy.Symbol(name, real=True): sympy.Rational(value.numerator, value.denominator)
        for name, value in zip(NUMBERS, point.numbers, strict=True)
    }
    sines = {
        function(sympy.Symbol(name, real=True)): sympy.Rational(part.numerator, part.denominator)
        for name, angle in zip(ANGLES, point.angles, strict=True)
        for function, part in ((sympy.sin, angle.sin), (sympy.cos, angle.cos))
    }
    value = sympy.expand_trig(expression).subs(sines).subs(numbers)
    expected = evaluate(graph, point.values())["out"][-1]
    assert sympy.simplify(value) == sympy.Rational(expected.numerator, expected.denominator)


@pytest.mark.parametrize("function", CALLS[1:])
def test_every_call_has_its_sympy_function(function: str) -> None:
    builder = Builder()
    x = builder.input("x", "parameter", 0)
    call = builder.variable_of(builder.call(function, x))
    graph = builder.finish()
    (expression,) = sympy_expressions(graph, [call])
    at_value = float(expression.subs(sympy.Symbol("x", real=True), 0.375))
    values = evaluate_variables(graph, {"x": 0.375}, FLOAT, [call])
    assert at_value == pytest.approx(values[call], rel=1e-14)


def test_coefficients_are_exact() -> None:
    builder = Builder()
    x = builder.input("x", "parameter", 0)
    v = builder.variable_of(Fraction(2, 3) * x)
    (expression,) = sympy_expressions(builder.finish(), [v])
    assert expression == sympy.Rational(2, 3) * sympy.Symbol("x", real=True)


def test_without_sympy_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(RunError, match=r"chainform\[sympy\]"):
        sympy_expressions(Builder().finish(), [])
