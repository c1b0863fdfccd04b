"""From a graph to source text: one language per file, one line each in the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chainform.emitters import latex, llvm, python
from chainform.emitters.counter import Counts, count_python
from chainform.emitters.latex import definition_latex, expansion_latex, latex_name
from chainform.graph import Graph, graph_text

EMITTERS: dict[str, Callable[[Graph, Sequence[str]], str]] = {
    "latex": latex.emit,
    "llvm": llvm.emit,
    "python": python.emit,
    "text": graph_text,
}

__all__ = [
    "EMITTERS",
    "Counts",
    "count_python",
    "definition_latex",
    "expansion_latex",
    "latex_name",
]
