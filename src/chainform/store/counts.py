"""The operation counts of a graph, of all outputs together and of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainform.graph import Cost, Graph, cost_of, parameter_only
from chainform.store.schema import COST_COLUMNS

TOTAL = ""
"""The name under which the count of all outputs together is stored."""


def counts(graph: Graph) -> Iterator[tuple[str, Cost, Cost]]:
    """Give, for all outputs (named "") and for each, what every evaluation and what once takes."""
    once = parameter_only(graph)
    total: tuple[Cost, Cost] | None = None
    for name in (TOTAL, *graph.outputs):
        if name != TOTAL and len(graph.outputs) == 1 and total is not None:
            yield name, *total
            continue
        wanted = graph.output_variables([name] if name else None)
        needed = graph.cone(wanted)
        found = cost_of(graph, needed & ~once, wanted), cost_of(graph, needed & once, wanted)
        total = total or found
        yield name, *found


def operation_rows(graph: Graph, key: int) -> list[tuple[Any, ...]]:
    """Return the rows of `operations` for a graph."""
    return [
        (
            key,
            name,
            *(cost.as_dict()[c] for c in COST_COLUMNS),
            *(once.as_dict()[c] for c in COST_COLUMNS),
        )
        for name, cost, once in counts(graph)
    ]
