"""Numbers and definitions as text."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.graph import Builder, definition_text, number_text
from strategies import examples


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0", "0"),
        ("7", "7"),
        ("-7", "-7"),
        ("1/2", "0.5"),
        ("-1/8", "-0.125"),
        ("981/100", "9.81"),
        ("1/1000", "0.001"),
        ("-10001/1000", "-10.001"),
        ("1/3", "1/3"),
        ("-22/7", "-22/7"),
        ("1/1000000000000000000", "0.000000000000000001"),
        ("1/10000000000000000000", "1/10000000000000000000"),
        ("100000000000000000000", "100000000000000000000"),
    ],
)
def test_numbers(value: str, text: str) -> None:
    assert number_text(Fraction(value)) == text


@given(st.fractions())
@examples(60)
def test_the_text_of_a_number_is_exact(value: Fraction) -> None:
    assert Fraction(number_text(value)) == value


def test_definitions() -> None:
    builder = Builder()
    x, y = builder.input("x", "parameter", 0), builder.input("y", "parameter", 1)
    values = {
        "a": 2 * x**3 * y - y / 3 + 1,
        "b": -x,
        "c": builder.call("sqrt", x),
        "d": -1 - x * y,
        "e": Fraction(-9, 2),
        "f": 0,
    }
    for name, value in values.items():
        builder.name(name, value)
    graph = builder.finish()
    texts = {name: definition_text(graph, graph.numbers[name]) for name in (*values, "x")}
    assert texts == {
        "a": "1 + 2*x^3*y - 1/3*y",
        "b": "-x",
        "c": "sqrt(x)",
        "d": "-1 - x*y",
        "e": "-4.5",
        "f": "0",
        "x": "x",
    }
