"""Exact polynomials with packed exponents, for multiplying definitions out.

A monomial is one whole number: each letter has a field of `width` bits that holds its power, so
that two monomials are multiplied by one addition. Coefficients are whole numbers over one
denominator for the whole polynomial. A sum of ten thousand terms takes a hundredth of a second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from chainform.graph.scalar import Number, Terms


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Whole coefficients by packed monomial, all over one denominator. Not to be changed."""

    terms: dict[int, int]
    denominator: int = 1

    def __len__(self) -> int:
        return len(self.terms)


class TooLongError(Exception):
    """A polynomial has more terms than were allowed."""


class Ring:
    """The letters of polynomials; no power reaches 2^width, which the caller sees to."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.work = 0
        """Products of terms formed so far."""
        self.letters: list[int] = []
        self._unit: dict[int, int] = {}
        self._cosine_squared: dict[int, int] = {}
        self._squared_sines = 0

    def unit(self, letter: int) -> int:
        """Return a letter as a monomial."""
        known = self._unit.get(letter)
        if known is None:
            known = self._unit[letter] = 1 << (self.width * len(self.letters))
            self.letters.append(letter)
        return known

    def letter(self, letter: int) -> Polynomial:
        """Return a letter as a polynomial."""
        return Polynomial({self.unit(letter): 1})

    def number(self, value: Number) -> Polynomial:
        """Return an exact number as a polynomial."""
        return Polynomial({0: value.numerator} if value else {}, value.denominator)

    def relate(self, sine: int, cosine: int) -> None:
        """Note s^2 = 1 - c^2; from here on no product holds the square of that sine."""
        place = self.unit(sine).bit_length() - 1
        self._cosine_squared[place // self.width] = 2 * self.unit(cosine)
        self._squared_sines |= ((1 << self.width) - 2) << place

    # --- arithmetic ---------------------------------------------------------------------

    def product(self, a: Polynomial, b: Polynomial, limit: int | None = None) -> Polynomial:
        """Return a b, with squares of related sines removed; TooLongError beyond the limit.

        While it is formed, the sum may be some times as long as it is when all is collected.
        """
        if len(b) > len(a):
            a, b = b, a
        self.work += len(a) * len(b)
        total: dict[int, int] = {}
        get = total.get
        most = None if limit is None else 8 * limit
        for n, l in b.terms.items():
            for m, k in a.terms.items():
                monomial = m + n
                total[monomial] = get(monomial, 0) + k * l
            if most is not None and len(total) > most:
                raise TooLongError
        reduced = self._reduced(total)
        if limit is not None and len(reduced) > limit:
            raise TooLongError
        return Polynomial(reduced, a.denominator * b.denominator)

    def power(self, base: Polynomial, exponent: int, limit: int | None = None) -> Polynomial:
        """Return a whole power."""
        result = base
        for _ in range(exponent - 1):
            result = self.product(result, base, limit)
        return result

    def _reduced(self, terms: dict[int, int]) -> dict[int, int]:
        """Return a sum with s^2 written 1 - c^2 and without zeros."""
        mask = self._squared_sines
        squares = [m for m in terms if m & mask] if mask else []
        while squares:
            m = squares.pop()
            k = terms.pop(m, 0)
            if not k:
                continue
            field = ((m & mask).bit_length() - 1) // self.width
            rest = m - (2 << (field * self.width))
            for monomial, value in ((rest, k), (rest + self._cosine_squared[field], -k)):
                if monomial & mask and not terms.get(monomial):
                    squares.append(monomial)
                terms[monomial] = terms.get(monomial, 0) + value
        return {m: k for m, k in terms.items() if k}

    def total(self, parts: Iterable[Polynomial]) -> Polynomial:
        """Return a sum of polynomials."""
        addends = list(parts)
        denominator = lcm(*(part.denominator for part in addends))
        total: dict[int, int] = {}
        for part in addends:
            scale = denominator // part.denominator
            for m, k in part.terms.items():
                total[m] = total.get(m, 0) + k * scale
        return Polynomial({m: k for m, k in total.items() if k}, denominator)

    # --- results ------------------------------------------------------------------------

    def terms(self, polynomial: Polynomial) -> Terms:
        """Return a polynomial as terms over its letters."""
        denominator = polynomial.denominator
        return {
            self._monomial(m): k if denominator == 1 else _short(Fraction(k, denominator))
            for m, k in polynomial.terms.items()
        }

    def _monomial(self, packed: int) -> tuple[int, ...]:
        factors: list[int] = []
        while packed:
            lowest = (packed & -packed).bit_length() - 1
            place = lowest // self.width
            power = (packed >> (place * self.width)) & ((1 << self.width) - 1)
            factors.extend([self.letters[place]] * power)
            packed -= power << (place * self.width)
        return tuple(sorted(factors))


def _short(value: Fraction) -> Number:
    return value.numerator if value.denominator == 1 else value
