"""Program text in Python: one statement per variable, plain floats, no dependencies."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from fractions import Fraction

from chainform.graph import CALLS, GROUPS, Block, Graph, Input

HELPERS = {
    "reciprocal": "def reciprocal(x):\n    return 1.0 / x",
    "sign": "def sign(x):\n    return float((x > 0) - (x < 0))",
}
BUILT_IN = frozenset({"abs"})


def emit(graph: Graph, outputs: Sequence[str]) -> str:
    """Return a module with one function, `model`, that computes the outputs as nested lists.

    Its arguments are the groups of inputs that occur (q, qd, qdd, sigma) as sequences, then
    the parameters by name, with their values as defaults where they are known.
    """
    needed = graph.cone(graph.output_variables(outputs))
    variables = [v for v in range(len(graph)) if needed[v]]
    names = _safe_names(graph)
    given = [graph.inputs[v] for v in variables if v in graph.inputs]
    body = [_statement(graph, v, names) for v in variables]
    lines = [
        *_imports({CALLS[graph.call[v]] for v in variables if graph.call[v]}),
        f"def model({', '.join(_arguments(given, names))}):",
        *(f"    {line}" for line in body if line),
        "    return {",
        *(f"        {name!r}: {_nested(graph, graph.block(name), names)}," for name in outputs),
        "    }",
    ]
    return "\n".join(lines) + "\n"


def _safe_names(graph: Graph) -> dict[str, str]:
    """Return a Python name for each variable: dots and words of the language are replaced."""
    reserved = {*keyword.kwlist, *CALLS, "model", "float", *GROUPS}
    names: dict[str, str] = {}
    taken: set[str] = set()
    for name in graph.names:
        safe = name.replace(".", "_")
        while safe in reserved or safe in taken:
            safe += "_"
        taken.add(safe)
        names[name] = safe
    return names


def _imports(calls: set[str]) -> list[str]:
    from_math = sorted(calls - BUILT_IN - set(HELPERS))
    lines = [f"from math import {', '.join(from_math)}", "", ""] if from_math else []
    for name in sorted(calls & set(HELPERS)):
        lines += [HELPERS[name], "", ""]
    return lines


def _arguments(given: Sequence[Input], names: dict[str, str]) -> list[str]:
    present = {item.group for item in given}
    groups = [group for group in GROUPS if group in present and group != "parameter"]
    parameters = [item for item in given if item.group == "parameter"]
    free = [names[p.name] for p in parameters if p.default is None]
    bound = [f"{names[p.name]}={_number(p.default)}" for p in parameters if p.default is not None]
    return [*groups, *free, *bound]


def _statement(graph: Graph, v: int, names: dict[str, str]) -> str:
    name = names[graph.names[v]]
    given = graph.inputs.get(v)
    if given is not None:
        return "" if given.group == "parameter" else f"{name} = {given.group}[{given.index}]"
    if graph.call[v]:
        argument = names[graph.names[int(graph.argument[v])]]
        return f"{name} = {CALLS[graph.call[v]]}({argument})"
    return f"{name} = {_sum(graph, v, names)}"


def _sum(graph: Graph, v: int, names: dict[str, str]) -> str:
    text = ""
    for term in graph.terms(v):
        factors = [names[graph.names[f.variable]] for f in term.factors for _ in range(f.power)]
        size = abs(term.coefficient)
        parts = factors if size == 1 and factors else [_number(size), *factors]
        sign = "-" if term.coefficient < 0 else "+"
        body = "*".join(parts)
        text += f" {sign} {body}" if text else f"{'-' if sign == '-' else ''}{body}"
    return text or "0.0"


def _number(value: Fraction) -> str:
    return repr(float(value))


def _nested(graph: Graph, block: Block, names: dict[str, str]) -> str:
    """Return the entries of a block as a list of lists of names."""
    entries = [names[graph.names[v]] for v in block.variables]
    for length in reversed(block.shape[1:]):
        rows = range(0, len(entries), length) if length else range(0)
        entries = [f"[{', '.join(entries[row : row + length])}]" for row in rows]
    return f"[{', '.join(entries)}]" if block.shape else entries[0]
