"""Expansions: exact, canonical, and the same as SymPy's."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy
from hypothesis import given

from chainform.errors import RunError
from chainform.graph import (
    EXACT,
    Angle,
    Builder,
    Expansion,
    ExpansionSymbol,
    Graph,
    Scalar,
    evaluate_variables,
    expand,
    expansion_text,
    sympy_expressions,
)
from strategies import (
    ANGLES,
    EXACT_CALLS,
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

EXPANDABLE = POLYNOMIAL + TRIGONOMETRIC


class Inputs:
    """A builder with the inputs of the cases below."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.x, self.y, self.z = (
            self.builder.input(name, "parameter", i) for i, name in enumerate("xyz")
        )
        self.q1, self.q2, self.q3 = (self.builder.input(f"q{i + 1}", "q", i) for i in range(3))

    def sin(self, value: Scalar) -> Scalar:
        return self.builder.call("sin", value)

    def cos(self, value: Scalar) -> Scalar:
        return self.builder.call("cos", value)

    def text(self, value: Scalar, angles: str = "split") -> str:
        """Return the text of a value's expansion."""
        return expansion_text(self.expansion(value, angles))

    def expansion(self, value: Scalar, angles: str = "split") -> Expansion:
        """Return the expansion of a value, made on its own."""
        variable = self.builder.variable_of(value)
        return expand(self.builder.finish(), [variable], angles=angles)[0]


@pytest.fixture
def i() -> Inputs:
    return Inputs()


def value_of(expansion: Expansion, values: dict[str, Any]) -> Any:
    """Return the exact value of an expansion, letter by letter."""
    letters = [_letter_value(symbol, values) for symbol in expansion.symbols]
    total: Any = Fraction(0)
    for k, factors in expansion.terms:
        product: Any = k
        for s, power in factors:
            for _ in range(power):
                product = product * letters[s]
        total = total + product
    return total


def _letter_value(symbol: ExpansionSymbol, values: dict[str, Any]) -> Any:
    if symbol.inner is None:
        return values[symbol.argument]
    return EXACT.call(symbol.function, value_of(symbol.inner, values))


# --- values ---------------------------------------------------------------------------------


@pytest.mark.parametrize("angles", ["split", "kept"])
@given(program=programs(EXPANDABLE + RATIONAL + EXACT_CALLS, 8), point=points)
@examples(40)
def test_an_expansion_has_the_value_of_the_graph(
    angles: str, program: Program, point: Point
) -> None:
    graph = graph_of(program)
    variables = list(graph.outputs["out"].variables)
    values = evaluate_variables(graph, point.values(), EXACT, variables)
    expansions = expand(graph, variables, angles=angles)
    for v, expansion in zip(variables, expansions, strict=True):
        assert value_of(expansion, point.values()) == values[v]


@given(program=programs(EXPANDABLE, 6))
@examples(40)
def test_sympy_expands_to_the_same(program: Program) -> None:
    graph = graph_of(program)
    variable = graph.outputs["out"].variables[-1]
    (expansion,) = expand(graph, [variable], angles="kept")
    (expression,) = sympy_expressions(graph, [variable])
    sines = {s: sympy.cos(*s.args) for s in expression.atoms(sympy.sin)}
    difference = sympy.expand(_sympy_sum(expansion) - expression)
    for sine, cosine in sines.items():
        difference = sympy.rem(difference, sine**2 + cosine**2 - 1, sine)
    assert sympy.expand(difference) == 0


def _sympy_sum(expansion: Expansion) -> Any:
    total: Any = sympy.Integer(0)
    for k, factors in expansion.terms:
        product: Any = sympy.Rational(k.numerator, k.denominator)
        for s, power in factors:
            product *= _sympy_letter(expansion.symbols[s]) ** power
        total += product
    return total


def _sympy_letter(symbol: ExpansionSymbol) -> Any:
    if symbol.inner is None:
        return sympy.Symbol(symbol.argument, real=True)
    return getattr(sympy, symbol.function)(_sympy_sum(symbol.inner))


# --- one form for one quantity --------------------------------------------------------------

GENERIC = Point(
    (Fraction(7, 5), Fraction(-13, 11), Fraction(19, 3)),
    (Angle.from_tangent(Fraction(11, 13)), Angle.from_tangent(Fraction(-17, 5))),
)


@given(
    program=programs(EXPANDABLE, 6),
    other=programs(EXPANDABLE, 6),
    first=points,
    second=points,
    third=points,
)
@examples(60)
def test_expansions_are_equal_if_and_only_if_values_are(
    program: Program, other: Program, first: Point, second: Point, third: Point
) -> None:
    """Three random points and one without special values tell small polynomials apart."""
    one, two = graph_of(program), graph_of(other)
    v, w = one.outputs["out"].variables[-1], two.outputs["out"].variables[-1]
    (a,), (b,) = expand(one, [v]), expand(two, [w])
    same = all(
        value_of(a, point.values()) == value_of(b, point.values())
        for point in (first, second, third, GENERIC)
    )
    assert (a == b) == same
    assert a != b or hash(a) == hash(b)


