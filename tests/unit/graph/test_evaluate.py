"""What a graph means, in fractions and in doubles."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from chainform.errors import RunError
from chainform.graph import EXACT, FLOAT, Angle, Builder, Graph, evaluate, evaluate_variables
from strategies import ALL, Point, Program, Size, Sizes, examples, graph_of, points, programs


@pytest.fixture
def graph() -> Graph:
    builder = Builder()
    m = builder.input("m", "parameter", 0, Fraction(1, 2))
    l = builder.input("l", "parameter", 1)
    q1, q2 = builder.input("q1", "q", 0), builder.input("q2", "q", 1)
    s = builder.call("sin", q1 + 2 * q2)
    builder.output("A", (2, 2), [("A_1", m * s), ("A_2", 0), ("A_3", -l), ("A_4", m * m * m - 1)])
    builder.output("b", (), [("b_1", s * s)])
    builder.quantity("c", (1,), [("c_1", l * l)])
    return builder.finish()


ANGLES = {"q1": Angle.from_tangent(Fraction(1, 3)), "q2": Angle.from_tangent(-2)}


def test_outputs_come_as_arrays_of_exact_values(graph: Graph) -> None:
    results = evaluate(graph, {"l": Fraction(7), **ANGLES})
    sine = (ANGLES["q1"] + ANGLES["q2"] + ANGLES["q2"]).sin
    assert list(results) == ["A", "b"]
    assert results["A"].tolist() == [[sine / 2, 0], [-7, Fraction(-7, 8)]]
    assert results["b"].shape == ()
    assert results["b"][()] == sine**2
    assert all(isinstance(value, Fraction) for value in results["A"].flat)


def test_a_given_value_takes_the_place_of_the_default(graph: Graph) -> None:
    results = evaluate(graph, {"l": Fraction(0), "m": Fraction(2), **ANGLES}, names=["A"])
    assert results["A"][1, 1] == 7


def test_only_what_is_asked_for_needs_values(graph: Graph) -> None:
    results = evaluate(graph, {"l": Fraction(3)}, names=["c"])
    assert list(results) == ["c"]
    assert results["c"].tolist() == [9]


@pytest.mark.parametrize(
    ("missing", "remedy"), [("l", "give l a value in values"), ("q2", r"give q2 a value \(q\)")]
)
def test_a_missing_value_is_named(graph: Graph, missing: str, remedy: str) -> None:
    values: dict[str, Any] = {"l": Fraction(3), **ANGLES}
    del values[missing]
    with pytest.raises(RunError, match=remedy) as refusal:
        evaluate(graph, values)
    assert refusal.value.element == missing


def test_doubles(graph: Graph) -> None:
    values = {"l": 3.0, "q1": 0.25, "q2": -0.5}
    results = evaluate(graph, values, FLOAT)
    assert results["A"][0, 0] == 0.5 * np.sin(-0.75)
    assert results["A"][0, 1] == 0.0
    assert all(isinstance(value, float) for value in results["A"].flat)


def test_angles_that_are_not_rational_are_refused(graph: Graph) -> None:
    with pytest.raises(RunError, match="not rational"):
        evaluate(graph, {"l": Fraction(3), "q1": Fraction(1), "q2": Fraction(1)})


def test_a_rational_angle_cannot_be_shifted_by_a_number() -> None:
    builder = Builder()
    q = builder.input("q", "q", 0)
    builder.output("o", (1,), [("o_1", builder.call("sin", q + 1))])
    with pytest.raises(RunError, match="shifted"):
        evaluate(builder.finish(), {"q": Angle.from_tangent(1)})


def test_an_angle_can_be_an_output() -> None:
    builder = Builder()
    q = builder.input("q", "q", 0)
    builder.output("o", (1,), [("o_1", -3 * q)])
    angle = Angle.from_tangent(Fraction(2, 5))
    assert evaluate(builder.finish(), {"q": angle})["o"][0] == -(angle + angle + angle)


def test_values_of_single_variables(graph: Graph) -> None:
    wanted = graph.numbers["c_1"]
    assert evaluate_variables(graph, {"l": Fraction(2)}, EXACT, [wanted])[wanted] == 4


CONTINUOUS = [operation for operation in ALL if operation != "sign"]


@given(programs(CONTINUOUS), points)
@examples(60)
def test_doubles_are_near_the_exact_values(program: Program, point: Point) -> None:
    graph = graph_of(program)
    given = {
        name: value.value if isinstance(value, Angle) else float(value)
        for name, value in point.values().items()
    }
    exact = evaluate(graph, point.values())["out"]
    near = evaluate(graph, given, FLOAT)["out"]
    sizes = evaluate(graph, {name: Size(abs(value)) for name, value in given.items()}, Sizes())
    for a, b, size in zip(exact, near, sizes["out"], strict=True):
        assert abs(float(a) - b) <= 1e-13 * size.value


def test_an_empty_graph() -> None:
    assert evaluate(Builder().finish(), {}) == {}
