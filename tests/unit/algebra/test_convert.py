"""From a graph to sums and back: values, names, outputs and what depends on parameters alone."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

import chainform as cf
from chainform.algebra import Prices, Settler, graph_of, is_same, system_of
from chainform.errors import RunError
from chainform.graph import (
    EXACT,
    Angle,
    Builder,
    Graph,
    cost,
    evaluate,
    evaluate_variables,
    graph_text,
    verify,
)
from reductions import check_kept, moving_graph, operations
from strategies import ALL, Point, Program, examples, graphs, points, programs
from strategies import graph_of as program_graph
from zoo import exact_state, random_tree, reference


def back(graph: Graph) -> Graph:
    return graph_of(system_of(graph))


@examples(60)
@given(programs(ALL, most_steps=12), points)
def test_random_programs(program: Program, point: Point) -> None:
    for graph in (program_graph(program), moving_graph(program), moving_graph(program, 1)):
        check_kept(graph, back(graph), point.values())


@examples(60)
@given(graphs(calls=("abs", "sign")))
def test_random_graphs(graph: Graph) -> None:
    values = {given.name: i + 2 for i, given in enumerate(graph.inputs.values())}
    check_kept(graph, back(graph), values)


@examples(30)
@given(graphs())
def test_random_graphs_with_every_call(graph: Graph) -> None:
    with suppress(RunError):  # a reciprocal of zero that only shows when it is simplified
        check_kept(graph, back(graph))


CASES: list[tuple[Any, str, str, list[str]]] = [
    (reference("rackovic_2_1"), "closed_form", "numeric", ["mass_matrix", "coriolis"]),
    (reference("rackovic_2_1"), "auto", "symbolic", ["mass_matrix", "gravity"]),
    (reference("manipulator_5dof"), "auto", "numeric", ["inverse_dynamics", "com"]),
    (reference("manipulator_5dof"), "articulated_body", "symbolic", ["forward_dynamics"]),
    (reference("sliding_links_3"), "auto", "symbolic", ["inverse_dynamics"]),
    (random_tree(5), "auto", "numeric", ["mass_matrix", "gravity"]),
]


def state_of(graph: Graph, mechanism: Any) -> dict[str, Any]:
    """Return exact values of all inputs; a parameter that is an angle has none but as a point."""
    values = exact_state(mechanism, 3)
    for given_input in graph.inputs.values():
        if given_input.group == "tau":
            values[given_input.name] = given_input.index - 2
    return values


@pytest.mark.parametrize(("mechanism", "formulation", "parameters", "outputs"), CASES)
@pytest.mark.parametrize("settle", [False, True])
def test_mechanisms(
    mechanism: Any, formulation: str, parameters: str, outputs: list[str], settle: bool
) -> None:
    model = cf.derive(mechanism, outputs, formulation=formulation, parameters=parameters)
    graph = model.graph
    system = system_of(graph)
    if settle:
        Settler(system).settle()
    after = graph_of(system)
    check_kept(graph, after, state_of(graph, mechanism))
    assert is_same(graph, after)
    assert operations(after) <= operations(graph)
    assert graph_text(graph_of(system)) == graph_text(after)


def test_names_stay() -> None:
    graph = cf.derive(reference("rackovic_2_1"), ["mass_matrix"], formulation="closed_form").graph
    after = back(graph)
    needed = graph.cone(graph.output_variables())
    used = {graph.names[v] for v in range(len(graph)) if needed[v]}
    kept = used & set(after.names)
    assert len(kept) > 0.9 * len(used)
    state = exact_state(reference("rackovic_2_1"), 1)
    for name in sorted(kept)[::7]:
        values = [evaluate_one(g, name, state) for g in (graph, after)]
        assert values[0] == values[1], name


def evaluate_one(graph: Graph, name: str, state: dict[str, Any]) -> Any:
    v = graph.numbers[name]
    values = {given.name: state[given.name] for given in graph.inputs.values()}
    return evaluate_variables(graph, values, EXACT, [v])[v]


def test_quantities_that_are_whole_stay() -> None:
    graph = cf.derive(reference("rackovic_2_1"), ["mass_matrix"], formulation="closed_form").graph
    after = back(graph)
    assert after.quantities
    assert set(after.quantities) <= set(graph.quantities)
    check_kept(graph, after, exact_state(reference("rackovic_2_1"), 1))


def test_calls_of_sums_and_calls_of_calls() -> None:
    builder = Builder()
    a, b = builder.input("a", "qd", 0), builder.input("b", "qd", 1)
    inner = builder.call("reciprocal", (a + b) * (a + b) + 1)
    outer = builder.call("reciprocal", 2 * inner + a)
    builder.output("out", (3,), [("x", outer * a), ("y", outer * b), ("z", inner)])
    graph = builder.finish()
    system = system_of(graph)
    Settler(system).settle(resubstitute=True)
    after = graph_of(system)
    values = {"a": 3, "b": 5}
    check_kept(graph, after, values)
    assert cost(after).calls == 2
    assert evaluate(after, values, EXACT)["out"][2] == Fraction(1, 65)


def test_constants_are_formed_once() -> None:
    """What stands without a moving factor, or before one, is computed from the parameters once."""
    builder = Builder()
    x = builder.input("x", "qd", 0)
    c, d = builder.input("c", "parameter", 0), builder.input("d", "parameter", 1)
    builder.output("out", (3,), [("o1", x + 3 * c * d), ("o2", x + 2 * c), ("o3", c * d * x)])
    graph = builder.finish()
    system = system_of(graph)
    assert system.sums.cost == 1 + 1 + 1
    after = graph_of(system)
    assert operations(after) == 3
    check_kept(graph, after, {"x": 2, "c": 3, "d": 5})


def test_an_output_that_is_an_input_a_number_or_an_angle() -> None:
    builder = Builder()
    q, p = builder.input("q", "q", 0), builder.input("p", "q", 1)
    angle = builder.name("angle", q + 2 * p)
    sine = builder.call("sin", angle)
    entries = [("o1", q), ("o2", builder.number(7)), ("o3", angle), ("o4", sine), ("o5", -sine)]
    builder.output("out", (5,), entries)
    graph = builder.finish()
    check_kept(graph, back(graph))
    assert "angle" in back(graph).names


def test_differences_of_angles_are_offered_at_their_price() -> None:
    builder = Builder()
    q, p, x = (builder.input(name, "q", i) for i, name in enumerate("qpx"))
    s, c = builder.call("sin", q), builder.call("cos", q)
    other = q + p
    t, d = builder.call("sin", other), builder.call("cos", other)
    builder.output("out", (2,), [("o1", c * d + s * t), ("o2", x * c * t - x * s * d)])
    graph = builder.finish()
    for price, sines in ((0.0, 2), (12.0, 4)):
        system = system_of(graph, Prices(call=price))
        Settler(system).settle(resubstitute=True)
        after = graph_of(system)
        verify(after)
        count = cost(after)
        assert count.sin + count.cos == sines, price
        assert is_same(graph, after)
        point = {"q": Angle.from_tangent(2), "p": Angle.from_tangent(3), "x": 5}
        check_kept(graph, after, point)


def test_quantities_that_no_output_needs_are_left_out() -> None:
    builder = Builder()
    x, y = builder.input("x", "parameter", 0), builder.input("y", "parameter", 1)
    (needed,) = builder.quantity("needed", (1,), [("n", x * y + x)])
    builder.quantity("spare", (1,), [("s", x * x + y)])
    builder.output("r", (), [("r", needed * needed + y)])
    graph = graph_of(system_of(builder.finish()))
    assert list(graph.quantities) == ["needed"]
