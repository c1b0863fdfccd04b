"""Take out common parts, the most useful first, until nothing more is gained.

Three kinds of divisor compete: two terms of a sum up to scale, the product of two variables, a
constant times a variable. Products of sums and Horner forms come out by repetition.
The best one is found by a heap whose entries may be out of date: extraction can only lower
the gain of what was already there, so an entry is priced again when it comes up.
"""

from __future__ import annotations

import heapq
import random
from typing import NamedTuple, cast

from chainform.algebra.convert import SumSystem
from chainform.algebra.index import MULTIPLE, PAIR, Key, Multiple, Occurrence, Pair, Product
from chainform.algebra.monomials import ONE
from chainform.algebra.resubstitution import Resubstitution
from chainform.algebra.simplification import Tidier
from chainform.algebra.sums import Sums

_LEAST = 1e-6
_SCALES = 4


class PairPlan(NamedTuple):
    """How a pair of terms is taken out: the gain, the scale, where, and the variable, if known."""

    gain: float
    scale: int
    occurrences: list[Occurrence]
    known: int | None


def extract(sums: Sums, noise: float = 0.0, rng: random.Random | None = None) -> int:
    """Take out divisors of the sums that are fresh in the index; return how many.

    With `noise`, each gain is judged with a random error, to end in another place next time.
    """
    source = rng or random.Random(0)
    heap: list[tuple[float, float, Key]] = []
    fresh = sums.index.fresh
    count = 0
    while True:
        for key in fresh:
            gain = gain_of(sums, key)
            if gain > _LEAST:
                error = noise * source.random() if noise else 0.0
                heapq.heappush(heap, (-gain - error, source.random(), key))
        fresh.clear()
        if not heap:
            return count
        _, order, key = heapq.heappop(heap)
        gain, plan = _priced(sums, key)
        if gain <= _LEAST:
            continue
        if heap and gain + noise < -heap[0][0]:
            heapq.heappush(heap, (-gain, order, key))
            continue
        _take_out(sums, key, plan)
        count += 1


def gain_of(sums: Sums, key: Key) -> float:
    """Return how much cheaper the sums become when a divisor is taken out."""
    return _priced(sums, key)[0]


def _priced(sums: Sums, key: Key) -> tuple[float, PairPlan | None]:
    """Return the gain of a divisor and, for a pair of terms, how it is taken out."""
    kind, divisor = key
    if kind == PAIR:
        plan = _pair_plan(sums, cast(Pair, divisor))
        return (plan.gain if plan else 0.0), plan
    if kind == MULTIPLE:
        occurrences = sums.index.multiples.get(cast(Multiple, divisor), ())
        return sums.prices.multiplication * (len(occurrences) - 1), None
    return _product_gain(sums, cast(Product, divisor)), None


def take_out(sums: Sums, key: Key) -> None:
    """Make a divisor a variable and use it wherever it occurs."""
    _take_out(sums, key, _priced(sums, key)[1])


def _take_out(sums: Sums, key: Key, plan: PairPlan | None) -> None:
    kind, divisor = key
    if kind == PAIR:
        if plan:
            _take_pair(sums, cast(Pair, divisor), plan)
    elif kind == MULTIPLE:
        _take_multiple(sums, cast(Multiple, divisor))
    else:
        _take_product(sums, cast(Product, divisor))


def _pair_plan(sums: Sums, divisor: Pair) -> PairPlan | None:
    found = sums.index.pairs.get(divisor)
    if not found:
        return None
    first, second, ratio = divisor
    known, scale = None, ONE
    if len(found) > 1 or divisor in sums.identities:
        known, scale = _known(sums, divisor, found)
        occurrences = _apart(found, known)
        if not occurrences:
            return None
    else:
        occurrences = list(found)
        if occurrences[0][1] == first:
            return None
    before, cofactors = _before(sums, ratio, occurrences)
    if known is not None:
        after = _cofactors_cost(sums, cofactors, scale)
        if not sums.users[known]:
            after += sums.price.get(known, 0.0)
        return PairPlan(before - after, scale, occurrences, known)
    if not (sums.monomials.degree[first] or sums.monomials.degree[second]):
        scaled_cost = sums.monomials.scaled_cost
        after = sum(scaled_cost[cofactor] for cofactor, _ in cofactors)
        return PairPlan(before - after, ONE, occurrences, None)
    cost, product, best, least = sums.term_cost, sums.numbers.product, ONE, float("inf")
    for scale in _scale_choices(sums, ratio, cofactors):
        after = cost(first, scale) + cost(second, product(scale, ratio))
        after += _cofactors_cost(sums, cofactors, scale)
        if after < least:
            best, least = scale, after
    return PairPlan(before - sums.prices.addition - least, best, occurrences, None)


