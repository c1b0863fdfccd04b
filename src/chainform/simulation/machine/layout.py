"""Where things stand in the array p that goes with a state through the loops.

Parameters come first, then efforts, signals, and what loops and contacts need: `SystemLayout`
says what each part is. Without constraints only the first three are there.

It is a system under constraints as procedures see it: sizes, and where things stand.

    H qdd = r + J^T s,    J qdd = gamma

All of it is known when a system is compiled, so that LLVM puts numbers in the place of the fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chainform.runtime import Struct
from chainform.simulation.equations.builder import Equations

Array = NDArray[np.float64]


class SystemLayout(Struct):
    """Sizes of a system under constraints, and offsets in p of all that is computed with them.

    Of the rows of constraints the first ones always hold, then come `touching` gaps, two rows in
    the plane of each of the first `gripping` gaps, and the rates of joints that may stick.
    """

    nq: int
    n: int
    """How many rates there are,"""
    m: int
    """and how many rows of constraints."""
    always: int
    touching: int
    gripping: int
    sticking: int
    stiff: int
    """Gaps of stiff contacts."""
    laws: int
    """Events of the user."""
    impulse: int
    """Where in y forces of what comes and goes are added up (-1: nowhere),"""
    work: int
    """and where work is, with losses behind it."""

    mask: int
    """For each row, 0 if it is not active."""
    modes: int
    """For each joint that may stick, the direction in which it slides."""
    grips: int
    """For each row in a plane of contact, mu d of the last event (sliding_contacts.py)."""
    slack: int
    bounds: int
    """The largest friction of each joint that may stick,"""
    cones: int
    """and that of each contact, as a share of its push."""
    multipliers: int

    H: int
    """Set by the kernel `terms`, with the next five: n n,"""
    r: int
    """n,"""
    J: int
    """m n,"""
    gamma: int
    """m,"""
    residuals: int
    """the values of the rows, m,"""
    speeds: int
    """and their rates, m."""

    Y: int
    """Y^T with Y = L^-1 J^T and H = L L^T, m n,"""
    S: int
    """Y^T Y, or its factors, m m,"""
    right: int
    """a right side, m,"""
    weights: int
    """m,"""
    scales: int
    """what rows of S are multiplied by, m,"""
    squares: int
    """of the rows of J, against the largest of their group in the motion so far, m,"""
    largest: int
    """which is here, m,"""
    diagonal: int
    """that of H, and the largest entries of the columns of J, 2 n,"""
    spread: int
    """and how forces may be shared otherwise, with room for that, 2 m m + m + n."""

    order: int
    """The rows in the order of their pivots, m integers,"""
    groups: int
    """the first row of the group of each, those of a loop having one unit,"""
    redundant: int
    """and whether it was redundant where all were closed."""
    rank: int
    """The highest rank there."""
    columns: int
    """The columns in the order of their pivots, m integers."""
    across: int
    """Rows by which forces enter where contacts slide, m n,"""
    present: int
    """and mu d for the present speeds."""
    change: int
    """Room for two states."""
    lowest: int
    """The smallest share of a row that does not follow from others, its time, the lowest rank and
    its time."""
    watching: int
    """What the kernel `gaps` gives, and room for a y'."""


PARTS = (
    *("parameters", "tau", "signals", "controls"),
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
        row_counts = self.equations.row_counts
        watched = row_counts.watched + row_counts.touching
        some, slides = (1 if m else 0), (1 if row_counts.gripping else 0)
        return {
            "parameters": len(self.equations.parameters),
            "tau": n,
            "signals": self.equations.nu,
            "controls": self.equations.controls,
            "mask": m,
            "modes": row_counts.given,
            "grips": row_counts.tangential,
            "slack": m,
            "bounds": row_counts.sticking,
            "cones": row_counts.gripping,
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
            "present": row_counts.tangential,
            "change": some * 2 * (nq + n),
            "lowest": some * 4,
            "watching": watched + self.equations.size if watched else 0,
        }

    def record(self) -> SystemLayout:
        """Return the layout as procedures see it."""
        record, equations, row_counts = SystemLayout(), self.equations, self.equations.row_counts
        for part in PARTS:
            if part in SystemLayout.fields:
                setattr(record, part, self.place(part))
        record.nq, record.n, record.m = equations.nq, equations.nv, equations.rows
        record.always, record.touching, record.gripping = (
            row_counts.always,
            row_counts.touching,
            row_counts.gripping,
        )
        record.sticking, record.stiff = row_counts.sticking, row_counts.stiff
        graph = equations.graph
        record.laws = len(graph.block("events").variables) if "events" in graph.outputs else 0
        account = equations.size - equations.balance_states
        record.work = account if equations.balance_states else -1
        record.impulse = account - 1 if equations.impulses else -1
        return record

    def tail(self, *, is_held: bool) -> int:
        """Return how many numbers, from tau on, are put out with each state."""
        if self.equations.row_counts.watched:
            return self.place("slack") - self.place("tau")
        has_any = is_held or self.equations.controls
        return self.place("mask") - self.place("tau") if has_any else 0

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
        self.part(p, "mask")[: self.equations.row_counts.always] = 1.0
        if self.equations.rows:
            self.part(p, "groups").view(np.int64)[:] = self._groups()
        return p

    def _groups(self) -> list[int]:
        """Return for each row the first one of those that have its unit: of a loop, or itself."""
        groups: list[int] = []
        for loop in self.equations.mechanism.loops:
            for directions in (loop.rows.linear, loop.rows.angular):
                groups += [len(groups)] * len(directions)
        return [*groups, *range(len(groups), self.equations.rows)]
