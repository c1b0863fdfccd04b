"""The definitions of a graph as plain lists, and the order in which they are computed.

What is needed next is computed next, since a value that waits occupies a register. Going depth
first from the outputs, the deepest argument first, keeps values short-lived (for trees this is
nearly Sethi and Ullman's rule).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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
        found: list[tuple[float, list[int]]] = []
        for t in range(self._term_start[v], self._term_start[v + 1]):
            factors: list[int] = []
            for f in range(self._factor_start[t], self._factor_start[t + 1]):
                factors += [self._factor[f]] * self._power[f]
            found.append((self._numbers[self._coefficient[t]], factors))
        return found

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
