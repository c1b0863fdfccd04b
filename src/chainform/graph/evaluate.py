"""What a graph means: evaluation, one value at a time, in any arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.graph.arithmetic import EXACT, Arithmetic
from chainform.graph.graph import Graph
from chainform.graph.types import CALLS


def evaluate(
    graph: Graph,
    values: Mapping[str, Any],
    arithmetic: Arithmetic = EXACT,
    names: Iterable[str] | None = None,
) -> dict[str, NDArray[Any]]:
    """Return outputs or quantities by name (all outputs by default) as arrays of values.

    `values` gives each input by its name, in the numbers of the arithmetic; parameters
    with a default may be left out.
    """
    wanted = list(graph.outputs if names is None else names)
    blocks = {name: graph.block(name) for name in wanted}
    results = evaluate_variables(graph, values, arithmetic, graph.output_variables(wanted))
    return {
        name: _array([results[v] for v in block.variables], block.shape)
        for name, block in blocks.items()
    }


def _array(entries: Sequence[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(shape)


def evaluate_variables(
    graph: Graph,
    values: Mapping[str, Any],
    arithmetic: Arithmetic,
    wanted: Sequence[int] | NDArray[np.int32],
) -> dict[int, Any]:
    """Return the value of every variable in the cone of the wanted ones."""
    known: dict[int, Any] = {}
    pool = [arithmetic.number(k) for k in graph.coefficients]
    unit = [k == 1 for k in graph.coefficients]
    opposite = [k == -1 for k in graph.coefficients]
    zero = arithmetic.number(Fraction(0))
    term_start, factor_start = graph.term_start.tolist(), graph.factor_start.tolist()
    coefficient = graph.coefficient.tolist()
    factor, power = graph.factor.tolist(), graph.power.tolist()
    for v in np.flatnonzero(graph.cone(wanted)).tolist():
        if v in graph.inputs:
            known[v] = input_value(graph, v, values, arithmetic)
            continue
        if graph.call[v]:
            known[v] = arithmetic.call(CALLS[int(graph.call[v])], known[int(graph.argument[v])])
            continue
        total: Any = None
        for t in range(term_start[v], term_start[v + 1]):
            product: Any = None
            for f in range(factor_start[t], factor_start[t + 1]):
                value = known[factor[f]]
                for _ in range(power[f]):
                    product = value if product is None else product * value
            k = coefficient[t]
            if product is None:
                product = pool[k]
            elif opposite[k]:
                product = -product
            elif not unit[k]:
                product = pool[k] * product
            total = product if total is None else total + product
        known[v] = zero if total is None else total
    return known


def input_value(
    graph: Graph, variable: int, values: Mapping[str, Any], arithmetic: Arithmetic
) -> Any:
    """Return the given value of an input, or its default."""
    declared = graph.inputs[variable]
    if declared.name in values:
        return values[declared.name]
    if declared.default is not None:
        return arithmetic.number(declared.default)
    raise RunError(
        f"no value is given for {declared.name}",
        element=declared.name,
        remedy=f"give {declared.name} a value"
        + (" in values" if declared.group == "parameter" else f" ({declared.group})"),
    )
