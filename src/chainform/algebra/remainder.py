"""Write a variable as a multiple of another one and a remainder: P = k q N + R.

The expansions of both are compared modulo sin^2 + cos^2 = 1, which finds what dividing sums as they
are written cannot.
"""

from __future__ import annotations

import random

from chainform.algebra.expansion import Expansions
from chainform.algebra.needs import Needs
from chainform.algebra.sums import Sum, Sums

_TRIALS = 120
_LONGEST_COFACTOR = 2
_CANDIDATES = 100
_BITS = 20
"""By how many bits the terms of a multiple may be larger than those of the sum it is taken from.

What is left must cancel them, and rounding stays."""


class Remainders:
    """Rewrites a variable by others that it contains, or as its expansion."""

    def __init__(self, sums: Sums, longest: int, needs: Needs) -> None:
        self.sums = sums
        self.needs = needs
        self.expansions = Expansions(sums, longest)

    def disturb(self, variable: int, rng: random.Random) -> bool:
        """Write a sum in another way; tell whether one was found."""
        own = self.expansions.of(variable)
        if own is None or len(own) < 2:
            return False
        turned = self._turned(rng)
        own = self.expansions.reduced(own, turned)
        parts: list[tuple[int, int, int]] = []
        if rng.random() < 0.65:
            candidates = self._candidates(variable, len(own) + 2, turned, rng)
            for _ in range(rng.choice((1, 1, 2, 3))):
                found = self._best(own, candidates, turned, rng)
                if found is None:
                    break
                n, q, k, own = found
                parts.append((n, q, k))
            if not parts:
                return False
        sums = self.sums
        for monomial in list(sums.sum_of(variable)):
            sums.remove(variable, monomial)
        for monomial, coefficient in own.items():
            sums.insert(variable, monomial, coefficient)
        for n, q, k in parts:
            sums.insert(variable, sums.monomials.times(q, n), k)
        return True

    def _turned(self, rng: random.Random) -> frozenset[int]:
        """Return the cosines whose squares are written by sines, at random."""
        if rng.random() < 0.3:
            return frozenset()
        cosines = sorted(set(self.sums.partner) - self.sums.sines)
        return frozenset(v for v in cosines if rng.random() < 0.5)

    def _candidates(
        self, variable: int, longest: int, turned: frozenset[int], rng: random.Random
    ) -> list[tuple[int, Sum]]:
        above = self.sums.above(variable)
        found: list[tuple[int, Sum]] = []
        choices = self.sums.defined()
        if len(choices) > _CANDIDATES:
            choices = rng.sample(choices, _CANDIDATES)
        for v in choices:
            if v in above or self.sums.is_constant[v] or not self.needs.allow(variable, v):
                continue
            terms = self.expansions.of(v)
            if terms is not None and 1 < len(terms) <= 2 * longest:
                terms = self.expansions.reduced(terms, turned)
                if 1 < len(terms) <= longest:
                    found.append((v, terms))
        return found

    def _best(
        self,
        own: Sum,
        candidates: list[tuple[int, Sum]],
        turned: frozenset[int],
        rng: random.Random,
    ) -> tuple[int, int, int, Sum] | None:
        if len(own) < 2 or not candidates:
            return None
        monomials, numbers = self.sums.monomials, self.sums.numbers
        half = numbers.ratio(0, 2)
        names, bits = list(own), numbers.bits
        most = _BITS + max(bits[k] for k in own.values())
        best: tuple[float, int, int, int, Sum] | None = None
        for _ in range(_TRIALS):
            n, terms = rng.choice(candidates)
            m, matched = rng.choice(names), rng.choice(list(terms))
            q = monomials.quotient(m, matched)
            if q is None or len(monomials.factors[q]) > _LONGEST_COFACTOR:
                continue
            k = numbers.ratio(own[m], terms[matched])
            if rng.random() < 0.3:
                k = numbers.product(k, half)
            if bits[k] + max(bits[l] for l in terms.values()) > most:
                continue
            rest = dict(own)
            self.expansions.add(
                rest, {monomials.product(x, q): numbers.product(l, k) ^ 1 for x, l in terms.items()}
            )
            rest = self.expansions.reduced(rest, turned)
            length = len(rest) + 0.9 * rng.random()
            if best is None or length < best[0]:
                best = (length, n, q, k, rest)
        if best is None or len(best[4]) > len(own):
            return None
        return best[1:]