def _before(
    sums: Sums, ratio: int, occurrences: list[Occurrence]
) -> tuple[float, list[tuple[int, int]]]:
    """Return the cost of the terms of all occurrences, and each common part and coefficient."""
    cost, shared, product = sums.term_cost, sums.monomials.shared, sums.numbers.product
    constants, degree, addition = sums.constants, sums.monomials.degree, sums.prices.addition
    before = 0.0
    cofactors: list[tuple[int, int]] = []
    for v, m, n in occurrences:
        k = sums.sum_of(v)[m]
        before += cost(m, k) + cost(n, product(k, ratio))
        # A constant that stands with others in the sum is added with them, once for all.
        if constants[v] < 2 or (degree[m] and degree[n]):
            before += addition
        cofactors.append((shared(m, n)[0], k))
    return before, cofactors


def _known(sums: Sums, divisor: Pair, found: dict[Occurrence, None]) -> tuple[int | None, int]:
    """Return the variable that is a multiple of the divisor already, and the multiple."""
    given = sums.identities.get(divisor)
    if given is not None:
        return given
    first, second, _ = divisor
    for v, m, n in found:
        if m == first and n == second:
            terms = sums.sum_of(v)
            if len(terms) == 2:
                return v, terms[m]
    return None, ONE


def _apart(found: dict[Occurrence, None], known: int | None) -> list[Occurrence]:
    """Return occurrences that share no term."""
    if len(found) == 1:
        return [occurrence for occurrence in found if occurrence[0] != known]
    used: set[tuple[int, int]] = set()
    occurrences: list[Occurrence] = []
    for occurrence in found:
        v, m, n = occurrence
        if v != known and (v, m) not in used and (v, n) not in used:
            used.add((v, m))
            used.add((v, n))
            occurrences.append(occurrence)
    return occurrences


def _scale_choices(sums: Sums, ratio: int, cofactors: list[tuple[int, int]]) -> list[int]:
    """Return the scales to try: one, that of either term, those that occur most often."""
    choices = [ONE]
    if ratio > 1:
        choices.append(sums.numbers.ratio(ONE, ratio & ~1))
    if len(cofactors) == 1:
        often = [cofactors[0][1] & ~1]
    else:
        scales: dict[int, int] = {}
        for _, k in cofactors:
            scales[k & ~1] = scales.get(k & ~1, 0) + 1
        often = sorted(scales, key=scales.__getitem__, reverse=True)[:_SCALES]
    choices += [k for k in often if k not in choices]
    return choices


def _cofactors_cost(sums: Sums, cofactors: list[tuple[int, int]], scale: int) -> float:
    """Return the cost of the cofactors, each times a variable that is not there yet."""
    monomials, numbers = sums.monomials, sums.numbers
    degree, has_constant = monomials.degree, monomials.has_constant
    multiplication, addition = sums.prices.multiplication, sums.prices.addition
    total = 0.0
    for cofactor, k in cofactors:
        size = numbers.ratio(k, scale) >> 1 if (k ^ scale) > 1 else 0
        total += multiplication * degree[cofactor]
        if size > 1 or has_constant[cofactor]:
            total += multiplication
        elif size:
            total += addition
    return total


