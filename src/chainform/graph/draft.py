"""A graph taken apart, so that definitions can be changed, and put together again.

A pass that rewrites definitions works on a `Draft`: variables keep their numbers, each with its
terms or its call, and new ones get the numbers behind them. Whatever is written, a variable keeps
its value; so outputs, named quantities and other names stay right, and only the order of
definitions has to be found again at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from chainform.graph.builder import Builder
from chainform.graph.operation_count import cost
from chainform.graph.scalar import Monomial, Number, Scalar, Terms, shortest_number
from chainform.graph.types import CALLS, Block, Graph, Kind


class Draft:
    """The definitions of a graph by variable, free to be changed."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.terms: dict[int, Terms] = {}
        self.calls: dict[int, tuple[str, int]] = {}
        self.names: dict[int, str] = {}
        """Names of new variables that have one."""
        self.size = len(graph)
        for v in range(len(graph)):
            if graph.call[v]:
                self.calls[v] = (CALLS[int(graph.call[v])], int(graph.argument[v]))
            elif v not in graph.inputs:
                self.terms[v] = _definition(graph, v)
        self._call_of = {call: v for v, call in reversed(self.calls.items())}

    def live(self) -> list[int]:
        """Return the variables of the graph that its outputs need, ascending."""
        return np.flatnonzero(self.graph.cone(self.graph.output_variables())).tolist()

    def live_sums(self) -> list[int]:
        """Return the sums that the outputs need, ascending."""
        return [v for v in self.live() if self.graph.kind[v] == Kind.COMPUTED]

    def add(self, terms: Terms, name: str = "") -> int:
        """Return a new variable with these terms, of that name if nothing else bears it."""
        self.terms[self.size] = terms
        if name and name not in self.graph.numbers:
            self.names[self.size] = name
        self.size += 1
        return self.size - 1

    def call(self, function: str, argument: int) -> int:
        """Return the variable that is a function of a variable, the present one if there is one."""
        known = self._call_of.get((function, argument))
        if known is None:
            known = self._call_of[(function, argument)] = self.size
            self.calls[known] = (function, argument)
            self.size += 1
        return known

    def finish(self, *, share: bool = True) -> Graph:
        """Return the graph of the definitions as they are now.

        Zeros, ones, and variables that are another one up to a sign vanish from the definitions
        on the way, names and all; with `share`, equal definitions become one variable.
        """
        return self.finish_with(Builder(share=share), {})

    def finish_with(self, builder: Builder, known: Mapping[int, Scalar]) -> Graph:
        """Return the graph of the definitions, added to a builder that has some of them."""
        scalars: dict[int, Scalar] = dict(known)
        free = free_names(self.graph)
        for v in self._in_order():
            if v not in known:
                scalars[v] = self._scalar(v, builder, scalars, free)
            elif v < len(self.graph):
                builder.name(self.graph.names[v], known[v])
        for name, block in self.graph.quantities.items():
            builder.quantities[name] = copied_block(builder, block, scalars)
        for name, block in self.graph.outputs.items():
            builder.outputs[name] = copied_block(builder, block, scalars)
        for name, v in self.graph.aliases.items():
            builder.name(name, scalars[v])
        return builder.finish()

    def uses(self, variable: int) -> Iterable[int]:
        """Return the variables that a definition names."""
        if variable in self.calls:
            return (self.calls[variable][1],)
        return {v for monomial in self.terms.get(variable, ()) for v in monomial}

    def _in_order(self) -> Iterator[int]:
        """Yield the variables, each after those it is made of; old ones keep their order."""
        done: set[int] = set()
        for root in range(len(self.graph)):
            stack = [root]
            while stack:
                v = stack[-1]
                if v in done:
                    stack.pop()
                    continue
                waiting = [used for used in self.uses(v) if used not in done]
                if waiting:
                    stack.extend(sorted(waiting, reverse=True))
                    continue
                done.add(v)
                stack.pop()
                yield v

    def _scalar(
        self, v: int, builder: Builder, scalars: dict[int, Scalar], free: Iterator[str]
    ) -> Scalar:
        given = self.graph.inputs.get(v)
        if given is not None:
            return builder.input(given.name, given.group, given.index, given.default)
        name = self.graph.names[v] if v < len(self.graph) else None
        if v in self.calls:
            function, argument = self.calls[v]
            if name is None:
                name = f"{function}_{_argument_name(builder, scalars[argument])}"
                name = None if name in self.graph.numbers else name
            return builder.call(function, scalars[argument], name)
        value = Scalar(builder, substituted(self.terms[v], scalars))
        if name is None and not value.is_free:
            name = self.names.get(v) or next(free)
        return value if name is None else builder.name(name, value)


def _argument_name(builder: Builder, argument: Scalar) -> str:
    variable = builder.variable_of(argument)
    return builder.names[variable]


def free_names(graph: Graph) -> Iterator[str]:
    """Yield names for new variables that nothing in the graph bears."""
    number = len(graph)
    while True:
        name = f"x_{number}"
        if name not in graph.numbers:
            yield name
        number += 1


def _definition(graph: Graph, v: int) -> Terms:
    return {
        tuple(f.variable for f in term.factors for _ in range(f.power)): shortest_number(
            term.coefficient
        )
        for term in graph.terms(v)
    }


def substituted(terms: Terms, scalars: dict[int, Scalar]) -> Terms:
    """Return a sum over the variables of a draft as one over those of a builder.

    What a variable has become is a number, or a variable with a sign, or one with neither.
    """
    total: Terms = {}
    for monomial, coefficient in terms.items():
        factors: list[int] = []
        product = coefficient
        for v in monomial:
            ((inner, k),) = scalars[v].terms.items() or (((), 0),)
            factors.extend(inner)
            product = product if k == 1 else product * k
        add_term(total, tuple(sorted(factors)), product)
    return total


def add_term(terms: Terms, monomial: Monomial, coefficient: Number) -> None:
    """Add one term to a sum, in place; a term that becomes zero is removed."""
    total = terms.get(monomial, 0) + coefficient
    if total:
        terms[monomial] = total
    else:
        terms.pop(monomial, None)


def copied_block(builder: Builder, block: Block, scalars: Mapping[int, Scalar]) -> Block:
    """Return the block of another graph, its variables written as scalars of a builder."""
    pairs = zip(block.labels, block.variables, strict=True)
    return builder.block(block.name, block.shape, [(label, scalars[v]) for label, v in pairs])


def cheaper_graph(after: Graph, before: Graph) -> Graph:
    """Return the graph after a step, or the one before if the step took more operations.

    A step looks at what it saves itself; that something else was shared before can be lost by it.
    """
    return after if operations(after) <= operations(before) else before


def operations(graph: Graph) -> int:
    """Return the multiplications and additions that the outputs take."""
    count = cost(graph)
    return count.multiplications + count.additions


def terms_cost(terms: Terms) -> int:
    """Return the multiplications and additions of one sum, by the house's counting rule."""
    total = max(len(terms) - 1, 0)
    for monomial, coefficient in terms.items():
        if monomial:
            total += len(monomial) - 1 + (coefficient not in (1, -1))
    return total
