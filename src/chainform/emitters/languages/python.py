"""Program text in Python: one statement per variable, plain floats, no dependencies."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from fractions import Fraction
from math import prod

from chainform.graph import CALLS, FLOAT, GROUPS, Block, Graph, Input, Term

HELPERS = {
    "reciprocal": "def reciprocal(x):\n    return 1.0 / x",
    "sign": "def sign(x):\n    return float(x > 0) - float(x < 0)",
}
BUILT_IN = frozenset({"abs"})

LONGEST = 500
"""The most terms or factors in a row: Python cannot compile much longer formulas."""


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
        *_imports({CALLS[int(graph.call[v])] for v in variables if graph.call[v]}),
        f"def model({', '.join(_arguments(given, names))}):",
        *(f"    {line}" for line in body if line),
        "    return {",
        *(f"        {name!r}: {_nested(graph, graph.block(name), names)}," for name in outputs),
        "    }",
    ]
    return "\n".join(lines) + "\n"


def _safe_names(graph: Graph) -> dict[str, str]:
    """Return a Python name for each variable: dots and words of the language are replaced."""
    reserved = {*keyword.kwlist, *CALLS, "model", "float", "__debug__", *GROUPS}
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
        return f"{name} = {CALLS[int(graph.call[v])]}({argument})"
    return f"{name} = {_sum(graph, v, names)}"


def _sum(graph: Graph, v: int, names: dict[str, str]) -> str:
    terms = graph.terms(v)
    groups = [terms[first : first + LONGEST] for first in range(0, len(terms), LONGEST)]
    sums = [_short_sum(graph, group, names) for group in groups]
    return " + ".join(f"({part})" for part in sums) if len(sums) > 1 else "".join(sums) or "0.0"


def _short_sum(graph: Graph, terms: Sequence[Term], names: dict[str, str]) -> str:
    text = ""
    for term in terms:
        factors = [names[graph.names[f.variable]] for f in term.factors for _ in range(f.power)]
        size = abs(term.coefficient)
        body = _product(factors if size == 1 and factors else [_number(size), *factors])
        sign = "-" if term.coefficient < 0 else "+"
        text += f" {sign} {body}" if text else f"{'-' if sign == '-' else ''}{body}"
    return text


def _product(parts: Sequence[str]) -> str:
    if len(parts) <= LONGEST:
        return "*".join(parts)
    groups = [parts[first : first + LONGEST] for first in range(0, len(parts), LONGEST)]
    return "*".join(f"({'*'.join(group)})" for group in groups)


def _number(value: Fraction) -> str:
    return repr(FLOAT.number(value))


def _nested(graph: Graph, block: Block, names: dict[str, str]) -> str:
    """Return the entries of a block as a list of lists of names."""
    entries = [names[graph.names[v]] for v in block.variables]
    for axis in range(len(block.shape) - 1, 0, -1):
        length = block.shape[axis]
        rows = (length * row for row in range(prod(block.shape[:axis])))
        entries = [f"[{', '.join(entries[row : row + length])}]" for row in rows]
    return f"[{', '.join(entries)}]" if block.shape else entries[0]
