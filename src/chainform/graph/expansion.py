"""Analytic expressions as plain data: sums of products of inputs, calls, and sums in brackets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from chainform.display import Displayed
from chainform.given import argument
from chainform.graph.text import product_text, rounded_number, sum_text

ANGLES = ("kept", "split", "collected")
"""How sums of angles are written: as they stand, by single angles, folded where that is shorter."""
LIMIT = 2_000
"""The most terms of an expression unless another limit is given."""

MODERATE = range(-3, 6)
"""Powers of ten of the largest number of a sum in brackets that is rounded as it stands."""

Factors: TypeAlias = tuple[tuple[int, int], ...]
"""Symbols by number, with powers."""
NamedMonomial: TypeAlias = tuple[tuple[str, int], ...]
"""Names with powers, sorted."""


@dataclass(frozen=True, slots=True)
class ExpansionSymbol:
    """A letter of an expansion: an input, a call on an expanded argument, or a sum in brackets.

    The function of an input and of a sum in brackets is empty; only a sum has terms inside.
    """

    function: str
    argument: str
    inner: Expansion | None = field(default=None, compare=False, repr=False)
    """The argument of a call, or the sum in brackets, term by term."""

    @property
    def bracketed(self) -> Expansion | None:
        """The sum in brackets, where this is one."""
        return None if self.function else self.inner

    def __str__(self) -> str:
        return f"{self.function}({self.argument})" if self.function else self.argument


@dataclass(frozen=True, slots=True, repr=False)
class Expansion(Displayed):
    """A sum of products of symbols; `terms` holds (coefficient, ((symbol, power), ...))."""

    symbols: tuple[ExpansionSymbol, ...]
    terms: tuple[tuple[Fraction, Factors], ...]

    def __len__(self) -> int:
        return len(self.terms)

    def as_dict(self) -> dict[NamedMonomial, Fraction]:
        """Return the coefficients by monomial, written with names: equal if values are."""
        names = [str(symbol) for symbol in self.symbols]
        return {
            tuple(sorted((names[s], power) for s, power in factors)): coefficient
            for coefficient, factors in self.terms
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expansion) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash(frozenset(self.as_dict().items()))


def expansion_text(expansion: Expansion, name: Callable[[ExpansionSymbol], str] = str) -> str:
    """Return an expansion as text, a term for each product."""

    def written(symbol: ExpansionSymbol) -> str:
        inner = symbol.bracketed
        return name(symbol) if inner is None else f"({expansion_text(inner, name)})"

    return sum_text(
        (k, product_text((written(expansion.symbols[s]), power) for s, power in factors))
        for k, factors in expansion.terms
    )


def formula_text(expansion: Expansion) -> str:
    """Return an expansion as text for people: reciprocals stand behind a slash."""

    def term(row: Factors) -> str:
        letters = [(expansion.symbols[s], power) for s, power in row]
        above = [(_written(s), p) for s, p in letters if not _is_below(s)]
        below = [(_written(s), p) for s, p in letters if _is_below(s)]
        if not below:
            return product_text(above)
        bottom = product_text(below)
        return f"{product_text(above)}/{f'({bottom})' if len(below) > 1 else bottom}"

    return sum_text((k, term(row)) for k, row in expansion.terms)


def _written(symbol: ExpansionSymbol) -> str:
    inner = symbol.inner if _is_below(symbol) else symbol.bracketed
    if inner is None:
        return str(symbol)
    text = formula_text(inner)
    is_letter = len(inner) == 1 and inner.terms[0] == (1, ((0, 1),))
    is_letter = is_letter and not _is_below(inner.symbols[0])
    return text if is_letter else f"({text})"


def _is_below(symbol: ExpansionSymbol) -> bool:
    return symbol.function == "reciprocal" and symbol.inner is not None


def length(expansion: Expansion) -> tuple[int, int]:
    """Return how many terms and how many factors are written, those in brackets included.

    A product of two sums in brackets has the terms of both, and so has a sum below a line.
    """
    sums = [s.inner if _is_below(s) else s.bracketed for s in expansion.symbols]
    sizes = [(0, 1) if inner is None else length(inner) for inner in sums]
    terms = written = 0
    for _, factors in expansion.terms:
        terms += sum(sizes[s][0] for s, _ in factors) or 1
        written += sum(sizes[s][1] for s, _ in factors)
    return terms, written


def written_size(expansion: Expansion) -> tuple[int, int]:
    """Return how many terms its text has, and how deep functions stand within functions.

    Terms in brackets and in the arguments of functions count each time that they are written; the
    angle of a sine is no sum of terms here where it is one of inputs.
    """
    sizes = [(0, 0) if s.inner is None else _inner_size(s, s.inner) for s in expansion.symbols]
    terms = sum(1 + sum(sizes[s][0] for s, _ in factors) for _, factors in expansion.terms)
    return terms, max((depth for _, depth in sizes), default=0)


def _inner_size(symbol: ExpansionSymbol, inner: Expansion) -> tuple[int, int]:
    if symbol.function in ("sin", "cos") and all(s.inner is None for s in inner.symbols):
        return 0, 1
    terms, depth = written_size(inner)
    return terms, depth + 1


# --- construction ------------------------------------------------------------------------------


def in_brackets(inner: Expansion) -> ExpansionSymbol:
    """Return a sum as a letter of another one."""
    return ExpansionSymbol("", f"({expansion_text(inner)})", inner)


def expansion_of(
    terms: Iterable[tuple[Fraction, Mapping[ExpansionSymbol, int]]],
    order: Iterable[ExpansionSymbol] = (),
) -> Expansion:
    """Return an expansion with the given terms and factors; symbols of `order` come first."""
    rows = list(terms)
    used = {symbol for _, factors in rows for symbol in factors}
    first = [symbol for symbol in order if symbol in used]
    symbols = dict.fromkeys([*first, *(s for _, factors in rows for s in factors)])
    number = {symbol: index for index, symbol in enumerate(symbols)}
    return Expansion(
        tuple(symbols),
        tuple((k, tuple((number[s], power) for s, power in fs.items())) for k, fs in rows),
    )


def terms_of(expansion: Expansion) -> list[tuple[Fraction, dict[ExpansionSymbol, int]]]:
    """Return the terms of an expansion by symbols."""
    symbols = expansion.symbols
    return [(k, {symbols[s]: power for s, power in factors}) for k, factors in expansion.terms]


def rounded(expansion: Expansion, digits: int) -> Expansion:
    """Return an expansion with its numbers rounded to so many significant digits.

    A power of ten is taken out of a sum in brackets whose numbers are very large or small.
    """
    letters = [_rounded_letter(symbol, digits) for symbol in expansion.symbols]
    terms: list[tuple[Fraction, Factors]] = []
    for k, row in expansion.terms:
        for s, power in row:
            k *= letters[s][0] ** power
        terms.append((rounded_number(k, digits), row))
    return Expansion(tuple(symbol for _, symbol in letters), tuple(terms))


def _rounded_letter(symbol: ExpansionSymbol, digits: int) -> tuple[Fraction, ExpansionSymbol]:
    """Return a number that comes out of a letter, and the letter."""
    inner, scale = symbol.inner, Fraction(1)
    if inner is None:
        return scale, symbol
    if inner.terms and (symbol.bracketed is not None or _is_below(symbol)):
        largest = max(abs(k) for k, _ in inner.terms)
        place = (Decimal(largest.numerator) / Decimal(largest.denominator)).adjusted()
        scale = Fraction(10) ** place if place not in MODERATE else scale
        inner = Expansion(inner.symbols, tuple((k / scale, row) for k, row in inner.terms))
    inner = rounded(inner, digits)
    if not symbol.function:
        return scale, in_brackets(inner)
    letter = ExpansionSymbol(symbol.function, expansion_text(inner), inner)
    return 1 / scale, letter


def by_name(expansion: Expansion) -> Expansion:
    """Return an argument with terms and factors in the order of names.

    The order of letters otherwise is that of the graph; the text of an argument must not depend
    on it.
    """
    names = [str(symbol) for symbol in expansion.symbols]

    def order(row: tuple[Fraction, Factors]) -> tuple[int, object]:
        return -sum(p for _, p in row[1]), [(names[s], p) for s, p in row[1]]

    rows = [(k, tuple(sorted(fs, key=lambda f: names[f[0]]))) for k, fs in expansion.terms]
    return Expansion(expansion.symbols, tuple(sorted(rows, key=order)))


def digits_of(value: object) -> int | None:
    """Return to how many significant digits numbers are rounded, checked; None for exact ones."""
    remedy = "give a whole number of digits, or leave it out for exact numbers"
    return None if value is None else argument("digits", value).whole(1, 50, remedy=remedy)


def limit_of(value: object) -> int | None:
    """Return a limit of terms, checked: a whole number from 1 on, or None."""
    remedy = "give a whole number of terms, or None for no limit"
    return None if value is None else argument("limit", value).whole(1, remedy=remedy)
