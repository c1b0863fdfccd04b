"""A graph built into another one, with other values for some of its inputs."""

from __future__ import annotations

from fractions import Fraction

from chainform.graph import EXACT, Builder, evaluate, include, verify


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


def test_parameters_are_those_of_the_same_name_whatever_their_indices() -> None:
    """Two graphs number their parameters each for itself; in a third one they meet."""
    graphs = []
    for names in (("m", "g"), ("g", "e")):
        builder = Builder()
        first, second = (
            builder.parameter(name, Fraction(place)) for place, name in enumerate(names)
        )
        builder.output("f", (1,), [("f", first * 10 + second)])
        graphs.append(builder.finish())
    builder = Builder()
    found = [include(builder, graph, {}, ["f"])["f"][0] for graph in graphs]
    builder.output("both", (2,), [("b1", found[0]), ("b2", found[1])])
    whole = builder.finish()
    verify(whole)
    given = {item.index: item.name for item in whole.inputs.values()}
    assert given == {0: "m", 1: "g", 2: "e"}
    values = {name: Fraction(k) for k, name in enumerate(("m", "g", "e"), 2)}
    assert evaluate(whole, values, EXACT)["both"].tolist() == [23, 34]
