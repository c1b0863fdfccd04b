"""The definitions of a graph as plain lists, and the order in which they are computed.

What is needed next is computed next, since a value that waits occupies a register. Going depth
first from the outputs, the deepest argument first, keeps values short-lived (for trees this is
nearly Sethi and Ullman's rule).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from chainform.graph import CALLS, FLOAT, Graph


def parameters_of(graph: Graph) -> list[int]:
    """Return the free parameters in the order in which a compiled function takes them."""
    found = [v for v, given in graph.inputs.items() if given.group == "parameter"]
    return sorted(found, key=lambda v: graph.inputs[v].index)


class Definitions:
    """What each variable is: a number, an input, a call or a sum."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.inputs = graph.inputs
        numbers: list[int] = graph.call.tolist()
        self.calls = [CALLS[number] for number in numbers]
        self.arguments: list[int] = graph.argument.tolist()
        self.levels: list[int] = graph.level.tolist()
        self._numbers = [FLOAT.number(k) for k in graph.coefficients]
        self._term_start: list[int] = graph.term_start.tolist()
        self._coefficient: list[int] = graph.coefficient.tolist()
        self._factor_start: list[int] = graph.factor_start.tolist()
        self._factor: list[int] = graph.factor.tolist()
        self._power: list[int] = graph.power.tolist()
        self.place = {v: given.index for v, given in graph.inputs.items()}
        """The place of each input in the array of its group; parameters stand without gaps."""
        self.place.update({v: index for index, v in enumerate(parameters_of(graph))})
        self.constants = {v: FLOAT.number(k) for v, k in graph.number_value.items()}

    def terms(self, v: int) -> list[tuple[float, list[int]]]:
        """Return the terms of a sum: coefficient, and factors, as often as they occur."""
        return [self._term(t) for t in self._terms_of(v)]

    def _terms_of(self, v: int) -> range:
        return range(self._term_start[v], self._term_start[v + 1])

    def _term(self, t: int) -> tuple[float, list[int]]:
        factors: list[int] = []
        for f in range(self._factor_start[t], self._factor_start[t + 1]):
            factors += [self._factor[f]] * self._power[f]
        return self._numbers[self._coefficient[t]], factors

    def term_order(self, v: int) -> list[int]:
        """Return in which order the terms of a sum are added, counted from 0.

        What is there first is added first, so that nothing waits for the last term but one
        addition. The first term is one that is not subtracted, if there is any.
        """
        terms = self.terms(v)
        order = sorted(range(len(terms)), key=lambda k: _product_time(terms[k], self.times))
        first = next((k for k in order if terms[k][0] >= 0), None)
        return order if first is None else [first, *(k for k in order if k != first)]

    @cached_property
    def times(self) -> list[int]:
        """After how many operations, one after the other, each variable is there.

        Sines and cosines of inputs are computed together, and before everything else.
        """
        times = [0] * len(self.calls)
        for v in sorted(range(len(times)), key=self.levels.__getitem__):
            call = self.calls[v]
            if call:
                own = 0 if call in ("sin", "cos") else CALL_TIME
                times[v] = times[self.arguments[v]] + own
                continue
            total = 0
            for k, time in enumerate(sorted(_product_time(t, times) for t in self.terms(v))):
                # A product is added in the operation that makes it.
                total = max(total, time - 1) + 1 if k else time
            times[v] = total
        return times

    def needs(self, v: int) -> list[int]:
        """Return the variables that a definition names, each once."""
        if self.calls[v]:
            return [self.arguments[v]]
        first, last = self._term_start[v], self._term_start[v + 1]
        span = slice(self._factor_start[first], self._factor_start[last])
        return list(dict.fromkeys(self._factor[span]))

    def size(self, v: int) -> int:
        """Return about how many instructions a definition takes."""
        if self.calls[v]:
            return 30
        first, last = self._term_start[v], self._term_start[v + 1]
        return self._factor_start[last] - self._factor_start[first] + last - first


CALL_TIME = 4
"""Operations that a root or a quotient is worth."""


def _product_time(term: tuple[float, list[int]], times: Sequence[int]) -> int:
    """Return after how many operations a product is there."""
    coefficient, factors = term
    waiting = sorted(times[v] for v in factors)
    if not waiting:
        return 0
    total = waiting[0] + (abs(coefficient) != 1.0)
    for time in waiting[1:]:
        total = max(total, time) + 1
    return total


# --- order ----------------------------------------------------------------------------------------

CHUNK = 2000
"""Instructions in one function: compiling takes longer than in proportion beyond."""
STORE = 3
"""Instructions of a store, with its address."""


def depth_first(definitions: Definitions, wanted: Iterable[int], known: set[int]) -> list[int]:
    """Return what to compute, in order, for what is wanted; `known` need not be, and grows."""
    order: list[int] = []
    for root in wanted:
        stack = [root]
        while stack:
            v = stack[-1]
            if v in known:
                stack.pop()
                continue
            missing = [u for u in definitions.needs(v) if u not in known]
            if missing:
                stack += sorted(missing, key=lambda u: definitions.levels[u])
                continue
            stack.pop()
            known.add(v)
            order.append(v)
    return order


def chunks(
    definitions: Definitions, order: Iterable[int], stores: Mapping[int, int]
) -> list[list[int]]:
    """Cut a list of statements into functions of a size that compiles quickly.

    `stores` is how often a value is stored, where it is.
    """
    parts: list[list[int]] = []
    size = CHUNK
    for v in order:
        if size >= CHUNK:
            parts.append([])
            size = 0
        parts[-1].append(v)
        size += definitions.size(v) + STORE * stores.get(v, 0)
    return parts
