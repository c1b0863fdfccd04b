"""Compiled functions of graphs, called with groups of inputs by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from chainform.graph import Graph
from chainform.mechanism import Mechanism
from chainform.model import group_length
from chainform.runtime import Program

Array = NDArray[np.float64]
Function = Callable[..., tuple[Array, ...]]


def graph_function(mechanism: Mechanism, graph: Graph, names: Sequence[str]) -> Function:
    """Return a compiled function of named groups of inputs, of which it takes those it needs.

    Its results are a tuple in the order of the names; parameters have the values of the graph.
    """
    groups = {item.group for item in graph.inputs.values()} - {"parameter"}
    lengths = {group: group_length(mechanism, graph, group) for group in groups}
    program = Program(graph, lengths=lengths)
    found = program.function(*names)
    arguments = program.signature(*names).arguments
    taken = [argument.group for argument in arguments if argument.group != "parameter"]

    def call(**given: Array) -> tuple[Array, ...]:
        values = found(*(given[group] for group in taken))
        return values if len(names) > 1 else (values,)

    return call
