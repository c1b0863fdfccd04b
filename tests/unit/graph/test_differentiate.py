"""Derivatives: against finite differences that are exact, against SymPy, and call by call."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
import sympy
from hypothesis import given, reject
from hypothesis import strategies as st

from chainform.errors import RunError
from chainform.graph import (
    CALLS,
    EXACT,
    FLOAT,
    Angle,
    Builder,
    Graph,
    cost_of,
    differentiate,
    evaluate_variables,
    sympy_expressions,
    verify,
)
from strategies import (
    ANGLES,
    EXACT_CALLS,
    HIGHEST_DEGREE,
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


def derivative_values(graph: Graph, by: str, values: dict[str, Any]) -> list[Any]:
    """Return the exact derivatives of the output `out`."""
    extended, numbers = differentiate(graph, graph.outputs["out"].variables, by)
    verify(extended)
    results = evaluate_variables(extended, values, EXACT, numbers)
    return [results[v] for v in numbers]


def exact_slope(samples: list[Fraction]) -> Fraction:
    """Return f'(x) of a polynomial from f(x), f(x + 1), ...: sum of (-1)^(k+1) D^k f(x) / k."""
    total, differences = Fraction(0), samples
    for k in range(1, len(samples)):
        differences = [b - a for a, b in pairwise(differences)]
        total += Fraction((-1) ** (k + 1), k) * differences[0]
    return total


@given(programs(POLYNOMIAL + TRIGONOMETRIC, 8), points, st.sampled_from(NUMBERS))
@examples(60)
def test_exact_finite_differences_give_the_same(program: Program, point: Point, by: str) -> None:
    graph = graph_of(program)
    found = derivative_values(graph, by, point.values())
    place = NUMBERS.index(by)
    samples: list[list[Fraction]] = []
    for step in range(HIGHEST_DEGREE + 1):
        moved = list(point.numbers)
        moved[place] += step
        samples.append(program.run(moved, point.angles, EXACT.call))
    assert found == [exact_slope(list(column)) for column in zip(*samples, strict=True)]


class Dual:
    """A number and its slope: derivatives by another route, in exact arithmetic."""

    def __init__(self, value: Any, slope: Any) -> None:
        self.value, self.slope = value, slope

    def __add__(self, other: Any) -> Dual:
        other = dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other: Any) -> Dual:
        other = dual(other)
        slope = self.slope * other.value + self.value * other.slope
        return Dual(self.value * other.value, slope)

    def __truediv__(self, other: Any) -> Dual:
        other = dual(other)
        slope = (self.slope * other.value - self.value * other.slope) / other.value**2
        return Dual(self.value / other.value, slope)

    def __pow__(self, exponent: int) -> Dual:
        result = dual(1)
        for _ in range(exponent):
            result = result * self
        return result

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slope)

    def __sub__(self, other: Any) -> Dual:
        return self + -dual(other)

    def __rsub__(self, other: Any) -> Dual:
        return dual(other) + -self

    def __rtruediv__(self, other: Any) -> Dual:
        return dual(other) / self

    __radd__ = __add__
    __rmul__ = __mul__


def dual(value: Any) -> Dual:
    return value if isinstance(value, Dual) else Dual(Fraction(value), Fraction(0))


class DualAngle:
    """An angle that moves."""

    def __init__(self, angle: Angle, slope: Fraction) -> None:
        self.angle, self.slope = angle, slope

    def __add__(self, other: DualAngle) -> DualAngle:
        return DualAngle(self.angle + other.angle, self.slope + other.slope)

    def __rmul__(self, count: int) -> DualAngle:
        return DualAngle(count * self.angle, count * self.slope)


def dual_call(function: str, x: Any) -> Dual:
    match function:
        case "sin":
            return Dual(x.angle.sin, x.angle.cos * x.slope)
        case "cos":
            return Dual(x.angle.cos, -x.angle.sin * x.slope)
        case "abs":
            return x * (abs(x.value) / x.value)
        case "sign":
            return Dual(EXACT.call("sign", x.value), Fraction(0))
        case _:
            root = EXACT.call("sqrt", x.value)
            return Dual(root, x.slope / (2 * root))


@given(
    programs(POLYNOMIAL + TRIGONOMETRIC + RATIONAL + EXACT_CALLS, 8),
    points,
    st.sampled_from(NUMBERS + ANGLES),
)
@examples(80)
def test_dual_numbers_give_the_same(program: Program, point: Point, by: str) -> None:
    numbers = [Dual(v, Fraction(n == by)) for n, v in zip(NUMBERS, point.numbers, strict=True)]
    angles = [DualAngle(v, Fraction(n == by)) for n, v in zip(ANGLES, point.angles, strict=True)]
    graph = graph_of(program)
    try:
        expected = [dual(value).slope for value in program.run(numbers, angles, dual_call)]
    except ZeroDivisionError:
        reject()  # here the root of a square, or a magnitude, has no slope
    assert derivative_values(graph, by, point.values()) == expected


