"""Where things stand in the array p that goes with a state through the loops.

    parameters | tau | signals | mask | modes | grips | slack | bounds | cones | multipliers | area
    | room | order | columns | across | change | lowest | watching

Without constraints only the first three are there. `mask` tells which rows of constraints are
active, `modes` and `grips` have what else changes with them, `slack`, `bounds` and `cones` belong
to their events; `area` holds the terms of the equations, the rest is room for the work.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.equations import Equations

Array = NDArray[np.float64]

PARTS = (
    "parameters",
    "tau",
    "signals",
    "mask",
    "modes",
    "grips",
    "slack",
    "bounds",
    "cones",
    "multipliers",
    "area",
    "room",
    "order",
    "columns",
    "across",
    "change",
    "lowest",
    "watching",
)


@dataclass(frozen=True)
class Layout:
    """The parts of p, each with its place and its length."""

    equations: Equations

    def length(self, part: str) -> int:
        """Return how many numbers a part has."""
        return self._lengths[part]

    def place(self, part: str) -> int:
        """Return where a part begins."""
        return self._places[part]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {part: sum(map(self.length, PARTS[:k])) for k, part in enumerate(PARTS)}

    @cached_property
    def _lengths(self) -> dict[str, int]:
        nq, n, m = self.equations.nq, self.equations.nv, self.equations.rows
        sorts = self.equations.sorts
        watched = sorts.watched + sorts.touching
        return {
            "parameters": len(self.equations.parameters),
            "tau": n,
            "signals": self.equations.nu,
            "mask": m,
            "modes": sorts.given,
            "grips": sorts.beside,
            "slack": m,
            "bounds": sorts.sticking,
            "cones": sorts.gripping,
            "multipliers": m,
            "area": n * n + n + m * n + 3 * m if m else 0,
            "room": m * n + 3 * m * m + 6 * m + 3 * n if m else 0,
            "order": 3 * m + 2 if m else 0,
            "columns": m if sorts.gripping else 0,
            "across": m * n + sorts.beside if sorts.gripping else 0,
            "change": 2 * (nq + n) if m else 0,
            "lowest": 4 if m else 0,
            "watching": watched + self.equations.size if watched else 0,
        }

    def tail(self, *, is_held: bool) -> int:
        """Return how many numbers, from tau on, are put out with each state."""
        if self.equations.sorts.watched:
            return self.place("slack") - self.place("tau")
        return self.length("tau") + self.length("signals") if is_held else 0

    def part(self, p: Array, part: str) -> Array:
        """Return a part of p, not a copy."""
        first = self.place(part)
        return p[first : first + self.length(part)]

    def fresh(self) -> Array:
        """Return p with all parameters at their values, no efforts, and lasting rows active."""
        p = np.zeros(sum(self.length(part) for part in PARTS) + 1)
        graph = self.equations.graph
        defaults = {given.name: given.default for given in graph.inputs.values()}
        for place, name in enumerate(self.equations.parameters):
            default = defaults[name]
            p[place] = np.nan if default is None else float(default)
        self.part(p, "mask")[: self.equations.sorts.always] = 1.0
        if self.equations.rows:
            order = self.part(p, "order").view(np.int64)
            order[self.equations.rows : 2 * self.equations.rows] = self._groups()
            order[-1] = self.equations.sorts.always
        return p

    def _groups(self) -> list[int]:
        """Return for each row the first one of those that have its unit: of a loop, or itself."""
        groups: list[int] = []
        for loop in self.equations.mechanism.loops:
            for _ in range(1 if loop.kind == "point" else 2):
                groups += [len(groups)] * 3
        return [*groups, *range(len(groups), self.equations.rows)]
