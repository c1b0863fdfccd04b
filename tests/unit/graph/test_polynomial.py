"""Packed polynomials against plain arithmetic."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.passes.expand import Polynomial, Ring, TooLongError
from strategies import examples

LETTERS = 4
values = st.fractions(min_value=-3, max_value=3, max_denominator=5)
sums = st.dictionaries(
    st.lists(st.integers(0, LETTERS - 1), max_size=4).map(lambda m: tuple(sorted(m))),
    values.filter(bool),
    max_size=5,
)


def polynomial(ring: Ring, terms: dict[tuple[int, ...], Fraction]) -> Polynomial:
    parts: list[Polynomial] = []
    for monomial, k in terms.items():
        part = ring.number(k)
        for letter in monomial:
            part = ring.product(part, ring.letter(letter))
        parts.append(part)
    return ring.total(parts)


def value(terms: dict[tuple[int, ...], Fraction], point: list[Fraction]) -> Fraction:
    total = Fraction(0)
    for monomial, k in terms.items():
        for letter in monomial:
            k *= point[letter]
        total += k
    return total


@examples(80)
@given(sums, sums, st.lists(values, min_size=LETTERS, max_size=LETTERS))
def test_products_and_sums(
    a: dict[tuple[int, ...], Fraction], b: dict[tuple[int, ...], Fraction], point: list[Fraction]
) -> None:
    ring = Ring(width=5)
    p, q = polynomial(ring, a), polynomial(ring, b)
    product, total = ring.terms(ring.product(p, q)), ring.terms(ring.total((p, q)))
    assert value({m: Fraction(k) for m, k in product.items()}, point) == value(a, point) * value(
        b, point
    )
    assert value({m: Fraction(k) for m, k in total.items()}, point) == value(a, point) + value(
        b, point
    )
    assert ring.power(p, 1) == p


def test_squares_of_sines_disappear() -> None:
    ring = Ring(width=4)
    ring.relate(0, 1)
    s, c = ring.letter(0), ring.letter(1)
    one = ring.total((ring.power(s, 2), ring.power(c, 2)))
    assert ring.terms(one) == {(): 1}
    assert ring.terms(ring.power(s, 4)) == {(): 1, (1, 1): -2, (1, 1, 1, 1): 1}
    assert ring.terms(ring.power(s, 3)) == {(0,): 1, (0, 1, 1): -1}


def test_the_limit_is_kept() -> None:
    ring = Ring(width=6)
    p = ring.total(ring.letter(letter) for letter in range(6))
    assert len(ring.power(p, 2, 21)) == 21
    with pytest.raises(TooLongError):
        ring.power(p, 2, 20)
    with pytest.raises(TooLongError):
        ring.power(p, 9, 30)
    assert ring.work > 0
