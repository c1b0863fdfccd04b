"""Take out common products, the one of greatest saving first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import ClassVar, TypeAlias

from chainform.graph import Draft, Graph, Number, Terms, add_term, cheaper_graph

Product: TypeAlias = tuple[int, ...]
"""Letters, ascending: variables, and numbers other than +-1 as negative letters."""
Expression: TypeAlias = dict[Product, int]
"""The sign of each product of a sum."""


@dataclass(frozen=True)
class ExtractMonomials:
    """Write Y = mu Y1 + Y2 for all sums at once, again and again (algorithm 3.3 of Racković 1996).

    mu is the product of up to `degree` letters that saves the most multiplications. A number is a
    letter like any other, so that 0.54 c5 is found as c4 c5 is. The saving is the exact one, by the
    house's counting rule: each of the terms that hold mu loses deg(mu) multiplications (one less
    where nothing but mu is left), each sum gains one, and mu is computed once. Formula (3.5), as it
    is printed, charges deg(mu) - 1 to every sum instead; `printed_saving` gives it.

    A new sum that is already there, up to its sign, is not made again. Savings are updated
    term by term, so the time grows with the number of products, not with the square of the sums.
    `limit` ends the search after so many extractions.
    """

    name: ClassVar[str] = "extract_monomials"
    may_cost_more: ClassVar[bool] = False

    degree: int = field(
        default=2,
        metadata={
            "meaning": "factors of the longest product taken out in one step",
            "least": 1,
            "most": 6,
        },
    )
    limit: int | None = field(default=None, metadata={"meaning": "most products taken out"})

    def __call__(self, graph: Graph) -> Graph:
        """Return the graph with common products taken out of what the outputs need."""
        draft = Draft(graph)
        table = _Table(draft, self.degree)
        table.run(self.limit)
        table.write()
        return cheaper_graph(draft.finish(), graph)


def printed_saving(terms: int, degree: int, sums: int) -> int:
    """Return formula (3.5) of Racković 1996, U = Phi d - N (d - 1), zero where it is negative."""
    return max(terms * degree - sums * (degree - 1), 0)


class _Table:
    """All sums, with the savings of the products that occur in them."""

    def __init__(self, draft: Draft, degree: int) -> None:
        self.draft = draft
        self.degree = degree
        self.numbers: list[Number] = []
        self._letter_of: dict[Number, int] = {}
        self.sums: dict[int, Expression] = {}
        self.known: dict[frozenset[tuple[Product, int]], int] = {}
        self.holders: dict[Product, dict[int, dict[Product, int]]] = defaultdict(dict)
        self.gain: dict[Product, int] = defaultdict(int)
        self.heap: list[tuple[int, int, Product]] = []
        self.changed: set[Product] = set()
        for v in draft.live_sums():
            self._add_sum(v, self._expression(draft.terms[v]))

    # --- letters ------------------------------------------------------------------------

    def _expression(self, terms: Terms) -> Expression:
        expression: Expression = {}
        for monomial, k in terms.items():
            product = monomial if k in (1, -1) else (self._number(abs(k)), *monomial)
            expression[product] = 1 if k > 0 else -1
        return expression

    def _number(self, value: Number) -> int:
        letter = self._letter_of.get(value)
        if letter is None:
            self.numbers.append(value)
            letter = self._letter_of[value] = -len(self.numbers)
        return letter

    def _terms(self, expression: Expression) -> Terms:
        terms: Terms = {}
        for product, sign in expression.items():
            k: Number = sign
            for letter in product:
                k = k * self.numbers[-letter - 1] if letter < 0 else k
            add_term(terms, tuple(v for v in product if v >= 0), k)
        return terms

    # --- keeping savings up to date -----------------------------------------------------

    def _parts(self, product: Product) -> Iterator[Product]:
        """Yield the products of up to `degree` letters that divide a product."""
        for size in range(1, min(self.degree, len(product)) + 1):
            yield from dict.fromkeys(combinations(product, size))

    def _add_sum(self, v: int, expression: Expression) -> None:
        self.sums[v] = {}
        for product, sign in expression.items():
            self._insert(v, product, sign)
        self.known.setdefault(frozenset(expression.items()), v)

    def _insert(self, v: int, product: Product, sign: int) -> None:
        self.sums[v][product] = sign
        for part in self._parts(product):
            self._change(part, v, product, True)

    def _remove(self, v: int, product: Product) -> None:
        del self.sums[v][product]
        for part in self._parts(product):
            self._change(part, v, product, False)

    def _change(self, part: Product, v: int, product: Product, enters: bool) -> None:
        holders = self.holders[part]
        held = holders.get(v)
        if held is None:
            held = holders[v] = {}
        before = _saving(held, len(part))
        if enters:
            held[product] = len(part) - (len(product) == len(part))
        else:
            del held[product]
            if not held:
                del holders[v]
        self.gain[part] += _saving(held, len(part)) - before
        self.changed.add(part)

    def _net(self, part: Product) -> int:
        """Return what a product saves, less the multiplications to form it once."""
        return self.gain[part] - len(part) + 1

    def _push_changed(self) -> None:
        for part in self.changed:
            net = self._net(part)
            if net > 0:
                heappush(self.heap, (-net, -len(part), part))
        self.changed.clear()

    # --- extraction ---------------------------------------------------------------------

    def run(self, limit: int | None) -> None:
        """Extract the product of greatest saving until none saves anything."""
        self.heap = [(-self._net(p), -len(p), p) for p in self.gain if self._net(p) > 0]
        self.changed.clear()
        heapify(self.heap)
        while self.heap and limit != 0:
            net, _, part = heappop(self.heap)
            if net != -self._net(part):
                continue
            self._extract(part)
            self._push_changed()
            limit = None if limit is None else limit - 1

    def _extract(self, part: Product) -> None:
        letter, side = (part[0], 1) if len(part) == 1 else self._sum({part: 1}, -1)
        for v in sorted(self.holders[part]):
            held = self.holders[part].get(v)
            if held is None or v == letter:
                continue
            if len(held) > 1:
                self._take_out(v, part, letter, side)
            elif len(part) > 1:
                (product,) = held
                sign = side * self.sums[v][product]
                self._remove(v, product)
                self._put(v, (*_quotient(product, part), letter), sign)

    def _take_out(self, v: int, part: Product, letter: int, side: int) -> None:
        """Write the terms of one sum that hold a product as product times sum."""
        held = sorted(self.holders[part][v])
        quotient = {_quotient(product, part): self.sums[v][product] for product in held}
        for product in held:
            self._remove(v, product)
        inner, sign = self._sum(quotient, v)
        self._put(v, (inner, letter), side * sign)

    def _put(self, v: int, letters: Product, sign: int) -> None:
        """Add a product to a sum; where the same one is there, the two make 2 x or nothing."""
        product = tuple(sorted(letters))
        present = self.sums[v].get(product)
        if present is None:
            self._insert(v, product, sign)
            return
        self._remove(v, product)
        if present == sign:
            self._put(v, (self._number(2), *product), sign)

    def _sum(self, expression: Expression, owner: int) -> tuple[int, int]:
        """Return the variable of a sum, and its sign: one other than the owner, or a new one."""
        for sign in (1, -1):
            key = frozenset((product, sign * k) for product, k in expression.items())
            known = self.known.get(key)
            if known is not None and known != owner and self.sums[known].items() == key:
                return known, sign
        v = self.draft.add({})
        self._add_sum(v, expression)
        return v, 1

    def write(self) -> None:
        """Put the sums into the draft."""
        for v, expression in self.sums.items():
            self.draft.terms[v] = self._terms(expression)


def _saving(held: dict[Product, int], degree: int) -> int:
    """Return the multiplications saved in one sum by extracting a product from its terms."""
    if len(held) > 1:
        return sum(held.values()) - 1
    return degree - 1 if held else 0


def _quotient(product: Product, part: Product) -> Product:
    left = list(product)
    for letter in part:
        left.remove(letter)
    return tuple(left)
