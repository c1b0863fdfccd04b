"""From a graph to source text: one language per file, one line each in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from chainform.emitters import c, casadi, jax, latex, llvm, numpy, python, sympy, torch
from chainform.emitters.definitions import parameters_of
from chainform.emitters.latex import definition_latex, expansion_latex, latex_name
from chainform.emitters.llvm import NumberType, many, packed, side_by_side, single, together
from chainform.emitters.package import (
    ALL,
    Case,
    Function,
    Package,
    RowPattern,
    identifier,
    package_of,
)
from chainform.emitters.python_operation_count import Counts, count_python
from chainform.emitters.signature import Argument, ResultArray, Signature, signature_of
from chainform.graph import Graph, graph_text

EMITTERS: dict[str, Callable[[Graph, Sequence[str]], str]] = {
    "latex": latex.emit,
    "llvm": llvm.emit,
    "python": python.emit,
    "text": graph_text,
}
"""Languages of which one text is written."""
LANGUAGES: dict[str, Callable[[Package], Mapping[str, str]]] = {
    "c": c.emit,
    "numpy": numpy.emit,
    "casadi": casadi.emit,
    "sympy": sympy.emit,
    "jax": jax.emit,
    "torch": torch.emit,
}
"""Languages in which a folder of files is written, the source first."""

__all__ = [
    "ALL",
    "EMITTERS",
    "LANGUAGES",
    "Argument",
    "Case",
    "Counts",
    "Function",
    "NumberType",
    "Package",
    "ResultArray",
    "RowPattern",
    "Signature",
    "count_python",
    "definition_latex",
    "expansion_latex",
    "identifier",
    "latex_name",
    "many",
    "package_of",
    "packed",
    "parameters_of",
    "side_by_side",
    "signature_of",
    "single",
    "together",
]