@given(program=programs(EXPANDABLE, 6), hidden=programs(EXPANDABLE, 4))
@examples(40)
def test_another_form_has_the_same_expansion(program: Program, hidden: Program) -> None:
    """v and v (s^2 + c^2) + h (a - b) (a + b) - h a^2 + h b^2 are one quantity."""
    builder = Builder()
    numbers = [builder.input(name, "parameter", i) for i, name in enumerate(NUMBERS)]
    angles = [builder.input(name, "q", i) for i, name in enumerate(ANGLES)]
    v = builder.name("v", program.run(numbers, angles, builder.call)[-1])
    h = builder.name("h", hidden.run(numbers, angles, builder.call)[-1])
    a, b, turn = numbers[0], numbers[1], angles[0] - 2 * angles[1]
    one = builder.call("sin", turn) ** 2 + builder.call("cos", turn) ** 2
    w = v * one + h * (a - b) * (a + b) - h * a * a + h * b * b
    builder.output("o", (2,), [("o_1", v), ("o_2", w)])
    graph = builder.finish()
    for angles in ("split", "kept"):
        # Each on its own, so that neither can lean on the letters of the other.
        (first,) = expand(graph, [graph.block("o").variables[0]], angles=angles)
        (second,) = expand(graph, [graph.block("o").variables[1]], angles=angles)
        assert first == second


def test_the_square_of_a_sine_goes(i: Inputs) -> None:
    for angles in ("split", "kept"):
        cosine_first = Inputs()
        c = cosine_first.cos(cosine_first.q1)
        s = cosine_first.sin(cosine_first.q1)
        assert cosine_first.text(s**2 + 2 * c**2, angles=angles) == "cos(q1)^2 + 1"
        assert i.text(i.sin(i.q1) ** 2, angles=angles) == "-cos(q1)^2 + 1"


def test_angles_are_split(i: Inputs) -> None:
    value = i.sin(i.q1 - i.q2)
    assert i.text(value) == "sin(q1)*cos(q2) - cos(q1)*sin(q2)"
    assert i.text(value, angles="kept") == "sin(q1 - q2)"
    assert i.text(i.cos(2 * i.q1)) == "2*cos(q1)^2 - 1"
    assert i.text(i.cos(2 * i.q1), angles="kept") == "cos(2*q1)"


def test_angles_are_split_however_they_were_added_up(i: Inputs) -> None:
    half = i.builder.name("half", (i.q1 + i.q2) / 2)
    there_and_back = i.builder.name("back", 2 * half - i.q2)
    assert i.text(i.sin(there_and_back)) == "sin(q1)"
    nonlinear = i.builder.name("nonlinear", (i.x + 1) * i.q1 - i.x * i.q1)
    assert i.expansion(i.sin(nonlinear + i.q2)) == i.expansion(i.sin(i.q1 + i.q2))
    assert i.text(i.sin(i.builder.name("nothing", (i.x + 1) * i.y - i.x * i.y - i.y))) == "0"


def test_an_angle_that_is_no_whole_sum_is_a_letter(i: Inputs) -> None:
    assert i.text(i.sin(i.q1 / 2)) == "sin(0.5*q1)"
    assert i.text(i.sin(i.q1 + 1)) == "sin(q1 + 1)"
    assert i.text(i.sin(i.q1 * i.x)) == "sin(q1*x)"
    s, c = i.sin(i.q1 / 2), i.cos(i.q1 / 2)
    assert i.text(s * s + c * c) == "1"


def test_a_large_multiple_is_a_letter(i: Inputs) -> None:
    assert i.text(i.sin(999_999_999 * i.q1)) == "sin(999999999*q1)"
    assert len(i.expansion(i.cos(20 * i.q1))) == 11


def test_a_long_chain_of_sums_is_one_angle(i: Inputs) -> None:
    a, b = i.q1, i.q2
    for step in range(60):
        # The number of paths doubles at each step; the coefficients stay small.
        a, b = i.builder.name(f"a_{step}", a + b), i.builder.name(f"b_{step}", a - b)
        a, b = i.builder.name(f"c_{step}", (a + b) / 2), i.builder.name(f"d_{step}", (a - b) / 2)
    assert i.text(i.cos(a + b)) == i.text(i.cos(i.q1 + i.q2))


def test_letters_are_named_by_expanded_arguments(i: Inputs) -> None:
    first = i.builder.call("sqrt", i.x * (i.y + 1))
    second = i.builder.call("sqrt", i.x * i.y + i.x)
    assert first.terms != second.terms
    assert i.text(first - second) == "0"
    assert i.text(first * first) == "sqrt(x*y + x)^2"


def test_the_order_of_inputs_does_not_matter() -> None:
    def build(names: str) -> Expansion:
        builder = Builder()
        letter = {name: builder.input(name, "parameter", ord(name)) for name in names}
        value = builder.call("exp", letter["a"] + letter["b"] * letter["c"]) * letter["b"]
        builder.name("v", value)
        graph = builder.finish()
        return expand(graph, [graph.numbers["v"]])[0]

    assert build("abc") == build("cba")


