"""Where a common part may be taken out: every pair of terms, of factors, of constant and factor.

Two terms k1 g a + k2 g b of any sum hold the divisor a + (k2/k1) b, in which the common part g and
the scale are divided out; the same divisor in other sums is found under the same key. The index is
kept up to date term by term, never made again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainform.algebra.monomials import EMPTY

if TYPE_CHECKING:
    from chainform.algebra.sums import Sum, Sums

Pair = tuple[int, int, int]
"""The two monomials of a divisor and the ratio of their coefficients."""
Place = tuple[int, int, int]
"""A variable and the monomials of two of its terms."""
Product = tuple[int, int]
"""Two variables, the lower first."""
Multiple = tuple[int, int]
"""A coefficient without sign, and a variable."""
TermPlace = tuple[int, int]
"""A variable and the monomial of one of its terms."""

PAIR, PRODUCT, MULTIPLE = 0, 1, 2
Key = tuple[int, tuple[int, ...]]
"""A kind of divisor and the divisor."""


LONG = 120
"""The most terms of one sum whose pairs are noted: there are as many as the square of this."""


class Index:
    """The places of every divisor in the sums."""

    def __init__(self, sums: Sums) -> None:
        self.sums = sums
        self.pairs: dict[Pair, dict[Place, None]] = {}
        self.products: dict[Product, dict[TermPlace, None]] = {}
        self.multiples: dict[Multiple, dict[TermPlace, None]] = {}
        self.fresh: dict[Key, None] = {}
        """Divisors that have become more useful since the last look at them."""
        self._alone: dict[int, set[int]] = {}
        """The terms of long sums that are in no pair."""

    def enter(self, variable: int, monomial: int, coefficient: int, others: Sum) -> None:
        """Note a term that comes to the others of its sum."""
        place = (variable, monomial)
        fresh = self.fresh
        for product in self._products_of(monomial):
            places = self.products.get(product)
            if places is None:
                self.products[product] = {place: None}
            else:
                places[place] = None
                fresh[PRODUCT, product] = None
        for multiple in self._multiples_of(monomial, coefficient):
            places = self.multiples.get(multiple)
            if places is None:
                self.multiples[multiple] = {place: None}
            else:
                places[place] = None
                fresh[MULTIPLE, multiple] = None
        if len(others) >= LONG or variable in self._alone:
            alone = self._alone.setdefault(variable, set())
            if len(others) - len(alone) >= LONG:
                alone.add(monomial)
                return
            others = {m: k for m, k in others.items() if m not in alone}
        if others:
            self._enter_pairs(variable, monomial, coefficient, others)

    def _enter_pairs(self, variable: int, m: int, k: int, others: Sum) -> None:
        shared, ratio = self.sums.monomials.shared, self.sums.numbers.ratio
        known = self.sums.monomials.shared_parts.get
        pairs, fresh, identities = self.pairs, self.fresh, self.sums.identities
        for n, l in others.items():
            common, rest_m, rest_n = known((m, n)) or shared(m, n)
            if rest_m < rest_n:
                key = (rest_m, rest_n, l ^ k if k < 2 else ratio(l, k))
                place = (variable, m, n)
            else:
                key = (rest_n, rest_m, k ^ l if l < 2 else ratio(k, l))
                place = (variable, n, m)
            places = pairs.get(key)
            if places is None:
                pairs[key] = {place: None}
                if common != EMPTY or key in identities:
                    fresh[PAIR, key] = None
            else:
                places[place] = None
                fresh[PAIR, key] = None

    def leave(self, variable: int, monomial: int, coefficient: int, others: Sum) -> None:
        """Forget a term that has left the others of its sum."""
        place = (variable, monomial)
        for product in self._products_of(monomial):
            _forget(self.products, product, place)
        for multiple in self._multiples_of(monomial, coefficient):
            _forget(self.multiples, multiple, place)
        alone = self._alone.get(variable)
        if alone is not None:
            if monomial in alone:
                alone.discard(monomial)
                return
            others = {m: k for m, k in others.items() if m not in alone}
            if not alone:
                del self._alone[variable]
        if others:
            self._leave_pairs(variable, monomial, coefficient, others)

    def _leave_pairs(self, variable: int, m: int, k: int, others: Sum) -> None:
        shared, ratio = self.sums.monomials.shared, self.sums.numbers.ratio
        known = self.sums.monomials.shared_parts.get
        pairs = self.pairs
        for n, l in others.items():
            _, rest_m, rest_n = known((m, n)) or shared(m, n)
            if rest_m < rest_n:
                key = (rest_m, rest_n, l ^ k if k < 2 else ratio(l, k))
                place = (variable, m, n)
            else:
                key = (rest_n, rest_m, k ^ l if l < 2 else ratio(k, l))
                place = (variable, n, m)
            places = pairs[key]
            del places[place]
            if not places:
                del pairs[key]

    def _products_of(self, monomial: int) -> tuple[Product, ...]:
        return self.sums.monomials.products(monomial)

    def _multiples_of(self, monomial: int, coefficient: int) -> list[Multiple]:
        monomials = self.sums.monomials
        if coefficient < 4 or monomials.has_constant[monomial]:
            return []
        magnitude = coefficient & ~1
        return [(magnitude, v) for v in dict.fromkeys(monomials.factors[monomial])]


def _forget(index: dict[Any, dict[Any, None]], key: Any, place: Any) -> None:
    places = index[key]
    del places[place]
    if not places:
        del index[key]
