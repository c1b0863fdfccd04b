"""The counting rule: by hand, and by a counter that knows nothing but Python text."""

from __future__ import annotations

import ast
import re
import runpy
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import chainform as cf
from chainform.emitters import EMITTERS
from chainform.graph import Builder, Cost, Graph, cost, cost_of, cost_once
from strategies import Program, examples, graph_of, graphs, programs


class Inputs:
    """A builder with the inputs of the cases below."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.x, self.y, self.z = (
            self.builder.input(name, "tau", i) for i, name in enumerate("xyz")
        )
        self.q1, self.q2, self.q3 = (self.builder.input(f"q{i + 1}", "q", i) for i in range(3))
        self.sin: Callable[[Any], Any] = lambda value: self.builder.call("sin", value)
        self.cos: Callable[[Any], Any] = lambda value: self.builder.call("cos", value)


CASES: dict[str, tuple[Callable[[Inputs], list[Any]], Cost]] = {
    "an input": (lambda i: [i.x], Cost()),
    "numbers": (lambda i: [i.x - i.x, 1, Fraction(7, 3)], Cost()),
    "a product": (lambda i: [i.x * i.y * i.z], Cost(multiplications=2)),
    "a constant factor": (lambda i: [Fraction(1, 2) * i.x], Cost(multiplications=1)),
    "a constant factor of a product": (lambda i: [3 * i.x * i.y], Cost(multiplications=2)),
    "a sign": (lambda i: [-i.x], Cost()),
    "a sign of a product": (lambda i: [-i.x * i.y], Cost(multiplications=1)),
    "twice a variable": (lambda i: [2 * i.x], Cost(additions=1)),
    "minus twice a variable": (lambda i: [-2 * i.x], Cost(additions=1)),
    "twice a product": (lambda i: [2 * i.x * i.y], Cost(multiplications=1, additions=1)),
    "four times a variable": (lambda i: [4 * i.x], Cost(multiplications=1)),
    "a square": (lambda i: [i.x**2], Cost(multiplications=1)),
    "a power": (lambda i: [i.x**5], Cost(multiplications=4)),
    "three times a power": (lambda i: [3 * i.x**5], Cost(multiplications=5)),
    "twice powers": (lambda i: [2 * i.x**2 * i.y**3], Cost(multiplications=4, additions=1)),
    "a sum": (lambda i: [i.x - i.y + i.z], Cost(additions=2)),
    "a sum with a number": (lambda i: [i.x + 2], Cost(additions=1)),
    "a sum of everything": (
        lambda i: [5 - 2 * i.x + 7 * i.y - i.x * i.z],
        Cost(multiplications=2, additions=4),
    ),
    "a difference": (lambda i: [-i.x - i.y], Cost(additions=1)),
    "an equal definition": (lambda i: [i.x * i.y, i.y * i.x], Cost(multiplications=1)),
    "a sum used twice": (
        lambda i: [(i.x + i.y) * i.z, (i.x + i.y) * i.x],
        Cost(multiplications=2, additions=1),
    ),
    "sine and cosine": (lambda i: [i.sin(i.q1), i.cos(i.q1), i.cos(-i.q1)], Cost(sin=1, cos=1)),
    "a quotient": (lambda i: [i.x / i.y], Cost(multiplications=1, calls=1)),
    "two quotients": (lambda i: [i.x / i.y, i.z / i.y], Cost(multiplications=2, calls=1)),
    "other calls": (
        lambda i: [i.builder.call(f, i.x) for f in ("sqrt", "tan", "exp", "abs", "sign")],
        Cost(calls=5),
    ),
    "an angle sum": (lambda i: [i.sin(i.q1 + i.q2)], Cost(sin=1, angle_sums=1)),
    "an angle sum of both calls": (
        lambda i: [i.sin(i.q1 + i.q2), i.cos(i.q1 + i.q2)],
        Cost(sin=1, cos=1, angle_sums=1),
    ),
    "a doubled angle": (lambda i: [i.sin(2 * i.q1)], Cost(sin=1, angle_sums=1)),
    "a multiple of an angle": (
        lambda i: [i.sin(3 * i.q1 + i.q2)],
        Cost(multiplications=1, sin=1, angle_sums=1),
    ),
    "a sum that is an angle and more": (
        lambda i: [i.sin(i.q1 + i.q2) * (i.q1 + i.q2)],
        Cost(multiplications=1, additions=1, sin=1),
    ),
    "a sum that is an angle and a result": (
        lambda i: [i.sin(i.q1 + i.q2), i.q1 + i.q2],
        Cost(additions=1, sin=1),
    ),
    "a sum that is an angle and of use to nobody else who counts": (
        lambda i: [i.builder.name("dead", i.x * (i.q1 + i.q2)) * 0, i.sin(i.q1 + i.q2)],
        Cost(sin=1, angle_sums=1),
    ),
    "the angle of a tangent": (
        lambda i: [i.builder.call("tan", i.q1 + i.q2)],
        Cost(additions=1, calls=1),
    ),
    "nested angle sums": (
        lambda i: [i.sin(i.builder.name("q12", i.q1 + i.q2) + i.q3), i.cos(i.q1 + i.q2)],
        Cost(sin=1, cos=1, angle_sums=2),
    ),
    "nested angle sums, the inner one with another use": (
        lambda i: [
            i.sin(i.builder.name("q12", i.q1 + i.q2) + i.q3),
            i.x * i.builder.name("q12", i.q1 + i.q2),
        ],
        Cost(multiplications=1, additions=1, sin=1, angle_sums=1),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_by_hand(case: str) -> None:
    build, expected = CASES[case]
    inputs = Inputs()
    values = build(inputs)
    inputs.builder.output("o", (len(values),), [(f"o_{i}", v) for i, v in enumerate(values)])
    assert cost(inputs.builder.finish()) == expected


@pytest.fixture
def graph() -> Graph:
    i = Inputs()
    i.builder.name("dead", i.x * i.y * i.z + 1)
    i.builder.output("a", (1,), [("a_1", i.q1 + i.q2)])
    i.builder.output("b", (1,), [("b_1", i.x * i.sin(i.q1 + i.q2))])
    i.builder.quantity("c", (1,), [("c_1", i.x * i.y)])
    return i.builder.finish()


def test_dead_variables_do_not_count(graph: Graph) -> None:
    assert cost(graph) == Cost(multiplications=1, additions=1, sin=1)


def test_outputs_can_be_counted_apart(graph: Graph) -> None:
    assert cost(graph, ["a"]) == Cost(additions=1)
    assert cost(graph, ["c"]) == Cost(multiplications=1)
    # For b alone the sum is only an angle: that it is an output as well does not matter.
    assert cost(graph, ["b"]) == Cost(multiplications=1, sin=1, angle_sums=1)
    assert cost(graph, []) == Cost()


def test_any_variables_can_be_counted(graph: Graph) -> None:
    dead = graph.numbers["dead"]
    assert cost_of(graph, graph.cone([dead])) == Cost(multiplications=2, additions=1)


def test_an_empty_graph_costs_nothing() -> None:
    assert cost(Builder().finish()) == Cost()


def test_a_cost_shows_all_columns() -> None:
    total = Cost(1, 2, 3, 4, 5, 6)
    assert str(total) == (
        "1 multiplications, 2 additions, 3 sin, 4 cos, 5 angle sums, 6 other calls"
    )
    assert list(total.as_dict().values()) == [1, 2, 3, 4, 5, 6]


# --- recount from Python text ---------------------------------------------------------------


def recount(source: str) -> dict[str, int]:
    """Count the operations in the statements of an emitted function, by the text alone."""
    counts = {"multiplications": 0, "additions": 0, "sin": 0, "cos": 0, "calls": 0}
    (function,) = [n for n in ast.parse(source).body if getattr(n, "name", "") == "model"]
    assert isinstance(function, ast.FunctionDef)
    for statement in function.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            assert isinstance(statement.value.func, ast.Name)
            name = statement.value.func.id
            counts[name if name in ("sin", "cos") else "calls"] += 1
        elif isinstance(statement, ast.Assign) and not isinstance(statement.value, ast.Subscript):
            _count_sum(statement.value, counts)
    return counts


def _count_sum(expression: ast.expr, counts: dict[str, int]) -> None:
    match expression:
        case ast.BinOp(left, ast.Add() | ast.Sub(), right):
            counts["additions"] += 1
            _count_sum(left, counts)
            _count_sum(right, counts)
        case _:
            factors, number = _factors(expression)
            if factors:
                counts["multiplications"] += factors - 1 + (number not in (1, 2))
                counts["additions"] += number == 2


def _factors(expression: ast.expr) -> tuple[int, float]:
    """Return how many variables a product has, and the size of its number."""
    match expression:
        case ast.Name():
            return 1, 1.0
        case ast.Constant(float(value)):
            return 0, value
        case ast.UnaryOp(ast.USub(), operand):
            return _factors(operand)
        case ast.BinOp(left, ast.Mult(), right):
            (n, k), (m, l) = _factors(left), _factors(right)
            return n + m, k * l
        case _:
            raise AssertionError(ast.dump(expression))


def check_recount(graph: Graph) -> None:
    counted = cost_of(graph, graph.cone(graph.output_variables()))
    together = replace(counted, additions=counted.additions + counted.angle_sums, angle_sums=0)
    emitted = EMITTERS["python"](graph, list(graph.outputs))
    assert Cost(**recount(emitted)) == together


@given(graphs())
@examples(80)
def test_the_text_of_a_drawn_graph_has_as_many_operations(graph: Graph) -> None:
    check_recount(graph)


@given(programs())
@examples(60)
def test_the_text_of_a_program_has_as_many_operations(program: Program) -> None:
    check_recount(graph_of(program))


def test_what_depends_on_parameters_alone_is_counted_apart() -> None:
    builder = Builder()
    m, l = (builder.input(name, "parameter", i) for i, name in enumerate("ml"))
    q = builder.input("q1", "q", 0)
    inertia = builder.name("inertia", m * l * l + 1)
    builder.output("y", (2,), [("y_1", inertia * builder.call("sin", q)), ("y_2", inertia)])
    graph = builder.finish()
    assert cost(graph) == Cost(multiplications=1, sin=1)
    assert cost_once(graph) == Cost(multiplications=2, additions=1)


@pytest.mark.slow
def test_the_benchmark_of_operations_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """It compares every model with Pinocchio, and every result of a peer with the polynomials."""
    monkeypatch.setattr(sys, "path", sys.path[:])
    root = Path(__file__).parents[3]
    benchmark = runpy.run_path(str(root / "benchmarks" / "operations.py"))
    case, data = benchmark["CASES"]["arm"], root / "tests" / "data" / "reference"
    arm = benchmark["count"](cf.read(data / f"{case.file}.json"), case.outputs, "none")
    assert arm.short == "101/74"
    assert re.match(r"\d+/\d+ in ", benchmark["peer_count"](arm.model.graph, "casadi", 60))
    branched = cf.read(data / "rackovic_4_1.json")
    assert benchmark["count"](branched, ["coriolis_matrix", "forward_dynamics"], "none").cost.calls
