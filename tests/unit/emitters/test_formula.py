"""The tree of a formula: its symbols, short sines, lines, and MathML."""

from __future__ import annotations

import re
from fractions import Fraction
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.emitters import (
    Equation,
    Formula,
    Letters,
    MatrixFormula,
    NameFormula,
    Notation,
    broken_latex,
    definition_formula,
    equations_latex,
    equations_mathml,
    expansion_formula,
    formula_latex,
    formula_mathml,
    visible,
)
from chainform.expressions import parse_symbol
from chainform.graph import Builder, expand


def angles(count: int, symbols: dict[str, str] | None = None) -> Notation:
    """Return a notation with coordinates that are angles."""
    given = {name: parse_symbol(text) for name, text in (symbols or {}).items()}
    return Notation(given, frozenset(f"q{i + 1}" for i in range(count)))


def sines(builder: Builder, *signs: int) -> int:
    """Return the sine of a sum of coordinates with signs."""
    total = builder.number(0)
    for i, sign in enumerate(signs):
        total = total + sign * builder.input(f"q{i + 1}", "q", i)
    return builder.variable_of(builder.call("sin", total))


def short(notation: Notation, *signs: int) -> tuple[str, list[str]]:
    """Return the sine of a sum as it is written, and the legend."""
    builder = Builder()
    v = sines(builder, *signs)
    (expansion,) = expand(builder.finish(), [v], angles="kept")
    letters = Letters(notation, trig="short")
    formula = expansion_formula(expansion, letters, letters.turn)
    legend = letters.legend([Equation(NameFormula(parse_symbol("y")), formula)])
    return formula_latex(formula), [formula_latex(equation) for equation in legend]


def test_sines_of_sums_are_short() -> None:
    assert short(angles(3), 0, 1, 1) == ("s_{23}", [r"s_{23} = \sin \left(q_{2} + q_{3}\right)"])
    assert short(angles(3), 1) == ("s_{1}", [r"s_{1} = \sin q_{1}"])
    assert short(angles(3), 1, -1)[0] == "s_{1-2}"
    named = angles(2, {"q1": r"\theta_1", "q2": r"\theta_2"})
    assert short(named, 1, 1)[1] == [r"s_{12} = \sin \left(\theta_{1} + \theta_{2}\right)"]


def test_short_sines_only_where_they_are_clear() -> None:
    assert short(angles(3), 1, 2)[0] == r"\sin \left(q_{1} + 2 \, q_{2}\right)"
    assert short(angles(2), 0, 1, 1)[0] == r"\sin \left(q_{2} + q_{3}\right)"  # q3 is a length
    unnumbered = angles(2, {"q1": r"\alpha"})
    assert short(unnumbered, 1, 1)[0] == r"\sin \left(\alpha + q_{2}\right)"
    same = angles(2, {"q1": r"\alpha_1", "q2": r"\beta_1"})
    assert short(same, 1)[0] == r"\sin \alpha_{1}"
    # Beside q12 the sum of q1 and q2 has a comma.
    assert short(angles(12), 1, 1)[0] == "s_{1,2}"
    assert Letters(angles(1, {"s_1": "s_1"}), trig="short").turn("sin", {"q1": Fraction(1)}) is None


def test_the_definition_of_a_sine_is_its_legend() -> None:
    builder = Builder()
    v = sines(builder, 1, 1)
    graph = builder.finish()
    letters = Letters(angles(2), trig="short").of_graph(graph, range(len(graph)))
    left = NameFormula(letters(graph.names[v]))
    equation = Equation(left, definition_formula(graph, v, letters, angles=True))
    assert formula_latex(equation) == r"s_{12} = \sin \left(q_{1} + q_{2}\right)"
    assert letters.legend([equation]) == []


NAMES = st.lists(
    st.from_regex(r"[xHq_]{1,2}[12_]{0,3}|theta_?1|θ_?[12₁]|hG_?_?|s_?1|x\[1\]", fullmatch=True),
    unique=True,
    max_size=12,
)


