"""Passes: a graph in, a graph with the same outputs and the same values out."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

from chainform.graph import Graph


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
