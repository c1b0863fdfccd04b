"""Values of a system's graph along a motion that was computed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from chainform.graph import BatchPlan, Graph

Array = NDArray[np.float64]


def values_along(
    graph: Graph,
    output: str,
    columns: Mapping[str, Array],
    values: Mapping[str, float] | None = None,
) -> Array:
    """Return an output (m, k), given all groups of inputs (m, n) that it needs; t is (m,).

    `values` are those of parameters, which otherwise have the values of the graph.
    """
    variables = graph.block(output).variables
    wanted, places = np.unique(np.asarray(variables, dtype=np.int32), return_inverse=True)
    plan, size = BatchPlan(graph, wanted), len(columns["t"])
    if not size:
        return np.zeros((0, len(variables)))
    inputs: dict[int, Array | float] = {}
    for v in plan.inputs:
        item = graph.inputs[v]
        if item.group == "parameter":
            default = np.nan if item.default is None else float(item.default)
            inputs[v] = (values or {}).get(item.name, default)
        else:
            column = columns[item.group]
            inputs[v] = np.ascontiguousarray(column if item.group == "t" else column[:, item.index])
    # Where a law has no value there is none, and whoever asked sees that.
    with np.errstate(all="ignore"):
        return np.ascontiguousarray(plan.run(inputs, size)[places].T)
