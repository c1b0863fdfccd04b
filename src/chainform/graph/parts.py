"""A part of a graph by itself: cut out, and put back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from chainform.graph.builder import Builder
from chainform.graph.draft import Draft, free_names, substituted
from chainform.graph.graph import Graph
from chainform.graph.scalar import Scalar
from chainform.graph.types import Block


def restrict(graph: Graph, needed: NDArray[np.bool_]) -> Graph:
    """Return the rows of a graph in a mask that is closed under what definitions use.

    Quantities go unless all their entries stay; other names go with their variables.
    """
    place = np.cumsum(needed, dtype=np.int32) - 1
    rows = np.flatnonzero(needed)
    in_term = np.repeat(needed, np.diff(graph.term_start))
    in_factor = np.repeat(in_term, np.diff(graph.factor_start))
    argument = graph.argument[rows]
    return replace(
        graph,
        names=tuple(graph.names[v] for v in rows.tolist()),
        kind=graph.kind[rows],
        level=graph.level[rows],
        call=graph.call[rows],
        argument=np.where(argument >= 0, place[argument], -1).astype(np.int32),
        term_start=_starts(np.diff(graph.term_start)[rows]),
        coefficient=graph.coefficient[in_term],
        factor_start=_starts(np.diff(graph.factor_start)[in_term]),
        factor=place[graph.factor[in_factor]],
        power=graph.power[in_factor],
        inputs={int(place[v]): given for v, given in graph.inputs.items() if needed[v]},
        outputs={name: _moved(block, place) for name, block in graph.outputs.items()},
        quantities={
            name: _moved(block, place)
            for name, block in graph.quantities.items()
            if all(needed[v] for v in block.variables)
        },
        aliases={name: int(place[v]) for name, v in graph.aliases.items() if needed[v]},
    )


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _moved(block: Block, place: NDArray[np.int32]) -> Block:
    return replace(block, variables=tuple(int(place[v]) for v in block.variables))


def graft(graph: Graph, top: Sequence[int], part: Graph) -> Graph:
    """Return a graph with some variables defined by the only output of another graph.

    The part has the same inputs and gives the values of `top`, in that order. Its variables come
    first, so that the rest finds what it shares with them.
    """
    (block,) = part.outputs.values()
    inner = Draft(part)
    builder = Builder()
    free = free_names(graph)
    scalars: dict[int, Scalar] = {}
    for v in range(len(part)):
        given = part.inputs.get(v)
        if given is not None:
            scalars[v] = builder.input(given.name, given.group, given.index, given.default)
        elif v in inner.calls:
            function, argument = inner.calls[v]
            scalars[v] = builder.call(function, scalars[argument], part.names[v])
        else:
            value = Scalar(builder, substituted(inner.terms[v], scalars))
            name = part.names[v]
            taken = name in graph.numbers and name not in block.labels
            scalars[v] = builder.name(next(free) if taken else name, value)
    outer = Draft(graph)
    known = {v: scalars[w] for v, w in zip(top, block.variables, strict=True)}
    return outer.finish_with(builder, known)
