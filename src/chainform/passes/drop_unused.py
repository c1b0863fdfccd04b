"""Leave out what no output needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from chainform.graph import Graph, restrict


@dataclass(frozen=True)
class DropUnused:
    """Drop the variables that no output needs; inputs stay.

    What is not needed costs nothing when the outputs are computed, but it fills tables and
    listings. With `keep_quantities` the named intermediate quantities, which can be shown by
    name, stay as well, with all they need.
    """

    name: ClassVar[str] = "drop_unused"
    may_cost_more: ClassVar[bool] = False

    keep_quantities: bool = field(
        default=False,
        metadata={"meaning": "keep named intermediate quantities, with all they need"},
    )

    def __call__(self, graph: Graph) -> Graph:
        """Return the graph without what is not needed."""
        wanted = set(graph.output_variables().tolist()) | set(graph.inputs)
        if self.keep_quantities:
            wanted.update(v for block in graph.quantities.values() for v in block.variables)
        needed = graph.cone(np.asarray(sorted(wanted), dtype=np.int64))
        return restrict(graph, needed)
