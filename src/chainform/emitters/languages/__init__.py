"""The tables of languages: one line for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from chainform.emitters import llvm
from chainform.emitters.languages import (
    c,
    casadi,
    fortran,
    javascript,
    jax,
    matlab,
    numpy,
    python,
    rust,
    sympy,
    torch,
)
from chainform.emitters.languages.c import cpp, cuda
from chainform.emitters.latex_lines import latex_document
from chainform.emitters.package import Package
from chainform.graph import Graph, graph_text

EMITTERS: dict[str, Callable[[Graph, Sequence[str]], str]] = {
    "latex": latex_document,
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
