# ruff: noqa: ARG005
"""Values in a finite field: equal graphs are the same in any form, others are not."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpz
from hypothesis import given
from hypothesis import strategies as st

import chainform as cf
from chainform.algebra import is_same
from chainform.algebra.finite_field import LONG, SHORT, SPARE, Field, rational, residues
from chainform.graph import Builder, Graph, Scalar, graph_text, parse_graph
from chainform.search import effort_of, reduce_graph
from chainform.search.thesis import Thesis
from reductions import moving_graph
from strategies import ALL, Program, examples, programs
from zoo import reference

pytestmark = pytest.mark.usefixtures("short_walks")

HALF = Fraction(1, 2)
ANGLES = (LONG + 1) // 12

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
    "half an angle": (
        lambda g, a, b: cos(g, a),
        lambda g, a, b: 2 * cos(g, a * HALF) ** 2 - 1,
    ),
    "fractions of an angle": (
        lambda g, a, b: sin(g, a * Fraction(3, 2)),
        lambda g, a, b: sin(g, a) * cos(g, a * HALF) + cos(g, a) * sin(g, a * HALF),
    ),
    "a third and a half": (
        lambda g, a, b: sin(g, a * Fraction(5, 6) - b),
        lambda g, a, b: (
            sin(g, a * HALF) * cos(g, a * Fraction(1, 3) - b)
            + cos(g, a * HALF) * sin(g, a * Fraction(1, 3) - b)
        ),
    ),
    "half a number": (
        lambda g, a, b: cos(g, a + Fraction(1, 3)),
        lambda g, a, b: (
            cos(g, a + Fraction(5, 6)) * cos(g, g.number(HALF))
            + sin(g, a + Fraction(5, 6)) * sin(g, g.number(HALF))
        ),
    ),
    "many times an angle": (
        lambda g, a, b: sin(g, 4002 * a),
        lambda g, a, b: 2 * sin(g, 2001 * a) * cos(g, 2001 * a),
    ),
    "circle of a product": (
        lambda g, a, b: sin(g, a * b) ** 2 + cos(g, a * b) ** 2 + b,
        lambda g, a, b: b + 1,
    ),
    "sine of a product and an angle": (
        lambda g, a, b: sin(g, b - a * b),
        lambda g, a, b: sin(g, b) * cos(g, a * b) - cos(g, b) * sin(g, a * b),
    ),
    "opposite products": (
        lambda g, a, b: sin(g, a * b - b * b) * cos(g, a * b),
        lambda g, a, b: -sin(g, (b - a) * b) * cos(g, -a * b),
    ),
    "circle of a sine": (
        lambda g, a, b: sin(g, sin(g, a)) ** 2 + cos(g, sin(g, a)) ** 2 + b,
        lambda g, a, b: b + 1,
    ),
    "sines within sums of angles": (
        lambda g, a, b: cos(g, sin(g, 2 * a) + b),
        lambda g, a, b: (
            cos(g, 2 * sin(g, a) * cos(g, a)) * cos(g, b) - sin(g, sin(g, 2 * a)) * sin(g, b)
        ),
    ),
    "three sines within each other": (
        lambda g, a, b: sin(g, sin(g, sin(g, sin(g, -a)))) + b,
        lambda g, a, b: b - sin(g, sin(g, sin(g, sin(g, a)))),
    ),
    "root within an angle": (
        lambda g, a, b: sin(g, 2 * g.call("sqrt", a * b)),
        lambda g, a, b: 2 * sin(g, g.call("sqrt", b * a)) * cos(g, g.call("sqrt", a * b)),
    ),
    "tangent": (
        lambda g, a, b: g.call("tan", a * b) * cos(g, a * b),
        lambda g, a, b: sin(g, a * b),
    ),
    "the inverse of a prime": (
        lambda g, a, b: Fraction(1, LONG) * (a + b) * LONG + (a + b) * SHORT,
        lambda g, a, b: (a + b) * (1 + SHORT),
    ),
    "the inverses of primes of angles": (
        lambda g, a, b: sin(g, 2 * a * Fraction(1, ANGLES)),
        lambda g, a, b: 2 * sin(g, a * Fraction(1, ANGLES)) * cos(g, a * Fraction(1, ANGLES)),
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


OTHER: dict[str, tuple[Formula, Formula]] = {
    "sine and cosine": (lambda g, a, b: sin(g, a * b), lambda g, a, b: cos(g, a * b)),
    "sign of an angle": (
        lambda g, a, b: sin(g, a - HALF * b),
        lambda g, a, b: sin(g, a + HALF * b),
    ),
    "sign of a sine": (lambda g, a, b: sin(g, a * b), lambda g, a, b: -sin(g, a * b)),
    "fraction": (lambda g, a, b: cos(g, a * HALF), lambda g, a, b: cos(g, a * Fraction(1, 3))),
    "half and whole": (lambda g, a, b: cos(g, a * HALF), lambda g, a, b: cos(g, a)),
    "long decimals": (
        lambda g, a, b: cos(g, a + Fraction(7853981633974483, 10**16)),
        lambda g, a, b: cos(g, a + Fraction(7853981633974482, 10**16)),
    ),
    "product and sum": (lambda g, a, b: sin(g, a * b), lambda g, a, b: sin(g, a + b)),
    "coefficient of a product": (
        lambda g, a, b: sin(g, a * b + b),
        lambda g, a, b: sin(g, 2 * a * b + b),
    ),
    "no angle at all": (lambda g, a, b: cos(g, a * b), lambda g, a, b: g.number(1)),
    "inner sine and cosine": (
        lambda g, a, b: sin(g, sin(g, a)),
        lambda g, a, b: sin(g, cos(g, a)),
    ),
    "prime and nothing": (lambda g, a, b: LONG * a + b, lambda g, a, b: b),
    "both primes and nothing": (lambda g, a, b: LONG * SPARE * a + b, lambda g, a, b: b),
    "inverse of a prime": (
        lambda g, a, b: Fraction(1, LONG) * a + b,
        lambda g, a, b: Fraction(2, LONG) * a + b,
    ),
}


@pytest.mark.parametrize("name", OTHER)
def test_others_are_told_apart(name: str) -> None:
    first, second = map(built, OTHER[name])
    assert not any(is_same(first, second, seed) for seed in range(3))


@pytest.mark.parametrize("prime", [SHORT, LONG, SPARE])
def test_orders_of_the_circle_are_prime(prime: int) -> None:
    field = Field(prime, 0)
    primes = [field.prime, field.angles.prime, field.angles.angles.prime]
    assert all(fmpz(p).is_prime() for p in primes)
    assert [p % 12 for p in primes[:2]] == [11, 11]
    assert field.turn(0) == field.turn(primes[1]) == (1, 0)
    assert field.turn(1) != (1, 0)


@pytest.mark.parametrize("prime", [SHORT, LONG, SPARE, 2**61 - 1])
def test_a_number_without_a_value_is_no_exception(prime: int) -> None:
    number = Fraction(1, prime)
    for field in (Field(SHORT, 0), Field(LONG, 0)):
        values = [field.number(k) for k in (number, 2 * number, 1 / number)]
        assert len({0, *values}) == 4
        assert field.number(-number) == field.prime - values[0]
    graph = built(lambda g, a, b: Fraction(1, prime) * a + b)
    assert is_same(graph, reduce_graph(graph, effort_of("fast"))[-1].graph)


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
    graph = cf.derive(mechanism, outputs).graph
    assert is_same(graph, cf.derive(mechanism, outputs, formulation="closed_form").graph)
    assert is_same(graph, Thesis()(graph))
    payload = mechanism.with_payload(mechanism.segments[-1].name, "0.000001", [0, 0, 0])
    assert not is_same(graph, cf.derive(payload, outputs).graph)


@examples(100)
@given(
    st.fractions(max_denominator=10**9).filter(bool),
    st.integers(1, 10**30),
    st.integers(1, 10**30),
)
def test_rational_is_the_inverse(value: Fraction, p: int, q: int) -> None:
    small = Fraction(value.numerator % 5000 + 1, value.denominator % 5000 + 1)
    for prime, number in ((LONG, value), (LONG, Fraction(p, q)), (LONG, -small)):
        residue = Field(prime, 0).number(number)
        assert rational(residue, prime) == number
    tiny = Fraction(value.numerator % 100 - 50, 1 + value.denominator % 100)
    if tiny:
        assert rational(Field(SHORT, 0).number(tiny), SHORT) == tiny


def test_a_random_residue_is_no_short_fraction() -> None:
    assert rational(0, LONG) is None
    field = Field(LONG, 1)
    assert all(rational(field.input(name), LONG) is None for name in "abcdefgh")


def test_every_seed_is_another_place() -> None:
    graph = built(lambda g, a, b: a + sin(g, b))
    (v,) = graph.outputs["out"].variables
    found = {residues(graph, Field(SHORT, seed), [v])[v] for seed in range(5)}
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


# --- coupled joints ---------------------------------------------------------------------------


def coupled(ratio: Fraction, offset: Fraction | str = Fraction(0)) -> cf.Mechanism:
    """Return two segments, the second turned by a share of the first joint's angle."""
    third = Fraction(1, 3)
    body: dict[str, Any] = {
        "mass": 1,
        "com": [third, HALF, 2],
        "inertia": [third, HALF, Fraction(1, 4)],
    }
    builder = cf.Mechanism.builder("coupled")
    if isinstance(offset, str):
        builder.parameter("u").parameter("v")
    builder.segment("a", joint="revolute", axis="x", **body)
    mimic = {"joint": "a", "ratio": ratio, "offset": offset}
    builder.segment(
        "b", parent="a", joint="revolute", axis="x", position=[HALF, 0, 0], mimic=mimic, **body
    )
    return builder.build()


