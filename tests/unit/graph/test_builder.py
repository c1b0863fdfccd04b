"""How a graph grows: names, sharing, constants, calls, blocks."""

from __future__ import annotations

from fractions import Fraction

import pytest

from chainform.errors import RunError
from chainform.graph import (
    GROUPS,
    Builder,
    GraphError,
    Kind,
    Scalar,
    definition_text,
    graph_text,
    verify,
)


@pytest.fixture
def builder() -> Builder:
    return Builder()


@pytest.fixture
def x(builder: Builder) -> Scalar:
    return builder.input("x", "parameter", 0)


@pytest.fixture
def y(builder: Builder) -> Scalar:
    return builder.input("y", "parameter", 1)


def definitions(builder: Builder) -> dict[str, str]:
    """Return every computed variable with its definition."""
    graph = builder.finish()
    verify(graph)
    rows = (v for v in range(len(graph)) if v not in graph.inputs)
    return {graph.names[v]: definition_text(graph, v) for v in rows}


# --- names and sharing ----------------------------------------------------------------------


def test_a_name_makes_one_variable(builder: Builder, x: Scalar, y: Scalar) -> None:
    a = builder.name("a", x * y + 1)
    builder.name("b", a * a + a)
    assert definitions(builder) == {"a": "1 + x*y", "b": "a + a^2"}


def test_an_equal_definition_is_an_alias(builder: Builder, x: Scalar, y: Scalar) -> None:
    first = builder.name("a", x * y + x)
    second = builder.name("b", x + y * x)
    assert first.terms == second.terms
    assert definitions(builder) == {"a": "x + x*y"}
    assert builder.finish().numbers["b"] == builder.finish().numbers["a"]


def test_verbatim_definitions_stay_as_written() -> None:
    apart = Builder(verbatim=True)
    x = apart.input("x", "parameter", 0)
    apart.name("a", 2 * x)
    apart.name("b", 2 * x)
    apart.name("c", 2)
    apart.name("d", 2)
    apart.call("sin", x, "e")
    apart.call("sin", x, "f")
    assert definitions(apart) == {
        "a": "2*x",
        "b": "2*x",
        "c": "2",
        "d": "2",
        "e": "sin(x)",
        "f": "sin(x)",
    }


def test_without_sharing_numbers_and_opposites_are_one_row() -> None:
    apart = Builder(share=False)
    x = apart.input("x", "parameter", 0)
    for name, value in (("a", 2 * x), ("b", 2 * x), ("c", -x), ("d", -x), ("e", 0 * x)):
        apart.name(name, value)
    apart.quantity("p", (2,), [("f", apart.number(0)), ("g", -x)])
    apart.output("o", (3,), [("h", 0), ("i", -x), ("j", 2 * x)])
    assert definitions(apart) == {"a": "2*x", "b": "2*x", "c": "-x", "zero": "0", "j": "2*x"}
    assert set(apart.finish().aliases) == {*"defghi"}


def test_verbatim_an_entry_is_defined_once() -> None:
    apart = Builder(verbatim=True)
    x = apart.input("x", "parameter", 0)
    apart.output("o", (2,), [("a", -x), ("b", 5)])
    apart.quantity("p", (1,), [("c", 7 * x)])
    assert definitions(apart) == {"a": "-x", "b": "5", "c": "7*x"}


def test_a_name_of_a_variable_or_its_opposite_is_free(builder: Builder, x: Scalar) -> None:
    assert builder.name("same", x) is x
    assert builder.name("opposite", -x).terms == (-x).terms
    graph = builder.finish()
    assert graph.aliases == {"same": 0}
    assert definitions(builder) == {"opposite": "-x"}
    assert graph.numbers["opposite"] == 1


def test_a_name_in_use_is_made_different(builder: Builder, x: Scalar, y: Scalar) -> None:
    builder.name("a", x * y)
    builder.name("a", x + y)
    builder.name("x", x * x)
    assert definitions(builder) == {"a": "x*y", "a_": "x + y", "x_": "x^2"}


def test_a_definition_takes_its_name_from_an_alias(builder: Builder, x: Scalar) -> None:
    builder.name("a", x)
    builder.name("a", 3 * x)
    graph = builder.finish()
    verify(graph)
    assert graph.aliases == {}
    assert graph.numbers["a"] == 1


