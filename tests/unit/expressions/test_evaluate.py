"""Evaluation over any scalar, and the exact value of an expression."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.errors import ReadError
from chainform.expressions import (
    evaluate_expression,
    exact_square_root,
    format_expression,
    parse,
    substitute,
    value_of,
)


@dataclass(frozen=True)
class Text:
    """A scalar that records what is done with it."""

    text: str

    def __add__(self, other: Text) -> Text:
        return Text(f"({self.text}+{other.text})")

    def __sub__(self, other: Text) -> Text:
        return Text(f"({self.text}-{other.text})")

    def __mul__(self, other: Text) -> Text:
        return Text(f"{self.text}*{other.text}")

    def __neg__(self) -> Text:
        return Text(f"-{self.text}")


class Recording:
    """The arithmetic of recorded scalars."""

    def number(self, value: Fraction) -> Text:
        return Text(str(value))

    def call(self, function: str, arguments: Sequence[Text]) -> Text:
        return Text(f"{function}({','.join(argument.text for argument in arguments)})")


def recorded(text: str) -> str:
    symbols = {"x": Text("x"), "y": Text("y")}
    return evaluate_expression(parse(text), symbols, Recording()).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x+y*2", "(x+y*2)"),
        ("x/2", "x*1/2"),
        ("1/x", "1*reciprocal(x)"),
        ("y/x", "y*reciprocal(x)"),
        ("x^3", "x*x*x"),
        ("x^-2", "1*reciprocal(x*x)"),
        ("x^0", "1"),
        ("x^y", "pow(x,y)"),
        ("x^0.5", "pow(x,1/2)"),
        ("x^65", "pow(x,65)"),
        ("2*3*x", "6*x"),
        ("sqrt(4/9)*x", "2/3*x"),
        ("sqrt(2)*x", "sqrt(2)*x"),
        ("-x", "-x"),
        ("atan2(x, 1)", "atan2(x,1)"),
        ("3/4", "3/4"),
    ],
)
def test_operations_on_a_scalar(text: str, expected: str) -> None:
    assert recorded(text) == expected


def test_pi_is_the_double_next_to_it() -> None:
    assert value_of(parse("pi")) == Fraction(math.pi)
    assert value_of(parse("2*pi")) == 2 * Fraction(math.pi)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1/3 + 1/6", Fraction(1, 2)),
        ("0.1*3", Fraction(3, 10)),
        ("2^-3", Fraction(1, 8)),
        ("(2/3)^64", Fraction(2, 3) ** 64),
        ("sqrt(9/4)", Fraction(3, 2)),
        ("2.25^0.5", Fraction(3, 2)),
        ("abs(-1/3)", Fraction(1, 3)),
        ("sign(-0.2) + sign(0) + sign(3)", Fraction(0)),
        ("min(1, 1/3, 2) + max(1, 4)", Fraction(13, 3)),
        ("a*b", Fraction(1, 7)),
        ("a/a", Fraction(1)),
    ],
)
def test_rational_operations_are_exact(text: str, value: Fraction) -> None:
    assert value_of(parse(text), {"a": Fraction(1, 7), "b": Fraction(1)}) == value


@pytest.mark.parametrize("text", ["sin(0.3)", "atan2(1, 2)", "exp(1)", "log(2)", "asin(0.2)"])
def test_other_functions_are_doubles(text: str) -> None:
    name, _, arguments = text[:-1].partition("(")
    expected = getattr(math, name)(*(float(part) for part in arguments.split(",")))
    assert value_of(parse(text)) == Fraction(expected)


@pytest.mark.parametrize(
    "text",
    [
        "1/0",
        "1/(1-1)",
        "0^-1",
        "sqrt(-1)",
        "(-1)^0.5",
        "(-8)^(1/3)",
        "log(0)",
        "log(-1)",
        "asin(2)",
        "exp(1000)",
        "10^300*10^300*exp(700)*exp(700)*1e400 + sin(1e400*1e400)",
        "2^65",
        "((9^64)^64)^64",
        "2^2^2^2^2^2",
        "x",
        "tan(1e400)",
    ],
)
def test_without_a_value(text: str) -> None:
    with pytest.raises(ReadError) as caught:
        value_of(parse(text))
    assert caught.value.remedy


def test_substitution_leaves_other_names() -> None:
    reduced = substitute(parse("a*sin(b)^2 - c"), {"a": Fraction(2), "c": Fraction(-3)})
    assert format_expression(reduced) == "2*sin(b)^2 - -3"


@given(st.fractions(min_value=0, max_denominator=1000))
def test_square_roots_of_squares(value: Fraction) -> None:
    assert exact_square_root(value**2) == value
    root = exact_square_root(value)
    assert root is None or root**2 == value
