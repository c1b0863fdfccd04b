# ruff: noqa: ARG005
"""Values in a finite field: equal graphs are the same in any form, others are not."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.algebra import is_same
from chainform.algebra.residues import LONG, SHORT, Field, rational, residues
from chainform.graph import Builder, Graph, Scalar
from chainform.search import effort_of, reduce_graph
from chainform.search.thesis import thesis
from reductions import moving_graph
from strategies import ALL, Program, examples, programs
from unreduced import unreduced
from zoo import reference

Formula = Callable[[Builder, Scalar, Scalar], Any]


def built(formula: Formula, name: str = "out") -> Graph:
    """Return the graph of a formula in two coordinates."""
    builder = Builder()
    a, b = builder.input("a", "q", 0), builder.input("b", "q", 1)
    builder.output(name, (), [(f"{name}_1", formula(builder, a, b))])
    return builder.finish()


def sin(builder: Builder, x: Scalar) -> Scalar:
    return builder.call("sin", x)


def cos(builder: Builder, x: Scalar) -> Scalar:
    return builder.call("cos", x)


SAME: dict[str, tuple[Formula, Formula]] = {
    "product": (lambda g, a, b: (a + b) * (a - b), lambda g, a, b: a * a - b * b),
    "sine of a sum": (
        lambda g, a, b: sin(g, a + b),
        lambda g, a, b: sin(g, a) * cos(g, b) + cos(g, a) * sin(g, b),
    ),
    "cosine of a difference": (
        lambda g, a, b: cos(g, a - 2 * b),
        lambda g, a, b: cos(g, a) * cos(g, 2 * b) + sin(g, a) * 2 * sin(g, b) * cos(g, b),
    ),
    "circle": (
        lambda g, a, b: sin(g, a) ** 2 + cos(g, a) ** 2 + b,
        lambda g, a, b: b + 1,
    ),
    "three times an angle": (
        lambda g, a, b: sin(g, 3 * a),
        lambda g, a, b: 3 * sin(g, a) - 4 * sin(g, a) ** 3,
    ),
    "angle with a number": (
        lambda g, a, b: sin(g, a + Fraction(1, 2)),
        lambda g, a, b: (
            sin(g, a) * cos(g, g.number(Fraction(1, 2)))
            + cos(g, a) * sin(g, g.number(Fraction(1, 2)))
        ),
    ),
    "reciprocal": (
        lambda g, a, b: (a + b) * g.call("reciprocal", a * a - b * b),
        lambda g, a, b: g.call("reciprocal", a - b),
    ),
    "call of a sum": (
        lambda g, a, b: g.call("exp", (a + b) * (a + b)),
        lambda g, a, b: g.call("exp", a * a + 2 * a * b + b * b),
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_in_other_forms(name: str) -> None:
    first, second = map(built, SAME[name])
    assert all(is_same(first, second, seed) for seed in range(3))


@pytest.mark.parametrize("name", SAME)
def test_one_coefficient_makes_another(name: str) -> None:
    first, second = SAME[name]
    for change in (Fraction(1, 10**9), Fraction(-3)):
        other = built(lambda g, a, b, change=change: second(g, a, b) * (1 + change))
        assert not is_same(built(first), other)
        moved = built(lambda g, a, b, change=change: second(g, a, b) + change * a)
        assert not is_same(built(first), moved)


def test_names_and_shapes_count() -> None:
    first = built(lambda g, a, b: a)
    assert not is_same(first, built(lambda g, a, b: a, "other"))
    builder = Builder()
    a, _ = builder.input("a", "q", 0), builder.input("b", "q", 1)
    builder.output("out", (1,), [("out_1", a)])
    assert not is_same(first, builder.finish())


@examples(40)
@given(programs(ALL), st.integers(0, 5))
def test_random_programs(program: Program, seed: int) -> None:
    graph = moving_graph(program)
    assert is_same(graph, moving_graph(program), seed)
    last = Program((*program.steps[:-1], *program.steps[-1:] * 2))
    assert not is_same(graph, moving_graph(last), seed)


def test_a_reduced_mechanism_is_the_same_and_another_is_not() -> None:
    mechanism = reference("manipulator_5dof")
    outputs = ["mass_matrix", "gravity", "inverse_dynamics"]
    graph = unreduced(mechanism, outputs).graph
    assert is_same(graph, unreduced(mechanism, outputs, formulation="closed_form").graph)
    assert is_same(graph, thesis(graph))
    payload = mechanism.with_payload(mechanism.segments[-1].name, "0.000001", [0, 0, 0])
    assert not is_same(graph, unreduced(payload, outputs).graph)


@examples(100)
@given(
    st.fractions(max_denominator=10**9).filter(bool),
    st.integers(1, 10**30),
    st.integers(1, 10**30),
)
def test_rational_is_the_inverse(value: Fraction, p: int, q: int) -> None:
    small = Fraction(value.numerator % 5000 + 1, value.denominator % 5000 + 1)
    for prime, number in ((LONG, value), (LONG, Fraction(p, q)), (LONG, -small)):
        residue = Field(prime, 0).number(number).value
        assert rational(residue, prime) == number
    tiny = Fraction(value.numerator % 100 - 50, 1 + value.denominator % 100)
    if tiny:
        assert rational(Field(SHORT, 0).number(tiny).value, SHORT) == tiny


def test_a_random_residue_is_no_short_fraction() -> None:
    assert rational(0, LONG) is None
    field = Field(LONG, 1)
    assert all(rational(field.input(name).value, LONG) is None for name in "abcdefgh")


def test_every_seed_is_another_place() -> None:
    graph = built(lambda g, a, b: a + sin(g, b))
    (v,) = graph.outputs["out"].variables
    found = {residues(graph, Field(SHORT, seed), [v])[v].value for seed in range(5)}
    assert len(found) == 5


# --- what other functions are known to do -----------------------------------------------------


def opposites(function: str) -> Graph:
    """Return a function of a sum and of its opposite, written in another way."""
    builder = Builder()
    a, b, c = (builder.input(name, "qd", i) for i, name in enumerate("abc"))
    x, y = builder.name("x", (a + b) * c), builder.name("y", -a * c - b * c)
    values = [("o_1", builder.call(function, x)), ("o_2", builder.call(function, y))]
    builder.output("o", (2,), values)
    return builder.finish()


def hidden_number(function: str) -> Graph:
    """Return a function of a sum that is the number 4."""
    builder = Builder()
    a, b = builder.input("a", "qd", 0), builder.input("b", "qd", 1)
    x = builder.name("x", a + b)
    y = builder.name("y", x * x - a * a - 2 * a * b - b * b + 4)
    builder.output("o", (), [("o_1", builder.call(function, y))])
    return builder.finish()


@pytest.mark.parametrize(
    "graph",
    [
        pytest.param(opposites("abs"), id="abs(-x)"),
        pytest.param(opposites("atan"), id="atan(-x)"),
        pytest.param(opposites("sign"), id="sign(-x)"),
        pytest.param(opposites("sqrt"), id="sqrt"),
        pytest.param(opposites("reciprocal"), id="reciprocal"),
        pytest.param(hidden_number("abs"), id="abs(4)"),
        pytest.param(hidden_number("sqrt"), id="sqrt(4)"),
        pytest.param(hidden_number("exp"), id="exp(4)"),
    ],
)
def test_calls_that_turn_out_simpler(graph: Graph) -> None:
    assert len(reduce_graph(graph, effort_of("fast"))) == 3
