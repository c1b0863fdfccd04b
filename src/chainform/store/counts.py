"""The operation counts of a graph, of all outputs together and of each."""

from __future__ import annotations

from collections.abc import Iterator

from chainform.graph import Cost, Graph, cost_of, parameter_only

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
