"""The arithmetics: doubles, and fractions with rational angles."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.errors import RunError
from chainform.graph import CALLS, EXACT, FLOAT, Angle
from strategies import angles, examples, numbers

RIGHT = Angle(Fraction(0), Fraction(1))
"""A quarter turn."""


@given(numbers)
@examples(40)
def test_an_angle_lies_on_the_unit_circle(half: Fraction) -> None:
    angle = Angle.from_tangent(half)
    assert angle.cos**2 + angle.sin**2 == 1
    assert math.isclose(angle.value, 2 * math.atan(half), abs_tol=1e-15)


@given(angles, angles)
@examples(40)
def test_angles_add(a: Angle, b: Angle) -> None:
    total = a + b
    assert total.cos**2 + total.sin**2 == 1
    assert math.isclose(total.cos, math.cos(a.value + b.value), abs_tol=1e-12)
    assert math.isclose(total.sin, math.sin(a.value + b.value), abs_tol=1e-12)
    assert a + -a == Angle(Fraction(1), Fraction(0))


@given(angles, st.integers(-6, 6))
@examples(40)
def test_whole_multiples_are_sums(a: Angle, count: int) -> None:
    total = Angle(Fraction(1), Fraction(0))
    for _ in range(abs(count)):
        total = total + (a if count > 0 else -a)
    assert count * a == total == a * Fraction(count)


def test_an_angle_and_nothing_is_the_angle() -> None:
    assert RIGHT + 0 == RIGHT == Fraction(0) + RIGHT


@pytest.mark.parametrize(
    "operation",
    [
        lambda: RIGHT + 1,
        lambda: Fraction(1, 2) + RIGHT,
        lambda: RIGHT * Fraction(1, 2),
        lambda: RIGHT * RIGHT,
        lambda: 10**9 * RIGHT,
        lambda: EXACT.call("tan", RIGHT),
        lambda: EXACT.call("exp", RIGHT),
        lambda: EXACT.call("sin", Fraction(1)),
        lambda: EXACT.call("sqrt", Fraction(2)),
        lambda: EXACT.call("sqrt", Fraction(-1)),
        lambda: EXACT.call("reciprocal", Fraction(0)),
    ],
)
def test_what_is_not_rational_is_refused(operation: Any) -> None:
    with pytest.raises(RunError):
        operation()


@given(angles)
@examples(20)
def test_calls_of_an_angle_are_exact(a: Angle) -> None:
    assert EXACT.call("sin", a) == a.sin
    assert EXACT.call("cos", a) == a.cos
    if a.cos:
        assert EXACT.call("tan", a) * a.cos == a.sin


def test_exact_calls_of_numbers() -> None:
    assert EXACT.call("sin", Fraction(0)) == 0
    assert EXACT.call("sqrt", Fraction(9, 4)) == Fraction(3, 2)
    assert EXACT.number(Fraction(2, 3)) == Fraction(2, 3)


@pytest.mark.parametrize("function", CALLS[1:])
def test_every_call_is_known_in_double_precision(function: str) -> None:
    expected = {
        "reciprocal": lambda x: 1 / x,
        "abs": abs,
        "sign": lambda x: math.copysign(1, x),
    }.get(function) or getattr(math, function)
    for x in (0.25, 0.75):
        assert FLOAT.call(function, x) == expected(x)
    assert FLOAT.call("sign", 0.0) == 0
    assert FLOAT.call("sign", -2.0) == -1


@pytest.mark.parametrize(
    ("function", "value"),
    [("reciprocal", 0.0), ("log", -1.0), ("log", 0.0), ("sqrt", -1.0), ("asin", 2.0), ("exp", 1e4)],
)
def test_what_has_no_double_is_refused(function: str, value: float) -> None:
    with pytest.raises(RunError, match=function):
        FLOAT.call(function, value)


def test_a_number_beyond_doubles_is_refused() -> None:
    assert FLOAT.number(Fraction(1, 3)) == 1 / 3
    with pytest.raises(RunError, match="too large"):
        FLOAT.number(Fraction(10**400))