@pytest.mark.parametrize("effort", ["fast", "thesis"])
@pytest.mark.parametrize(
    ("ratio", "offset"),
    [
        (HALF, Fraction(0)),
        (Fraction(3, 2), Fraction(0)),
        (Fraction(-1, 3), Fraction(0)),
        (Fraction(2), HALF),
        (Fraction(1), Fraction(1, 3)),
        (Fraction(2, 3), Fraction(1, 7)),
        (Fraction(2), "u*v"),
    ],
)
def test_reductions_of_coupled_joints(ratio: Fraction, offset: Fraction | str, effort: str) -> None:
    mechanism = coupled(ratio, offset)
    model = cf.derive(mechanism, ["inverse_dynamics"], reduce=effort)
    whole = cf.derive(mechanism, ["inverse_dynamics"])
    assert is_same(whole.graph, model.graph, seed=9)
    another = cf.derive(coupled(ratio + Fraction(1, 100), offset), ["inverse_dynamics"])
    assert not is_same(another.graph, model.graph, seed=9)


@pytest.mark.parametrize(("old", "new"), [("sin(", "cos("), ("cos(", "sin("), (" + ", " - ")])
def test_one_change_in_a_reduced_graph_is_found(old: str, new: str) -> None:
    model = cf.derive(coupled(HALF, "u*v"), ["inverse_dynamics"], reduce="fast")
    text = graph_text(model.graph)
    places = [match.start() for match in re.finditer(re.escape(old), text)]
    assert places
    for place in places:
        changed = parse_graph(text[:place] + new + text[place + len(old) :])
        assert not is_same(model.graph, changed)


def test_one_coefficient_in_a_reduced_graph_is_found() -> None:
    model = cf.derive(coupled(HALF, "u*v"), ["inverse_dynamics"], reduce="fast")
    text = graph_text(model.graph)
    places = [match.end() for match in re.finditer(r"= -?(?=\d[^\n]*\*)", text)]
    assert places
    for place in places:
        assert not is_same(model.graph, parse_graph(f"{text[:place]}7{text[place:]}"))
