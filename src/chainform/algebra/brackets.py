"""Common factors of an expansion: sums in brackets, such as (m_1 + m_2), and their squares.

First come squares and products of sums that shorten a group of terms, found by exact factorisation
of what the terms of a common factor have left. Then a factor is taken out of terms that differ in
one letter: m_1 l^2 + m_2 l^2 is (m_1 + m_2) l^2. In the end it is taken out of terms that differ in
parameters and rates: m_1 a g cos q + m_2 l g cos q is (m_1 a + m_2 l) g cos q. What stands in
brackets stays that simple, so that a formula reads as in a textbook and not as a nest of brackets.
A sum in brackets is a letter from there on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd
from typing import Any, TypeAlias

from chainform.algebra.angle_letters import is_turned, symbol_order
from chainform.graph import (
    Expansion,
    ExpansionSymbol,
    expansion_of,
    in_brackets,
    length,
)

Monomial: TypeAlias = tuple[tuple[int, int], ...]
"""Letters by number with powers, sorted."""
Row: TypeAlias = tuple[Fraction, Monomial]
Factors: TypeAlias = tuple[Fraction, list[tuple[tuple[Row, ...], int]]]
"""A number, and sums with their powers."""

MOST_TERMS = 250
"""Sums of more terms are not searched for squares and products."""
MOST_FACTORED = 40
"""Terms of a sum that is factorised."""
MOST_FACTORISATIONS = 300
"""Sums that are factorised for one expression."""
MOST_GROUPED = 5_000
"""Sums of more terms stay without brackets."""


def grouped(expansion: Expansion) -> Expansion:
    """Return an expansion with common factors and squares of sums taken out, where that is shorter.

    In a product numbers and parameters stand first, then what depends on angles.
    """
    if len(expansion) > MOST_GROUPED:
        return expansion
    groups = Groups(expansion)
    found = groups.expansion(groups.grouped())
    return found if length(found) < length(expansion) else groups.expansion(groups.rows)


class Groups:
    """The terms of an expansion, with brackets as further letters."""

    def __init__(self, expansion: Expansion) -> None:
        self.symbols = list(expansion.symbols)
        self.plain = {i for i, symbol in enumerate(self.symbols) if not symbol.function}
        self.inner: dict[int, tuple[Row, ...]] = {}
        """What stands in the brackets of a letter."""
        self._number: dict[tuple[Row, ...], int] = {}
        self._factors: dict[tuple[Row, ...], Factors] = {}
        self.rows = [(k, tuple(sorted(factors))) for k, factors in expansion.terms]

    def grouped(self) -> list[Row]:
        """Return the terms with brackets."""
        few = len(self.rows) <= MOST_TERMS
        rows = self._common(self._factorised(self.rows) if few else self.rows)
        return self._plain(rows) if len(rows) <= MOST_TERMS else rows

    def expansion(self, rows: Iterable[Row]) -> Expansion:
        """Return terms as an expansion."""
        terms: list[tuple[Fraction, dict[ExpansionSymbol, int]]] = []
        for k, monomial in rows:
            ordered = sorted(monomial, key=lambda factor: self._order(factor[0]))
            terms.append((k, {self._symbol(letter): power for letter, power in ordered}))
        return expansion_of(terms)

    def _symbol(self, letter: int) -> ExpansionSymbol:
        if letter in self.inner:
            return in_brackets(self.expansion(self.inner[letter]))
        return self.symbols[letter]

    def _order(self, letter: int) -> tuple[int, Any, int]:
        """Return the sort key of the factors of a product."""
        if letter in self.inner:
            inner = [l for _, monomial in self.inner[letter] for l, _ in monomial]
            return (2 if any(self.symbols[l].function for l in inner) else 0), (), letter
        symbol = self.symbols[letter]
        if symbol.inner is None:
            return 1, (), letter
        return (4, symbol_order(symbol), letter) if is_turned(symbol) else (3, (), letter)

    # --- brackets -----------------------------------------------------------------------

    def _bracket(self, rows: Sequence[Row]) -> tuple[Fraction, int]:
        """Return a sum as a number times a letter; sums that differ by a number share a letter."""
        first, _ = rows[0]
        shape = tuple((k / first, monomial) for k, monomial in rows)
        if shape not in self._number:
            scale = _content([k for k, _ in rows]) * (1 if first > 0 else -1)
            self._number[shape] = len(self.symbols) + len(self.inner)
            self.inner[self._number[shape]] = tuple((k / scale, m) for k, m in rows)
        letter = self._number[shape]
        (k, _), *_ = self.inner[letter]
        return first / k, letter

    # --- factorisation ------------------------------------------------------------------

    def _factorised(self, rows: list[Row]) -> list[Row]:
        """Return the rows with products and squares of sums that save terms, best first."""
        while True:
            best: tuple[int, tuple[int, ...], Row] | None = None
            for common, chosen in _shares(rows, self.plain):
                found = self._product(rows, common, chosen)
                if found is not None and (best is None or found[0] > best[0]):
                    best = (found[0], chosen, found[1])
            if best is None:
                return rows
            _, chosen, row = best
            rest = [r for i, r in enumerate(rows) if i not in set(chosen)]
            rows = [*rest[: chosen[0]], row, *rest[chosen[0] :]]

    def _product(
        self, rows: list[Row], common: Monomial, chosen: tuple[int, ...]
    ) -> tuple[int, Row] | None:
        """Return some rows as one product of sums, and how many terms that saves."""
        if any(letter in self.inner for i in chosen for letter, _ in rows[i][1]):
            return None
        inner = tuple((rows[i][0], _quotient(rows[i][1], common)) for i in chosen)
        if inner not in self._factors:
            if len(self._factors) >= MOST_FACTORISATIONS:
                return None
            self._factors[inner] = _factors(inner)
        k, factors = self._factors[inner]
        terms = sum(len(factor) for factor, _ in factors)
        if terms >= len(chosen):
            return None
        monomial = dict(common)
        for factor, power in factors:
            (scale, single), *others = factor
            if others:
                scale, letter = self._bracket(factor)
                single = ((letter, 1),)
            for letter, times in single:
                monomial[letter] = monomial.get(letter, 0) + times * power
            k *= scale**power
        return len(chosen) - terms, (k, tuple(sorted(monomial.items())))

    # --- common factors -----------------------------------------------------------------

    def _common(self, rows: list[Row]) -> list[Row]:
        """Return the rows with a factor taken out wherever rows differ in one letter."""
        while True:
            clusters = self._clusters(rows)
            used: set[int] = set()
            placed: dict[int, Row] = {}
            for _, common, members in clusters:
                if any(i in used for i, _ in members):
                    continue
                used |= {i for i, _ in members}
                k, letter = self._bracket([(rows[i][0], atom) for i, atom in members])
                placed[members[0][0]] = (k, tuple(sorted((*common, (letter, 1)))))
            if not used:
                return rows
            rows = [
                placed.get(i, row) for i, row in enumerate(rows) if i in placed or i not in used
            ]

    def _plain(self, rows: list[Row]) -> list[Row]:
        """Return the rows with a factor taken out wherever what is left has no sines or calls."""
        placed = dict(enumerate(rows))
        alike: dict[Monomial, list[int]] = defaultdict(list)
        for index, (_, monomial) in placed.items():
            alike[tuple(f for f in monomial if not self._is_plain(f[0]))].append(index)
        for chosen in alike.values():
            while best := self._best_plain({i: placed[i] for i in chosen if i in placed}):
                common, members = best
                sums = [(placed[i][0], self._left(placed[i][1], common) or ()) for i in members]
                first, *others = members
                k, letter = self._bracket([(k * scale, m) for k, s in sums for scale, m in s])
                placed[first] = k, tuple(sorted((*common, (letter, 1))))
                for index in others:
                    del placed[index]
        return [placed[i] for i in sorted(placed)]

    def _is_plain(self, letter: int) -> bool:
        """Whether a letter, or what stands in its brackets, has no sines or calls."""
        if letter not in self.inner:
            return letter in self.plain
        return all(l in self.plain for _, monomial in self.inner[letter] for l, _ in monomial)

    def _best_plain(self, rows: dict[int, Row]) -> tuple[Monomial, list[int]] | None:
        """Return the common factor that saves the most, and the rows that it is taken out of."""
        best: tuple[tuple[int, int, int], Monomial, list[int]] | None = None
        for common in _commons(list(rows.values())):
            members = [i for i, (_, m) in rows.items() if self._left(m, common) is not None]
            taken = sum(power for _, power in common)
            key = ((len(members) - 1) * taken, len(members), taken)
            if len(members) > 1 and (best is None or key > best[0]):
                best = key, common, members
        return None if best is None else best[1:]

    def _left(self, monomial: Monomial, common: Monomial) -> tuple[Row, ...] | None:
        """Return what a common factor leaves of a term: plain letters, or one sum of them."""
        powers = dict(monomial)
        if any(powers.get(letter, 0) < power for letter, power in common):
            return None
        left = _quotient(monomial, common)
        if len(left) == 1 and left[0][0] in self.inner and left[0][1] == 1:
            return self.inner[left[0][0]] if self._is_plain(left[0][0]) else None
        return ((Fraction(1), left),) if all(l in self.plain for l, _ in left) else None

    def _clusters(
        self, rows: list[Row]
    ) -> list[tuple[tuple[int, ...], Monomial, list[tuple[int, Monomial]]]]:
        """Return rows that are a common factor times single letters, the greatest saving first."""
        found: dict[Monomial, list[tuple[int, Monomial]]] = defaultdict(list)
        for index, (_, monomial) in enumerate(rows):
            for letter, power in monomial:
                if letter in self.inner:
                    continue
                for times in {1, power}:
                    atom = ((letter, times),)
                    if common := _quotient(monomial, atom):
                        found[common].append((index, atom))
            found[monomial].append((index, ()))
        clusters: list[tuple[tuple[int, ...], Monomial, list[tuple[int, Monomial]]]] = []
        for common, members in found.items():
            unique = list({i: (i, atom) for i, atom in members}.values())
            if len(unique) > 1:
                saving = (len(unique) - 1) * sum(power for _, power in common)
                plain = sum(not self.symbols[l].function for _, m in unique for l, _ in m)
                key = (-saving, -len(unique), -plain, unique[0][0])
                clusters.append((key, common, unique))
        return sorted(clusters)


def _quotient(monomial: Monomial, divisor: Monomial) -> Monomial:
    powers = dict(monomial)
    for letter, power in divisor:
        powers[letter] -= power
    return tuple((letter, power) for letter, power in powers.items() if power)


def _content(numbers: list[Fraction]) -> Fraction:
    """Return the number that comes out of a sum: what all have alike, or a common whole divisor."""
    if len({abs(k) for k in numbers}) == 1:
        return abs(numbers[0])
    if all(k.denominator == 1 for k in numbers):
        return Fraction(gcd(*(k.numerator for k in numbers)))
    return Fraction(1)


def _commons(rows: Sequence[Row]) -> list[Monomial]:
    """Return what two rows or more have in common, in an order that is always the same."""
    found: set[Monomial] = set()
    for index, (_, monomial) in enumerate(rows):
        for _, other in rows[index + 1 :]:
            powers = dict(other)
            found.add(
                tuple((l, min(p, powers[l])) for l, p in monomial if min(p, powers.get(l, 0)))
            )
    return sorted(found - {()})


def _shares(rows: list[Row], plain: set[int]) -> list[tuple[Monomial, tuple[int, ...]]]:
    """Return the common factors of rows with the rows that have them, the most rows first.

    Besides all rows that have a factor, those stand alone that have only plain letters beyond it.
    """
    found: dict[tuple[int, ...], Monomial] = {}
    powers_of = [dict(monomial) for _, monomial in rows]
    for common in [(), *_commons(rows)]:
        whole = [i for i, m in enumerate(powers_of) if all(m.get(l, 0) >= p for l, p in common)]
        alone = [i for i in whole if all(l in plain for l, _ in _quotient(rows[i][1], common))]
        for chosen in (tuple(whole), tuple(alone)):
            if 3 <= len(chosen) <= MOST_FACTORED:
                best = found.get(chosen)
                if best is None or sum(p for _, p in common) > sum(p for _, p in best):
                    found[chosen] = common
    return sorted(((c, i) for i, c in found.items()), key=lambda item: (-len(item[1]), item[1]))


def _factors(rows: Sequence[Row]) -> Factors:
    """Return the exact factorisation of a sum: a number, and factors with their powers."""
    from flint import Ordering, fmpq, fmpq_mpoly_ctx

    letters = sorted({letter for _, monomial in rows for letter, _ in monomial})
    ring: Any = fmpq_mpoly_ctx.get([f"x{i}" for i in range(len(letters))], Ordering.lex)
    terms: dict[tuple[int, ...], Any] = {}
    for k, monomial in rows:
        powers = dict(monomial)
        key = tuple(powers.get(letter, 0) for letter in letters)
        terms[key] = fmpq(k.numerator, k.denominator)
    constant, factors = ring.from_dict(terms).factor()
    found: list[tuple[tuple[Row, ...], int]] = []
    for factor, power in factors:
        inner = tuple(
            (
                Fraction(int(k.p), int(k.q)),
                tuple((l, int(p)) for l, p in zip(letters, powers, strict=True) if p),
            )
            for powers, k in factor.terms()
        )
        found.append((inner, int(power)))
    found.sort()
    return Fraction(int(constant.p), int(constant.q)), found
