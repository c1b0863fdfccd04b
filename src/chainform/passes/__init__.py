"""Passes: a graph in, a graph with the same outputs and the same values out."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

from chainform.graph import Graph
from chainform.passes.drop_neutral import DropNeutral
from chainform.passes.drop_unused import DropUnused
from chainform.passes.expand import Expand
from chainform.passes.extract_divisors import ExtractDivisors
from chainform.passes.extract_monomials import ExtractMonomials
from chainform.passes.factor_products import FactorProducts
from chainform.passes.merge_equal import MergeEqual
from chainform.passes.reduce_part import ReducePart, part_of, part_top
from chainform.passes.trig_identities import TrigIdentities


@runtime_checkable
class Pass(Protocol):
    """A step of a reduction: a frozen dataclass whose fields are its options.

    The graph it is given is legal, and so is the one it returns: `verify` holds, the outputs
    keep names, order, labels and exact values, inputs stay. The cost does not rise, unless
    `may_cost_more` says so.
    """

    name: ClassVar[str]
    may_cost_more: ClassVar[bool]

    def __call__(self, graph: Graph) -> Graph:
        """Return the graph with the step taken."""
        ...


PASSES: dict[str, type[Pass]] = {
    "drop_neutral": DropNeutral,
    "drop_unused": DropUnused,
    "expand": Expand,
    "trig_identities": TrigIdentities,
    "merge_equal": MergeEqual,
    "extract_divisors": ExtractDivisors,
    "extract_monomials": ExtractMonomials,
    "factor_products": FactorProducts,
    "reduce_part": ReducePart,
}
"""Every pass by its name."""

__all__ = [
    "PASSES",
    "DropNeutral",
    "DropUnused",
    "Expand",
    "ExtractDivisors",
    "ExtractMonomials",
    "FactorProducts",
    "MergeEqual",
    "Pass",
    "ReducePart",
    "TrigIdentities",
    "part_of",
    "part_top",
]
