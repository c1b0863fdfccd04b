"""Partial derivatives of any variable with respect to any input, in the same graph form."""

from __future__ import annotations

from collections.abc import Sequence

from chainform.graph.copy import builder_of
from chainform.graph.graph import Graph
from chainform.graph.tangents import Tangents


def differentiate(
    graph: Graph, variables: Sequence[int], input_name: str
) -> tuple[Graph, list[int]]:
    """Return the graph extended by derivatives, and the variables that hold them.

    The chain rule is applied once to each variable of the cone, so the cost of a derivative
    is a small multiple of the cost of the quantity. Derivatives are named after their
    variable: `H_1_1_by_q2`.
    """
    builder = builder_of(graph)
    one = {graph.input_variable(input_name): builder.number(1)}
    tangents = Tangents(builder, one, f"_by_{input_name}")
    numbers = [
        builder.variable_of(tangents.of_variable(int(v)), f"{graph.names[int(v)]}_by_{input_name}")
        for v in variables
    ]
    return builder.finish(), numbers
