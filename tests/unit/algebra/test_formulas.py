"""Expressions for reading: folded, with brackets, and always the same values as the graph."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainform as cf
from chainform.algebra import formulas, is_equal
from chainform.errors import RunError
from chainform.graph import (
    ANGLES,
    EXACT,
    Builder,
    Expansion,
    ExpansionSymbol,
    Graph,
    Scalar,
    evaluate_variables,
    expand,
    expansion_text,
    formula_text,
    length,
)
from strategies import (
    EXACT_CALLS,
    POLYNOMIAL,
    RATIONAL,
    TRIGONOMETRIC,
    Point,
    Program,
    coefficients,
    examples,
    graph_of,
    points,
    programs,
)
from zoo import reference

EXPANDABLE = POLYNOMIAL + TRIGONOMETRIC


class Inputs:
    """A builder with the inputs of the cases below."""

    def __init__(self) -> None:
        self.builder = Builder()
        names = ("m1", "m2", "l1", "l2", "x", "y")
        self.inputs = {n: self.builder.input(n, "parameter", i) for i, n in enumerate(names)}
        self.inputs |= {f"q{i}": self.builder.input(f"q{i}", "q", i - 1) for i in range(1, 5)}

    def __getitem__(self, names: str) -> Scalar:
        """Return an input, or the product of several."""
        first, *others = (self.inputs[name] for name in names.split())
        for other in others:
            first = first * other
        return first

    def s(self, *names: str) -> Scalar:
        return self.builder.call("sin", self._sum(names))

    def c(self, *names: str) -> Scalar:
        return self.builder.call("cos", self._sum(names))

    def _sum(self, names: tuple[str, ...]) -> Scalar:
        total = self.builder.number(0)
        for name in names:
            total = total - self[name[1:]] if name.startswith("-") else total + self[name]
        return total

    def text(self, value: Scalar, angles: str | None = None) -> str:
        variable = self.builder.variable_of(value)
        (found,) = formulas(self.builder.finish(), [variable], angles=angles)
        return expansion_text(found)


@pytest.fixture
def i() -> Inputs:
    return Inputs()


def flat(expansion: Expansion) -> Expansion:
    """Return an expression by single angles, without brackets: made by a graph of its own."""
    builder = Builder()
    inputs: dict[str, Scalar] = {}

    def letter(symbol: ExpansionSymbol) -> Scalar:
        if symbol.inner is None:
            name = symbol.argument
            group = "q" if name.startswith("q") else "parameter"
            index = int.from_bytes(name.encode(), "big")
            if name not in inputs:
                inputs[name] = builder.input(name, group, index)
            return inputs[name]
        inner = value(symbol.inner)
        return builder.call(symbol.function, inner) if symbol.function else inner

    def value(given: Expansion) -> Scalar:
        total = builder.number(0)
        for k, factors in given.terms:
            product = builder.number(k)
            for s, power in factors:
                product = product * letter(given.symbols[s]) ** power
            total = total + product
        return total

    variable = builder.variable_of(value(expansion))
    return expand(builder.finish(), [variable], limit=None)[0]


# --- values -----------------------------------------------------------------------------------


@pytest.mark.parametrize("angles", [None, *ANGLES])
@given(program=programs(EXPANDABLE, 7))
@examples(60)
def test_every_form_is_the_split_one_exactly(angles: str | None, program: Program) -> None:
    graph = graph_of(program)
    variables = list(graph.outputs["out"].variables)
    split = expand(graph, variables)
    for found, expected in zip(formulas(graph, variables, angles=angles), split, strict=True):
        assert flat(found) == expected
        assert is_equal(found, expected)


@given(program=programs(EXPANDABLE, 7))
@examples(60)
def test_folding_never_makes_an_expression_longer(program: Program) -> None:
    graph = graph_of(program)
    variables = list(graph.outputs["out"].variables)
    split, kept = expand(graph, variables), expand(graph, variables, angles="kept")
    collected = formulas(graph, variables, angles="collected", brackets=False)
    shortest = formulas(graph, variables)
    for index, form in enumerate(collected):
        assert len(form) <= min(len(split[index]), len(kept[index]))
        assert length(shortest[index]) <= length(form)


turns = st.tuples(st.sampled_from(("sin", "cos")), st.tuples(*[st.integers(-1, 1)] * 3))
products = st.tuples(
    coefficients, st.lists(turns, max_size=3), st.sampled_from(("", "m1", "m2", "m1 l1"))
)


@pytest.mark.parametrize("angles", [None, "collected"])
@given(terms=st.lists(products, min_size=1, max_size=6))
@examples(40)
def test_sums_of_three_angles_are_the_split_ones_exactly(
    angles: str | None, terms: list[tuple[Fraction, list[tuple[str, tuple[int, ...]]], str]]
) -> None:
    i = Inputs()
    total = i.builder.number(0)
    for k, factors, parameters in terms:
        product = k * i[parameters] if parameters else i.builder.number(k)
        for function, (a, b, c) in factors:
            angle = a * i["q1"] + b * i["q2"] + c * i["q3"]
            product = product * i.builder.call(function, angle)
        total = total + product
    variable = i.builder.variable_of(total)
    graph = i.builder.finish()
    (split,), (found,) = expand(graph, [variable]), formulas(graph, [variable], angles=angles)
    assert flat(found) == split
    assert length(found)[0] <= len(split)


@given(program=programs(EXPANDABLE + RATIONAL + EXACT_CALLS, 8), point=points)
@examples(40)
def test_a_formula_has_the_value_of_the_graph(program: Program, point: Point) -> None:
    graph = graph_of(program)
    variables = list(graph.outputs["out"].variables)
    values = evaluate_variables(graph, point.values(), EXACT, variables)
    for v, found in zip(variables, formulas(graph, variables), strict=True):
        assert value_of(found, point) == values[v]


def value_of(expansion: Expansion, point: Point) -> Any:
    letters = [
        point.values()[s.argument]
        if s.inner is None
        else EXACT.call(s.function, value_of(s.inner, point))
        if s.function
        else value_of(s.inner, point)
        for s in expansion.symbols
    ]
    total: Any = Fraction(0)
    for k, factors in expansion.terms:
        product: Any = k
        for s, power in factors:
            for _ in range(power):
                product = product * letters[s]
        total = total + product
    return total


# --- sums of angles ---------------------------------------------------------------------------


def test_products_are_folded_into_sums_of_angles(i: Inputs) -> None:
    assert i.text(i.c("q1") * i.c("q2") - i.s("q1") * i.s("q2")) == "cos(q1 + q2)"
    assert i.text(i.s("q1") * i.c("q2") - i.c("q1") * i.s("q2")) == "sin(q1 - q2)"
    assert i.text(i.c("q1") ** 2 - i.s("q1") ** 2) == "cos(2*q1)"
    cofactor = i["x"] * i.c("q3")
    split = cofactor * (i.s("q1") * i.c("q2") + i.c("q1") * i.s("q2"))
    assert i.text(split) == "x*cos(q3)*sin(q1 + q2)"


def test_three_angles_are_folded_at_once(i: Inputs) -> None:
    value = i.s("q1", "q2", "q3") * i.s("q1") + i["x"] * i.c("q1", "q2")
    assert i.text(value) == "x*cos(q1 + q2) + sin(q1)*sin(q1 + q2 + q3)"
    assert len(i.text(value, "split")) > 100


def test_angles_need_not_be_whole(i: Inputs) -> None:
    half = i["q1"] / 2
    s, c = i.builder.call("sin", half), i.builder.call("cos", half)
    assert i.text(c * c - s * s) == "cos(q1)"
    shifted = i["q1"] + 1
    one = i.builder.number(1)
    s, c = i.builder.call("sin", shifted), i.builder.call("cos", shifted)
    value = c * i.builder.call("cos", one) + s * i.builder.call("sin", one)
    assert i.text(value) == "cos(q1)"


def test_different_values_are_not_equal(i: Inputs) -> None:
    values = [i.s("q1"), i.c("q1"), i.c("q1") ** 2, i["x"], i["x"] + 1, i.builder.number(0)]
    variables = [i.builder.variable_of(value) for value in values]
    found = formulas(i.builder.finish(), variables)
    for index, one in enumerate(found):
        assert [is_equal(one, other) for other in found] == [n == index for n in range(6)]


def test_dependent_angles_stay_where_they_are_short(i: Inputs) -> None:
    value = i.c("q1") + i.c("q2") + i.c("q1", "q2")
    assert i.text(value) == "cos(q1) + cos(q2) + cos(q1 + q2)"


def test_the_shorter_square_is_taken(i: Inputs) -> None:
    assert i.text(i["x"] - i["x"] * i.c("q1") ** 2) == "x*sin(q1)^2"
    both = i["x"] * i.s("q1") ** 2 + i["y"] * i.c("q1") ** 2
    assert i.text(both) == "x*sin(q1)^2 + y*cos(q1)^2"


def test_angles_are_kept_where_that_is_wanted(i: Inputs) -> None:
    value = i.c("q1", "q2") * i.c("q2") + i.s("q1", "q2") * i.s("q2")
    assert i.text(value) == "cos(q1)"
    assert i.text(value, "kept") == "sin(q2)*sin(q1 + q2) + cos(q2)*cos(q1 + q2)"


# --- brackets ---------------------------------------------------------------------------------


def test_the_double_pendulum_reads_as_in_a_textbook(i: Inputs) -> None:
    h11 = i["m1 l1 l1"] + i["m2"] * (i["l1 l1"] + i["l2 l2"] + 2 * i["l1 l2"] * i.c("q2"))
    assert i.text(h11) == "(m1 + m2)*l1^2 + 2*m2*l1*l2*cos(q2) + m2*l2^2"


def test_factors_of_longer_terms_are_taken_out() -> None:
    builder = Builder()
    m, n, a, l, k = (builder.input(name, "parameter", i) for i, name in enumerate("mnalk"))
    q1, q2 = (builder.input(name, "q", i) for i, name in enumerate(("q1", "q2")))
    first, second = builder.call("cos", q1), builder.call("cos", q2)
    sums = [m * a * k * first + n * l * k * first, (m * a * a + n) * (q1 + q2) * (q1 + q2)]
    sums.append(m * a * k * first + n * l * k * second)
    variables = [builder.variable_of(value) for value in sums]
    texts = [formula_text(form) for form in formulas(builder.finish(), variables)]
    assert texts[0] == "(m*a + n*l)*k*cos(q1)"
    assert texts[1] == "(m*a^2 + n)*(q1 + q2)^2"
    # What is left of the factor k has cosines: it stays outside of brackets.
    assert texts[2] == "m*a*k*cos(q1) + n*l*k*cos(q2)"


def test_squares_of_sums_are_seen(i: Inputs) -> None:
    whole = i["m1"] * (i["l1"] - 2 * i["l2"] + i["x"] * i.c("q1")) ** 2 + i["y"]
    assert i.text(whole) == "m1*(l1 - 2*l2 + x*cos(q1))^2 + y"


def test_products_of_sums_are_seen(i: Inputs) -> None:
    value = (i["m1"] + i["m2"]) * (i["l1"] + i["l2"] + i["y"]) * i["x"]
    assert i.text(value) == "(m1 + m2)*(l1 + l2 + y)*x"


def test_brackets_are_not_nested(i: Inputs) -> None:
    value = i["m1"] * (i["x"] + i["l1"] * (i["y"] + i["l2"]))
    assert i.text(value) == "(l2 + y)*m1*l1 + m1*x"


def test_the_split_form_has_no_brackets(i: Inputs) -> None:
    value = (i["m1"] + i["m2"]) * i["x"]
    assert i.text(value, "split") == "m1*x + m2*x"


# --- mechanisms -------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", ["closed_form", "composite_body"])
def test_h_11_of_the_six_axis_arm_is_shorter_than_in_the_thesis(formulation: str) -> None:
    """The thesis prints 13 terms; by single angles there are 72."""
    arm = cf.derive(reference("rackovic_2_1"), ["mass_matrix"], formulation=formulation)
    entry = arm["mass_matrix"][0, 0]
    found = entry.expand()
    assert len(found) <= 13
    assert len(entry.expand(angles="split")) == 72
    assert found == entry.expand(angles="split")
    assert "sin(q2 + q3 + q4)" in str(found)


def test_the_biped_is_readable() -> None:
    biped = cf.derive(reference("rackovic_4_1"), ["mass_matrix"])
    entry = biped["mass_matrix"][0, 0].expand()
    assert len(entry) <= 150
    with pytest.raises(RunError, match="the limit is 100") as caught:
        biped["mass_matrix"][0, 0].expand(limit=100)
    assert caught.value.element == "H_1_1"
    assert "--steps" in (caught.value.remedy or "")
    with pytest.raises(RunError, match="more than 4000 terms"):
        biped["mass_matrix"][0, 0].expand(angles="split")


def test_matrices_are_expanded_whole() -> None:
    arm = cf.derive(reference("rackovic_2_1"), ["mass_matrix"])
    matrix = arm["mass_matrix"].expand(angles="collected")
    assert matrix.shape == (6, 6)
    assert matrix[3, 3] == arm["mass_matrix"][3, 3].expand()
    assert str(matrix).count("\n") == 17
    assert "H_1_4 = H_4_1 = " in str(matrix)
    assert str(matrix).endswith("H_4_5 = H_5_4 = H_5_6 = H_6_5 = 0")
    with pytest.raises(RunError, match="36 entries"):
        _ = matrix.expansion


@pytest.mark.parametrize(
    "step", ["sqrt(a{})+abs(a{})", "sin(a{})*abs(a{})", "1/(a{}+y)", "sqrt(a{})"]
)
@pytest.mark.parametrize("angles", [None, *ANGLES])
def test_functions_within_functions_are_refused(step: str, angles: str | None) -> None:
    """Each level has the one below it twice, or is one level deeper: nothing of it is written."""
    chain = {f"a{i + 1}": step.format(i, i) for i in range(60)}
    model = cf.read_expressions({"a0": "x", **chain}, outputs=["a60"])
    for limit in (2000, None):
        with pytest.raises(RunError, match="the argument of") as caught:
            model["a60"].expand(angles=angles, limit=limit)
        assert caught.value.remedy


def test_terms_in_arguments_count() -> None:
    """A few terms with long arguments are a long formula; the angle of a sine is no sum."""
    long = " + ".join(f"x{i}" for i in range(50))
    roots = " + ".join(f"sqrt(L + {k})" for k in range(1, 60))
    sines = " + ".join(f"sin(q1 + q2 + q3)*x{k}" for k in range(60))
    model = cf.read_expressions({"L": long, "Y": roots, "Z": sines})
    assert model["Y"].expand(limit=2000) == model["Y"].expand(limit=None)
    with pytest.raises(RunError, match=r"3068 terms .*arguments of functions included"):
        model["Y"].expand(limit=100)
    assert len(model["Z"].expand(angles="kept", limit=60)) == 60


def test_numbers_that_are_too_long_are_refused() -> None:
    factor = "*((2^64)^60)*((2^64)^60)"
    model = cf.read_expressions({"Y": "a*b", "a": f"x{factor}+z", "b": f"y{factor}+w"})
    for angles in ("split", "kept"):
        with pytest.raises(RunError, match="more than 14000 bits"):
            str(model["Y"].expand(angles=angles).rounded(3))


def test_other_words_are_refused(i: Inputs) -> None:
    variable = i.builder.variable_of(i["x"])
    graph: Graph = i.builder.finish()
    with pytest.raises(RunError, match="angles"):
        formulas(graph, [variable], angles="trig")
    with pytest.raises(RunError, match="angles"):
        expand(graph, [variable], angles="collected")


def test_the_formulation_does_not_show() -> None:
    """Sums of angles stand otherwise in each graph; the shortest form is the same."""
    arm = reference("rackovic_2_1")
    texts = {
        str(cf.derive(arm, ["mass_matrix"], formulation=name)["mass_matrix"].expand())
        for name in ("closed_form", "composite_body", "lagrange")
    }
    assert len(texts) == 1