def _take_pair(sums: Sums, divisor: Pair, plan: PairPlan) -> None:
    first, second, ratio = divisor
    numbers, monomials = sums.numbers, sums.monomials
    divided = plan.known
    if divided is None:
        constant = not (monomials.degree[first] or monomials.degree[second])
        terms = ((first, plan.scale), (second, numbers.product(plan.scale, ratio)))
        divided = sums.define(terms, is_constant=constant)
    for v, m, n in plan.occurrences:
        # What was written for an earlier occurrence may have met a term of this one.
        if (v, m, n) not in sums.index.pairs.get(divisor, ()):
            continue
        common = monomials.shared(m, n)[0]
        k = sums.remove(v, m)
        sums.remove(v, n)
        sums.insert(v, monomials.times(common, divided), numbers.ratio(k, plan.scale))


def _product_gain(sums: Sums, product: Product) -> float:
    found = sums.index.products.get(product)
    if not found or len(found) < 2:
        return 0.0
    constants = sums.is_constant[product[0]] + sums.is_constant[product[1]]
    if not constants:
        return sums.prices.multiplication * (len(found) - 1)
    # A constant factor next to the coefficient 1 or to a second constant saves nothing by itself.
    saved = 0.0
    for v, m in found:
        k = sums.sum_of(v)[m]
        others = [x for x in sums.monomials.factors[m] if x not in product]
        if k < 2 and not any(sums.is_constant[x] for x in others):
            saved += sums.prices.multiplication
    return saved - sums.prices.multiplication


def _take_product(sums: Sums, product: Product) -> None:
    monomials = sums.monomials
    square = monomials.of(product)
    found = list(sums.index.products[product])
    known = next((v for v, m in found if m == square and _is_only(sums, v, m)), None)
    divided = sums.define(((square, ONE),)) if known is None else known
    for v, m in found:
        if v == divided or m not in sums.sum_of(v):
            continue
        k = sums.remove(v, m)
        rest = monomials.quotient(m, square)
        while rest is not None:
            m = monomials.times(rest, divided)
            rest = monomials.quotient(m, square)
        sums.insert(v, m, k)


def _is_only(sums: Sums, variable: int, monomial: int) -> bool:
    terms = sums.sum_of(variable)
    return len(terms) == 1 and terms[monomial] == ONE


def _take_multiple(sums: Sums, multiple: Multiple) -> None:
    magnitude, x = multiple
    monomials = sums.monomials
    single = monomials.of((x,))
    found = list(sums.index.multiples[multiple])
    known = next((v for v, m in found if m == single and len(sums.sum_of(v)) == 1), None)
    divided = sums.define(((single, magnitude),)) if known is None else known
    sign = sums.sum_of(divided)[single] & 1
    for v, m in found:
        if v == divided:
            continue
        k = sums.remove(v, m)
        rest = monomials.quotient(m, single)
        assert rest is not None
        sums.insert(v, monomials.times(rest, divided), (k & 1) ^ sign)


# --- until nothing is gained ----------------------------------------------------------------------


class Settler:
    """Takes out common parts and tidies up, in turns."""

    def __init__(self, system: SumSystem, rng: random.Random | None = None) -> None:
        self.system = system
        self.sums = system.sums
        self.rng = rng or random.Random(0)
        self.tidier = Tidier(system.sums)
        self.resubstitution = Resubstitution(system)

    def reduce(self, noise: float = 0.0) -> None:
        """Settle what was touched since the last time."""
        self.tidier.tidy()
        while self.sums.index.fresh:
            extract(self.sums, noise, self.rng)
            self.tidier.tidy()

    def _use_identities(self) -> None:
        """Use differences of angles first, before their terms are taken apart."""
        for divisor in list(self.sums.identities):
            key = (PAIR, divisor)
            while gain_of(self.sums, key) > 0:
                take_out(self.sums, key)

    def settle(self, *, resubstitute: bool = False) -> None:
        """Settle everything; with `resubstitute`, find parts that are computed already as well."""
        sums = self.sums
        self._use_identities()
        sums.touched.update(dict.fromkeys(sums.defined()))
        self.reduce()
        if resubstitute:
            cost = sums.cost + 1
            while sums.cost < cost - 1e-9:
                cost = sums.cost
                self.resubstitution.sweep()
                self.reduce()
        sums.forget()
