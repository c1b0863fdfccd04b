"""Where a common part may be taken out: every pair of terms, of factors, of constant and factor.

Two terms k1 g a + k2 g b of any sum hold the divisor a + (k2/k1) b, in which the common part g and
the scale are divided out; the same divisor in other sums is found under the same key. The index is
updated term by term, never made again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chainform.algebra.monomials import EMPTY, Coefficients, Monomials

Sum = dict[int, int]
"""Monomial -> coefficient, by their numbers."""
Pair = tuple[int, int, int]
"""The two monomials of a divisor and the ratio of their coefficients."""
Occurrence = tuple[int, int, int]
"""A variable and the monomials of two of its terms."""
Product = tuple[int, int]
"""Two variables, the lower first."""
Multiple = tuple[int, int]
"""A coefficient without sign, and a variable."""
TermOccurrence = tuple[int, int]
"""A variable and the monomial of one of its terms."""

PAIR, PRODUCT, MULTIPLE = 0, 1, 2
Key = tuple[int, tuple[int, ...]]
"""A kind of divisor and the divisor."""


LONG = 120
"""The most terms of one sum whose pairs are noted: there are as many as the square of this."""


class Index:
    """The occurrences of every divisor in the sums."""

    def __init__(
        self,
        monomials: Monomials,
        numbers: Coefficients,
        identities: Mapping[Pair, tuple[int, int]],
    ) -> None:
        self.monomials = monomials
        self.numbers = numbers
        self.identities = identities
        self.pairs: dict[Pair, dict[Occurrence, None]] = {}
        self.products: dict[Product, dict[TermOccurrence, None]] = {}
        self.multiples: dict[Multiple, dict[TermOccurrence, None]] = {}
        self.fresh: dict[Key, None] = {}
        """Divisors that have become more useful since the last look at them."""
        self._alone: dict[int, set[int]] = {}
        """The terms of long sums that are in no pair."""

    def enter(self, variable: int, monomial: int, coefficient: int, others: Sum) -> None:
        """Note a term that comes to the others of its sum."""
        occurrence = (variable, monomial)
        fresh = self.fresh
        for product in self.monomials.products(monomial):
            occurrences = self.products.get(product)
            if occurrences is None:
                self.products[product] = {occurrence: None}
            else:
                occurrences[occurrence] = None
                fresh[PRODUCT, product] = None
        for multiple in self._multiples_of(monomial, coefficient):
            occurrences = self.multiples.get(multiple)
            if occurrences is None:
                self.multiples[multiple] = {occurrence: None}
            else:
                occurrences[occurrence] = None
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
        shared, ratio = self.monomials.shared, self.numbers.ratio
        known = self.monomials.shared_parts[m].get
        ratios = self.numbers.ratios
        pairs, fresh, identities = self.pairs, self.fresh, self.identities
        for n, l in others.items():
            common, rest_m, rest_n = known(n) or shared(m, n)
            if rest_m < rest_n:
                quotient = l ^ k if k < 2 else ratios[k].get(l)
                key = (rest_m, rest_n, ratio(l, k) if quotient is None else quotient)
                occurrence = (variable, m, n)
            else:
                quotient = k ^ l if l < 2 else ratios[l].get(k)
                key = (rest_n, rest_m, ratio(k, l) if quotient is None else quotient)
                occurrence = (variable, n, m)
            occurrences = pairs.get(key)
            if occurrences is None:
                pairs[key] = {occurrence: None}
                if common != EMPTY or key in identities:
                    fresh[PAIR, key] = None
            else:
                occurrences[occurrence] = None
                fresh[PAIR, key] = None

    def leave(self, variable: int, monomial: int, coefficient: int, others: Sum) -> None:
        """Forget a term that has left the others of its sum."""
        occurrence = (variable, monomial)
        for product in self.monomials.products(monomial):
            _forget(self.products, product, occurrence)
        for multiple in self._multiples_of(monomial, coefficient):
            _forget(self.multiples, multiple, occurrence)
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
        shared, known = self.monomials.shared, self.monomials.shared_parts[m].get
        pairs, ratios = self.pairs, self.numbers.ratios
        for n, l in others.items():
            _, rest_m, rest_n = known(n) or shared(m, n)
            # Every ratio was found when the later of the two terms came.
            if rest_m < rest_n:
                key = (rest_m, rest_n, l ^ k if k < 2 else ratios[k][l])
                occurrence = (variable, m, n)
            else:
                key = (rest_n, rest_m, k ^ l if l < 2 else ratios[l][k])
                occurrence = (variable, n, m)
            occurrences = pairs[key]
            if len(occurrences) > 1:
                del occurrences[occurrence]
            else:
                del pairs[key]

    def _multiples_of(self, monomial: int, coefficient: int) -> Sequence[Multiple]:
        monomials = self.monomials
        if coefficient < 4 or monomials.has_constant[monomial]:
            return ()
        magnitude = coefficient & ~1
        factors = monomials.factors[monomial]
        return [(magnitude, v) for v in (factors if len(factors) < 2 else dict.fromkeys(factors))]


def _forget(index: dict[Any, dict[Any, None]], key: Any, occurrence: Any) -> None:
    occurrences = index[key]
    if len(occurrences) > 1:
        del occurrences[occurrence]
    else:
        del index[key]
