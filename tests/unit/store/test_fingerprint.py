"""Values in a finite field: equal for formulas that mean the same, and for no others."""

from __future__ import annotations

import pytest

from chainform.graph import parse_graph
from chainform.store.difference import fingerprints

INPUTS = """chainform graph 1
input q 0 q1
input q 1 q2
input parameter 0 m = 0.5
"""

SAME = [
    ("a = q1^2 - q2^2\n", "s = q1 + q2\nd = q1 - q2\na = s*d\n"),
    ("s = sin(q1)\na = s^2\n", "c = cos(q1)\na = 1 - c^2\n"),
    (
        "x = q1 + q2\na = sin(x)\n",
        "s = sin(q1)\nc = cos(q1)\nr = sin(q2)\nd = cos(q2)\na = s*d + c*r\n",
    ),
    ("x = -q1\na = sin(x)\n", "s = sin(q1)\na = -s\n"),
    ("h = 0.5*q1\nc = cos(h)\na = 2*c^2 - 1\n", "a = cos(q1)\n"),
    ("x = 3*q1\na = cos(x)\n", "c = cos(q1)\na = 4*c^3 - 3*c\n"),
    ("t = tan(q1)\nc = cos(q1)\na = t*c\n", "a = sin(q1)\n"),
    ("r = reciprocal(m)\na = m*r*q1\n", "a = q1\n"),
    ("x = q1 + 0.1\na = sin(x)\n", "y = 0.1 + q1\nx = y\na = sin(x)\n"),
    ("x = 1/2305843009213693951*q1\na = 2305843009213693951*x\n", "a = q1\n"),
    (
        "x = q1*q2\ny = x + q1\na = sin(y)\n",
        "x = q1*q2\ns = sin(x)\nc = cos(x)\nr = sin(q1)\nd = cos(q1)\na = s*d + c*r\n",
    ),
    ("s = sqrt(q1)\na = s\n", "y = q1 + q2\nx = y - q2\na = sqrt(x)\n"),
]

OTHER = [
    ("a = q1\n", "a = q2\n"),
    ("a = sin(q1)\n", "a = cos(q1)\n"),
    ("a = 0.35*q1\n", "a = 0.3500000000000000001*q1\n"),
    ("x = q1 + 0.1\na = sin(x)\n", "x = q1 + 0.2\na = sin(x)\n"),
    ("a = m*q1\n", "a = 0.5*q1\n"),
    ("x = q1*q2\na = sin(x)\n", "x = q1 + q2\na = sin(x)\n"),
    ("a = 1/2305843009213693951*q1\n", "a = 2/2305843009213693951*q1\n"),
    ("a = sqrt(q1)\n", "a = abs(q1)\n"),
]


def is_equal(one: str, other: str, inputs: tuple[str, str] = (INPUTS, INPUTS)) -> bool:
    old, new = (
        parse_graph(f"{given}{body}output out []: a\n")
        for given, body in zip(inputs, (one, other), strict=True)
    )
    v, w = old.numbers["a"], new.numbers["a"]
    before, after = fingerprints(old, new, [v], [w])
    return before[v] == after[w]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_by_other_formulas(one: str, other: str) -> None:
    assert is_equal(one, other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other_values(one: str, other: str) -> None:
    assert not is_equal(one, other)


def test_a_parameter_that_one_side_leaves_free_is_its_number() -> None:
    inputs = INPUTS, INPUTS.replace("input parameter 0 m = 0.5\n", "")
    assert is_equal("a = m*q1\n", "a = 0.5*q1\n", inputs)
    assert not is_equal("a = m*q1\n", "a = 0.25*q1\n", inputs)
    assert is_equal("x = q1 + m\na = sin(x)\n", "x = q1 + 0.5\na = sin(x)\n", inputs)


def test_nothing_is_asked_for() -> None:
    graph = parse_graph(f"{INPUTS}output out []: q1\n")
    assert fingerprints(graph, graph, [], []) == ({}, {})
