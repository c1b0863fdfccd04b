"""Expressions as people read them: over the inputs, short, verified against the graph.

Sums of angles stand as the graph has them ("kept"), are split into single angles ("split") or are
folded where this is shorter ("collected"); unless one of these is chosen, the shortest is taken:
fewest terms, then fewest factors, with common factors and squares in brackets. Every result but
the canonical split one is compared with the graph at a random point of a finite field before it is
returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import chain

from chainform.algebra.angle_sums import arranged, collected
from chainform.algebra.brackets import grouped
from chainform.algebra.finite_field import CURVED, Field, field_for, residues
from chainform.algebra.quotients import RECIPROCAL, has_reciprocal, quotient
from chainform.errors import RunError
from chainform.given import argument
from chainform.graph import (
    ANGLES,
    LIMIT,
    Expander,
    Expansion,
    Graph,
    between,
    entry_name,
    expand,
    length,
    limit_of,
    too_long,
)

MOST_FOLDED = 5_000
"""Sums of more terms are not folded."""
FOLDED_TO = 4
"""Sums of so many times more terms than the limit, or than another form, are not folded."""
GROUPED_TO = 2
"""Folded sums of so many times more terms than the limit, or than another form, are not grouped."""


def formulas(
    graph: Graph,
    variables: Sequence[int],
    *,
    angles: str | None = None,
    brackets: bool = True,
    limit: int | None = LIMIT,
) -> list[Expansion]:
    """Return variables as expressions over the inputs; RunError beyond `limit` terms of one.

    `angles` is one of ANGLES, or None for the shortest. The split form is canonical and has no
    brackets, so that two of them can be compared.
    """
    if angles is not None:
        argument("angles", angles).choice(ANGLES)
    if angles == "split" or (angles == "kept" and not brackets):
        return expand(graph, variables, angles=angles, limit=limit)
    writer = _Writer(graph, list(map(int, variables)), limit_of(limit))
    return [writer.formula(int(v), angles, brackets=brackets) for v in variables]


def short_formulas(graph: Graph, variables: Sequence[int], limit: int) -> dict[int, Expansion]:
    """Return the shortest expressions of those variables that have no more terms than a limit."""
    chosen = list(dict.fromkeys(map(int, variables)))
    writer = _Writer(graph, chosen, limit_of(limit))
    found: dict[int, Expansion] = {}
    for v in chosen:
        with suppress(RunError):
            found[v] = writer.formula(v, None, brackets=True)
    return found


class _Writer:
    """The forms of some variables, made together, and what their values have to be."""

    def __init__(self, graph: Graph, variables: list[int], limit: int | None) -> None:
        self.graph = graph
        self.limit = limit
        most = between(limit)
        self.whole = Expander(graph, variables, split=False, limit=most)
        few = MOST_FOLDED if most is None else min(most, MOST_FOLDED)
        self.split = Expander(graph, variables, split=True, limit=few)
        self.field = field_for(graph.coefficients)
        self.values = residues(graph, self.field, variables)
        self.known: dict[int, Expansion] = {}
        self.order = {graph.names[v]: v for v in graph.inputs}

    def formula(self, v: int, angles: str | None, *, brackets: bool) -> Expansion:
        """Return the shortest expression of a variable, of those in question."""
        if v not in self.known:
            self.known[v] = self._formula(v, angles, brackets=brackets)
        return self.known[v]

    def _formula(self, v: int, angles: str | None, *, brackets: bool) -> Expansion:
        whole = self.whole.within(v, None)
        forms = [whole] if angles != "collected" else list[Expansion]()
        split: Expansion | None = None
        with suppress(RunError):
            split = self.split.within(v, None)
        starts = [form for form in (whole, split) if form is not None and len(form) <= MOST_FOLDED]
        starts = self._in_reach(starts, FOLDED_TO, v)
        if angles != "kept" and starts:
            forms.append(collected(starts))
        if angles is None and split is not None:
            forms.append(split)
        forms = self._in_reach(forms, GROUPED_TO, v)
        if brackets:
            forms = [grouped(arranged(form)) for form in forms]
            forms = [*_quotients(starts, angles, self.order), *forms]
        right = [form for form in forms if self._is_right(form, v)]
        best = min(right or [whole], key=_size if has_reciprocal(whole) else length)
        terms, _ = length(best)
        if self.limit is not None and terms > self.limit:
            raise too_long(entry_name(self.graph, v), terms, self.limit)
        return best

    def _in_reach(self, forms: list[Expansion], times: int, v: int) -> list[Expansion]:
        """Return the forms that may become the shortest; RunError if none can keep the limit."""
        fewest = min(map(len, forms), default=0)
        if self.limit is not None and fewest > times * self.limit:
            raise too_long(entry_name(self.graph, v), fewest, self.limit)
        return [form for form in forms if len(form) <= times * fewest]

    def _is_right(self, form: Expansion, v: int) -> bool:
        return value_of(form, self.field) == self.values[v]


def _size(form: Expansion) -> tuple[bool, int]:
    """Return what makes one form with reciprocals shorter: no fractions in fractions come first."""
    below = [s.inner for s in form.symbols if s.function == RECIPROCAL and s.inner is not None]
    return any(map(has_reciprocal, below)), sum(length(form))


def _quotients(
    forms: Sequence[Expansion], angles: str | None, order: Mapping[str, int]
) -> list[Expansion]:
    """Return expressions with reciprocals as one fraction each, where that is not too long."""

    def shorten(form: Expansion) -> Expansion:
        written = [form] if angles != "collected" else list[Expansion]()
        written += [collected([form])] if angles != "kept" else []
        return min((grouped(arranged(other)) for other in written), key=length)

    found = [quotient(form, shorten, order) for form in forms if has_reciprocal(form)]
    return [form for form in found if form is not None]


def value_of(expansion: Expansion, field: Field) -> int:
    """Return the value of an expression at the random point of a field."""
    letters: list[int] = []
    for symbol in expansion.symbols:
        if symbol.inner is None:
            letters.append(field.input(symbol.argument))
        elif symbol.function in CURVED:
            letters.append(field.curved(symbol.function, value_of(symbol.inner, field.angles)))
        else:
            inner = value_of(symbol.inner, field)
            letters.append(field.call_of(symbol.function, inner) if symbol.function else inner)
    total = 0
    for k, factors in expansion.terms:
        product = field.number(k)
        for s, power in factors:
            product = product * pow(letters[s], power, field.prime) % field.prime
        total += product
    return total % field.prime


def is_equal(a: Expansion, b: Expansion) -> bool:
    """Whether two expressions have the same value for all inputs, however they are written."""
    if a == b:
        return True
    field = field_for(chain(_numbers(a), _numbers(b)))
    return value_of(a, field) == value_of(b, field)


def _numbers(expansion: Expansion) -> list[Fraction]:
    inner = [s.inner for s in expansion.symbols if s.inner is not None]
    return [k for k, _ in expansion.terms] + [k for e in inner for k in _numbers(e)]
