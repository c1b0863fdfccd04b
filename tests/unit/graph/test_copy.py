"""Graphs taken up again: rebuilt, with values put in, with other defaults, extended."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.errors import RunError
from chainform.graph import (
    EXACT,
    Builder,
    Graph,
    Scalar,
    builder_of,
    cost,
    definition_text,
    evaluate,
    evaluate_variables,
    graph_text,
    rebuild,
    set_defaults,
    substitute,
    verify,
)
from strategies import (
    EVERYWHERE,
    NUMBERS,
    Point,
    Program,
    examples,
    graph_of,
    graphs,
    numbers,
    points,
    programs,
)

AUTOMATIC = re.compile(r"zero_*|one_*|minus_one_*|constant_\d+_*|x_\d+_*")
"""Names that the builder gives by value or by row; in another graph they may go elsewhere."""


def keep(variable: int, builder: Builder) -> None:
    """Replace nothing."""


@given(programs(), points)
@examples(50)
def test_a_rebuilt_program_has_the_same_values(program: Program, point: Point) -> None:
    graph = graph_of(program)
    again = rebuild(graph, keep)
    verify(again)
    assert evaluate(again, point.values())["out"].tolist() == (
        evaluate(graph, point.values())["out"].tolist()
    )
    assert cost(again) == cost(graph)


@given(graphs(calls=("abs", "sign")), st.data())
@examples(60)
def test_a_rebuilt_graph_keeps_values_names_and_blocks(graph: Graph, data: st.DataObject) -> None:
    values = {given.name: data.draw(numbers) for given in graph.inputs.values()}
    again = rebuild(graph, keep)
    verify(again)
    assert list(again.outputs) == list(graph.outputs)
    assert list(again.quantities) == list(graph.quantities)
    before = evaluate_variables(graph, values, EXACT, range(len(graph)))
    after = evaluate_variables(again, values, EXACT, range(len(again)))
    for name, variable in graph.numbers.items():
        if not AUTOMATIC.fullmatch(name):
            assert after[again.numbers[name]] == before[variable]
    for name in (*graph.outputs, *graph.quantities):
        old, new = graph.block(name), again.block(name)
        assert (new.shape, new.labels) == (old.shape, old.labels)
        assert [after[v] for v in new.variables] == [before[v] for v in old.variables]
    assert {i.name: i for i in again.inputs.values()} == {i.name: i for i in graph.inputs.values()}


@given(programs(), points, st.sets(st.sampled_from(NUMBERS)))
@examples(60)
def test_substituted_is_evaluated_with_that_value(
    program: Program, point: Point, chosen: set[str]
) -> None:
    graph = graph_of(program)
    values = point.values()
    put_in = substitute(graph, {name: values[name] for name in chosen})
    verify(put_in)
    left = {name: value for name, value in values.items() if name not in chosen}
    assert evaluate(put_in, left)["out"].tolist() == evaluate(graph, values)["out"].tolist()
    assert not chosen & {given.name for given in put_in.inputs.values()}


@given(programs(), points)
@examples(30)
def test_names_keep_their_values(program: Program, point: Point) -> None:
    """A value put in may turn a call's argument round; its name must not change sign with it."""
    graph = graph_of(program)
    values = point.values()
    put_in = substitute(graph, {"a": Fraction(-1)})
    values["a"] = Fraction(-1)
    before = evaluate_variables(graph, values, EXACT, range(len(graph)))
    after = evaluate_variables(put_in, values, EXACT, range(len(put_in)))
    for name, variable in graph.numbers.items():
        if name in put_in.numbers and not AUTOMATIC.fullmatch(name):
            assert after[put_in.numbers[name]] == before[variable]


def test_neutral_elements_vanish() -> None:
    builder = Builder()
    x, y, q = (
        builder.input("x", "parameter", 0),
        builder.input("y", "parameter", 1),
        builder.input("q1", "q", 0),
    )
    a = builder.name("a", x * q + y)
    builder.output("o", (3,), [("o_1", a * x), ("o_2", builder.call("sin", x * q)), ("o_3", y * q)])
    graph = builder.finish()

    def outputs(**values: int) -> list[str]:
        again = substitute(graph, {name: Fraction(value) for name, value in values.items()})
        verify(again)
        return [
            again.names[v] if again.kind[v] < 4 else definition_text(again, v)
            for v in again.block("o").variables
        ]

    assert outputs(x=0) == ["zero", "zero", "y*q1"]
    assert outputs(x=1) == ["y + q1", "sin(q1)", "y*q1"]
    assert outputs(x=1, y=0) == ["q1", "sin(q1)", "zero"]
    assert outputs(y=1) == ["x*a", "sin(x_4)", "q1"]
    assert outputs(x=-1, y=0) == ["q1", "-sin_q1", "zero"]


