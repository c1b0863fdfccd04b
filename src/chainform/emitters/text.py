"""The graph's own text form, for people and for tests."""

from __future__ import annotations

from collections.abc import Sequence

from chainform.graph import Graph, graph_text


def emit(graph: Graph, outputs: Sequence[str]) -> str:
    """Return the graph as text that reads back; of the outputs only those named are listed."""
    return graph_text(graph, outputs)