SLOPES = [function for function in CALLS if function not in ("", "sign")]


@pytest.mark.parametrize("function", SLOPES)
def test_sympy_gives_the_same_slope(function: str) -> None:
    builder = Builder()
    x, y = builder.input("x", "parameter", 0), builder.input("y", "parameter", 1)
    builder.name("f", y * builder.call(function, x**2 / 3 + y))
    graph = builder.finish()
    f = graph.numbers["f"]
    (formula,) = sympy_expressions(graph, [f])
    for by in ("x", "y"):
        extended, (number,) = differentiate(graph, [f], by)
        verify(extended)
        (derivative,) = sympy_expressions(extended, [number])
        expected = sympy.diff(formula, sympy.Symbol(by, real=True))
        assert sympy.simplify(derivative - expected) == 0


@pytest.mark.parametrize("function", SLOPES)
def test_small_steps_give_the_same_slope(function: str) -> None:
    builder = Builder()
    x = builder.input("x", "parameter", 0)
    f = builder.variable_of(builder.call(function, x**2))
    extended, (number,) = differentiate(builder.finish(), [f], "x")

    def at(variable: int, value: float) -> float:
        return evaluate_variables(extended, {"x": value}, FLOAT, [variable])[variable]

    step = 1e-5
    slope = (at(f, 0.7 + step) - at(f, 0.7 - step)) / (2 * step)
    assert at(number, 0.7) == pytest.approx(slope, rel=1e-8)


def test_the_slope_of_a_sign_is_nothing() -> None:
    builder = Builder()
    x = builder.input("x", "parameter", 0)
    f = builder.variable_of(builder.call("sign", x))
    extended, (number,) = differentiate(builder.finish(), [f], "x")
    assert extended.number_value[number] == 0


@given(programs(POLYNOMIAL + TRIGONOMETRIC, 5), st.sampled_from(NUMBERS + ANGLES))
@examples(25)
def test_sympy_gives_the_same_on_programs(program: Program, by: str) -> None:
    graph = graph_of(program)
    last = graph.outputs["out"].variables[-1]
    extended, (number,) = differentiate(graph, [last], by)
    formula, derivative = sympy_expressions(extended, [last, number])
    expected = sympy.diff(formula, sympy.Symbol(by, real=True))
    assert sympy.expand(derivative - expected, trig=True) == 0


# --- names, sharing, refusals ---------------------------------------------------------------


@pytest.fixture
def graph() -> Graph:
    builder = Builder()
    x, y = builder.input("x", "parameter", 0), builder.input("y", "parameter", 1)
    builder.input("z", "parameter", 2)
    builder.name("f", x**2 * y + builder.call("sin", x))
    builder.name("g", 3 * x)
    builder.name("h", x)
    return builder.finish()


def test_derivatives_are_named_after_their_variable(graph: Graph) -> None:
    f, g, h = (graph.numbers[name] for name in "fgh")
    extended, numbers = differentiate(graph, [f, g, h], "x")
    assert extended.numbers["f_by_x"] == numbers[0]
    assert extended.numbers["g_by_x"] == numbers[1]
    assert extended.number_value[numbers[1]] == 3
    assert extended.number_value[numbers[2]] == 1
    assert extended.names[: len(graph)] == graph.names


def test_an_unrelated_input_gives_nothing(graph: Graph) -> None:
    extended, (number,) = differentiate(graph, [graph.numbers["f"]], "z")
    assert extended.number_value[number] == 0
    assert extended.numbers["f_by_z"] == number
    assert not cost_of(extended, extended.cone([number])).multiplications


@pytest.mark.parametrize("name", ["f", "nothing"])
def test_what_is_not_an_input_is_refused(graph: Graph, name: str) -> None:
    with pytest.raises(RunError, match=f"{name} is not an input") as refusal:
        differentiate(graph, [graph.numbers["f"]], name)
    assert refusal.value.remedy == "choose one of x, y, z"


def test_derivatives_of_derivatives(graph: Graph) -> None:
    once, (first,) = differentiate(graph, [graph.numbers["f"]], "x")
    twice, (second,) = differentiate(once, [first], "y")
    (formula,) = sympy_expressions(twice, [second])
    assert formula == 2 * sympy.Symbol("x", real=True)
    assert twice.names[second] == "f_by_x_by_y"


def test_the_cost_of_a_derivative_is_a_small_multiple() -> None:
    builder = Builder()
    x = value = builder.input("x", "parameter", 0)
    for i in range(50):
        value = builder.name(f"v_{i}", value * value + x)
    graph = builder.finish()
    last = len(graph) - 1
    extended, (number,) = differentiate(graph, [last], "x")
    before = cost_of(graph, graph.cone([last]))
    after = cost_of(extended, extended.cone([number]))
    assert after.multiplications <= 4 * before.multiplications
