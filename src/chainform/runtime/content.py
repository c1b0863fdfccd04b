"""What machine code depends on, as a short text: the same text, the same code."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from chainform import emitters
from chainform.emitters.llvm import Signature
from chainform.graph import CALLS, Graph
from chainform.runtime import fastcall
from chainform.runtime.target import llvmlite_version


def content_of(graph: Graph, signature: Signature, precision: str, lanes: int) -> str:
    """Return a hash of everything that goes into the machine code, but for the processor."""
    digest = hashlib.sha256(compiler().encode())
    digest.update(f"{signature} {precision} {lanes} {sorted(_inputs(graph))}".encode())
    for result in signature.results:
        digest.update(repr(graph.block(result.name).variables).encode())
    for array in (
        graph.kind,
        graph.call,
        graph.argument,
        graph.term_start,
        graph.coefficient,
        graph.factor_start,
        graph.factor,
        graph.power,
    ):
        digest.update(array.tobytes())
        digest.update(b"|")
    digest.update(",".join(map(str, graph.coefficients)).encode())
    return digest.hexdigest()


def _inputs(graph: Graph) -> list[tuple[int, str, int]]:
    return [(v, given.group, given.index) for v, given in graph.inputs.items()]


@cache
def compiler() -> str:
    """Return what machine code depends on besides the graph: our source, LLVM's, Python's."""
    folder = Path(emitters.__file__).parent / "llvm"
    digest = hashlib.sha256()
    for file in sorted([*folder.glob("*.py"), *Path(__file__).parent.glob("*.py")]):
        digest.update(file.read_bytes())
    calls = ",".join(CALLS)
    return f"{digest.hexdigest()} llvmlite {llvmlite_version()} {calls} {fastcall.TUPLE_ITEMS}"
