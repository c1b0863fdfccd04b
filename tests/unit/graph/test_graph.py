"""Graphs seen from outside: rows as objects, cones, users, blocks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from chainform.errors import RunError
from chainform.graph import Block, Builder, Call, Factor, Graph, Kind, Term, Variable
from strategies import examples, graphs


@pytest.fixture
def graph() -> Graph:
    builder = Builder()
    x = builder.input("x", "parameter", 0, Fraction(2))
    q = builder.input("q1", "q", 0)
    unused = builder.name("unused", 5 * x * q)
    del unused
    s = builder.call("sin", q)
    builder.name("same", s)
    builder.output("o", (2,), [("o_1", 3 * x * s**2 - 1), ("o_2", 0)])
    builder.quantity("p", (), [("p_1", x + q)])
    return builder.finish()


def test_rows_are_seen_as_variables(graph: Graph) -> None:
    sine, o_1 = graph.numbers["sin_q1"], graph.numbers["o_1"]
    assert graph.variable(0) == Variable(0, "x", Kind.PARAMETER, 0)
    assert graph.variable(sine) == Variable(sine, "sin_q1", Kind.CALL, 1, call=Call("sin", 1))
    assert graph.variable(o_1) == Variable(
        index=o_1,
        name="o_1",
        kind=Kind.COMPUTED,
        level=2,
        terms=(
            Term(Fraction(-1), ()),
            Term(Fraction(3), (Factor(0, 1), Factor(sine, 2))),
        ),
    )
    assert [variable.name for variable in graph] == list(graph.names)
    assert graph.variable(graph.numbers["zero"]).terms == ()


def test_names_and_other_names(graph: Graph) -> None:
    assert graph.numbers["same"] == graph.numbers["sin_q1"]
    assert graph.numbers["o_2"] == graph.numbers["zero"]
    assert graph.call_variables == {("sin", 1): graph.numbers["sin_q1"]}
    assert graph.number_value == {graph.numbers["zero"]: 0}


def test_blocks_are_found_by_name(graph: Graph) -> None:
    assert graph.block("o").labels == ("o_1", "o_2")
    assert graph.block("p") == Block("p", (), (graph.numbers["p_1"],), ("p_1",))
    with pytest.raises(KeyError):
        graph.block("nothing")


def test_inputs_are_found_by_name(graph: Graph) -> None:
    assert graph.input_variable("q1") == 1
    for name in ("sin_q1", "nothing"):
        with pytest.raises(RunError, match=name) as refusal:
            graph.input_variable(name)
        assert refusal.value.remedy == "choose one of x, q1"
    with pytest.raises(RunError, match="no inputs"):
        Builder().finish().input_variable("x")


def test_output_variables_are_distinct_and_ascending(graph: Graph) -> None:
    assert graph.output_variables().tolist() == sorted(
        {graph.numbers["o_1"], graph.numbers["zero"]}
    )
    assert graph.output_variables(["p"]).tolist() == [graph.numbers["p_1"]]
    assert Builder().finish().output_variables().tolist() == []


def test_the_cone_holds_what_is_needed(graph: Graph) -> None:
    needed = graph.cone([graph.numbers["o_1"]])
    assert [graph.names[v] for v in np.flatnonzero(needed)] == ["x", "q1", "sin_q1", "o_1"]
    assert not graph.cone([]).any()


@given(graphs())
@examples(30)
def test_cones_and_users_agree_with_the_definitions(graph: Graph) -> None:
    used_by: dict[int, list[int]] = {v: [] for v in range(len(graph))}
    uses: dict[int, set[int]] = {}
    for variable in graph:
        factors = {f.variable for term in variable.terms for f in term.factors}
        uses[variable.index] = factors | ({variable.call.argument} if variable.call else set())
        for used in uses[variable.index]:
            used_by[used].append(variable.index)
    offsets, rows = graph.users()
    for v in range(len(graph)):
        users = rows[offsets[v] : offsets[v + 1]].tolist()
        assert sorted(set(users)) == used_by[v]
        cone = {v}
        for w in range(v, -1, -1):
            if w in cone:
                cone |= uses[w]
        assert set(np.flatnonzero(graph.cone([v])).tolist()) == cone


def test_a_graph_shows_its_size(graph: Graph) -> None:
    assert repr(graph) == "Graph(7 variables, 5 terms, 6 factors, outputs: o)"
    assert len(graph) == 7
    assert "outputs: none" in repr(Builder().finish())
