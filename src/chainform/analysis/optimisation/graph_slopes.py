"""How an output of a graph changes with parameters, where its inputs change with them, too.

    dY/dp = Y_p + sum over groups of inputs of Y_z dz/dp

All parts are exact: derivatives of the graph, times the changes of its inputs as directions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.equilibrium.static_equations import BatchOutput, own_column
from chainform.formulations import with_derivatives
from chainform.graph import Graph
from chainform.mechanism import Mechanism

Array = NDArray[np.float64]
Point = Mapping[str, Array]
"""Inputs by group at m states, (m, size) each."""
Changes = Mapping[str, Array]
"""Derivatives of inputs by parameters, (m, size, n); those of q are along the rates."""


def with_parameters(point: Point, names: Sequence[str], values: Array) -> dict[str, Array]:
    """Return the columns of a point, with those of parameters that have no value in graphs."""
    own = {own_column(name): np.asarray(x) for name, x in zip(names, values, strict=True)}
    return {**point, **own}


class GraphSlopes:
    """Derivatives of one output of a graph by some parameters, which have no value in it."""

    def __init__(
        self, graph: Graph, output: str, mechanism: Mechanism, names: Sequence[str]
    ) -> None:
        self.graph, self.output = graph, output
        self.mechanism, self.names = mechanism, tuple(names)
        cone = graph.cone(graph.output_variables([output]))
        inputs = graph.inputs.items()
        self.groups = {item.group for v, item in inputs if cone[v]}
        ordered = sorted(graph.inputs.values(), key=lambda item: item.index)
        known = [item.name for item in ordered if item.group == "parameter"]
        used = {item.name for v, item in inputs if cone[v] and item.group == "parameter"}
        self.places = {name: known.index(name) for name in self.names if name in used}
        self._directed: dict[str, BatchOutput] = {}

    @cached_property
    def _values(self) -> BatchOutput:
        return BatchOutput(self.graph, self.output)

    @cached_property
    def _own(self) -> BatchOutput:
        text = f"derivative({self.output},parameters)"
        return BatchOutput(with_derivatives(self.graph, [text], self.mechanism), text)

    @property
    def size(self) -> int:
        """How many entries the output has."""
        return int(np.prod(self.graph.block(self.output).shape))

    def values(self, columns: Point, m: int) -> Array:
        """Return the output itself, (m, size)."""
        return self._values(columns, m).reshape(m, self.size)

    def total(self, columns: Point, changes: Changes, m: int) -> Array:
        """Return the whole derivative at m states, (m, size, n)."""
        result = np.zeros((m, self.size, len(self.names)))
        if self.places:
            found = self._own(columns, m).reshape(m, self.size, -1)
            for name, place in self.places.items():
                result[..., self.names.index(name)] = found[..., place]
        for group, change in changes.items():
            result += self.along(columns, group, change, m)
        return result

    def along(self, columns: Point, group: str, change: Array, m: int) -> Array:
        """Return the derivative by a group times changes (m, size, k) of it: (m, entries, k)."""
        k = change.shape[-1]
        if group not in self.groups or not change.any():
            return np.zeros((m, self.size, k))
        if group not in self._directed:
            text = f"product(derivative({self.output},{group}),direction)"
            graph = with_derivatives(self.graph, [text], self.mechanism)
            self._directed[group] = BatchOutput(graph, text)
        lanes = {name: _repeated(array, k) for name, array in columns.items()}
        lanes["direction"] = change.transpose(0, 2, 1).reshape(m * k, -1)
        found = self._directed[group](lanes, m * k)
        return found.reshape(m, k, self.size).transpose(0, 2, 1)


def _repeated(array: Array, count: int) -> Array:
    """Return each row of inputs so many times; what is the same for all states stays."""
    return np.repeat(array, count, axis=0) if array.ndim > 1 else array
