"""Write sums as products of sums, as far as they are.

A sum C is the product of two sums A and B if its terms can be laid out in a rectangle, a row for
each term of A and a column for each term of B, such that for every two rows and two columns

    e_m1 + e_m4 = e_m2 + e_m3    (3.16)        k_m1 k_m4 = k_m2 k_m3    (3.24)

where m1, m2 stand in one row, m1, m3 in one column. Both say that two rows differ by the same
monomial and the same ratio in every column; that is what is looked for here. The terms of a sum
with their powers and coefficients are its structural matrix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import combinations
from math import gcd, lcm
from typing import ClassVar, TypeAlias

from chainform.graph import (
    Draft,
    Graph,
    Monomial,
    Number,
    Terms,
    add_term,
    cheaper_graph,
    shortest_number,
)

Ratio: TypeAlias = tuple[Monomial, Monomial, int, int]
"""What two terms differ by: the two without what they share, and k1 : k2 in lowest terms."""
Pair: TypeAlias = tuple[Monomial, Monomial]
Entries: TypeAlias = tuple[tuple[Monomial, Number], ...]


@dataclass(frozen=True)
class Rectangle:
    """Terms that are a product: (sum of rows) x (sum of columns)."""

    rows: Entries
    columns: Entries

    def monomials(self) -> list[Monomial]:
        """Return the terms it covers."""
        return [times(a, g) for a, _ in self.rows for g, _ in self.columns]


def is_product(terms: Sequence[tuple[Monomial, Number]], columns: int) -> bool:
    """Whether terms, laid out row by row, satisfy (3.16) and (3.24) in every 2 x 2 block."""
    rows = [terms[i : i + columns] for i in range(0, len(terms), columns)]
    for first, second in combinations(rows, 2):
        for (m1, m3), (m2, m4) in combinations(list(zip(first, second, strict=True)), 2):
            if times(m1[0], m4[0]) != times(m2[0], m3[0]) or m1[1] * m4[1] != m2[1] * m3[1]:
                return False
    return True


def times(a: Monomial, b: Monomial) -> Monomial:
    """Return the product of two monomials."""
    return tuple(sorted(a + b)) if a and b else a or b


def over(a: Monomial, b: Monomial) -> Monomial | None:
    """Return a / b, or None where b does not divide a."""
    rest = list(a)
    for letter in b:
        if letter not in rest:
            return None
        rest.remove(letter)
    return tuple(rest)


def compared(a: Monomial, b: Monomial) -> tuple[Monomial, Monomial, Monomial]:
    """Return what two monomials share, and the rest of each."""
    shared: list[int] = []
    rest = list(b)
    left: list[int] = []
    for letter in a:
        if letter in rest:
            rest.remove(letter)
            shared.append(letter)
        else:
            left.append(letter)
    return tuple(shared), tuple(left), tuple(rest)


def whole(terms: Terms) -> tuple[dict[Monomial, int], int]:
    """Return a sum times a number that makes all coefficients whole, and that number."""
    scale = lcm(*(k.denominator for k in terms.values()))
    return {m: k.numerator * (scale // k.denominator) for m, k in terms.items()}, scale


def pairs_by_ratio(terms: Mapping[Monomial, int]) -> dict[Ratio, list[Pair]]:
    """Return the pairs of terms that differ by the same as another pair: 2 x n blocks."""
    found: dict[Ratio, list[Pair]] = {}
    for (a, k), (b, l) in combinations(sorted(terms.items()), 2):
        _, left, right = compared(a, b)
        if left > right:
            a, b, k, l, left, right = b, a, l, k, right, left
        common = gcd(k, l) if l > 0 else -gcd(k, l)
        found.setdefault((left, right, k // common, l // common), []).append((a, b))
    return {key: pairs for key, pairs in found.items() if len(pairs) > 1}


def rectangle_of(
    terms: Mapping[Monomial, int], ratio: Ratio, pairs: Sequence[Pair]
) -> Rectangle | None:
    """Return the 2 x n rectangle of pairs whose terms are all still there, each used once."""
    left, right, p, q = ratio
    used: set[Monomial] = set()
    columns: list[tuple[Monomial, Number]] = []
    for a, b in pairs:
        if a in terms and b in terms and a not in used and b not in used:
            used.add(a)
            used.add(b)
            columns.append((compared(a, b)[0], terms[b] // q))
    if len(columns) < 2:
        return None
    return Rectangle(((left, p), (right, q)), tuple(columns))


def grown(terms: Mapping[Monomial, int], rectangle: Rectangle) -> Rectangle:
    """Return a rectangle of more rows, where that saves more, at the price of some columns."""
    best = rectangle
    improved = True
    while improved:
        improved = False
        for row, ratio, supported in _further_rows(terms, best):
            candidate = Rectangle((*best.rows, (row, ratio)), supported)
            if saving(candidate) > saving(best):
                best, improved = candidate, True
                break
    return best


def _further_rows(
    terms: Mapping[Monomial, int], rectangle: Rectangle
) -> list[tuple[Monomial, Number, Entries]]:
    """Return rows that can be added, each with the columns in which it is there."""
    present = {row for row, _ in rectangle.rows}
    covered = set(rectangle.monomials())
    first, k = rectangle.columns[0]
    found: list[tuple[Monomial, Number, Entries]] = []
    for monomial, value in terms.items():
        row = over(monomial, first)
        if row is None or row in present or monomial in covered:
            continue
        supported = tuple(
            (g, l)
            for g, l in rectangle.columns
            if (other := times(row, g)) in terms
            and other not in covered
            and terms[other] * k == value * l
        )
        if len(supported) > 1:
            found.append((row, shortest_number(Fraction(value) / k), supported))
    return found


def saving(rectangle: Rectangle, shared: float = 1.0, units: int = 0) -> float:
    """Return the operations saved by writing a rectangle as a product.

    `units` of its terms have the coefficient 1 or -1, which costs nothing. `shared` is the part of
    the cost of the rows that falls on this sum, where others use them too.
    """
    before = sum(max(len(a) + len(g), 1) for a, _ in rectangle.rows for g, _ in rectangle.columns)
    outer = _common([g for g, _ in rectangle.columns])
    rows = _normal_price(rectangle.rows, 0)
    columns = _normal_price(rectangle.columns, outer)
    terms = len(rectangle.rows) * len(rectangle.columns)
    return before + terms - units - shared * rows - columns - (outer + 3)


def _normal_price(entries: Entries, outer: int) -> int:
    """Return the price of a sum in normal form, each term without `outer` of its letters."""
    counts: dict[Number, int] = {}
    total = len(entries) - 1
    for monomial, k in entries:
        if len(monomial) > outer:
            counts[abs(k)] = counts.get(abs(k), 0) + 1
            total += len(monomial) - outer
    return total - max(counts.values())


def _common(monomials: Sequence[Monomial]) -> int:
    """Return how many letters monomials have in common."""
    shared = monomials[0]
    for monomial in monomials[1:]:
        shared = compared(shared, monomial)[0]
    return len(shared)


def factors_of(rectangle: Rectangle) -> tuple[Terms, Terms, Monomial, Number]:
    """Return A, B, a monomial and a number whose product is the rectangle; A, B in normal form."""
    rows, k = normal(dict(rectangle.rows))
    outer = rectangle.columns[0][0]
    for g, _ in rectangle.columns[1:]:
        outer = compared(outer, g)[0]
    inner: Terms = {}
    for g, l in rectangle.columns:
        rest = over(g, outer)
        assert rest is not None
        inner[rest] = l
    columns, l = normal(inner)
    return rows, columns, outer, k * l


def normal(terms: Terms) -> tuple[Terms, Number]:
    """Return a multiple of a sum, the same for all multiples, and the number taken out.

    The size that most coefficients have becomes 1, so that it costs nothing.
    """
    counts: dict[Number, int] = {}
    for monomial, k in terms.items():
        if monomial:
            counts[abs(k)] = counts.get(abs(k), 0) + 1
    most = max(counts.values())
    scale = next(k for m, k in sorted(terms.items()) if m and counts[abs(k)] == most)
    if scale == 1:
        return terms, 1
    return {m: shortest_number(Fraction(k) / scale) for m, k in terms.items()}, scale


# --- the pass -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FactorProducts:
    """Write Y = sum Y1 Y2 + rest (algorithms 3.4 and 3.5 of Racković 1996).

    Where bodies move together, their expressions share whole factors, such as 0.777 + cos q5.
    All 2 x n products of a sum are found from the conditions on its structural matrix, grown to
    m x n, and taken in the order of what they save, each term once. The rows of a product that
    other sums have as well count there, too. Sums of more than `limit` terms are left alone: the
    number of pairs grows with its square.
    """

    name: ClassVar[str] = "factor_products"
    may_cost_more: ClassVar[bool] = False

    limit: int = field(
        default=400, metadata={"meaning": "terms of the longest sum that is factored"}
    )

    def __call__(self, graph: Graph) -> Graph:
        """Return the graph with products written as such in what the outputs need."""
        draft = Draft(graph)
        sums = [v for v in draft.live_sums() if 4 <= len(draft.terms[v]) <= self.limit]
        _Factoring(draft, sums).run()
        return cheaper_graph(draft.finish(), graph)


class _Factoring:
    """The products of all sums, and the factors made so far."""

    def __init__(self, draft: Draft, sums: list[int]) -> None:
        self.draft = draft
        self.sums = sums
        self.made: dict[frozenset[tuple[Monomial, Number]], int] = {}
        self.popular: Counter[Ratio] = Counter()
        self.used: set[Ratio] = set()

    def run(self) -> None:
        """Factor each sum."""
        pairs = {v: pairs_by_ratio(whole(self.draft.terms[v])[0]) for v in self.sums}
        for found in pairs.values():
            self.popular.update(found.keys())
        for v in self.sums:
            self._factor(v, pairs.pop(v))

    def _factor(self, v: int, pairs: dict[Ratio, list[Pair]]) -> None:
        """Take products out of one sum, the greatest saving first."""
        terms = self.draft.terms[v] = dict(self.draft.terms[v])
        left, scale = whole(terms)
        heap: list[tuple[float, int, Ratio]] = []
        for place, ratio in enumerate(pairs):
            best = self._best(left, ratio, pairs[ratio], scale)
            if best is not None:
                heap.append((-best[0], place, ratio))
        heapify(heap)
        while heap:
            promised, place, ratio = heappop(heap)
            best = self._best(left, ratio, pairs[ratio], scale)
            if best is None:
                continue
            if -best[0] > promised:
                heappush(heap, (-best[0], place, ratio))
                continue
            rectangle = grown(left, best[1])
            for monomial in rectangle.monomials():
                del left[monomial], terms[monomial]
            self._write(terms, rectangle, scale)
            self.used.add(ratio)
            heappush(heap, (promised, place, ratio))

    def _best(
        self, terms: dict[Monomial, int], ratio: Ratio, pairs: list[Pair], unit: int
    ) -> tuple[float, Rectangle] | None:
        """Return what the 2 x n product of some pairs saves, and the product, if it saves."""
        rectangle = rectangle_of(terms, ratio, pairs)
        if rectangle is None:
            return None
        units = sum(abs(terms[m]) == unit for m in rectangle.monomials())
        shared = 0.0 if ratio in self.used else 1 / self.popular[ratio]
        gain = saving(rectangle, shared, units)
        return (gain, rectangle) if gain > 0 else None

    def _write(self, terms: Terms, rectangle: Rectangle, scale: int) -> None:
        rows, columns, outer, k = factors_of(rectangle)
        factors = (self._variable(rows), self._variable(columns), *outer)
        add_term(terms, tuple(sorted(factors)), Fraction(k, scale))

    def _variable(self, terms: Terms) -> int:
        key = frozenset(terms.items())
        known = self.made.get(key)
        if known is None:
            known = self.made[key] = self.draft.add(dict(terms))
        return known
