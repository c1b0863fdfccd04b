"""From a graph to source text: one language per file, one line each in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from chainform.emitters import (
    c,
    casadi,
    fortran,
    javascript,
    jax,
    latex,
    llvm,
    matlab,
    numpy,
    python,
    rust,
    sympy,
    torch,
)
from chainform.emitters.c import cpp, cuda
from chainform.emitters.c.binary_folder import object_folder, shared_folder, wasm_folder
from chainform.emitters.definitions import parameters_of
from chainform.emitters.latex import definition_latex, expansion_latex, latex_name
from chainform.emitters.llvm import (
    LIBRARY,
    NumberType,
    many,
    packed,
    side_by_side,
    single,
    together,
)
from chainform.emitters.package import (
    ALL,
    ROWS,
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
    "cpp": cpp.emit,
    "cuda": cuda.emit,
    "fortran": fortran.emit,
    "javascript": javascript.emit,
    "matlab": matlab.emit,
    "rust": rust.emit,
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
    "LIBRARY",
    "ROWS",
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
    "object_folder",
    "package_of",
    "packed",
    "parameters_of",
    "shared_folder",
    "side_by_side",
    "signature_of",
    "single",
    "together",
    "wasm_folder",
]