@given(NAMES)
def test_no_two_names_look_alike(names: list[str]) -> None:
    letters = Letters(angles(2, {"q1": r"\theta_1"}), names, trig="short")
    written = [formula_latex(NameFormula(letters(name))) for name in names]
    bare = [re.sub(r"\\(mathrm|text|ensuremath)|[{} ]", "", text) for text in written]
    assert len(set(bare)) == len(names)


# --- lines ------------------------------------------------------------------------------------


def long_sum(count: int) -> Formula:
    builder = Builder()
    parts = [builder.input(f"m_{i}", "parameter", i) for i in range(count)]
    total = sum((x * x * (i + 2) for i, x in enumerate(parts)), builder.number(0))
    v = builder.variable_of(total * builder.call("reciprocal", total + 1))
    (expansion,) = expand(builder.finish(), [v])
    return expansion_formula(expansion, Letters())


@pytest.mark.parametrize("width", [20, 40, 80])
def test_long_sums_are_broken_and_whole(width: int) -> None:
    formula = long_sum(20)
    lines = broken_latex(formula, width)
    assert len(lines) > 3
    assert all(visible(line) <= width + 30 for line in lines)
    text = " ".join(lines)
    assert all(f"m_{{{i}}}" in text for i in range(20))
    assert text.count(r"\bigl") == text.count(r"\bigr") > 0
    assert text.count("{") == text.count("}")


def test_a_line_that_fits_stays() -> None:
    equation = Equation(NameFormula(parse_symbol("y")), long_sum(1))
    assert equations_latex([equation]) == formula_latex(equation)
    assert equations_latex([equation], 10).startswith("\\begin{aligned}\n")
    assert equations_latex([equation], None, "align*").startswith("\\begin{align*}\n")


def test_matrices_of_many_columns() -> None:
    entry = NameFormula(parse_symbol("a"))
    assert r"\begin{bmatrix} a & a" in formula_latex(MatrixFormula(((entry,) * 10,)))
    assert r"\left[\begin{array}{ccccccccccc}" in formula_latex(MatrixFormula(((entry,) * 11,)))


def test_a_fraction_is_as_wide_as_its_wider_part() -> None:
    assert visible(r"\frac{a + b}{c} + d") == visible("a + b + d")
    assert visible(r"\frac{1}{\frac{a}{b + c} + d}") == visible("b + c + d")


# --- MathML -----------------------------------------------------------------------------------


def test_mathml_is_well_formed() -> None:
    formula = long_sum(3)
    equation = Equation(NameFormula(parse_symbol(r"\dot{\theta}_{1,a}'")), formula)
    for text in (formula_mathml(formula), equations_mathml([equation, equation], [equation])):
        root = ElementTree.fromstring(text)
        assert root.tag == "{http://www.w3.org/1998/Math/MathML}math"
    assert "<mfrac>" in text
    assert "θ" in text


def test_long_sums_are_broken_in_mathml() -> None:
    builder = Builder()
    parts = [builder.input(f"m_{i}", "parameter", i) for i in range(60)]
    v = builder.variable_of(sum((x * x * (i + 2) for i, x in enumerate(parts)), builder.number(0)))
    (expansion,) = expand(builder.finish(), [v])
    y = NameFormula(parse_symbol("y"))
    text = equations_mathml([Equation(y, expansion_formula(expansion, Letters()))])
    rows = ElementTree.fromstring(text).findall(".//{*}mtr")
    assert len(rows) > 3
    assert all(f"<mn>{i}</mn></mrow></msub>" in text for i in range(60))
    assert sum("+" in "".join(row.itertext()) for row in rows) == len(rows)


@given(st.text(min_size=1, max_size=12))
def test_mathml_of_any_name_is_well_formed(name: str) -> None:
    letters = Letters(Notation(), [name])
    ElementTree.fromstring(formula_mathml(NameFormula(letters(name))))
