"""Jumps and corners: how derivatives were taken at places where they do not exist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from chainform.errors import RunError
from chainform.formulations.linear_matrices import LINEAR
from chainform.formulations.operators import Operators, derivatives_in
from chainform.graph import (
    CALLS,
    Graph,
    active_variables,
    base_outputs,
    builder_of,
    definition_text,
    expand,
    expansion_text,
    parts_of,
)
from chainform.mechanism import Mechanism

SEAMS = {
    "sign": ("jumps at 0 and is taken as constant", "jump at 0 and are taken as constants"),
    "abs": (
        "has a corner at 0, where its slope is taken as 0",
        "have corners at 0, where their slopes are taken as 0",
    ),
}
"""The functions that have no derivative somewhere, and how it was taken: of one, of several."""
FEW_TERMS = 6
"""An argument of so many terms is written out; a longer one stands as it is computed."""
JUMP_OR_CORNER = "jumps are taken as constant, corners by their mean slope"
MOTION_SEAM = tuple(
    f"{what} at 0: {JUMP_OR_CORNER}" for what in ("has a jump or corner", "have jumps or corners")
)
"""The same for matrices of small motions, in which a function may be the derivative of another."""


def seams(graph: Graph, mechanism: Mechanism, outputs: Sequence[str]) -> Iterator[str]:
    """Yield how derivatives among the outputs were taken at places where they do not exist."""
    work = Operators(builder_of(graph), mechanism)
    for text, output, words in derivatives_in(outputs):
        inputs = {v for w in words for d in work.inputs.directions(w).each.values() for v in d}
        for function, shown in _kinks(work, graph, output, inputs).items():
            yield f"{text}: {', '.join(shown)} {SEAMS[function][len(shown) > 1]}"
    state = {v for v, item in graph.inputs.items() if item.group not in ("t", "parameter")}
    for text in outputs:
        if any(parts_of(base).name in LINEAR for base in base_outputs(text)):
            for shown in _kinks(work, graph, text, state).values():
                yield f"{text}: {', '.join(shown)} {MOTION_SEAM[len(shown) > 1]}"


def _kinks(
    work: Operators, graph: Graph, output: str, inputs: set[int]
) -> dict[str, dict[str, None]]:
    """Return what an output has that has no derivative somewhere, each once, by the function."""
    found: dict[str, dict[str, None]] = {}
    active = active_variables(work.builder, inputs)
    cone = graph.cone(work.declare(output).variables)
    for v in np.flatnonzero(cone & (graph.call > 0)).tolist():
        function, argument = CALLS[int(graph.call[v])], int(graph.argument[v])
        if function in SEAMS and active[argument]:
            found.setdefault(function, {})[f"{function}({_argument_text(graph, argument)})"] = None
    return found


def _argument_text(graph: Graph, argument: int) -> str:
    try:
        return expansion_text(expand(graph, [argument], angles="kept", limit=FEW_TERMS)[0])
    except RunError:
        return definition_text(graph, argument)
