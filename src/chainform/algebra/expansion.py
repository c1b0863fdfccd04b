"""Variables multiplied out over what is given, with every square of a sine written 1 - cos^2.

Two variables have the same value if and only if they have the same expansion (as far as sines and
cosines of different angles are taken to be independent). A variable keeps its value whatever
happens to its definition, so an expansion is made once.
"""

from __future__ import annotations

from itertools import pairwise

from chainform.algebra.monomials import EMPTY, ONE, ZERO
from chainform.algebra.sums import Sum, Sums, complete


class TooMuchWorkError(Exception):
    """More products of terms were to be formed than allowed."""


LARGEST_DEGREE = 1000
"""Products of more factors are not multiplied out: a power of a power may have any number."""


class Expansions:
    """Expansions of the variables of a system, as far as they have at most `limit` terms.

    What is too long is known only once it is multiplied out; `work` is the number of products of
    two terms that may be formed in all, and TooMuchWorkError is raised before there are more.
    """

    def __init__(self, sums: Sums, limit: int, work: float = float("inf")) -> None:
        self.sums = sums
        self.limit = limit
        self.work = work
        self._known: dict[int, Sum | None] = {}
        self._squared: dict[int, tuple[int, ...]] = {}
        """The sines and cosines whose square is in a monomial; in most there is none."""

    def of(self, variable: int) -> Sum | None:
        """Return the expansion of a variable, or None if it is too long."""
        birth = self.sums.birth
        return complete(self._known, variable, self._names, self._expanded, birth.__getitem__)

    def _names(self, variable: int) -> list[int]:
        terms = self.sums.terms[variable]
        if terms is None:
            return []
        factors = self.sums.monomials.factors
        return list({v: None for m in terms for v in factors[m]})

    def _expanded(self, variable: int) -> Sum | None:
        sums = self.sums
        terms = sums.terms[variable]
        if terms is None:
            return {sums.monomials.of((variable,)): ONE}
        total: Sum = {}
        for monomial, coefficient in terms.items():
            product: Sum = {EMPTY: coefficient}
            for v in sums.monomials.factors[monomial]:
                other = self._known[self.sums.birth[v]]
                if other is None or self._degree(product) + self._degree(other) > LARGEST_DEGREE:
                    return None
                product = self.product(product, other)
                if len(product) > self.limit:
                    return None
            self.add(total, product)
            if len(total) > self.limit:
                return None
        return total

    def _degree(self, terms: Sum) -> int:
        factors = self.sums.monomials.factors
        return max((len(factors[m]) for m in terms), default=0)

    def product(self, a: Sum, b: Sum) -> Sum:
        """Return a b in canonical form."""
        self.work -= len(a) * len(b)
        if self.work < 0:
            raise TooMuchWorkError
        if len(b) > len(a):
            a, b = b, a
        monomials, numbers = self.sums.monomials, self.sums.numbers
        total: Sum = {}
        for n, l in b.items():
            for m, k in a.items():
                self.add_term(total, monomials.product(m, n), numbers.product(k, l))
        return self.reduced(total)

    def reduced(self, terms: Sum, turned: frozenset[int] = frozenset()) -> Sum:
        """Return a sum with s^2 written 1 - c^2; for the cosines in `turned`, c^2 as 1 - s^2."""
        squares = [m for m in terms if self._square(m, turned) >= 0]
        if not squares:
            return terms
        total = {m: k for m, k in terms.items() if self._square(m, turned) < 0}
        stack = [(m, terms[m]) for m in squares]
        monomials = self.sums.monomials
        while stack:
            m, k = stack.pop()
            squared = self._square(m, turned)
            if squared < 0:
                self.add_term(total, m, k)
                continue
            other = self.sums.partner[squared]
            rest = monomials.quotient(m, monomials.of((squared, squared)))
            assert rest is not None
            stack.append((rest, k))
            stack.append((monomials.product(rest, monomials.of((other, other))), k ^ 1))
        return total

    def _square(self, monomial: int, turned: frozenset[int]) -> int:
        """Return a sine or cosine whose square in the monomial is to be replaced, or -1."""
        sines, partner = self.sums.sines, self.sums.partner
        squared = self._squared.get(monomial)
        if squared is None:
            pairs = pairwise(self.sums.monomials.factors[monomial])
            squared = tuple(v for u, v in pairs if u == v and v in partner)
            self._squared[monomial] = squared
        for v in squared:
            if v in turned or (v in sines and partner[v] not in turned):
                return v
        return -1

    def add(self, total: Sum, other: Sum) -> None:
        """Add the terms of a sum to a total."""
        for m, k in other.items():
            self.add_term(total, m, k)

    def add_term(self, total: Sum, monomial: int, coefficient: int) -> None:
        """Add one term to a total."""
        present = total.get(monomial)
        if present is None:
            total[monomial] = coefficient
            return
        k = self.sums.numbers.total(present, coefficient)
        if k == ZERO:
            del total[monomial]
        else:
            total[monomial] = k


def multiply_out(
    sums: Sums, limit: int, total: int | None = None, work: float = float("inf")
) -> bool:
    """Write every root as its expansion, as far as it has at most `limit` terms.

    With more than `total` terms in all, or after more than `work` products of two terms, nothing
    is done, and False returned.
    """
    expansions = Expansions(sums, limit, work)
    try:
        expanded = _expanded_roots(expansions, total)
    except TooMuchWorkError:
        return False
    if expanded is None:
        return False
    for root, terms in expanded.items():
        for monomial in list(sums.sum_of(root)):
            sums.remove(root, monomial)
        for monomial, coefficient in _shortest_form(expansions, terms).items():
            sums.insert(root, monomial, coefficient)
    return True


def _expanded_roots(expansions: Expansions, total: int | None) -> dict[int, Sum] | None:
    """Return the expansions that are not too long; None if all have more than `total` terms."""
    expanded: dict[int, Sum] = {}
    left = total
    for root in sorted(expansions.sums.roots):
        terms = expansions.of(root)
        if terms is not None:
            expanded[root] = terms
        if left is not None:
            left -= expansions.limit if terms is None else len(terms)
            if left < 0:
                return None
    return expanded


def _shortest_form(expansions: Expansions, terms: Sum) -> Sum:
    """Return a sum with the squares of each angle by its sine or its cosine, whatever is less."""
    sums = expansions.sums
    turned: frozenset[int] = frozenset()
    for cosine in sorted(set(sums.partner) - sums.sines):
        other = expansions.reduced(terms, turned | {cosine})
        if other != terms and _price(sums, other) < _price(sums, terms):
            terms, turned = other, turned | {cosine}
    return terms


def _price(sums: Sums, terms: Sum) -> float:
    return sum(sums.term_cost(m, k) + sums.prices.addition for m, k in terms.items())
