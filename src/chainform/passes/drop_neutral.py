"""Remove zeros, ones, and variables that are nothing but another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chainform.graph import Draft, Graph


@dataclass(frozen=True)
class DropNeutral:
    """Remove operations with neutral elements (algorithm 2.2 of Racković 1996).

    General formulas meet special mechanisms: most components of axes and offsets are 0 or 1. Terms
    that are zero go, constants become part of coefficients, and a variable that equals another one
    or its opposite gives way to it. No two definitions are compared; `merge_equal` does that.
    """

    name: ClassVar[str] = "drop_neutral"
    may_cost_more: ClassVar[bool] = False

    def __call__(self, graph: Graph) -> Graph:
        """Return the graph without neutral operations."""
        return Draft(graph).finish(share=False)
