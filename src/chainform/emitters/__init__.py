"""From a graph to source text: one language per file, one line each in the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chainform.emitters import latex, llvm, python
from chainform.emitters.latex import definition_latex, expansion_latex, latex_name
from chainform.emitters.llvm import (
    Argument,
    NumberType,
    ResultArray,
    Signature,
    many,
    packed,
    parameters_of,
    side_by_side,
    signature_of,
    single,
    together,
)
from chainform.emitters.python_operation_count import Counts, count_python
from chainform.graph import Graph, graph_text

EMITTERS: dict[str, Callable[[Graph, Sequence[str]], str]] = {
    "latex": latex.emit,
    "llvm": llvm.emit,
    "python": python.emit,
    "text": graph_text,
}

__all__ = [
    "EMITTERS",
    "Argument",
    "Counts",
    "NumberType",
    "ResultArray",
    "Signature",
    "count_python",
    "definition_latex",
    "expansion_latex",
    "latex_name",
    "many",
    "packed",
    "parameters_of",
    "side_by_side",
    "signature_of",
    "single",
    "together",
]