def test_a_value_that_is_not_allowed_is_refused() -> None:
    builder = Builder()
    x = builder.input("x", "parameter", 0)
    builder.output("o", (1,), [("o_1", 1 / x)])
    with pytest.raises(RunError, match="always zero"):
        substitute(builder.finish(), {"x": Fraction(0)})


def test_a_variable_can_be_replaced_by_a_sum() -> None:
    builder = Builder()
    x, y = builder.input("x", "parameter", 0), builder.input("y", "parameter", 1)
    builder.output("o", (1,), [("o_1", 3 * x * y)])
    graph = builder.finish()

    def shifted(variable: int, builder: Builder) -> Scalar | None:
        is_x = graph.names[variable] == "x"
        return builder.input("x", "parameter", 0) + 1 if is_x else None

    again = rebuild(graph, shifted)
    verify(again)
    assert evaluate(again, {"x": Fraction(2), "y": Fraction(5)})["o"].tolist() == [45]


@pytest.mark.parametrize("change", [substitute, set_defaults])
@pytest.mark.parametrize("name", ["nothing", "out_1", "named"])
def test_unknown_names_are_refused(change: object, name: str) -> None:
    builder = Builder()
    x = builder.input("x", "parameter", 0)
    builder.name("named", 2 * x)
    builder.output("out", (1,), [("out_1", x * x)])
    assert callable(change)
    with pytest.raises(RunError, match=f"{name} is not an input"):
        change(builder.finish(), {name: Fraction(1)})


# --- defaults -------------------------------------------------------------------------------


def test_defaults_change_and_nothing_else() -> None:
    builder = Builder()
    x = builder.input("x", "parameter", 0, Fraction(1))
    y = builder.input("y", "parameter", 1)
    q = builder.input("q1", "q", 0)
    builder.output("o", (1,), [("o_1", x * y + q)])
    graph = builder.finish()
    changed = set_defaults(graph, {"y": Fraction(5, 2), "x": Fraction(3)})
    verify(changed)
    assert evaluate(changed, {"q1": Fraction(0)})["o"].tolist() == [Fraction(15, 2)]
    assert graph_text(changed) == graph_text(graph).replace("0 x = 1", "0 x = 3").replace(
        "1 y", "1 y = 2.5"
    )
    assert graph.inputs[0].default == 1
    with pytest.raises(RunError, match="q1 is not a parameter"):
        set_defaults(graph, {"q1": Fraction(0)})


# --- extension ------------------------------------------------------------------------------


@given(graphs())
@examples(50)
def test_a_builder_of_a_graph_holds_it_row_by_row(graph: Graph) -> None:
    again = builder_of(graph).finish()
    verify(again)
    assert graph_text(again) == graph_text(graph)
    for field in ("kind", "level", "call", "argument", "term_start", "factor", "power"):
        assert np.array_equal(getattr(again, field), getattr(graph, field))
    assert again.coefficients[: len(graph.coefficients)] == graph.coefficients


@given(graphs(calls=EVERYWHERE))
@examples(40)
def test_known_definitions_are_found_again(graph: Graph) -> None:
    """To define every row once more adds nothing."""
    builder = builder_of(graph)
    for variable in graph:
        if variable.call is not None:
            builder.define_call(None, variable.call.function, variable.call.argument)
        elif variable.index not in graph.inputs:
            builder.define(None, builder.definition(variable.index))
    assert len(builder.names) == len(graph)


def test_a_graph_can_be_extended() -> None:
    builder = Builder()
    x = builder.input("x", "parameter", 0)
    builder.output("o", (1,), [("o_1", x * x)])
    more = builder_of(builder.finish())
    o_1 = more.scalar(more.finish().numbers["o_1"])
    more.output("p", (2,), [("p_1", o_1 * more.input("x", "parameter", 0)), ("p_2", 4)])
    graph = more.finish()
    verify(graph)
    assert list(graph.outputs) == ["o", "p"]
    assert evaluate(graph, {"x": Fraction(3)})["p"].tolist() == [27, 4]
