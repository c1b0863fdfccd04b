"""Coefficients by number: the arithmetic of fractions."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from chainform.algebra.monomials import MINUS_ONE, MINUS_TWO, ONE, TWO, ZERO, Coefficients
from strategies import examples

nonzero = st.fractions(min_value=-50, max_value=50, max_denominator=30).filter(bool)


def test_the_first_four() -> None:
    numbers = Coefficients()
    assert [numbers.fraction(n) for n in (ONE, MINUS_ONE, TWO, MINUS_TWO)] == [1, -1, 2, -2]
    assert [numbers.of(k) for k in (1, -1, 2, -2)] == [ONE, MINUS_ONE, TWO, MINUS_TWO]


@examples(60)
@given(nonzero)
def test_opposites_are_neighbours(value: Fraction) -> None:
    numbers = Coefficients()
    number = numbers.of(value)
    assert numbers.fraction(number) == value
    assert numbers.of(value) == number
    assert numbers.of(-value) == number ^ 1
    assert (value < 0) == number & 1


@examples(100)
@given(nonzero, nonzero)
def test_arithmetic(x: Fraction, y: Fraction) -> None:
    numbers = Coefficients()
    a, b = numbers.of(x), numbers.of(y)
    for _ in range(2):  # the second time from memory
        assert numbers.fraction(numbers.product(a, b)) == x * y
        assert numbers.fraction(numbers.ratio(a, b)) == x / y
        total = numbers.total(a, b)
        assert (Fraction(0) if total == ZERO else numbers.fraction(total)) == x + y
    assert numbers.total(a, a ^ 1) == ZERO
