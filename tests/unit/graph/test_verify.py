"""The checker accepts what is built, and names what is broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from chainform.graph import Block, Builder, Graph, GraphError, Input, Kind, verify
from strategies import examples, graphs


@pytest.fixture
def graph() -> Graph:
    """Return a graph with a row of each kind; the comment gives its number."""
    builder = Builder()
    m = builder.input("m", "parameter", 0, Fraction(2))  # 0
    q = builder.input("q1", "q", 0)  # 1
    f = builder.input("f", "sigma", 0)  # 2
    s = builder.call("sin", q, "s")  # 3
    a = builder.name("a", 3 * m * s**2 - q)  # 4
    b = builder.name("b", a * f + a * m + 1)  # 5
    builder.output("o", (2,), [("o_1", b), ("five", 5)])  # 6: constant_6
    builder.quantity("p", (), [("p_1", 0)])  # 7: zero
    return builder.finish()


@given(graphs())
@examples(80)
def test_a_drawn_graph_is_accepted(graph: Graph) -> None:
    verify(graph)


def test_the_sound_graph_is_accepted(graph: Graph) -> None:
    verify(graph)
    verify(Builder().finish())


def put(graph: Graph, field: str, place: int, value: int) -> Graph:
    """Return the graph with one number of one array changed."""
    array = getattr(graph, field).copy()
    array[place] = value
    return replace(graph, **{field: array})


def factor_place(graph: Graph, variable: int, term: int = 0) -> int:
    """Return where the factors of a term begin."""
    return int(graph.factor_start[graph.term_start[variable] + term])


def with_name(graph: Graph, variable: int, name: str) -> Graph:
    names = list(graph.names)
    names[variable] = name
    return replace(graph, names=tuple(names))


def with_input(graph: Graph, variable: int, given: Input | None) -> Graph:
    inputs = dict(graph.inputs)
    if given is None:
        del inputs[variable]
    else:
        inputs[variable] = given
    return replace(graph, inputs=inputs)


def with_block(graph: Graph, **changes: Any) -> Graph:
    block = replace(graph.outputs["o"], **changes)
    return replace(graph, outputs={"o": block})


BROKEN: dict[str, tuple[Callable[[Graph], Graph], str]] = {
    # rule: (how it is broken, what the message says)
    "names are distinct": (lambda g: with_name(g, 5, "a"), "two variables have the name a"),
    "a name has no space": (lambda g: with_name(g, 5, "a b"), "'a b' is not a name"),
    "a name is not empty": (lambda g: with_name(g, 5, ""), "'' is not a name"),
    "a name begins with a letter": (lambda g: with_name(g, 5, "5b"), "'5b' is not a name"),
    "an alias is not a name": (
        lambda g: replace(g, aliases={"a": 1}),
        "a names one variable and is an alias of another",
    ),
    "an alias has a variable": (
        lambda g: replace(g, aliases={"other": 8}),
        "other is an alias of a variable that does not exist",
    ),
    "an alias is well named": (lambda g: replace(g, aliases={"?": 1}), r"'\?' is not a name"),
    "an input is declared": (lambda g: with_input(g, 1, None), "variable q1 .* declared"),
    "what is declared is an input": (
        lambda g: with_input(g, 5, Input("b", "q", 1)),
        "variable b .* group gives its kind",
    ),
    "an input exists": (
        lambda g: with_input(g, 9, Input("x", "q", 1)),
        "input x is a variable that does not exist",
    ),
    "an input has its own name": (
        lambda g: with_input(g, 1, Input("q2", "q", 0)),
        "variable q1 is declared as the input q2",
    ),
    "an input has its group's kind": (
        lambda g: with_input(g, 1, Input("q1", "tau", 0)),
        "variable q1 .* group gives its kind",
    ),
    "an input has a known group": (
        lambda g: with_input(g, 1, Input("q1", "speed", 0)),
        "variable q1 .* group gives its kind",
    ),
    "an input has a place": (lambda g: with_input(g, 1, Input("q1", "q", -1)), "variable q1"),
    "an input has no definition": (
        lambda g: with_input(put(g, "kind", 5, Kind.COORDINATE), 5, Input("b", "q", 1)),
        "variable b .* an input has no definition",
    ),
    "a kind is known": (lambda g: put(g, "kind", 5, 6), "variable b .* kind is known"),
    "a constant has no factors": (
        lambda g: put(g, "kind", 4, Kind.CONSTANT),
        "variable a .* a constant is one number",
    ),
    "a computed variable has a factor": (
        lambda g: put(g, "kind", 6, Kind.COMPUTED),
        "variable constant_6 .* a computed variable has a factor",
    ),
    "a zero is not computed": (lambda g: put(g, "kind", 7, Kind.COMPUTED), "variable zero"),
    "a call has a function": (lambda g: put(g, "call", 3, 0), "variable s .* has a function"),
    "only a call has a function": (lambda g: put(g, "call", 5, 1), "variable b .* has a function"),
    "a call has an argument": (lambda g: put(g, "argument", 3, -1), "variable s .* an argument"),
    "only a call has an argument": (lambda g: put(g, "argument", 5, 1), "variable b .* argument"),
    "a call has no terms": (
        lambda g: put(put(put(g, "kind", 5, Kind.CALL), "call", 5, 1), "argument", 5, 1),
        "variable b .* a call has no terms",
    ),
    "a function is known": (lambda g: put(g, "call", 3, 13), "variable s .* function is known"),
    "an argument comes before": (
        lambda g: put(g, "argument", 3, 3),
        "variable s .* argument comes before",
    ),
    "factors exist": (
        lambda g: put(g, "factor", factor_place(g, 4), -2),
        "variable a .* factors exist",
    ),
    "factors come before": (
        lambda g: put(g, "factor", factor_place(g, 4, 1) - 1, 4),
        "variable a .* factors come before it",
    ),
    "powers are positive": (
        lambda g: put(g, "power", factor_place(g, 4), 0),
        "variable a .* powers are positive",
    ),
    "powers are bounded": (
        lambda g: put(g, "power", factor_place(g, 4), 1001),
        "variable a .* powers are at most 1000",
    ),
    "factors ascend": (
        lambda g: put(g, "factor", factor_place(g, 4), 3),
        "variable a .* factors ascend",
    ),
    "coefficients exist": (
        lambda g: put(g, "coefficient", int(g.term_start[4]), 99),
        "variable a .* coefficients exist",
    ),
    "coefficients are not negative places": (
        lambda g: put(g, "coefficient", int(g.term_start[4]), -1),
        "variable a .* coefficients exist",
    ),
    "coefficients are not zero": (
        lambda g: replace(
            g,
            coefficients=tuple(
                Fraction(0) if place == g.coefficient[g.term_start[4]] else k
                for place, k in enumerate(g.coefficients)
            ),
        ),
        "variable a .* coefficients are not zero",
    ),
    "terms differ": (
        lambda g: put(g, "factor", factor_place(g, 5, 2), 0),
        "variable b .* same factors",
    ),
    "a level is one above": (lambda g: put(g, "level", 4, 5), "variable a .* level"),
    "a level of a call is one above": (lambda g: put(g, "level", 3, 0), "variable s .* level"),
    "an input has level zero": (lambda g: put(g, "level", 0, 1), "variable m .* level"),
    "rows fit together": (lambda g: replace(g, level=g.level[:-1]), "variables differ in length"),
    "factors fit together": (lambda g: replace(g, power=g.power[:-1]), "factors differ in length"),
    "terms follow one another": (lambda g: put(g, "term_start", 4, 3), "without a gap"),
    "factors follow one another": (lambda g: put(g, "factor_start", -1, 0), "without a gap"),
    "a block has the entries of its shape": (lambda g: with_block(g, shape=(3,)), "o does not"),
    "a block has no negative length": (lambda g: with_block(g, shape=(-1, -2)), "o does not"),
    "a block has a label for each entry": (lambda g: with_block(g, labels=("o_1",)), "o does not"),
    "a huge shape is not nothing": (
        lambda g: with_block(g, shape=(2**32, 2**32), variables=(), labels=()),
        "o does not",
    ),
    "a block has variables": (lambda g: with_block(g, variables=(5, 8)), "o names a variable"),
    "a block has its own name": (lambda g: with_block(g, name="n"), "n is listed under the name o"),
    "labels are well named": (lambda g: with_block(g, labels=("o_1", "o 2")), "'o 2' is not"),
    "quantities are checked, too": (
        lambda g: replace(g, quantities={"p": Block("p", (), (8,), ("p_1",))}),
        "p names a variable",
    ),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_each_rule(graph: Graph, rule: str) -> None:
    break_it, message = BROKEN[rule]
    with pytest.raises(GraphError, match=message):
        verify(break_it(graph))


@given(graphs())
@examples(40)
def test_only_graph_errors_come_out_of_random_damage(graph: Graph) -> None:
    """Whatever number is put where, the checker answers; it does not stumble."""
    for field in ("kind", "level", "call", "argument", "coefficient", "factor", "power"):
        array = getattr(graph, field)
        for place in range(min(len(array), 6)):
            for value in (0, 1, 2, 5, np.iinfo(array.dtype).max, np.iinfo(array.dtype).min):
                try:
                    verify(put(graph, field, place, value))
                except GraphError:
                    continue


def test_two_inputs_at_one_index_are_refused() -> None:
    builder = Builder()
    total = builder.parameter("m") + builder.parameter("e")
    builder.output("o", (1,), [("o_1", total)])
    graph = builder.finish()
    verify(graph)
    with pytest.raises(GraphError, match=r"m and e are both parameter\[0\]"):
        verify(with_input(graph, 1, Input("e", "parameter", 0)))
