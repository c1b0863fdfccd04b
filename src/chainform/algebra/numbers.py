"""Exact coefficients by number, so that comparing and dividing them is a look-up.

A reduction asks for the same few ratios millions of times. Every coefficient gets an even
number, its opposite the odd one that follows; the first four are 1, -1, 2, -2, so that the class of
a coefficient in the counting rule can be read off its number.
"""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq

ONE, MINUS_ONE, TWO, MINUS_TWO = 0, 1, 2, 3
ZERO = -1
"""What a sum of opposites gives; zero is no coefficient."""


class Numbers:
    """A table of exact rationals with remembered products, ratios and sums."""

    def __init__(self) -> None:
        self.values: list[fmpq] = []
        self.bits: list[int] = []
        """The sizes of the coefficients, as powers of two."""
        self._place: dict[tuple[int, int], int] = {}
        """The number of each magnitude, by numerator and denominator: an fmpq is slow to hash."""
        self._product: dict[tuple[int, int], int] = {}
        self.ratios: list[dict[int, int]] = []
        """What `ratio` has found already, a row for each divisor."""
        self._total: dict[tuple[int, int], int] = {}
        for value in (fmpq(1), fmpq(2)):
            self._number(value)

    def _number(self, value: fmpq) -> int:
        numerator, denominator = int(value.p), int(value.q)
        is_negative = numerator < 0
        magnitude = (-numerator if is_negative else numerator, denominator)
        place = self._place.get(magnitude)
        if place is None:
            place = self._place[magnitude] = len(self.values)
            size = -value if is_negative else value
            self.values += [size, -size]
            self.ratios += [{}, {}]
            self.bits += [magnitude[0].bit_length() - denominator.bit_length()] * 2
        return place + is_negative

    def of(self, value: Fraction | int) -> int:
        """Return the number of a coefficient that is not zero."""
        return self._number(fmpq(value.numerator, value.denominator))

    def fraction(self, number: int) -> Fraction:
        """Return the coefficient behind a number."""
        value = self.values[number]
        return Fraction(int(value.p), int(value.q))

    def product(self, a: int, b: int) -> int:
        """Return a b."""
        if a < 2:
            return b ^ a
        if b < 2:
            return a ^ b
        known = self._product.get((a, b))
        if known is None:
            known = self._product[a, b] = self._number(self.values[a] * self.values[b])
        return known

    def ratio(self, a: int, b: int) -> int:
        """Return a / b."""
        if b < 2:
            return a ^ b
        row = self.ratios[b]
        known = row.get(a)
        if known is None:
            known = row[a] = self._number(self.values[a] / self.values[b])
        return known

    def total(self, a: int, b: int) -> int:
        """Return a + b, or ZERO."""
        known = self._total.get((a, b))
        if known is None:
            value = self.values[a] + self.values[b]
            known = self._total[a, b] = ZERO if value == 0 else self._number(value)
        return known
