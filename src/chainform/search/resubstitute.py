"""Find a part of a sum in what is computed already, however it is written there.

The value of a part, up to scale, is looked up among the products of two variables. A field
large enough tells values apart, so that identities between sines and cosines count as well.
"""

from __future__ import annotations

import random
from itertools import combinations

from chainform.algebra import System
from chainform.algebra.monomials import Monomial
from chainform.algebra.numbers import MINUS_ONE, ONE
from chainform.algebra.values import LONG, SHORT, Values, rational

Part = tuple[tuple[int, int], ...]
"""Some terms of a sum: monomials and coefficients."""

_PARTS = 12
_COMBINED = 150
_LONGEST = 24
_ABOVE = 1.5
"""How much more a replacement may cost, to be taken as a step to somewhere else."""


class Resubstitution:
    """Replaces parts of sums by multiples of products of variables there are."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.sums = system.sums
        self.first = Values(system, SHORT, 1)
        self.second = Values(system, SHORT, 2)
        self.exact = Values(system, LONG, 3)
        self._ratio: dict[int, int] = {}

    def ratio(self, variable: int) -> int:
        """Return the value of a variable with its scale divided out."""
        birth = self.sums.birth[variable]
        known = self._ratio.get(birth)
        if known is None:
            a, b = self.first.of(variable), self.second.of(variable)
            known = self._ratio[birth] = a * pow(b, -1, SHORT) % SHORT if b else 0
        return known

    def disturb(self, variable: int, rng: random.Random) -> bool:
        """Replace a part of a sum, if one is found elsewhere; tell whether one was."""
        sums = self.sums
        terms = list(sums.sum_of(variable).items())
        if len(terms) > _LONGEST:
            terms = rng.sample(terms, _LONGEST)
        for monomial, _ in terms:
            for v in sums.monomials.factors[monomial]:
                self.first.of(v), self.second.of(v)
        usable = self._usable(variable)
        by_ratio: dict[int, int] = {}
        for v in usable:
            by_ratio.setdefault(self.ratio(v), v)
        inverses = [(v, pow(r, -1, SHORT)) for r, v in by_ratio.items() if r]
        for part in self._parts(terms, rng):
            if self._replace(variable, part, by_ratio, inverses, rng):
                return True
        return False

    def _usable(self, variable: int) -> list[int]:
        sums = self.sums
        above = sums.above(variable)
        return [
            v
            for v, users in enumerate(sums.users)
            if (users or v in sums.roots or v in self.system.differences)
            and v not in above
            and not sums.is_constant[v]
        ]

    def _parts(
        self, terms: list[tuple[int, int]], rng: random.Random
    ) -> list[Part]:
        cost = self.sums.term_cost
        parts: list[Part] = [((m, k),) for m, k in terms if cost(m, k) > 1]
        pairs = list(combinations(terms, 2))
        if len(pairs) > _PARTS:
            pairs = rng.sample(pairs, _PARTS)
        parts += pairs
        if len(terms) > 2:
            parts += [tuple(rng.sample(terms, 3)) for _ in range(3)]
            parts.append(tuple(terms))
        rng.shuffle(parts)
        return parts

    def _replace(
        self,
        variable: int,
        part: Part,
        by_ratio: dict[int, int],
        inverses: list[tuple[int, int]],
        rng: random.Random,
    ) -> bool:
        a = sum(self.first.term(m, k) for m, k in part) % SHORT
        b = sum(self.second.term(m, k) for m, k in part) % SHORT
        if not b:
            return False
        if len(part) > 1 and rng.random() < 0.3:
            return self._combine(variable, part, (a, b), by_ratio, rng)
        wanted = a * pow(b, -1, SHORT) % SHORT
        found: list[Monomial] = [(by_ratio[wanted],)] if wanted in by_ratio else []
        get = by_ratio.get
        for v, inverse in inverses:
            other = get(wanted * inverse % SHORT)
            if other is not None and other >= v:
                found.append((v, other))
        rng.shuffle(found)
        return any(self._use(variable, part, factors, ()) for factors in found)

    def _combine(
        self,
        variable: int,
        part: Part,
        value: tuple[int, int],
        by_ratio: dict[int, int],
        rng: random.Random,
    ) -> bool:
        """Look for the part as one variable, or its opposite, and a multiple of another."""
        a, b = value
        usable = list(by_ratio.values())
        if len(usable) > _COMBINED:
            usable = rng.sample(usable, _COMBINED)
        found: list[tuple[int, int, int]] = []
        for v in usable:
            first, second = self.first.of(v), self.second.of(v)
            for sign, x, y in ((ONE, a - first, b - second), (MINUS_ONE, a + first, b + second)):
                if y % SHORT:
                    other = by_ratio.get(x * pow(y, -1, SHORT) % SHORT)
                    if other is not None and other != v:
                        found.append((v, sign, other))
        rng.shuffle(found)
        return any(
            self._use(variable, part, (other,), ((v, sign),)) for v, sign, other in found
        )

    def _use(
        self,
        variable: int,
        part: Part,
        factors: Monomial,
        beside: tuple[tuple[int, int], ...],
    ) -> bool:
        """Write a part as a multiple of a product, beside variables with a sign."""
        sums = self.sums
        monomial = sums.monomials.of(tuple(sorted(factors)))
        own = {m for m, _ in part}
        others = [(sums.monomials.of((v,)), sign) for v, sign in beside]
        if monomial in own or any(m in own for m, _ in others):
            return False
        scale = self._scale(part, factors, beside)
        if scale is None:
            return False
        addition = sums.prices.addition
        before = sum(sums.term_cost(m, k) + addition for m, k in part)
        after = sums.term_cost(monomial, scale) + addition * (1 + len(others))
        names = (*factors, *(v for v, _ in beside))
        after += sum(sums.price.get(v, 0.0) for v in names if not sums.users[v])
        if after > before + _ABOVE:
            return False
        for m, _ in part:
            sums.remove(variable, m)
        sums.insert(variable, monomial, scale)
        for m, sign in others:
            sums.insert(variable, m, sign)
        return True

    def _scale(
        self, part: Part, factors: Monomial, beside: tuple[tuple[int, int], ...]
    ) -> int | None:
        """Return k with: part = k times the factors, and the variables beside it."""
        exact = self.exact
        for m, _ in part:
            for v in self.sums.monomials.factors[m]:
                exact.of(v)
        value = sum(exact.term(m, k) for m, k in part)
        for v, sign in beside:
            value += exact.of(v) if sign == MINUS_ONE else -exact.of(v)
        for v in factors:
            value = value * pow(exact.of(v), -1, LONG) % LONG
        scale = rational(value, LONG)
        return self.sums.numbers.of(scale) if scale else None