def test_unnamed_sums_are_named_by_their_row(builder: Builder, x: Scalar, y: Scalar) -> None:
    builder.name("a", (x + y) * x)
    assert definitions(builder) == {"x_2": "x + y", "a": "x*x_2"}


# --- inputs ---------------------------------------------------------------------------------


def test_an_input_is_declared_once(builder: Builder, x: Scalar) -> None:
    again = builder.input("x", "parameter", 0, Fraction(3))
    assert again.terms == x.terms
    assert len(builder.finish().inputs) == 1


@pytest.mark.parametrize(("group", "index"), [("q", 0), ("parameter", 5)])
def test_an_input_is_not_declared_in_two_ways(
    builder: Builder, x: Scalar, group: str, index: int
) -> None:
    with pytest.raises(GraphError, match="x is declared twice"):
        builder.input("x", group, index)


def test_two_inputs_cannot_have_one_index(builder: Builder, x: Scalar) -> None:
    with pytest.raises(GraphError, match=r"x and m are both parameter\[0\]"):
        builder.input("m", "parameter", 0)
    assert builder.input("q1", "q", 0) != x


def test_parameters_are_numbered_as_they_come(builder: Builder) -> None:
    builder.input("far", "parameter", 4)
    names = ["a", "b", "a", "far"]
    for name in names:
        builder.parameter(name, Fraction(1, 2))
    given = {item.name: (item.index, item.default) for item in builder.inputs.values()}
    half = Fraction(1, 2)
    assert given == {"far": (4, None), "a": (5, half), "b": (6, half)}


def test_an_input_takes_its_name_from_a_computed_variable(builder: Builder, x: Scalar) -> None:
    computed = builder.name("m_1", 3 * x)
    given = builder.input("m_1", "parameter", 1)
    builder.name("sum", computed + given)
    assert definitions(builder) == {"m_1_": "3*x", "sum": "m_1_ + m_1"}
    assert builder.finish().numbers["m_1"] == 2


def test_an_input_takes_its_name_from_an_alias(builder: Builder, x: Scalar) -> None:
    builder.name("m_1", x)
    builder.input("m_1", "parameter", 1)
    graph = builder.finish()
    verify(graph)
    assert graph.numbers["m_1"] == 1


@pytest.mark.parametrize(("group", "kind"), GROUPS.items())
def test_the_group_gives_the_kind(builder: Builder, group: str, kind: Kind) -> None:
    builder.input("i", group, 0)
    assert builder.finish().variable(0).kind == kind
    assert kind in (Kind.PARAMETER, Kind.COORDINATE, Kind.FORCE)


# --- constants ------------------------------------------------------------------------------


def test_constants_are_named_by_their_value(builder: Builder, x: Scalar) -> None:
    values = [("a", 0), ("b", 1), ("c", -1), ("d", Fraction(5, 2)), ("e", x - x), ("f", 0)]
    builder.output("o", (6,), values)
    graph = builder.finish()
    assert definitions(builder) == {"zero": "0", "one": "1", "minus_one": "-1", "constant_4": "2.5"}
    assert graph.aliases == {"a": 1, "b": 2, "c": 3, "d": 4, "e": 1, "f": 1}
    assert graph.outputs["o"].variables == (1, 2, 3, 4, 1, 1)
    assert graph.number_value == {1: 0, 2: 1, 3: -1, 4: Fraction(5, 2)}


def test_a_named_number_stays_a_number(builder: Builder, x: Scalar) -> None:
    three = builder.name("three", 3)
    assert three.number == 3
    builder.name("a", three * x + three)
    assert definitions(builder)["a"] == "3 + 3*x"


def test_a_constant_variable_is_its_number_again(builder: Builder) -> None:
    for value in (0, 1, Fraction(-7, 3)):
        assert builder.scalar(builder.variable_of(value)).number == value


# --- calls ----------------------------------------------------------------------------------


def test_a_call_is_made_once(builder: Builder, x: Scalar, y: Scalar) -> None:
    first = builder.call("sin", x + y, "s")
    second = builder.call("sin", y + x, "t")
    assert first.terms == second.terms
    assert definitions(builder) == {"x_2": "x + y", "s": "sin(x_2)"}
    assert builder.finish().numbers["t"] == 3
    assert builder.finish().call_variables == {("sin", 2): 3}


