"""Exact values of calls, and their signs."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given

from chainform.errors import RunError
from chainform.graph import CALLS, FLOAT
from chainform.graph.arithmetic import call_of_number, is_even, is_odd
from strategies import examples, numbers


@pytest.mark.parametrize(
    ("function", "value", "result"),
    [
        ("sin", 0, 0),
        ("cos", 0, 1),
        ("tan", 0, 0),
        ("asin", 0, 0),
        ("atan", 0, 0),
        ("exp", 0, 1),
        ("log", 1, 0),
        ("abs", Fraction(-2, 3), Fraction(2, 3)),
        ("sign", Fraction(-2, 3), -1),
        ("sign", 0, 0),
        ("sign", 5, 1),
        ("reciprocal", Fraction(-2, 3), Fraction(-3, 2)),
        ("sqrt", Fraction(4, 9), Fraction(2, 3)),
        ("sqrt", 0, 0),
        ("sqrt", 10**40, 10**20),
    ],
)
def test_exact_values(function: str, value: Fraction, result: Fraction) -> None:
    assert call_of_number(function, value) == result


@pytest.mark.parametrize(
    ("function", "value"),
    [
        ("sin", 1),
        ("cos", 1),
        ("acos", 0),
        ("acos", 1),
        ("exp", 1),
        ("log", 2),
        ("log", 0),
        ("sqrt", 2),
        ("sqrt", Fraction(4, 3)),
        ("sqrt", 10**40 + 1),
    ],
)
def test_what_is_not_rational_has_no_exact_value(function: str, value: Fraction) -> None:
    assert call_of_number(function, value) is None


@pytest.mark.parametrize(("function", "value"), [("reciprocal", 0), ("sqrt", Fraction(-1, 4))])
def test_what_has_no_value_is_refused(function: str, value: Fraction) -> None:
    with pytest.raises(RunError):
        call_of_number(function, value)


@given(numbers)
@examples(40)
def test_exact_values_are_those_of_the_functions(value: Fraction) -> None:
    for function in CALLS[1:]:
        if (function == "sqrt" and value < 0) or (function == "reciprocal" and not value):
            continue
        exact = call_of_number(function, value)
        if exact is not None:
            assert math.isclose(exact, FLOAT.call(function, float(value)), rel_tol=1e-15)


@pytest.mark.parametrize("function", CALLS[1:])
def test_signs_come_out_as_the_functions_say(function: str) -> None:
    plain, opposite = None, None
    if function not in ("sqrt", "log"):
        plain, opposite = FLOAT.call(function, 0.375), FLOAT.call(function, -0.375)
    assert is_odd(function) == (plain is not None and opposite == -plain)
    assert is_even(function) == (plain is not None and opposite == plain)
