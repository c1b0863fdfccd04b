"""Derivatives along a direction, while the graph is being built."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.graph import EXACT, Angle, Builder, Scalar, Tangents, evaluate
from strategies import NUMBERS, examples, programs


def inputs(builder: Builder) -> dict[str, Scalar]:
    return {name: builder.input(name, "parameter", i) for i, name in enumerate(NUMBERS)}


@examples(60)
@given(program=programs(), values=st.lists(st.fractions(-3, 3, max_denominator=5), min_size=6))
def test_a_direction_sums_the_partial_derivatives(program: object, values: list[Fraction]) -> None:
    builder = Builder()
    given = inputs(builder)
    turned = [builder.input(f"q{k}", "q", k - 1) for k in (1, 2)]
    results = program.run(  # pyright: ignore[reportAttributeAccessIssue]
        list(given.values()), turned, builder.call
    )
    value = results[-1] if isinstance(results[-1], Scalar) else builder.number(results[-1])
    rates = {name: builder.input(f"d{name}", "parameter", 3 + i) for i, name in enumerate(NUMBERS)}
    along = Tangents(builder, {builder.variable_of(given[n]): rates[n] for n in NUMBERS})
    total = builder.number(0)
    for name in NUMBERS:
        partial = Tangents(builder, {builder.variable_of(given[name]): builder.number(1)})
        total = total + partial.of(value) * rates[name]
    builder.output("along", (1,), [("a", along.of(value))])
    builder.output("sum", (1,), [("s", total)])
    state = dict(zip([*NUMBERS, *(f"d{n}" for n in NUMBERS)], values, strict=False))
    state |= {"q1": Angle.from_tangent(2), "q2": Angle.from_tangent(Fraction(1, 3))}
    found = evaluate(builder.finish(), state, EXACT)
    assert found["along"].tolist() == found["sum"].tolist()


def test_derivatives_by_time_chain_through_positions_and_rates() -> None:
    """d/dt (r cos q) = -r sin q qd, and once more with qdd."""
    builder = Builder()
    q, qd, qdd = (builder.input(f"{g}1", g, 0) for g in ("q", "qd", "qdd"))
    x = builder.keep(builder.call("cos", q) * 3)
    direction = {builder.variable_of(q): qd, builder.variable_of(qd): qdd}
    rate = Tangents(builder, direction).of(x)
    acceleration = Tangents(builder, direction).of(rate)
    builder.output("a", (1,), [("a", acceleration)])
    angle = Angle.from_tangent(Fraction(1, 2))
    state = {"q1": angle, "qd1": Fraction(2), "qdd1": Fraction(5)}
    expected = -3 * angle.cos * 4 - 3 * angle.sin * 5
    assert evaluate(builder.finish(), state, EXACT)["a"][0] == expected


def test_a_long_chain_needs_no_deep_recursion() -> None:
    builder = Builder()
    x = builder.input("x", "parameter", 0)
    value = x
    for k in range(3000):
        value = builder.name(f"v{k}", value * 2 + x)
    slope = Tangents(builder, {builder.variable_of(x): builder.number(1)}).of(value)
    assert slope.number == 2**3001 - 1


@pytest.mark.parametrize("function", ["tan", "sqrt", "exp", "log", "asin", "acos", "atan", "abs"])
def test_slopes_agree_with_differences(function: str) -> None:
    from chainform.graph import FLOAT

    builder = Builder()
    x = builder.input("x", "parameter", 0)
    value = builder.call(function, x)
    slope = Tangents(builder, {builder.variable_of(x): builder.number(1)}).of(value)
    builder.output("f", (1,), [("f", value)])
    builder.output("d", (1,), [("d", slope)])
    graph = builder.finish()
    at, step = 0.37, 1e-6
    near = [evaluate(graph, {"x": at + s * step}, FLOAT)["f"][0] for s in (1, -1)]
    exact = evaluate(graph, {"x": at}, FLOAT)["d"][0]
    assert exact == pytest.approx((near[0] - near[1]) / (2 * step), rel=1e-8)


def test_what_does_not_change_is_not_differentiated(monkeypatch: pytest.MonkeyPatch) -> None:
    builder = Builder()
    x, y = (builder.input(name, "parameter", i) for i, name in enumerate("xy"))
    still = x
    for _ in range(50):
        still = builder.keep(still * still + x)
    value = builder.keep(still * y)
    read: list[int] = []
    definition = builder.definition
    monkeypatch.setattr(builder, "definition", lambda v: read.append(v) or definition(v))
    along = Tangents(builder, {builder.variable_of(y): builder.number(1)})
    assert along.of(value).terms == still.terms
    assert read == [builder.variable_of(value)]
