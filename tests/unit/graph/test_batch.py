"""Many states at once agree with one state at a time."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.errors import RunError
from chainform.graph import FLOAT, BatchPlan, Builder, Graph, evaluate_variables
from strategies import ALL_CALLS, Size, Sizes, doubles, examples, graphs


def check(graph: Graph, inputs: dict[int, Any], states: int) -> None:
    """Compare every variable, state by state, within 1e-12 of its size."""
    everything = list(range(len(graph)))
    results = BatchPlan(graph, everything).run(inputs, states)
    assert results.shape == (len(graph), states)
    for state in range(states):
        at_state = {
            graph.names[v]: float(column[state]) if np.ndim(column) else float(column)
            for v, column in inputs.items()
        }
        sizes = {name: Size(abs(value)) for name, value in at_state.items()}
        expected = evaluate_variables(graph, at_state, FLOAT, everything)
        scale = evaluate_variables(graph, sizes, Sizes(), everything)
        for v in everything:
            assert abs(results[v, state] - expected[v]) <= 1e-12 * scale[v].value


@given(graphs(), st.data())
@examples(100)
def test_a_plan_agrees_with_the_interpreter(graph: Graph, data: st.DataObject) -> None:
    states = st.tuples(doubles, doubles, doubles)
    inputs = {v: np.asarray(data.draw(states)) for v in graph.inputs}
    check(graph, inputs, 3)


def every_call() -> Graph:
    """Return a graph with each call, in suitable places, and constants of every kind."""
    builder = Builder()
    q = builder.input("q1", "q", 0)
    half = builder.call("sin", q) / 2
    for function in ALL_CALLS:
        builder.name(f"f_{function}", 3 * builder.call(function, half + 1) ** 2 - half)
        if function in ("asin", "acos"):
            builder.name(f"g_{function}", 2 * builder.call(function, half))
    builder.output("o", (3,), [("a", 0), ("b", 5), ("c", q**7 - 1)])
    return builder.finish()


def test_every_call() -> None:
    angles = np.linspace(-1.5, -0.1, 7)
    check(every_call(), {0: angles}, 7)


def test_a_batch_is_cut_into_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = every_call()
    angles = np.linspace(-1.5, -0.1, 50)
    whole = BatchPlan(graph, range(len(graph)))
    assert whole.piece >= 50
    monkeypatch.setattr(import_module("chainform.graph.evaluation"), "_PIECE", 100)
    pieces = BatchPlan(graph, range(len(graph)))
    assert 1 < pieces.piece < 50
    assert np.array_equal(whole.run({0: angles}, 50), pieces.run({0: angles}, 50))


def test_a_long_chain_takes_small_pieces() -> None:
    builder = Builder()
    x = value = builder.input("x", "parameter", 0)
    for i in range(5000):
        value = builder.name(f"v_{i}", value * x + 1)
    graph = builder.finish()
    plan = BatchPlan(graph, [len(graph) - 1])
    assert plan.piece * len(graph) <= 1 << 23
    assert np.allclose(plan.run({0: np.full(3, 0.5)}, 3), 2.0)


def test_a_number_serves_all_states() -> None:
    builder = Builder()
    x, q = builder.input("x", "parameter", 0), builder.input("q1", "q", 0)
    builder.output("o", (1,), [("o_1", x * q)])
    graph = builder.finish()
    plan = BatchPlan(graph, graph.output_variables())
    assert plan.run({0: 3.0, 1: np.array([1.0, 2.0])}, 2).tolist() == [[3.0, 6.0]]


def test_only_needed_inputs_are_asked_for() -> None:
    builder = Builder()
    x, y = builder.input("x", "parameter", 0), builder.input("y", "parameter", 1)
    builder.name("unused", x * y)
    builder.output("o", (2,), [("o_1", 2 * y), ("o_2", y)])
    graph = builder.finish()
    plan = BatchPlan(graph, graph.output_variables())
    assert plan.inputs == [1]
    assert sorted(plan.run({1: 4.0}, 1).ravel()) == [4.0, 8.0]


def test_wanted_variables_come_in_the_order_asked_for() -> None:
    graph = every_call()
    angles = np.linspace(-1.5, -0.1, 4)
    everything = BatchPlan(graph, range(len(graph))).run({0: angles}, 4)
    wanted = [5, 3, 5, 0]
    assert np.array_equal(BatchPlan(graph, wanted).run({0: angles}, 4), everything[wanted])


def test_nothing_wanted_and_no_states() -> None:
    graph = every_call()
    assert BatchPlan(graph, []).run({}, 3).shape == (0, 3)
    assert BatchPlan(graph, [1, 2]).run({0: np.zeros(0)}, 0).shape == (2, 0)


def test_a_coefficient_beyond_doubles_is_refused() -> None:
    builder = Builder()
    builder.name("huge", 10**400 * builder.input("x", "parameter", 0))
    with pytest.raises(RunError, match="too large"):
        BatchPlan(builder.finish(), [1])
