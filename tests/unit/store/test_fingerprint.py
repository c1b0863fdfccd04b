"""Values in a finite field: equal for formulas that mean the same, and for no others."""

from __future__ import annotations

from fractions import Fraction

import pytest

from chainform.graph import parse_graph
from chainform.store.fingerprint import Fingerprints

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
    ("s = sqrt(q1)\na = s\n", "y = q1 + q2\nx = y - q2\na = sqrt(x)\n"),
]

OTHER = [
    ("a = q1\n", "a = q2\n"),
    ("a = sin(q1)\n", "a = cos(q1)\n"),
    ("a = 0.35*q1\n", "a = 0.3500000000000000001*q1\n"),
    ("x = q1 + 0.1\na = sin(x)\n", "x = q1 + 0.2\na = sin(x)\n"),
    ("a = m*q1\n", "a = 0.5*q1\n"),
    ("x = q1*q2\na = sin(x)\n", "x = q1 + q2\na = sin(x)\n"),
    ("a = sqrt(q1)\n", "a = abs(q1)\n"),
]


def value(body: str, known: dict[str, Fraction] | None = None) -> int:
    graph = parse_graph(f"{INPUTS}{body}output out []: a\n")
    return Fingerprints(graph, known or {}).of([graph.numbers["a"]])[0]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_by_other_formulas(one: str, other: str) -> None:
    assert value(one) == value(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other_values(one: str, other: str) -> None:
    assert value(one) != value(other)


def test_a_known_parameter_is_its_number() -> None:
    assert value("a = m*q1\n", {"m": Fraction(1, 2)}) == value("a = 0.5*q1\n")
    shifted = value("x = q1 + m\na = sin(x)\n", {"m": Fraction(1, 2)})
    assert shifted == value("x = q1 + 0.5\na = sin(x)\n")


def test_nothing_is_asked_for() -> None:
    assert Fingerprints(parse_graph(f"{INPUTS}output out []: q1\n"), {}).of([]) == []
