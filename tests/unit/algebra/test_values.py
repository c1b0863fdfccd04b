"""Values of a system: the laws of sines hold for every angle, and no number is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from chainform.algebra import Prices, SumSystem, system_of
from chainform.algebra.finite_field import LONG, SHORT
from chainform.algebra.resubstitution import Values
from chainform.graph import parse_graph

CHEAP = Prices(call=2.0)
"""Sines so cheap that differences of angles are offered."""

INPUTS = """chainform graph 1
input q 0 q
input qd 0 u
input qd 1 v
input qd 2 w
"""

ANGLES = {
    "fractions": "a = 1/2*q\nb = 1/3*q + 1/7\n",
    "products": "a = u*v\nb = q - 2*u*v\n",
    "sines": "e = sin(q)\na = e*u\nb = q + e\n",
}

SINES = """sa = sin(a)
ca = cos(a)
sb = sin(b)
cb = cos(b)
x = sa*w
y = ca*w
z = sb*w
t = cb*w
output o [4]: x y z t
"""


def system(text: str) -> SumSystem:
    return system_of(parse_graph(INPUTS + text), CHEAP)


@pytest.mark.parametrize("prime", [SHORT, LONG])
@pytest.mark.parametrize("angles", ANGLES)
def test_differences_follow_the_addition_formulas(angles: str, prime: int) -> None:
    found = system(ANGLES[angles] + SINES)
    values = Values(found, prime, 1)
    sine, cosine = (
        {name: values.of(found.to_sums[found.graph.numbers[f"{kind}{name}"]]) for name in "ab"}
        for kind in "sc"
    )
    assert all((sine[n] ** 2 + cosine[n] ** 2) % prime == 1 for n in "ab")
    expected = {
        "cos": cosine["a"] * cosine["b"] + sine["a"] * sine["b"],
        "sin": cosine["a"] * sine["b"] - sine["a"] * cosine["b"],
    }
    between = {
        new: d
        for new, d in found.differences.items()
        if {d.minuend, d.subtrahend} == {found.graph.numbers["a"], found.graph.numbers["b"]}
    }
    assert len(between) == 2
    for new, difference in between.items():
        turned = difference.minuend == found.graph.numbers["b"] or difference.function == "cos"
        sign = 1 if turned else -1
        assert values.of(new) == sign * expected[difference.function] % prime


def test_a_tangent_is_a_sine_over_a_cosine() -> None:
    found = system(
        "a = u*v\nt = tan(a)\ns = sin(a)\nc = cos(a)\nx = t*c*w\ny = s*w\noutput o [2]: x y\n"
    )
    values = Values(found, SHORT, 1)
    x, y = (values.of(found.to_sums[found.graph.numbers[name]]) for name in "xy")
    assert x == y


@pytest.mark.parametrize("prime", [SHORT, LONG])
def test_a_coefficient_may_be_any_number(prime: int) -> None:
    found = system(f"x = 1/{prime}*u + v\ny = {prime}*u + v\noutput o [2]: x y\n")
    values = Values(found, prime, 1)
    x, y, v = (values.of(found.to_sums[found.graph.numbers[name]]) for name in "xyv")
    assert len({x, y, v}) == 3
    numbers = found.sums.numbers
    assert values.number(numbers.of(Fraction(3, prime))) != 0
