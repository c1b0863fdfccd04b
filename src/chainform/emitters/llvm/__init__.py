"""LLVM: text of functions for one state, and for batches in the lanes of vector registers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chainform.emitters.definitions import Definitions
from chainform.emitters.llvm.batch import batch, packed
from chainform.emitters.llvm.body import LIBRARY, NumberType
from chainform.emitters.llvm.functions import Functions
from chainform.emitters.llvm.layout import layout
from chainform.emitters.llvm.trig import sincos, sincos_name, sincos_support
from chainform.emitters.signature import Signature, signature_of
from chainform.graph import Graph

ATTRIBUTES = "attributes #0 = { nounwind }\nattributes #1 = { nounwind noinline }\n"


def single(
    graph: Graph, signature: Signature, name: str, form: NumberType, trig_lanes: int = 1
) -> str:
    """Return a module with the function for one state; sines and cosines `trig_lanes` at a time."""
    functions = Functions(Definitions(graph), signature, name, form, trig_lanes)
    code = functions.whole()
    return _module([code.text], [code.declared], form, {form.lanes, trig_lanes})


def together(
    kernels: Sequence[tuple[Graph, Signature, str]], form: NumberType, trig_lanes: int = 1
) -> str:
    """Return a module with functions for one state, each of a graph and a signature of its own."""
    all_of_them = [
        Functions(Definitions(graph), signature, name, form, trig_lanes)
        for graph, signature, name in kernels
    ]
    codes = [functions.whole() for functions in all_of_them]
    declared = [code.declared for code in codes]
    return _module([code.text for code in codes], declared, form, {form.lanes, trig_lanes})


def side_by_side(
    kernels: Sequence[tuple[Graph, Signature, str]], form: NumberType
) -> tuple[str, dict[str, int]]:
    """Return a module with functions for as many states as the form has lanes, not for calls.

    What depends on parameters only is computed by NAME.fixed; for each name there is the number of
    entries in the area for it.
    """
    all_of_them = {
        name: Functions(Definitions(graph), signature, name, form)
        for graph, signature, name in kernels
    }
    codes = [functions.in_two() for functions in all_of_them.values()]
    text = _module([code.text for code in codes], [c.declared for c in codes], form, {form.lanes})
    return text, {name: len(functions.fixed) for name, functions in all_of_them.items()}


def many(graph: Graph, signature: Signature, name: str, form: NumberType) -> str:
    """Return a module with the function for batches, in as many lanes as the form has."""
    functions = Functions(Definitions(graph), signature, f"{name}.lanes", form)
    code = functions.in_two()
    moves, for_moves = layout(form)
    loop, for_loop = batch(functions, name)
    declared = [code.declared, for_moves, for_loop]
    return _module([moves, code.text, loop], declared, form, {form.lanes})


def _module(
    texts: Sequence[str], declared: Iterable[frozenset[str]], form: NumberType, lanes: set[int]
) -> str:
    """Put functions together with the sines and cosines they use."""
    body = "".join(texts)
    used = [n for n in sorted(lanes) if f"@{sincos_name(form.precision, n)}(" in body]
    trig = [sincos(form.precision, n, form.fused) for n in used]
    if used:
        trig.append(sincos_support([form.precision]))
    lines = set[str]().union(*declared, *(part.declarations for part in trig))
    return "\n".join([*sorted(lines), "", *(part.definitions for part in trig), body, ATTRIBUTES])


def emit(graph: Graph, outputs: Sequence[str]) -> str:
    """Return a module with one function, `model`, for one state in double precision.

    It takes the address of each group of inputs that occurs, then of each output.
    """
    return single(graph, signature_of(graph, outputs), "model", NumberType())


__all__ = [
    "LIBRARY",
    "NumberType",
    "emit",
    "many",
    "packed",
    "side_by_side",
    "single",
    "together",
]
