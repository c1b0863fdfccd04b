"""Give equal definitions one variable, also where they differ by a sign or a factor."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, TypeAlias

from chainform.graph import (
    Draft,
    Graph,
    Monomial,
    Number,
    Terms,
    add_term,
    cheaper_graph,
    terms_cost,
)

Key: TypeAlias = tuple[tuple[Monomial, Number], ...]


@dataclass(frozen=True)
class MergeEqual:
    """Leave one variable for each distinct definition (algorithm 3.2 of Racković 1996).

    The paper compares every two expressions, which takes time with the square of their number; here
    each is looked up by its terms, so one sweep in definition order is enough. With `sign`, a
    definition that is the opposite of another one counts as equal, which costs nothing to write;
    with `scale`, so does a multiple, where one multiplication is cheaper than the definition. Of
    the multiples of one expression the cheapest is computed, the others follow from it.
    """

    name: ClassVar[str] = "merge_equal"
    may_cost_more: ClassVar[bool] = False

    sign: bool = field(
        default=True,
        metadata={"meaning": "a definition that is the opposite of another is equal to it"},
    )
    scale: bool = field(
        default=False, metadata={"meaning": "so is a multiple, where that costs less"}
    )

    def __call__(self, graph: Graph) -> Graph:
        """Return the graph with equal definitions merged."""
        draft = Draft(graph)
        signed: dict[int, tuple[int, int]] = {}
        classes: dict[Key, list[int]] = defaultdict(list)
        for v in range(len(graph)):
            if v not in draft.terms:
                continue
            terms = draft.terms[v] = _renamed(draft.terms[v], signed)
            members = classes[self._key(terms)] if terms else []
            twin = next((w for w in members if _ratio(terms, draft.terms[w]) in (1, -1)), None)
            if twin is None:
                members.append(v)
            else:
                signed[v] = (twin, int(_ratio(terms, draft.terms[twin])))
                draft.terms[v] = {(twin,): signed[v][1]}
        for members in classes.values():
            _write_multiples(draft, members)
        return cheaper_graph(draft.finish(), graph)

    def _key(self, terms: Terms) -> Key:
        """Return what equal definitions have in common."""
        rows = sorted(terms.items())
        first = rows[0][1]
        if self.scale:
            return tuple((m, Fraction(k) / first) for m, k in rows)
        if self.sign and first < 0:
            return tuple((m, -k) for m, k in rows)
        return tuple(rows)


def _renamed(terms: Terms, signed: dict[int, tuple[int, int]]) -> Terms:
    """Return a sum with merged variables replaced by those that stay."""
    if not any(v in signed for monomial in terms for v in monomial):
        return terms
    total: Terms = {}
    for monomial, k in terms.items():
        factors = [signed.get(v, (v, 1)) for v in monomial]
        for _, sign in factors:
            k *= sign
        add_term(total, tuple(sorted(v for v, _ in factors)), k)
    return total


def _ratio(terms: Terms, other: Terms) -> Number:
    first = min(terms)
    return Fraction(terms[first]) / other[first]


def _write_multiples(draft: Draft, members: list[int]) -> None:
    """Write multiples of one expression as multiples of the cheapest."""
    if len(members) < 2:
        return
    base = min(members, key=lambda v: (terms_cost(draft.terms[v]), v))
    for v in members:
        multiple = {(base,): _ratio(draft.terms[v], draft.terms[base])}
        if v != base and terms_cost(multiple) < terms_cost(draft.terms[v]):
            draft.terms[v] = multiple
