"""A graph built into another one, with other values for some of its inputs."""

from __future__ import annotations

from fractions import Fraction

from chainform.graph import EXACT, Builder, evaluate, include


def square_plus_rate() -> Builder:
    builder = Builder()
    a, b = builder.input("q1", "q", 0), builder.input("qd1", "qd", 0)
    builder.input("qdd1", "qdd", 0)
    builder.output("sum", (2,), [("s1", a * a + b), ("s2", builder.call("reciprocal", a))])
    builder.output("other", (1,), [("o", b * 7)])
    return builder


def test_given_inputs_are_replaced_and_others_stay_inputs() -> None:
    graph = square_plus_rate().finish()
    builder = Builder()
    t = builder.input("t", "t", 0)
    found = include(builder, graph, {"q1": t * 3}, ["sum"])
    builder.output("twice", (2,), [(f"d{i}", value * 2) for i, value in enumerate(found["sum"])])
    whole = builder.finish()
    assert {item.name for item in whole.inputs.values()} == {"t", "qd1", "qdd1"}
    values = evaluate(whole, {"t": Fraction(2), "qd1": Fraction(5), "qdd1": 0}, EXACT)["twice"]
    assert values.tolist() == [2 * (36 + 5), Fraction(2, 6)]
    assert "other" not in whole.outputs


def test_numbers_in_place_of_inputs_are_folded() -> None:
    builder = Builder()
    found = include(builder, square_plus_rate().finish(), {"q1": builder.number(4)}, ["sum"])
    assert found["sum"][1].number == Fraction(1, 4)
