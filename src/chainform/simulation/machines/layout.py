"""Where things stand in the array p that goes with a state through the loops.

Parameters come first, then efforts, signals, and what loops and contacts need: loops/system.py says
what each part is. Without constraints only the first three are there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.equations import Equations
from chainform.simulation.loops.system import SystemLayout

Array = NDArray[np.float64]

PARTS = (
    *("parameters", "tau", "signals"),
    *("mask", "modes", "grips", "slack", "bounds", "cones", "multipliers"),
    *("H", "r", "J", "gamma", "residuals", "speeds"),
    *("Y", "S", "right", "weights", "scales", "squares", "largest", "diagonal", "spread"),
    *("order", "groups", "redundant", "rank", "columns", "across", "present"),
    *("change", "lowest", "watching"),
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
        some, slides = (1 if m else 0), (1 if sorts.gripping else 0)
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
            "H": some * n * n,
            "r": some * n,
            "J": m * n,
            **dict.fromkeys(("gamma", "residuals", "speeds"), m),
            "Y": m * n,
            "S": m * m,
            **dict.fromkeys(("right", "weights", "scales", "squares", "largest"), m),
            "diagonal": some * 2 * n,
            "spread": some * (2 * m * m + m + n),
            **dict.fromkeys(("order", "groups", "redundant"), m),
            "rank": some,
            "columns": slides * m,
            "across": slides * m * n,
            "present": sorts.beside,
            "change": some * 2 * (nq + n),
            "lowest": some * 4,
            "watching": watched + self.equations.size if watched else 0,
        }

    def record(self) -> SystemLayout:
        """Return the layout as procedures see it."""
        record, equations, sorts = SystemLayout(), self.equations, self.equations.sorts
        for part in PARTS:
            if part in SystemLayout.fields:
                setattr(record, part, self.place(part))
        record.nq, record.n, record.m = equations.nq, equations.nv, equations.rows
        record.always, record.touching, record.gripping = (
            sorts.always,
            sorts.touching,
            sorts.gripping,
        )
        record.sticking, record.stiff = sorts.sticking, sorts.stiff
        graph = equations.graph
        record.laws = len(graph.block("events").variables) if "events" in graph.outputs else 0
        account = equations.size - equations.balance_states
        record.work = account if equations.balance_states else -1
        record.impulse = account - 1 if equations.impulses else -1
        return record

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
            self.part(p, "groups").view(np.int64)[:] = self._groups()
        return p

    def _groups(self) -> list[int]:
        """Return for each row the first one of those that have its unit: of a loop, or itself."""
        groups: list[int] = []
        for loop in self.equations.mechanism.loops:
            for _ in range(1 if loop.kind == "point" else 2):
                groups += [len(groups)] * 3
        return [*groups, *range(len(groups), self.equations.rows)]
