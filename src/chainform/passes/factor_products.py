"""Write sums as products of sums, as far as they are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush
from typing import ClassVar

from chainform.graph import Graph
from chainform.graph.draft import Draft, add_term, not_dearer
from chainform.graph.matrices import (
    Pair,
    Ratio,
    Rectangle,
    factors_of,
    grown,
    pairs_by_ratio,
    rectangle_of,
    saving,
    whole,
)
from chainform.graph.scalar import Monomial, Number, Terms


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

    limit: int = 400

    def __call__(self, graph: Graph) -> Graph:
        """Return the graph with products written as such in what the outputs need."""
        draft = Draft(graph)
        sums = [v for v in draft.live_sums() if 4 <= len(draft.terms[v]) <= self.limit]
        _Factoring(draft, sums).run()
        return not_dearer(draft.finish(), graph)


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
