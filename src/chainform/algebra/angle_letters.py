"""Sums of sines and cosines as plain data: an angle is a number, its sine and cosine letters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from chainform.graph import (
    Expansion,
    ExpansionSymbol,
    NamedMonomial,
    by_name,
    expansion_of,
    expansion_text,
)

AngleTerms: TypeAlias = tuple[tuple[NamedMonomial, Fraction], ...]
"""The argument of a sine or cosine: terms by names, sorted; the first coefficient is positive."""
AngleParts: TypeAlias = Iterable[tuple[NamedMonomial, Fraction]]
"""Terms of an angle."""
Letter: TypeAlias = int
"""Twice the number of an angle for its sine, and one more for its cosine."""
Monomial: TypeAlias = tuple[tuple[Letter, int], ...]
"""Letters with powers, sorted."""
Sum: TypeAlias = dict[Monomial, Fraction]


class Allowance:
    """Work that may still be done; the same for the same expression on every machine."""

    def __init__(self, work: int) -> None:
        self.left = work

    def spend(self, work: int) -> bool:
        """Note work; return whether there is some left."""
        self.left -= work
        return self.left > 0


class AngleLetters:
    """The angles of sines and cosines by number, and the symbols that they are made of."""

    def __init__(self) -> None:
        self.symbols: dict[str, ExpansionSymbol] = {}
        self.terms: list[AngleTerms] = []
        self._number: dict[AngleTerms, int] = {}
        self._letter: dict[ExpansionSymbol, tuple[Letter, int]] = {}
        self._symbol: dict[Letter, tuple[ExpansionSymbol, int]] = {}

    def number(self, parts: Mapping[NamedMonomial, Fraction]) -> tuple[int, int]:
        """Return the number of an angle, and the sign by which it is the positive one."""
        rows = tuple(sorted(parts.items()))
        sign = -1 if rows and rows[0][1] < 0 else 1
        if sign < 0:
            rows = tuple((monomial, -k) for monomial, k in rows)
        if rows not in self._number:
            self._number[rows] = len(self.terms)
            self.terms.append(rows)
        return self._number[rows], sign

    def letter(self, symbol: ExpansionSymbol) -> tuple[Letter, int]:
        """Return a sine or cosine as a letter, and the sign that comes out of its argument."""
        if symbol not in self._letter:
            inner = expansion_of(()) if symbol.inner is None else symbol.inner
            self.symbols |= {str(s): s for s in inner.symbols}
            number, sign = self.number(inner.as_dict())
            is_cosine = symbol.function == "cos"
            self._letter[symbol] = (2 * number + is_cosine, 1 if is_cosine else sign)
        return self._letter[symbol]

    def symbol(self, letter: Letter) -> tuple[ExpansionSymbol, int]:
        """Return a letter as a symbol, and the sign that comes out of its argument."""
        if letter not in self._symbol:
            rows = [
                (k, {self.symbols[name]: power for name, power in monomial})
                for monomial, k in self.terms[letter // 2]
            ]
            inner, sign = by_name(expansion_of(rows)), 1
            if inner.terms[0][0] < 0:
                inner = Expansion(inner.symbols, tuple((-k, fs) for k, fs in inner.terms))
                sign = 1 if letter % 2 else -1
            function = "cos" if letter % 2 else "sin"
            symbol = ExpansionSymbol(function, expansion_text(inner), inner)
            self._symbol[letter] = (symbol, sign)
        return self._symbol[letter]

    def sum(self, a: int, b: int, times: int) -> tuple[int, int]:
        """Return the number and the sign of the angle a + times b."""
        return self.number(added(self.terms[a], self.terms[b], times))

    def order(self, monomial: Monomial) -> Any:
        """Return the sort key of monomials: many factors first, then short angles."""
        letters = [(name_order(self.terms[l // 2]), l % 2, -p) for l, p in monomial]
        return -sum(power for _, power in monomial), sorted(letters)

    def is_zero(self, number: int) -> bool:
        """Whether an angle is zero."""
        return not self.terms[number]


def is_turned(symbol: ExpansionSymbol) -> bool:
    """Whether a symbol is the sine or cosine of an angle."""
    return symbol.function in ("sin", "cos")


def symbol_order(symbol: ExpansionSymbol) -> Any:
    """Return the sort key of sines and cosines: by angle, the sine first."""
    inner = () if symbol.inner is None else symbol.inner.as_dict().items()
    return name_order(inner), symbol.function == "cos"


def name_order(terms: AngleParts) -> Any:
    """Return the sort key of angles: those of few terms first, q2 before q10."""
    named = [[(len(name), name, power) for name, power in monomial] for monomial, _ in terms]
    return len(named), sorted(named)


def added(
    a: AngleParts,
    b: AngleParts,
    times: int,
) -> dict[NamedMonomial, Fraction]:
    """Return a + times b."""
    total = dict(a)
    for monomial, k in b:
        total[monomial] = total.get(monomial, Fraction(0)) + times * k
    return {monomial: k for monomial, k in total.items() if k}


def size(terms: Sum) -> tuple[int, int]:
    """Return what makes one form shorter than another: its terms, then its factors."""
    return len(terms), sum(power for monomial in terms for _, power in monomial)


def product(factors: Iterable[tuple[Letter, int]]) -> Monomial:
    total: dict[Letter, int] = {}
    for letter, power in factors:
        total[letter] = total.get(letter, 0) + power
    return tuple(sorted((letter, power) for letter, power in total.items() if power))


def add_to(terms: Sum, monomial: Monomial, k: Fraction) -> None:
    total = terms.get(monomial, Fraction(0)) + k
    if total:
        terms[monomial] = total
    else:
        terms.pop(monomial, None)
