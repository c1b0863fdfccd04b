"""Compiled functions of graphs: every call, odd outputs, drawn graphs, and code in chunks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainform.emitters.definitions as order
from chainform.errors import RunError
from chainform.graph import CALLS, FLOAT, Builder, Graph, evaluate, verify
from chainform.runtime import Program
from strategies import Size, Sizes, doubles, examples, graphs
from unit.runtime.programs import arm, close, graph_of, model, same_bits, state_of
from unit.runtime.programs import given as arguments_of

NUMPY: Mapping[str, Any] = {
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "reciprocal": np.reciprocal,
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "sqrt", "exp", "log")},
    **{name: getattr(np, name) for name in ("abs", "sign")},
}


def all_calls() -> Graph:
    """Return a graph of every call of one coordinate."""
    names = CALLS[1:]
    lines = [f"f_{name} = {name}(q1)" for name in names]
    outputs = [f"output {name}_ []: f_{name}" for name in names]
    entries = " ".join(f"f_{name}" for name in names)
    return graph_of("input q 0 q1", *lines, f"output o [{len(names)}]: {entries}", *outputs)


@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 4e-15), ("float32", 1e-6)])
def test_every_call(precision: str, tolerance: float) -> None:
    """To some units of the last place, since functions of numpy have errors, too."""
    program = Program(all_calls(), precision=precision)
    q = np.linspace(0.01, 0.99, 41).astype(precision)[:, None]
    expected = np.stack([NUMPY[name](q[:, 0].astype(float)) for name in CALLS[1:]], axis=-1)
    np.testing.assert_allclose(program.o(q), expected, rtol=tolerance)
    for i in (0, 17, 40):
        np.testing.assert_allclose(program.o(q[i]), expected[i], rtol=tolerance)


@pytest.mark.parametrize("call", CALLS[1:])
def test_calls_where_they_are_special(call: str) -> None:
    """Zeros with a sign, poles, numbers out of the domain, infinities: all as in numpy."""
    function = Program(all_calls())[f"{call}_"]
    x = np.array([0.0, -0.0, 1.0, -1.0, -3.0, 1e-320, np.inf, -np.inf, np.nan, 800.0, -800.0])
    with np.errstate(all="ignore"):
        expected = NUMPY[call](x)
    batch = function(x[:, None])
    np.testing.assert_allclose(batch, expected, rtol=4e-15)
    zeros = batch == 0
    if call != "sign":
        np.testing.assert_array_equal(np.signbit(batch[zeros]), np.signbit(expected[zeros]))
    for value, found in zip(x, batch, strict=True):
        np.testing.assert_array_equal(function(np.array([value])), found)


def test_nested_sines() -> None:
    """Later sines wait for earlier ones; sine and cosine of one angle may be far apart."""
    graph = graph_of(
        *("input q 0 q1", "input q 1 q2"),
        *("a = sin(q1)", "b = sin(a)", "c = cos(a)", "d = cos(b)", "e = b*c + q2"),
        *("f = tan(e)", "g = sin(e)", "h = sin(g)", "i = cos(q2)", "j = sin(i)"),
        "output o [5]: d f h j g",
    )
    q = np.random.default_rng(1).uniform(-3, 3, (19, 2))
    a, i = np.sin(q[:, 0]), np.cos(q[:, 1])
    e = np.sin(a) * np.cos(a) + q[:, 1]
    g = np.sin(e)
    expected = np.stack([np.cos(np.sin(a)), np.tan(e), np.sin(g), np.sin(i), g], axis=-1)
    program = Program(graph)
    np.testing.assert_allclose(program.o(q), expected, rtol=1e-12)
    np.testing.assert_allclose(program.o(q[7]), expected[7], rtol=1e-12)


def test_outputs_that_need_no_computing() -> None:
    """Inputs, numbers, zero, the same variable in several places, nothing at all, one number."""
    graph = graph_of(
        *("input q 0 q1", "input q 1 q2", "input parameter 0 m = 3", "input qd 0 qd1"),
        *("zero = 0", "third = 1/3", "s = q1*m"),
        "output o [2 4]: q2 zero third m s_1:s s_2:s q1 q2_2:q2",
        "output one []: s",
        "output none [0]:",
        "output nothing [2 0 3]:",
        "output number []: third",
        "output rate [1]: qd1",
    )
    verify(graph)
    program = Program(graph)
    q = np.arange(22.0).reshape(11, 2)
    for m, values in ((3.0, None), (5.0, {"m": 5})):
        result = program.o(q, values=values)
        assert result.shape == (11, 2, 4)
        for (q1, q2), found in zip(q, result, strict=True):
            assert found.tolist() == [[q2, 0, 1 / 3, m], [q1 * m, q1 * m, q1, q2]]
            same_bits(program.o(np.array([q1, q2]), values=values), found)
        assert (np.diff(program.one(q, values=values)) == 2 * m).all()
        assert program.one(q[3], values=values).shape == ()
    assert program.none(q).shape == (11, 0)
    assert program.nothing(q[0]).shape == (2, 0, 3)
    assert program.number(q).tolist() == [1 / 3] * 11
    assert program.rate(q, np.ones((11, 1))).tolist() == [[1.0]] * 11
    both = program.function("one", "one", "number")(q)
    assert [x.shape for x in both] == [(11,)] * 3
    same_bits(both[0], both[1])


def test_powers_and_long_sums() -> None:
    builder = Builder()
    x = [builder.input(f"q{i + 1}", "q", i) for i in range(9)]
    total = sum((x[i] * x[i + 1] * (-1) ** i / (i + 3) for i in range(8)), builder.number(-7))
    entries = {
        "power": x[0] ** 37 - 2 * x[1] ** 2 * x[2] ** 3,
        "minus": -x[0] - x[1] - 5,
        "opposite": -x[3],
        "sum": total,
    }
    builder.output("o", (4,), list(entries.items()))
    program = Program(builder.finish())
    q = np.random.default_rng(2).uniform(0.5, 1.5, (17, 9))
    terms = [q[:, i] * q[:, i + 1] * (-1) ** i / (i + 3) for i in range(8)]
    columns = [
        q[:, 0] ** 37 - 2 * q[:, 1] ** 2 * q[:, 2] ** 3,
        *(-q[:, 0] - q[:, 1] - 5, -q[:, 3], np.sum(terms, axis=0) - 7),
    ]
    np.testing.assert_allclose(program.o(q), np.stack(columns, axis=-1), rtol=1e-13)
    np.testing.assert_allclose(program.o(q[2]), np.stack(columns, axis=-1)[2], rtol=1e-13)


def test_a_call_may_occur_twice() -> None:
    """Text that people write, and drawn graphs, may repeat a definition."""
    lines = ["input q 0 q1", "a = sin(q1)", "b = sin(q1)", "c = cos(q1)", "d = cos(q1)"]
    program = Program(graph_of(*lines, "e = sin(b)", "f = sin(b)", "output o [6]: a b c d e f"))
    s, c = math.sin(0.3), math.cos(0.3)
    expected = [s, s, c, c, math.sin(s), math.sin(s)]
    assert program.o([0.3]) == pytest.approx(expected, rel=1e-14)
    assert program.o([[0.3]])[0] == pytest.approx(expected, rel=1e-14)


def test_calls_of_numbers_beside_parameters() -> None:
    """They depend on parameters as little as on states, also where no parameter is needed."""
    lines = ["input q 0 q1", "input parameter 0 m = 2", "five = 5", "s = sin(five)"]
    graph = graph_of(*lines, "a = s*q1", "b = s*m", "output a []: a", "output b []: b")
    program = Program(graph)
    expected = math.sin(5) * np.arange(3.0)
    np.testing.assert_allclose(program.a(np.arange(3.0)[:, None]), expected, rtol=1e-15)
    values = {"m": np.arange(3.0)}
    np.testing.assert_allclose(program.b([0.0], values=values), expected, rtol=1e-15)


@pytest.mark.parametrize(("precision", "digits"), [("float64", 400), ("float32", 50)])
def test_numbers_that_are_too_large(precision: str, digits: int) -> None:
    graph = graph_of("input q 0 q1", f"a = {10**digits}*q1", "output o []: a")
    with pytest.raises(RunError, match="too large"):
        Program(graph, precision=precision).o([1.0])


def compare(graph: Graph, values: Mapping[str, float]) -> None:
    """Compare all outputs of a graph, for one state and at the end of a batch of 11."""
    program = Program(graph)
    expected = evaluate(graph, values, FLOAT)
    sizes = evaluate(graph, {n: Size(abs(v)) for n, v in values.items()}, Sizes())
    free = {n: values[n] for n in program.parameters}
    state: dict[str, Any] = {}
    for item in graph.inputs.values():
        state.setdefault(item.group, np.zeros(4))[item.index] = values[item.name]
    outputs = list(graph.outputs)
    taken = program.signature(*outputs).arguments
    arguments = [
        state.get(a.group, np.zeros(4))[: a.length] for a in taken if a.group != "parameter"
    ]
    function = program.function(*outputs)
    several = {name: np.full(11, value) for name, value in free.items()}
    for results, place in (
        (function(*arguments, values=free), ()),
        (function(*[np.tile(x, (11, 1)) for x in arguments], values=free), 10),
        (function(*[np.tile(x, (11, 1)) for x in arguments], values=several), 9),
    ):
        found = results if isinstance(results, tuple) else (results,)
        for name, result in zip(outputs, found, strict=True):
            scale = np.array([size.value for size in sizes[name].flat]).reshape(sizes[name].shape)
            error = np.abs(result[place] - expected[name].astype(float))
            assert error.shape == scale.shape
            assert np.all(error <= 1e-12 * scale)


@pytest.mark.slow
@given(graphs(), st.data())
@examples(18)
def test_drawn_graphs(graph: Graph, data: st.DataObject) -> None:
    compare(graph, {item.name: data.draw(doubles) for item in graph.inputs.values()})


# --- chunks ---------------------------------------------------------------------------------


@pytest.mark.slow
@given(graphs(most_rows=20), st.integers(1, 8), st.data())
@examples(18)
def test_drawn_graphs_in_chunks(graph: Graph, size: int, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order, "CHUNK", size)
        compare(graph, {item.name: data.draw(doubles) for item in graph.inputs.values()})


@pytest.mark.parametrize("name", ["rackovic_2_1", "floating"])
def test_a_model_in_chunks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "CHUNK", 50)
    some = model(name)
    outputs = ["inverse_dynamics", "mass_matrix"]
    program = some.compile()
    assert program.kernel(*outputs)._text("batch").count("call void @batch.lanes.") > 3
    state = state_of(some, 8, 19)
    expected = some.evaluate(**state, outputs=outputs)
    arguments = arguments_of(program, outputs, state)
    function = program.function(*outputs)
    results, ones = function(*arguments), function(*[x[4] for x in arguments])
    for output, result, one in zip(outputs, results, ones, strict=True):
        close(result, expected[output])
        close(one, expected[output][4])


def test_parameters_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "CHUNK", 10)
    some = arm()
    program = some.compile()
    state = state_of(some, 9, 10)
    text = program.kernel("inverse_dynamics")._text("batch")
    assert text.count("call void @batch.lanes.fixed.") > 1
    for values in (None, {"m_1": 3.5}, {"m_1": np.linspace(1, 2, 10), "g": 9.0}):
        expected = some.evaluate(**state, values=values, outputs=["inverse_dynamics"])
        found = program.inverse_dynamics(state["q"], state["qd"], state["qdd"], values=values)
        close(found, expected["inverse_dynamics"])
