"""Exact coefficients and products of variables, both by number, so that dividing is a look-up.

A reduction asks for the same few ratios millions of times. Every coefficient gets an even number,
its opposite the odd one that follows; the first four are 1, -1, 2, -2, so that the class of a
coefficient in the counting rule can be read off its number.

A monomial is the sorted tuple of its variables, x^2 y as (x, x, y). Variables that depend on
parameters alone are constants of the motion: any number of them in a product costs what one
constant factor costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq

# --- monomials ------------------------------------------------------------------------------------

Monomial = tuple[int, ...]
EMPTY = 0
"""The number of the empty product."""
_LARGEST_CACHE = 2_000_000


class Monomials:
    """A table of monomials; `is_constant` says which variables are constants of the motion."""

    def __init__(self, is_constant: Sequence[bool], multiplication: float = 1.0) -> None:
        self.is_constant = is_constant
        self.multiplication = multiplication
        self.factors: list[Monomial] = []
        self.degree: list[int] = []
        """How many factors move."""
        self.unit_cost: list[float] = []
        """The cost of the product with the coefficient 1."""
        self.scaled_cost: list[float] = []
        """The cost with a coefficient other than 1 and 2."""
        self.has_constant: list[bool] = []
        self._number_of: dict[Monomial, int] = {}
        self._products: list[tuple[tuple[int, int], ...] | None] = []
        self.shared_parts: list[dict[int, tuple[int, int, int]]] = []
        """What `shared` has found already, a row for each monomial."""
        self._shared_count = 0
        self._product: dict[tuple[int, int], int] = {}
        self.of(())

    def of(self, factors: Monomial) -> int:
        """Return the number of a monomial, given in ascending order."""
        number = self._number_of.get(factors)
        if number is not None:
            return number
        number = self._number_of[factors] = len(self.factors)
        self.factors.append(factors)
        constant = self.is_constant
        degree = len(factors)
        for v in factors:
            degree -= constant[v]
        has_constant = degree < len(factors)
        self.degree.append(degree)
        self.has_constant.append(has_constant)
        scaled = self.multiplication * degree
        plain = scaled if has_constant else max(0.0, scaled - self.multiplication)
        self.unit_cost.append(plain)
        self.scaled_cost.append(scaled)
        self._products.append(None)
        self.shared_parts.append({})
        return number

    def _pairs_of(self, factors: Monomial) -> tuple[tuple[int, int], ...]:
        constant = self.is_constant
        pairs = {
            (x, y): None
            for index, x in enumerate(factors)
            for y in factors[index + 1 :]
            if not (constant[x] and constant[y])
        }
        return tuple(pairs)

    def products(self, monomial: int) -> tuple[tuple[int, int], ...]:
        """Return the products of two variables in a monomial, without those of two constants."""
        products = self._products[monomial]
        if products is None:
            products = self._products[monomial] = self._pairs_of(self.factors[monomial])
        return products

    def shared(self, a: int, b: int) -> tuple[int, int, int]:
        """Return what two monomials have in common, and the rest of each."""
        known = self.shared_parts[a].get(b)
        if known is None:
            known = self._parts(a, b)
            common, rest_a, rest_b = known
            self._shared_count += 1
            if self._shared_count > _LARGEST_CACHE:
                self._forget_shared()
            self.shared_parts[a][b] = known
            self.shared_parts[b][a] = (common, rest_b, rest_a)
        return known

    def _parts(self, a: int, b: int) -> tuple[int, int, int]:
        first, second = self.factors[a], self.factors[b]
        for v in first:
            if v in second:
                common, rest_a, rest_b = _compared(first, second)
                return self.of(common), self.of(rest_a), self.of(rest_b)
        return EMPTY, a, b

    def _forget_shared(self) -> None:
        for row in self.shared_parts:
            row.clear()
        self._shared_count = 0

    def product(self, a: int, b: int) -> int:
        """Return the product of two monomials."""
        if a == EMPTY:
            return b
        if b == EMPTY:
            return a
        known = self._product.get((a, b))
        if known is None:
            if len(self._product) > _LARGEST_CACHE:
                self._product.clear()
            known = self.of(tuple(sorted(self.factors[a] + self.factors[b])))
            self._product[a, b] = known
        return known

    def times(self, monomial: int, variable: int) -> int:
        """Return a monomial times one variable."""
        return self.product(monomial, self.of((variable,)))

    def quotient(self, a: int, b: int) -> int | None:
        """Return a / b, or None where b does not divide a."""
        _, rest_a, rest_b = self.shared(a, b)
        return rest_a if rest_b == EMPTY else None


def _compared(a: Monomial, b: Monomial) -> tuple[Monomial, Monomial, Monomial]:
    common: list[int] = []
    rest_a: list[int] = []
    rest_b: list[int] = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            common.append(a[i])
            i += 1
            j += 1
        elif a[i] < b[j]:
            rest_a.append(a[i])
            i += 1
        else:
            rest_b.append(b[j])
            j += 1
    return tuple(common), (*rest_a, *a[i:]), (*rest_b, *b[j:])


ONE, MINUS_ONE, TWO, MINUS_TWO = 0, 1, 2, 3
ZERO = -1
"""What a sum of opposites gives; zero is no coefficient."""


class Coefficients:
    """A table of exact rationals with remembered products, ratios and sums."""

    def __init__(self) -> None:
        self.values: list[fmpq] = []
        self.bits: list[int] = []
        """The sizes of the coefficients, as powers of two."""
        self._number_of: dict[tuple[int, int], int] = {}
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
        number = self._number_of.get(magnitude)
        if number is None:
            number = self._number_of[magnitude] = len(self.values)
            size = -value if is_negative else value
            self.values += [size, -size]
            self.ratios += [{}, {}]
            self.bits += [magnitude[0].bit_length() - denominator.bit_length()] * 2
        return number + is_negative

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