def test_signs_come_out_of_letters(i: Inputs) -> None:
    b = i.builder
    a, opposite = i.x * (i.y - 1), i.x - i.x * i.y
    assert i.text(b.call("tan", a) + b.call("tan", opposite)) == "0"
    assert i.text(b.call("abs", a) - b.call("abs", opposite)) == "0"
    assert i.text(b.call("exp", a) - b.call("exp", opposite)) != "0"
    assert i.text(i.sin(a) + i.sin(opposite)) == "0"


def test_calls_with_exact_arguments_vanish(i: Inputs) -> None:
    one = i.builder.name("one_", i.sin(i.q1) ** 2 + i.cos(i.q1) ** 2)
    assert i.text(i.builder.call("sqrt", 4 * one)) == "2"
    assert i.text(i.builder.call("log", one)) == "0"
    assert i.text(i.builder.call("exp", one)) == "exp(1)"
    with pytest.raises(RunError, match="zero"):
        i.text(i.builder.call("reciprocal", one - 1))


def test_nested_calls(i: Inputs) -> None:
    root = i.builder.call("sqrt", i.builder.call("exp", 2 * i.x) + i.sin(i.q1) ** 2)
    assert i.text(root * 3) == "3*sqrt(-cos(q1)^2 + exp(2*x) + 1)"


# --- text and data --------------------------------------------------------------------------


def test_the_text_reads_like_a_formula(i: Inputs) -> None:
    inner = i.builder.name("inner", i.x + Fraction(1, 2) * i.y)
    value = inner * i.cos(i.q1) - i.z**2 * inner / 3 - 1
    assert i.text(value) == "cos(q1)*x + 0.5*cos(q1)*y - 1/3*x*z^2 - 1/6*y*z^2 - 1"
    assert i.text(i.x - i.x) == "0"
    assert i.text(i.builder.number(Fraction(-3, 4))) == "-0.75"
    assert i.text(-i.x) == "-x"


def test_letters_can_be_renamed(i: Inputs) -> None:
    expansion = i.expansion(i.x * i.sin(i.q1))
    text = expansion_text(expansion, lambda symbol: f"{symbol.function[:1]}{symbol.argument}")
    assert text == "sq1*x"


def test_an_expansion_is_plain_data(i: Inputs) -> None:
    expansion = i.expansion(3 * i.x**2 * i.sin(i.q1) - 1)
    assert len(expansion) == 2
    assert expansion.as_dict() == {(("sin(q1)", 1), ("x", 2)): 3, (): -1}
    assert expansion.symbols == (ExpansionSymbol("sin", "q1"), ExpansionSymbol("", "x"))
    assert expansion != expansion.as_dict()


def test_a_graph_of_numbers_expands() -> None:
    builder = Builder()
    builder.output("o", (2,), [("o_1", 0), ("o_2", Fraction(5, 7))])
    graph: Graph = builder.finish()
    texts = [expansion_text(e) for e in expand(graph, graph.block("o").variables)]
    assert texts == ["0", "5/7"]


def power_of_sum(letters: int, exponent: int) -> tuple[Graph, int]:
    """Return (p0 + p1 + ...)^exponent."""
    builder = Builder()
    terms = [builder.input(f"p{k}", "parameter", k) for k in range(letters)]
    total = builder.name("total", sum(terms, builder.number(0)))
    builder.output("y", (), [("y", builder.name("y", total**exponent))])
    graph = builder.finish()
    return graph, graph.numbers["y"]


def test_an_expression_without_end_is_refused() -> None:
    graph, y = power_of_sum(40, 12)
    with pytest.raises(RunError, match="more than 4000 terms") as caught:
        expand(graph, [y])
    assert caught.value.element == "y"
    assert "limit" in (caught.value.remedy or "")


def test_angles_without_end_are_refused() -> None:
    builder = Builder()
    angles = [builder.input(f"q{k}", "q", k - 1) for k in range(1, 60)]
    y = builder.name("y", builder.call("cos", builder.name("a", sum(angles, builder.number(0)))))
    builder.output("y", (), [("y", y)])
    graph = builder.finish()
    (variable,) = graph.outputs["y"].variables
    with pytest.raises(RunError, match="more than 2000 terms"):
        expand(graph, [variable], limit=1000)
    assert len(expand(graph, [variable], angles="kept")[0]) == 1


@pytest.mark.parametrize("limit", [None, 84, 85, 1000])
def test_a_limit_changes_no_result(limit: int | None) -> None:
    graph, y = power_of_sum(4, 6)
    (found,) = expand(graph, [y], limit=limit)
    assert len(found) == 84
    assert found == expand(graph, [y])[0]


def test_a_limit_is_exact() -> None:
    graph, y = power_of_sum(4, 6)
    with pytest.raises(RunError, match="84 terms when it is multiplied out; the limit is 83"):
        expand(graph, [y], limit=83)
    wrong: list[Any] = [0, -1, 1.5, "10", True]
    for limit in wrong:
        with pytest.raises(RunError, match="limit"):
            expand(graph, [y], limit=limit)
