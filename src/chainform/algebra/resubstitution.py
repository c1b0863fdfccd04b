"""Find a part of a sum in what is computed already, however it is written there.

The value of a part, up to scale, is looked up among the variables, among the products of two, and
among the sums of two. Values are those at a random point, in a finite field so large that it tells
values apart; so identities between sines and cosines count as well.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from itertools import chain, combinations, combinations_with_replacement, product

from flint import nmod

from chainform.algebra.convert import SumSystem
from chainform.algebra.dependencies import Needs
from chainform.algebra.finite_field import CURVED, LONG, SHORT, Field, rational, residues
from chainform.algebra.monomials import MINUS_ONE, ONE, Monomial
from chainform.algebra.sums import complete
from chainform.graph import CALLS


class Values:
    """The values of a system's variables, found at their first use.

    A variable keeps its value whatever happens to its definition.
    """

    def __init__(self, system: SumSystem, prime: int, seed: int) -> None:
        self.system = system
        self.sums = system.sums
        self.prime = prime
        self.field = Field(prime, seed)
        self._known: dict[int, int] = {}
        self._numbers: dict[int, int] = {}
        self._give()

    def _give(self) -> None:
        """Set the values of everything that is given, but calls of sums."""
        graph, field, birth = self.system.graph, self.field, self.sums.birth
        given = {new: old for new, old in self.system.origin.items() if self._is_given(new, old)}
        found = residues(graph, field, list(given.values()))
        for new, old in given.items():
            self._known[birth[new]] = found[old]
        differences = self.system.differences
        ends = {v for d in differences.values() for v in (d.minuend, d.subtrahend)}
        angles = residues(graph, field.angles, sorted(ends))
        for new, difference in differences.items():
            angle = angles[difference.minuend] - angles[difference.subtrahend]
            self._known[birth[new]] = field.curved(difference.function, angle)

    def _is_given(self, variable: int, origin: int) -> bool:
        """Whether the value of a variable has to be found in the graph."""
        if variable in self.sums.argument:
            return CALLS[int(self.system.graph.call[origin])] in CURVED
        return self.sums.terms[variable] is None

    def of(self, variable: int) -> int:
        """Return the value of a variable."""
        birth = self.sums.birth
        value = self._known.get(birth[variable])
        if value is not None:
            return value
        try:
            value = self._known[birth[variable]] = self._computed(variable)
        except KeyError:
            # It is not made of what is known already, as most are.
            value = complete(
                self._known, variable, self.sums.names_in, self._computed, birth.__getitem__
            )
        return value

    def _computed(self, variable: int) -> int:
        if variable in self.sums.argument:
            inner = self._known[self.sums.birth[self.sums.argument[variable]]]
            call = CALLS[int(self.system.graph.call[self.system.origin[variable]])]
            return self.field.call_of(call, inner)
        return sum(self.term(m, k) for m, k in self.sums.sum_of(variable).items()) % self.prime

    def term(self, monomial: int, coefficient: int) -> int:
        """Return the value of a coefficient times a monomial whose factors are known."""
        known, birth = self._known, self.sums.birth
        value = self.number(coefficient)
        for v in self.sums.monomials.factors[monomial]:
            value = value * known[birth[v]] % self.prime
        return value

    def number(self, coefficient: int) -> int:
        """Return a coefficient modulo the prime."""
        known = self._numbers.get(coefficient)
        if known is None:
            known = self.field.number(self.sums.numbers.fraction(coefficient))
            self._numbers[coefficient] = known
        return known


Part = tuple[tuple[int, int], ...]
"""Some terms of a sum: monomials and coefficients."""
Pairs = Mapping[int, tuple[int, int]]
"""The values of terms at the two points, by monomial."""
_PAIRS = 12
"""How many pairs of terms of one sum are looked up in a random step."""
_COMBINED = 150
_LARGE = 800
"""The most variables whose products are looked through."""
_LONGEST = 24
"""The most terms of one sum that are considered."""


class Resubstitution:
    """Replaces parts of sums by multiples of products of variables there are."""

    def __init__(self, system: SumSystem) -> None:
        self.system = system
        self.sums = system.sums
        self.first = Values(system, SHORT, 1)
        self.second = Values(system, SHORT, 2)
        self.exact = Values(system, LONG, 3)
        self.needs = Needs(system)
        self._ratio: dict[int, tuple[int, int, int, int]] = {}
        self.by_ratio: dict[int, int] = {}
        self.inverses: list[tuple[int, int]] = []
        self._above: set[int] | None = None
        self._products: set[int] | None = None
        """The values of the products of two variables, scale divided out, where they are noted."""
        self._multiplied: set[int] = set()
        """The values whose products with each other were noted at any time,"""
        self._all_products: set[int] = set()
        """and these products; more than there are now do no harm."""

    def sweep(self) -> int:
        """Replace every part that is cheaper otherwise; return how many were replaced."""
        count = 0
        order = [v for v in self.sums.order() if self._is_sum(v)]
        self._offer(self._used())
        if len(self.inverses) > _LARGE:
            given = [v for v, _ in self.inverses if self.sums.terms[v] is None]
            self.inverses = [(v, self._ratio_of(v)[1]) for v in given]
        self._note_products()
        for variable in order:
            if len(self.sums.sum_of(variable)) > _LONGEST:
                continue
            self._above = None
            again = True
            while again:
                terms = list(self.sums.sum_of(variable).items())
                values = self._values(terms)
                parts = [*self._single(terms), *combinations(terms, 2)]
                if len(terms) > 2:
                    parts.append(tuple(terms))
                again = any(self._replace(variable, part, values, -1e-9) for part in parts)
                count += again
        return count

    def _is_sum(self, variable: int) -> bool:
        return self.sums.terms[variable] is not None and not self.sums.is_constant[variable]

    def disturb(self, variable: int, rng: random.Random, above: float = 1.5) -> bool:
        """Replace a part of a sum by another form that costs at most so much more, if there is."""
        terms = self._prepare(variable, rng)
        parts = list(self._single(terms))
        pairs = list(combinations(terms, 2))
        parts += pairs if len(pairs) <= _PAIRS else rng.sample(pairs, _PAIRS)
        if len(terms) > 2:
            parts += [tuple(rng.sample(terms, 3)) for _ in range(3)]
            parts.append(tuple(terms))
        rng.shuffle(parts)
        values = self._values(terms)
        return any(self._replace(variable, part, values, above, rng) for part in parts)

    def _single(self, terms: Iterable[tuple[int, int]]) -> list[Part]:
        return [((m, k),) for m, k in terms if self.sums.term_cost(m, k) > 1]

    def _prepare(self, variable: int, rng: random.Random) -> list[tuple[int, int]]:
        """Set up what may be used in a sum, and return its terms."""
        terms = list(self.sums.sum_of(variable).items())
        if len(terms) > _LONGEST:
            terms = rng.sample(terms, _LONGEST)
        used = self._used()
        if len(used) > _LARGE:
            used = rng.sample(used, _LARGE)
        self._offer(used)
        self._above = None
        return terms

    def _values(self, terms: Iterable[tuple[int, int]]) -> Pairs:
        """Return the values of terms, from which those of all parts are added up."""
        first, second, factors = self.first, self.second, self.sums.monomials.factors
        values: dict[int, tuple[int, int]] = {}
        for m, k in terms:
            try:
                values[m] = (first.term(m, k), second.term(m, k))
            except KeyError:
                for v in factors[m]:
                    first.of(v)
                    second.of(v)
                values[m] = (first.term(m, k), second.term(m, k))
        return values

    def _used(self) -> list[int]:
        sums = self.sums
        return [
            v
            for v, users in enumerate(sums.users)
            if (users or v in sums.roots or v in self.system.differences)
            and not sums.is_constant[v]
        ]

    def _offer(self, variables: Iterable[int]) -> None:
        """Let some variables be used in replacements."""
        self.by_ratio = by_ratio = dict[int, int]()
        self.inverses = inverses = list[tuple[int, int]]()
        self._products = None
        get, birth = self._ratio.get, self.sums.birth
        for v in variables:
            ratio, inverse, _, _ = get(birth[v]) or self._ratio_of(v)
            if ratio and ratio not in by_ratio:
                by_ratio[ratio] = v
                inverses.append((v, inverse))

    def _note_products(self) -> None:
        """Note the values of all products, so that most parts are known to be none of them."""
        ratios = {self._ratio_of(v)[0] for v, _ in self.inverses}
        others = self.by_ratio.keys() - ratios
        if others or len(self._multiplied) > 2 * len(ratios):
            self._multiplied, self._all_products = set(), set()
        fresh = ratios - self._multiplied
        pairs = chain(
            combinations_with_replacement(fresh, 2),
            product(fresh, self._multiplied),
            product(ratios, others),
        )
        self._all_products.update([x * y % SHORT for x, y in pairs])
        self._multiplied |= fresh
        self._products = self._all_products

    def _is_above(self, variable: int, names: Iterable[int]) -> bool:
        """Whether one of some variables is computed from this one, or is it."""
        if self._above is None:
            self._above = self.sums.above(variable)
        return any(v in self._above for v in names)

    def _ratio_of(self, variable: int) -> tuple[int, int, int, int]:
        """Return a / b, with the scale divided out, and b / a, a, b of a variable's values."""
        birth = self.sums.birth[variable]
        known = self._ratio.get(birth)
        if known is None:
            a, b = self.first.of(variable), self.second.of(variable)
            known = (0, 0, a, b)
            if a and b:
                known = (_quotient(a, b), _quotient(b, a), a, b)
            self._ratio[birth] = known
        return known

    def _replace(
        self,
        variable: int,
        part: Part,
        values: Pairs,
        above: float,
        rng: random.Random | None = None,
    ) -> bool:
        a = sum(values[m][0] for m, _ in part)
        b = sum(values[m][1] for m, _ in part) % SHORT
        if not b:
            return False
        if rng is not None and len(part) > 1 and rng.random() < 0.3:
            return self._combine(variable, part, (a, b), above, rng)
        found = self._matches(_quotient(a, b), products=True)
        if rng is not None:
            rng.shuffle(found)
        return any(self._use(variable, part, factors, (), above) for factors in found)

    def _combine(
        self, variable: int, part: Part, value: tuple[int, int], above: float, rng: random.Random
    ) -> bool:
        """Look for the part as one variable, or its opposite, and a multiple of another."""
        a, b = value
        usable = [v for v, _ in self.inverses]
        if len(usable) > _COMBINED:
            usable = rng.sample(usable, _COMBINED)
        products = len(self.inverses) <= _COMBINED and rng.random() < 0.05
        if products:
            self._note_products()
        found: list[tuple[int, int, Monomial]] = []
        for v in usable:
            _, _, first, second = self._ratio_of(v)
            for sign, x, y in ((ONE, a - first, b - second), (MINUS_ONE, a + first, b + second)):
                wanted = _quotient(x, y) if y % SHORT else 0
                if products or wanted in self.by_ratio:
                    found += [(v, sign, m) for m in self._matches(wanted, products)]
        rng.shuffle(found)
        return any(
            self._use(variable, part, factors, ((v, sign),), above) for v, sign, factors in found
        )

    def _matches(self, wanted: int, products: bool) -> list[Monomial]:
        """Return the variables, and with `products` the products of two, of this value."""
        get = self.by_ratio.get
        single = get(wanted)
        found: list[Monomial] = [] if single is None else [(single,)]
        if products and (self._products is None or wanted in self._products):
            for v, inverse in self.inverses:
                other = get(wanted * inverse % SHORT)
                if other is not None and other >= v:
                    found.append((v, other))
        return found

    def _use(
        self,
        variable: int,
        part: Part,
        factors: Monomial,
        rest: Part,
        above: float,
    ) -> bool:
        """Write a part as a multiple of a product, plus variables with a sign."""
        sums = self.sums
        monomial = sums.monomials.of(tuple(sorted(factors)))
        own = {m for m, _ in part}
        others = [(sums.monomials.of((v,)), sign) for v, sign in rest]
        if monomial in own or any(m in own for m, _ in others):
            return False
        addition = sums.prices.addition
        before = sum(sums.term_cost(m, k) + addition for m, k in part)
        after = sums.term_cost(monomial, ONE) + addition * (1 + len(others))
        names = (*factors, *(v for v, _ in rest))
        after += sum(sums.price.get(v, 0.0) for v in names if not sums.users[v])
        if after > before + above or self._is_above(variable, names):
            return False
        if not all(self.needs.allow(variable, v) for v in names):
            return False
        scale = self._scale(part, factors, rest)
        if scale is None:
            return False
        after += sums.term_cost(monomial, scale) - sums.term_cost(monomial, ONE)
        if after > before + above:
            return False
        for m, _ in part:
            sums.remove(variable, m)
        sums.insert(variable, monomial, scale)
        for m, sign in others:
            sums.insert(variable, m, sign)
        return True

    def _scale(self, part: Part, factors: Monomial, rest: Part) -> int | None:
        """Return k with: part = k times the factors, plus the other variables."""
        exact = self.exact
        for m, _ in part:
            for v in self.sums.monomials.factors[m]:
                exact.of(v)
        value = sum(exact.term(m, k) for m, k in part)
        for v, sign in rest:
            value += exact.of(v) if sign == MINUS_ONE else -exact.of(v)
        for v in factors:
            value = value * pow(exact.of(v), -1, LONG) % LONG
        scale = rational(value, LONG)
        return self.sums.numbers.of(scale) if scale else None


def _quotient(a: int, b: int) -> int:
    """Return a / b, by flint: an inverse takes Python five times as long."""
    return int(nmod(a, SHORT) / nmod(b, SHORT))