@pytest.mark.parametrize("function", ["sin", "tan", "asin", "atan", "reciprocal", "sign"])
def test_a_sign_comes_out_of_an_odd_function(builder: Builder, x: Scalar, function: str) -> None:
    plain, opposite = builder.call(function, x), builder.call(function, -x)
    assert opposite.terms == (-plain).terms
    assert definitions(builder) == {f"{function}_x": f"{function}(x)"}


@pytest.mark.parametrize("function", ["cos", "abs"])
def test_a_sign_vanishes_in_an_even_function(builder: Builder, x: Scalar, function: str) -> None:
    assert builder.call(function, -2 * x).terms == builder.call(function, 2 * x).terms


@pytest.mark.parametrize("function", ["acos", "exp", "sqrt", "log"])
def test_a_sign_stays_in_other_functions(builder: Builder, x: Scalar, function: str) -> None:
    assert builder.call(function, -x).terms != builder.call(function, x).terms


def test_the_name_of_a_call_keeps_the_sign(builder: Builder, x: Scalar) -> None:
    value = builder.call("sin", -x, "s")
    assert definitions(builder) == {"sin_x": "sin(x)", "s": "-sin_x"}
    assert value.terms == {(1,): -1}


def test_the_name_of_an_exact_call_is_an_alias(builder: Builder, x: Scalar) -> None:
    assert builder.call("cos", x - x, "c").number == 1
    assert definitions(builder) == {"one": "1"}
    assert builder.finish().numbers["c"] == 1


def test_a_sum_of_angles_with_a_negative_first_term_is_turned_round(
    builder: Builder, x: Scalar, y: Scalar
) -> None:
    assert builder.call("cos", y - x).terms == builder.call("cos", x - y).terms
    assert definitions(builder)["x_2"] == "x - y"


@pytest.mark.parametrize("function", ["sinh", ""])
def test_an_unknown_function_is_refused(builder: Builder, x: Scalar, function: str) -> None:
    with pytest.raises(GraphError, match="not a function"):
        builder.call(function, x)


@pytest.mark.parametrize(("function", "value"), [("reciprocal", 0), ("sqrt", -4)])
def test_a_call_without_a_value_is_refused(builder: Builder, function: str, value: int) -> None:
    with pytest.raises(RunError):
        builder.call(function, value)


def test_a_call_of_a_number_that_is_not_rational_stays(builder: Builder) -> None:
    builder.name("a", builder.call("sin", -3))
    assert definitions(builder) == {
        "constant_0": "3",
        "sin_constant_0": "sin(constant_0)",
        "a": "-sin_constant_0",
    }


# --- blocks ---------------------------------------------------------------------------------


def test_blocks_keep_order_shape_and_labels(builder: Builder, x: Scalar, y: Scalar) -> None:
    entries = [("A_1_1", x), ("A_1_2", x * y), ("A_2_1", y * x), ("A_2_2", 0)]
    builder.output("A", (2, 2), entries)
    scalars = builder.quantity("b", (2,), [("b_1", -x), ("b_2", x + y)])
    graph = builder.finish()
    verify(graph)
    block = graph.block("A")
    assert (block.shape, block.labels) == ((2, 2), ("A_1_1", "A_1_2", "A_2_1", "A_2_2"))
    assert [graph.names[v] for v in block.variables] == ["x", "A_1_2", "A_1_2", "zero"]
    assert [graph.names[v] for v in graph.block("b").variables] == ["b_1", "b_2"]
    assert scalars[0].terms == (-x).terms
    assert scalars[1].is_signed_variable


def test_finish_takes_other_outputs(builder: Builder, x: Scalar) -> None:
    builder.output("o", (1,), [("o_1", x)])
    block = builder.block("p", (1,), [("p_1", 2 * x)])
    graph = builder.finish({"p": block})
    assert list(graph.outputs) == ["p"]


def test_a_graph_is_not_changed_by_what_is_built_later(builder: Builder, x: Scalar) -> None:
    builder.output("o", (1,), [("o_1", 2 * x)])
    graph = builder.finish()
    before = graph_text(graph)
    builder.output("p", (1,), [("p_1", 3 * x)])
    builder.name("alias", x)
    assert graph_text(graph) == before
