"""The arithmetic of scalars: what becomes of a sum, a product, a power, a quotient."""

from __future__ import annotations

from fractions import Fraction
from operator import truediv

import pytest
from hypothesis import given

from chainform.errors import RunError
from chainform.graph import (
    EXACT,
    Builder,
    GraphError,
    Scalar,
    definition_text,
    evaluate,
    verify,
)
from strategies import ALL, Point, Program, examples, graph_of, points, programs


@pytest.fixture
def builder() -> Builder:
    return Builder()


@pytest.fixture
def x(builder: Builder) -> Scalar:
    return builder.input("x", "parameter", 0)


@pytest.fixture
def y(builder: Builder) -> Scalar:
    return builder.input("y", "parameter", 1)


@pytest.fixture
def z(builder: Builder) -> Scalar:
    return builder.input("z", "parameter", 2)


def definition(builder: Builder, value: Scalar) -> str:
    """Return the definition that a scalar gets when it is asked for as a variable."""
    variable = builder.variable_of(value)
    return definition_text(builder.finish(), variable)


@given(programs(ALL), points)
@examples(150)
def test_a_program_on_scalars_computes_what_it_computes_on_fractions(
    program: Program, point: Point
) -> None:
    expected = program.run(point.numbers, point.angles, EXACT.call)
    graph = graph_of(program)
    verify(graph)
    assert evaluate(graph, point.values())["out"].tolist() == expected


@given(programs(ALL), points)
@examples(50)
def test_nothing_depends_on_sharing(program: Program, point: Point) -> None:
    expected = program.run(point.numbers, point.angles, EXACT.call)
    graph = graph_of(program, Builder(share=False))
    verify(graph)
    assert evaluate(graph, point.values())["out"].tolist() == expected


def test_a_sum_joins_the_terms_of_its_parts(builder: Builder, x: Scalar, y: Scalar) -> None:
    assert definition(builder, (x + y) + (3 * x - 2 * y) + 1) == "1 + 4*x - y"


def test_equal_products_collect_in_any_order(builder: Builder, x: Scalar, y: Scalar) -> None:
    assert definition(builder, x * y + y * x) == "2*x*y"


def test_what_cancels_leaves_no_term(builder: Builder, x: Scalar, y: Scalar) -> None:
    difference = x * y - y * x
    assert difference.is_number
    assert difference.number == 0
    assert (x + 1 - x).number == 1


def test_a_product_joins_factors(builder: Builder, x: Scalar, y: Scalar) -> None:
    assert definition(builder, 3 * x * (y * x) / 2) == "1.5*x^2*y"


def test_a_sum_that_is_multiplied_is_not_expanded(builder: Builder, x: Scalar, y: Scalar) -> None:
    product = (x + y) * (x - y)
    graph = builder.finish()
    assert [definition_text(graph, v) for v in range(2, len(graph))] == ["x + y", "x - y"]
    assert definition(builder, product) == "x_2*x_3"


def test_a_number_counts_as_a_factor_of_a_sum(builder: Builder, x: Scalar, y: Scalar) -> None:
    assert definition(builder, 3 * (x + y)) == "3*x_2"


def test_a_sign_does_not_make_a_variable(builder: Builder, x: Scalar, y: Scalar) -> None:
    assert definition(builder, -(x + y)) == "-x - y"
    assert definition(builder, -1 * (x - y)) == "-x + y"


def test_a_sum_and_its_opposite_share_one_variable(
    builder: Builder, x: Scalar, y: Scalar, z: Scalar
) -> None:
    total = (x - y) * z + (y - x) * z * z
    assert definition(builder, total) == "-z^2*x_3 + z*x_3"


@pytest.mark.parametrize("neutral", [0, Fraction(0)])
def test_zeros_vanish(builder: Builder, x: Scalar, neutral: Fraction) -> None:
    assert (x + neutral).terms == x.terms == (neutral + x).terms
    assert (neutral * x).number == 0 == (x * builder.number(neutral)).number
    assert (neutral - x).terms == (-x).terms


@pytest.mark.parametrize("neutral", [1, Fraction(1)])
def test_ones_vanish(builder: Builder, x: Scalar, y: Scalar, neutral: Fraction) -> None:
    assert (neutral * (x + y)).terms == (x + y).terms == ((x + y) * builder.number(neutral)).terms
    assert ((x + y) / neutral).terms == (x + y).terms
    assert len(builder.names) == 2


def test_numbers_are_computed_at_once(builder: Builder) -> None:
    three = builder.number(3)
    value = (three + 4) * builder.number(Fraction(1, 2)) / 7 - three**2
    assert value.is_number
    assert value.number == Fraction(1, 2) - 9
    assert not builder.names


def test_signed_variables_are_known(builder: Builder, x: Scalar, y: Scalar) -> None:
    assert x.is_signed_variable
    assert (-x).is_signed_variable
    for value in (2 * x, x * y, x + y, builder.number(1), builder.number(0)):
        assert not value.is_signed_variable


def test_powers_are_products(builder: Builder, x: Scalar, y: Scalar) -> None:
    assert (x**0).number == 1
    assert (x**1).terms == x.terms
    assert definition(builder, (2 * x * y) ** 3) == "8*x^3*y^3"
    assert definition(builder, (y - x) ** 3) == "-x_3^3"


def test_the_first_power_of_a_sum_is_the_sum(builder: Builder, x: Scalar, y: Scalar) -> None:
    assert ((x + y) ** 1).terms == (x + y).terms
    assert ((x + y) ** 0).number == 1
    assert len(builder.names) == 2


def test_a_negative_power_is_a_reciprocal(builder: Builder, x: Scalar) -> None:
    assert definition(builder, x**-2) == "reciprocal(x_1)"
    assert definition_text(builder.finish(), 1) == "x^2"
    assert (builder.number(2) ** -2).number == Fraction(1, 4)


def test_a_quotient_is_a_product_with_a_reciprocal(builder: Builder, x: Scalar, y: Scalar) -> None:
    assert definition(builder, 3 * x / y) == "3*x*reciprocal_y"
    assert definition(builder, 5 / -y) == "-5*reciprocal_y"
    assert definition(builder, x / 4) == "0.25*x"


@pytest.mark.parametrize("zero", [0, Fraction(0)])
def test_division_by_zero_is_refused(builder: Builder, x: Scalar, zero: Fraction) -> None:
    with pytest.raises(RunError, match="zero"):
        truediv(x, zero)
    with pytest.raises(RunError, match="zero"):
        truediv(x, builder.number(zero))
    with pytest.raises(RunError, match="zero"):
        pow(x - x, -1)


def test_high_powers_are_refused_at_once(builder: Builder, x: Scalar) -> None:
    with pytest.raises(GraphError, match="999999999"):
        pow(x, 999_999_999)
    with pytest.raises(GraphError, match=r"x\^1200"):
        builder.name("too_high", x**600 * x**600)
    verify(builder.finish())


def test_endless_coefficients_are_refused(builder: Builder, x: Scalar) -> None:
    with pytest.raises(GraphError, match="bits"):
        builder.name("too_long", Fraction(1, 10**5000) * x)
    verify(builder.finish())


def test_a_scalar_shows_its_terms(builder: Builder, x: Scalar, y: Scalar) -> None:
    assert repr(2 * x * x - y) == "Scalar(2*x*x + -1*y)"
    assert repr(builder.number(0)) == "Scalar(0)"


def test_plus_changes_nothing(x: Scalar) -> None:
    assert +x is x
