"""Expressions survive being written and read back."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.expressions import (
    FUNCTIONS,
    Apply,
    Binary,
    Constant,
    Expression,
    Identifier,
    Negate,
    Number,
    Operator,
    format_expression,
    format_fraction,
    parse,
    value_of,
)


def _decimals() -> st.SearchStrategy[Expression]:
    digits, places = st.integers(0, 10**9), st.integers(-30, 30)
    return st.builds(lambda m, e: Number(m * Fraction(10) ** e), digits, places)


def _grown(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    operators = st.sampled_from("+-*/^").map(lambda mark: cast(Operator, mark))
    pairs = st.sampled_from(["atan2", "min", "max"])
    singles = st.sampled_from([name for name, (least, _) in FUNCTIONS.items() if least == 1])
    return st.one_of(
        st.builds(Negate, parts),
        st.builds(Binary, operators, parts, parts),
        st.builds(Apply, singles, st.tuples(parts)),
        st.builds(Apply, pairs, st.tuples(parts, parts)),
    )


EXPRESSIONS = st.recursive(
    st.one_of(
        _decimals(),
        st.sampled_from(["a", "b_1", "L", "x", "x(tip)", "der(z(tip))"]).map(Identifier),
        st.just(Constant("pi")),
    ),
    _grown,
    max_leaves=20,
)


@given(EXPRESSIONS)
def test_reads_back_equal(expression: Expression) -> None:
    assert parse(format_expression(expression)) == expression


@pytest.mark.parametrize(
    "text",
    [
        "a - (b - c)",
        "a - b - c",
        "a/(b*c)",
        "a*b/c",
        "(a + b)*c",
        "-(a + b)",
        "-a^2",
        "(-a)^2",
        "(a^b)^c",
        "a^b^c",
        "a^(b + 1)",
        "2^-3",
        "a - -b",
        "sin(a + b)^2",
        "max(a, b, 0.5)",
        "1e-30",
        "12e20",
        "0.001",
    ],
)
def test_no_bracket_too_many(text: str) -> None:
    assert format_expression(parse(text)) == text


@given(st.fractions(max_denominator=10**6))
def test_numbers_without_decimals_keep_their_value(value: Fraction) -> None:
    assert value_of(parse(format_fraction(value))) == value
    power = Binary("^", Number(value), Number(Fraction(2)))
    assert value_of(parse(format_expression(power))) == value**2


def test_fractions_are_written_as_decimals_where_they_have_one() -> None:
    assert format_fraction(Fraction(-981, 100)) == "-9.81"
    assert format_fraction(Fraction(1, 3)) == "1/3"
    assert format_fraction(Fraction(0)) == "0"
    assert format_fraction(Fraction(10) ** 30) == "1e30"
