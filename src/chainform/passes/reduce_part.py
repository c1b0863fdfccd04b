"""Reduce one part of a graph by itself and put it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from math import prod
from typing import ClassVar, Protocol

import numpy as np

from chainform.errors import DeriveError
from chainform.graph import Block, Graph, cheaper_graph, graft, restrict

SHORT = 64
"""Terms, multiplied out, up to which a sum of sines and cosines belongs to a part by itself."""


class GraphPass(Protocol):
    """What is done to the part: any pass."""

    def __call__(self, graph: Graph) -> Graph:
        """Return the graph with the step taken."""
        ...


@dataclass(frozen=True)
class ReducePart:
    """Apply passes to the variables at the top of a part and to all they need (section 3.4).

    A part that is used by the rest only through its top, such as the rotations and axes of the
    closed form, is far smaller than the whole. In it all identities can be found; what is found
    makes the expressions of the whole shorter, often to zero.

    `names` are quantities or variables, with wildcards, and `passes` what is done to them; both
    must be given. Definitions outside stay as they are, and values do not change, so nothing is
    lost where the part was not independent. A part that became more expensive is not put back.
    """

    name: ClassVar[str] = "reduce_part"
    may_cost_more: ClassVar[bool] = False

    names: tuple[str, ...] = field(
        default=(),
        metadata={"meaning": "quantities or variables at the top of the part, with wildcards"},
    )
    passes: tuple[GraphPass, ...] = field(
        default=(), metadata={"meaning": "what is done to the part, in this order"}
    )

    def __call__(self, graph: Graph) -> Graph:
        """Return the graph with the part reduced."""
        for option in ("names", "passes"):
            if not getattr(self, option):
                raise DeriveError(
                    f"reduce_part needs {option}",
                    element=self.name,
                    remedy="write reduce_part(names=[Q_*],passes=[trig_identities,merge_equal])",
                )
        top = part_top(graph, self.names)
        part = part_of(graph, top)
        reduced = part
        for step in self.passes:
            reduced = step(reduced)
        if cheaper_graph(reduced, part) is part:
            return graph
        return cheaper_graph(graft(graph, top, reduced), graph)


def part_top(graph: Graph, names: Sequence[str] = ()) -> list[int]:
    """Return the variables at the top of a part, by name or by what they are made of.

    When nothing is named, the part is the quantities of shape 3 by 3, which are rotations, or where
    there are none, the sums of sines and cosines that have few terms when multiplied out.
    """
    if not names:
        return _rotations(graph)
    found: set[int] = set()
    for pattern in names:
        blocks = [b for name, b in graph.quantities.items() if fnmatchcase(name, pattern)]
        blocks += [b for name, b in graph.outputs.items() if fnmatchcase(name, pattern)]
        named = [v for block in blocks for v in block.variables]
        named += [v for name, v in graph.numbers.items() if fnmatchcase(name, pattern)]
        if not named:
            raise DeriveError(f"nothing in the graph is called {pattern}", element=pattern)
        found.update(named)
    return sorted(found)


def _rotations(graph: Graph) -> list[int]:
    """Return the entries of the 3 by 3 quantities, or else the short sums of sines and cosines."""
    square = [block for block in graph.quantities.values() if block.shape == (3, 3)]
    rows = {v for block in square for v in block.variables}
    return sorted(rows) if rows else _trigonometric(graph)


def _trigonometric(graph: Graph) -> list[int]:
    """Return the sums of products of sines and cosines with few terms, used by something else."""
    lengths = dict.fromkeys(np.flatnonzero(graph.call).tolist(), 1)
    inside = np.zeros(len(graph), dtype=np.bool_)
    for v in range(len(graph)):
        terms = graph.terms(v)
        factors = [factor for term in terms for factor in term.factors]
        if not factors or any(factor.variable not in lengths for factor in factors):
            continue
        length = sum(
            prod(lengths[factor.variable] ** factor.power for factor in term.factors)
            for term in terms
        )
        if length <= SHORT:
            lengths[v] = length
            inside[v] = True
    offsets, users = graph.users()
    results = set(graph.output_variables().tolist())
    return [
        v
        for v in np.flatnonzero(inside).tolist()
        if v in results or not inside[users[offsets[v] : offsets[v + 1]]].all()
    ]


def part_of(graph: Graph, top: Sequence[int]) -> Graph:
    """Return the part below some variables as a graph of its own; they are its one output."""
    labels = tuple(graph.names[v] for v in top)
    output = Block("part", (len(top),), tuple(top), labels)
    part = replace(graph, outputs={"part": output}, quantities={}, aliases={})
    return restrict(part, part.cone(np.asarray([*top, *graph.inputs], dtype=np.int64)))
