"""Take out common parts of sums, two terms, two factors or a constant and a factor at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from chainform.algebra import Prices, Settler, graph_of, system_of
from chainform.graph import Graph


@dataclass(frozen=True)
class ExtractDivisors:
    """Greedy extraction of divisors up to scale, the most useful first, from all sums at once.

    Two terms that stand in the same ratio in several sums become one variable, products of sums and
    Horner forms come out by repetition. With `resubstitute`, parts of sums that are computed
    already, in whatever form, are found by their value. A sine or cosine of a difference of
    angles is used where it saves more than `sine_cost`.
    """

    name: ClassVar[str] = "extract_divisors"
    may_cost_more: ClassVar[bool] = False

    resubstitute: bool = field(
        default=True,
        metadata={"meaning": "find parts of sums that are computed already, by their value"},
    )
    sine_cost: float = field(
        default=12,
        metadata={"meaning": "what a sine or cosine of a difference costs, in multiplications"},
    )

    def __call__(self, graph: Graph) -> Graph:
        """Return the graph with the common parts as variables."""
        system = system_of(graph, Prices(call=self.sine_cost))
        Settler(system).settle(resubstitute=self.resubstitute)
        return graph_of(system)
