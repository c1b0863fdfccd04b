"""Equations of a graph taken over into another one, with other values for some inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from chainform.graph import CALLS, Builder, Graph, Scalar

Place: TypeAlias = tuple[str, int]
"""The group of an input and its index there."""


def taken_over(graph: Graph, builder: Builder, values: Mapping[Place, Scalar]) -> list[Scalar]:
    """Return every variable of a graph as a scalar of a builder, in the order of the graph.

    An input whose place is in `values` becomes that scalar; zeros and ones vanish as they are met,
    and what the builder has already is not built again.
    """
    scalars: list[Scalar] = []
    for v in range(len(graph)):
        given = graph.inputs.get(v)
        if given is not None:
            found = values.get((given.group, given.index))
            if found is None:
                found = builder.input(given.name, given.group, given.index, given.default)
            scalars.append(found)
        elif graph.call[v]:
            argument = scalars[int(graph.argument[v])]
            scalars.append(builder.call(CALLS[int(graph.call[v])], argument, graph.names[v]))
        else:
            scalars.append(builder.name(graph.names[v], _sum(graph, v, builder, scalars)))
    return scalars


def _sum(graph: Graph, v: int, builder: Builder, scalars: Sequence[Scalar]) -> Scalar:
    total = builder.number(0)
    for term in graph.terms(v):
        product = builder.number(1)
        for factor in term.factors:
            product = product * scalars[factor.variable] ** factor.power
        total = total + product * term.coefficient
    return total
