"""From a graph to source text: one language per file, one line each in the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chainform.emitters import latex, llvm, python, text
from chainform.emitters.counter import Counts, count_python
from chainform.emitters.latex import definition_latex, expansion_latex
from chainform.emitters.names import latex_name
from chainform.graph import Graph

EMITTERS: dict[str, Callable[[Graph, Sequence[str]], str]] = {
    "latex": latex.emit,
    "llvm": llvm.emit,
    "python": python.emit,
    "text": text.emit,
}

__all__ = [
    "EMITTERS",
    "Counts",
    "count_python",
    "definition_latex",
    "expansion_latex",
    "latex_name",
]
