"""Expressions with reciprocals as one fraction in lowest terms, its denominator in factors.

An expansion has the reciprocal of a sum as a letter that nothing cancels. Here it is a denominator:
numerator and denominator are polynomials, what both have is divided out, and the squares of sines
are written by cosines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import gcd, lcm, prod
from typing import TYPE_CHECKING, TypeAlias

from chainform.algebra.angle_letters import Allowance, is_turned
from chainform.graph import (
    Expansion,
    ExpansionSymbol,
    expansion_of,
    expansion_text,
    in_brackets,
    number_text,
)

if TYPE_CHECKING:
    from flint import fmpq, fmpq_mpoly

    Ratio: TypeAlias = tuple[fmpq_mpoly, fmpq_mpoly]
    """A numerator and a denominator."""

MOST_TERMS = 300
"""Numerators and denominators of more terms are not formed."""
MOST_WORK = 500_000
"""Terms of all products before equal ones are added."""
FIXED_WORK = 20
"""What a product costs besides its terms."""
MOST_FACTORED = 40
"""Terms of a sum that is factorised; of others only common letters are taken out."""
LARGEST_POWER = 64
"""Powers beyond it are not formed."""
RECIPROCAL = "reciprocal"


def has_reciprocal(form: Expansion) -> bool:
    """Whether an expression has a denominator."""
    return any(
        symbol.function == RECIPROCAL
        or (symbol.bracketed is not None and has_reciprocal(symbol.bracketed))
        for symbol in form.symbols
    )


def quotient(
    form: Expansion, shorten: Callable[[Expansion], Expansion], order: Mapping[str, int]
) -> Expansion | None:
    """Return an expression as one fraction, its sums shortened; None where it becomes too long.

    `order` has the numbers of inputs by name: equal denominators are written alike.
    """
    ring = _Ring(form, order)
    found = ring.ratio(form)
    if found is None:
        return None
    top, bottom = found
    if bottom.is_constant():
        return shorten(ring.expansion(top / bottom))
    number, parts = ring.factors(bottom)
    below: dict[ExpansionSymbol, int] = {}
    for part, power in parts:
        scale = _scale(ring.expansion(part))
        number /= scale**power
        inner = shorten(ring.expansion(part * ring.number(scale)))
        below[ExpansionSymbol(RECIPROCAL, expansion_text(inner), inner)] = power
    number, parts = ring.factors(top * ring.number(1 / number))
    above: dict[ExpansionSymbol, int] = {}
    for k, part, power in _with_number(number, parts):
        inner = shorten(ring.expansion(part * ring.number(k)))
        number /= k**power
        is_letter = len(inner) == 1 and inner.terms[0] == (1, ((0, 1),))
        above[inner.symbols[0] if is_letter else in_brackets(inner)] = power
    factors = sorted((above | below).items(), key=lambda factor: _order(factor[0]))
    return expansion_of([(number, dict(factors))] if number else [])


def _order(symbol: ExpansionSymbol) -> tuple[bool, bool, bool, int, str]:
    """Return the sort key of factors: single letters first, in the end what is below."""
    is_sum = symbol.inner is not None and len(symbol.inner) > 1
    text = "" if is_sum else str(symbol)
    return symbol.function == RECIPROCAL, is_sum, is_turned(symbol), len(text), text


def _scale(below: Expansion) -> Fraction:
    """Return the number that makes a denominator positive at a usual place, and its numbers short.

    Its coefficients are whole numbers without a common divisor.
    """
    half = [Fraction(1, 1 + is_turned(symbol)) for symbol in below.symbols]
    total = sum(k * prod(half[s] ** power for s, power in row) for k, row in below.terms)
    numbers = list(dict.fromkeys(abs(k) for k, _ in below.terms))
    digits = len(str(max(numbers).numerator)) - 1
    scales = [Fraction(1), Fraction(1, 10**digits), *(1 / k for k in numbers[:MOST_FACTORED])]

    def written(scale: Fraction) -> int:
        return sum(len(number_text(k * scale)) for k in numbers if k * scale != 1)

    return min(scales, key=written) * (-1 if total < 0 else 1)


def _with_number(
    number: Fraction, parts: Sequence[tuple[fmpq_mpoly, int]]
) -> Iterator[tuple[Fraction, fmpq_mpoly, int]]:
    """Yield factors with the number that they take in: the longest sum, all but a common sign."""
    longest = max(range(len(parts)), key=lambda i: len(parts[i][0]), default=0)
    for i, (part, power) in enumerate(parts):
        k = Fraction(1)
        if i == longest and power == 1 and len(part) > 1:
            negative = all(number * _fraction(c) < 0 for c in part.coeffs())
            k = -number if negative else number
        yield k, part, power


def _letters(form: Expansion) -> Iterator[ExpansionSymbol]:
    """Yield all letters but reciprocals, those in denominators included."""
    for symbol in form.symbols:
        if symbol.function == RECIPROCAL and symbol.inner is not None:
            yield from _letters(symbol.inner)
        else:
            yield symbol


class _Ring:
    """Polynomials in the letters of an expression; a sine stands before its cosine."""

    def __init__(self, form: Expansion, order: Mapping[str, int]) -> None:
        from flint import Ordering, fmpq, fmpq_mpoly_ctx

        letters = dict.fromkeys(_letters(form))
        letters = sorted(letters, key=lambda s: order.get(s.argument, len(order)))
        turned = dict.fromkeys((s.argument, s.inner) for s in letters if is_turned(s))
        pairs = [ExpansionSymbol(f, *angle) for angle in turned for f in ("sin", "cos")]
        self.symbols = [*pairs, *(s for s in letters if not is_turned(s))]
        self.ring = fmpq_mpoly_ctx.get([f"x{i}" for i in range(len(self.symbols))], Ordering.lex)
        self.rational = fmpq
        generators = self.ring.gens()
        self.generator = dict(zip(self.symbols, generators, strict=True))
        self.squares = {
            i: generators[i] ** 2 + generators[i + 1] ** 2 - 1 for i in range(0, len(pairs), 2)
        }
        self.allowance = Allowance(MOST_WORK)
        self.known: dict[ExpansionSymbol, Ratio | None] = {}

    # --- fractions ----------------------------------------------------------------------

    def ratio(self, form: Expansion) -> Ratio | None:
        """Return an expression as a fraction in lowest terms; None where it becomes too long."""
        total: Ratio | None = self.ring.constant(0), self.ring.constant(1)
        for k, row in form.terms:
            term: Ratio | None = self.number(k), self.ring.constant(1)
            for s, power in row:
                part = self._of(form.symbols[s])
                for _ in range(power if power <= LARGEST_POWER else 0):
                    term = None if term is None or part is None else self._product(term, part)
                term = term if power <= LARGEST_POWER else None
            total = None if total is None or term is None else self._sum(total, term)
        return None if total is None else self._lowest(*total)

    def _of(self, symbol: ExpansionSymbol) -> Ratio | None:
        if symbol.function != RECIPROCAL or symbol.inner is None:
            return self.generator[symbol], self.ring.constant(1)
        if symbol not in self.known:
            inner = self.ratio(symbol.inner)
            is_number = inner is not None and not inner[0].is_zero()
            self.known[symbol] = (inner[1], inner[0]) if inner and is_number else None
        return self.known[symbol]

    def _sum(self, a: Ratio, b: Ratio) -> Ratio | None:
        common = a[1].gcd(b[1])
        mine, other = self._times(a[0], b[1] / common), self._times(b[0], a[1] / common)
        below = self._times(a[1], b[1] / common)
        return None if mine is None or other is None or below is None else (mine + other, below)

    def _product(self, a: Ratio, b: Ratio) -> Ratio | None:
        above, below = self._times(a[0], b[0]), self._times(a[1], b[1])
        return None if above is None or below is None else (above, below)

    def _times(self, a: fmpq_mpoly, b: fmpq_mpoly) -> fmpq_mpoly | None:
        if not self.allowance.spend(len(a) * len(b) + FIXED_WORK):
            return None
        product = self._reduced(a * b)
        return product if len(product) <= MOST_TERMS else None

    def _reduced(self, polynomial: fmpq_mpoly) -> fmpq_mpoly:
        degrees = polynomial.degrees()
        squared = (square for sine, square in self.squares.items() if degrees[sine] > 1)
        return reduce(lambda p, square: p % square, squared, polynomial)

    def _lowest(self, above: fmpq_mpoly, below: fmpq_mpoly) -> Ratio:
        common = above.gcd(below)
        return above / common, below / common

    # --- results ------------------------------------------------------------------------

    def factors(self, polynomial: fmpq_mpoly) -> tuple[Fraction, list[tuple[fmpq_mpoly, int]]]:
        """Return a number and factors with powers, their coefficients whole numbers."""
        if polynomial.is_constant():
            return _fraction(polynomial.leading_coefficient()), []
        if len(polynomial) <= MOST_FACTORED:
            number, found = polynomial.factor()
            return _fraction(number), [(part, int(power)) for part, power in found]
        coefficients = [_fraction(k) for k in polynomial.coeffs()]
        number = Fraction(
            gcd(*(k.numerator for k in coefficients)), lcm(*(k.denominator for k in coefficients))
        )
        return number, self._common(polynomial * self.number(1 / number))

    def _common(self, polynomial: fmpq_mpoly) -> list[tuple[fmpq_mpoly, int]]:
        """Return the letters that all terms have, and what is left."""
        powers = [min(column) for column in zip(*polynomial.monoms(), strict=True)]
        letters = [(g, int(p)) for g, p in zip(self.ring.gens(), powers, strict=True) if p]
        return [*letters, (reduce(lambda p, gp: p / gp[0] ** gp[1], letters, polynomial), 1)]

    def expansion(self, polynomial: fmpq_mpoly) -> Expansion:
        """Return a polynomial as plain data."""
        return expansion_of(
            (
                (_fraction(k), {s: int(p) for s, p in zip(self.symbols, powers, strict=True) if p})
                for powers, k in polynomial.terms()
            ),
            self.symbols,
        )

    def number(self, value: Fraction) -> fmpq_mpoly:
        """Return a number as a polynomial."""
        return self.ring.constant(self.rational(value.numerator, value.denominator))


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))
