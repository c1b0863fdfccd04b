"""How a motion is held on closed loops and constraints of the file, and their gaps.

stabilise="projection"                   each step ends on them, positions and rates
stabilise="baumgarte"                    f'' + 2 alpha f' + beta^2 f = 0 draws it back to them
stabilise={"alpha": 50, "beta": 50}      the same with other numbers (1/s)
stabilise="none"                         only accelerations obey them

`ConstraintResiduals` is what is missing for them to hold, in double precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.formulations import ConstraintLaws, ConstraintRow
from chainform.given import Given, argument
from chainform.graph import Builder, Graph
from chainform.mechanism import (
    JointKind,
    Mechanism,
    Reader,
    numeric_loops,
    numeric_tree,
)
from chainform.runtime import Key, LruCache
from chainform.simulation.equations.evaluate import values_along

Array = NDArray[np.float64]


def damped(rows: Sequence[ConstraintRow], alpha: Fraction, beta: Fraction) -> list[ConstraintRow]:
    """Return rows that draw a state back to them: f'' + 2 alpha f' + beta^2 f = 0 (Baumgarte).

    A constraint of rates is its own rate: f' + 2 alpha f = 0.
    """
    drawn: list[ConstraintRow] = []
    for row in rows:
        back = row.rate * (2 * alpha)
        if row.value is not row.rate:
            back = back + row.value * (beta * beta)
        drawn.append(ConstraintRow(row.value, row.rate, row.J, row.gamma - back))
    return drawn


# --- stabilisation ----------------------------------------------------------------------------


WORDS = ("projection", "baumgarte", "none")
USUAL = Fraction(20)
"""alpha and beta (1/s) where nothing is given: a gap fades within a tenth of a second."""


@dataclass(frozen=True)
class Stabilise:
    """Whether each step ends on the constraints, and otherwise what draws the motion back."""

    projects: bool = True
    alpha: Fraction = Fraction(0)
    beta: Fraction = Fraction(0)


PROJECTION = Stabilise()


def stabilise_of(stabilise: Any) -> Stabilise:
    """Return the checked choice."""
    given = argument("stabilise", stabilise)
    if given.is_table:
        return _baumgarte(given.table(("type", "alpha", "beta")))
    remedy = f'choose {", ".join(WORDS)}, or write {{"alpha": 20, "beta": 20}}'
    word = given.choice(WORDS, "way to hold constraints", remedy)
    if word == "projection":
        return PROJECTION
    return _baumgarte(given.holding({})) if word == "baumgarte" else Stabilise(projects=False)


def _baumgarte(table: Given) -> Stabilise:
    reader = Reader()
    alpha, beta = (reader.number(table[name], USUAL, least=0) for name in ("alpha", "beta"))
    return Stabilise(False, cast("Fraction", alpha), cast("Fraction", beta))


# --- gaps in double precision -----------------------------------------------------------------


LAW_GRAPHS: LruCache[Graph] = LruCache(8)


@dataclass(frozen=True)
class ConstraintPart:
    """Rows of the gaps that belong together, and what they are: a loop or a constraint."""

    name: str
    first: int
    count: int
    kind: str


class ConstraintResiduals:
    """What is missing for the loops and holonomic constraints of a mechanism to hold."""

    def __init__(self, mechanism: Mechanism, t: float = 0.0) -> None:
        self.mechanism = mechanism
        self.t = t
        self.tree = numeric_tree(mechanism)
        self.loops = numeric_loops(mechanism, self.tree)
        bilateral = [c for c in mechanism.constraints if c.kind != "unilateral"]
        self.laws = [c for c in bilateral if c.kind == "holonomic"]
        self.rate_laws = [c for c in bilateral if c.kind == "nonholonomic"]
        self.size = self.loops[0].size if self.loops else 1.0

    @property
    def has_rows(self) -> bool:
        """Whether anything binds coordinates or rates."""
        return bool(self.loops or self.laws or self.rate_laws)

    @cached_property
    def pieces(self) -> list[ConstraintPart]:
        """The rows by loop and constraint, those that bind rates last."""
        pieces: list[ConstraintPart] = []
        first = 0
        for loop in self.mechanism.loops:
            count = loop.equations
            pieces.append(ConstraintPart(f"loop {loop.name!r}", first, count, loop.kind))
            first += count
        for law in (*self.laws, *self.rate_laws):
            pieces.append(ConstraintPart(f"constraint {law.name!r}", first, 1, "law"))
            first += 1
        return pieces

    @cached_property
    def _law_graph(self) -> Graph:
        """Values, rates and derivatives of all laws; recent ones are in a cache."""
        key = Key((self.mechanism.name, self.mechanism.nv), (self.mechanism,))
        return LAW_GRAPHS.get(key, self._made_law_graph)

    def _made_law_graph(self) -> Graph:
        builder, n = Builder(), self.mechanism.nv
        kinds = {law.name: place for place, law in enumerate((*self.laws, *self.rate_laws))}
        bilateral = [c for c in self.mechanism.constraints if c.kind != "unilateral"]
        made = ConstraintLaws(builder, self.mechanism).bilateral
        pairs = zip(bilateral, made, strict=True)
        rows = [row for _, row in sorted(pairs, key=lambda pair: kinds[pair[0].name])]
        zero = builder.number(0)
        parts = {
            "values": [row.value for row in rows],
            "rates": [row.rate for row in rows],
            "slopes": [row.J.get(k, zero) for row in rows for k in range(n)],
        }
        for name, values in parts.items():
            entries = [(f"{name}_{i + 1}", value) for i, value in enumerate(values)]
            builder.output(name, (len(entries),), entries)
        return builder.finish()

    def _laws_at(self, output: str, q: Array) -> Array:
        """Return values of all laws while nothing moves."""
        if not (self.laws or self.rate_laws):
            return np.zeros(0)
        n = self.mechanism.nv
        given = {"t": np.array([self.t]), "q": q[None], "qd": np.zeros((1, n))}
        return values_along(self._law_graph, output, given)[0]

    def at(self, q: Array) -> Array:
        """Return r at a pose."""
        poses = self.tree.poses(q)
        gaps = [loop.gap(poses) for loop in self.loops]
        return np.concatenate([*gaps, self._laws_at("values", q)[: len(self.laws)]])

    def slopes(self, q: Array) -> Array:
        """Return J of all rows, those that bind rates with them, (rows, nv)."""
        n, poses = self.mechanism.nv, self.tree.poses(q)
        slopes = [loop.jacobian(self.tree, poses, n) for loop in self.loops]
        return np.concatenate([*slopes, self._laws_at("slopes", q).reshape(-1, n)])

    def position_slopes(self, q: Array) -> Array:
        """Return J of the rows that bind positions: the derivatives of r."""
        J = self.slopes(q)
        return J[: len(J) - len(self.rate_laws)]

    def drift(self, q: Array) -> Array:
        """Return the rates of all rows while nothing moves but the time."""
        loops = sum(piece.count for piece in self.pieces if piece.kind != "law")
        return np.concatenate([np.zeros(loops), self._laws_at("rates", q)])

    def piece_of(self, row: int) -> ConstraintPart:
        """Return the loop or constraint that a row belongs to."""
        return next(p for p in self.pieces if p.first <= row < p.first + p.count)

    def moved(self, q: Array, step: Array) -> Array:
        """Return the pose after a small motion along the rates."""
        return self.tree.moved(q, step) if self.mechanism.segments else q + step

    def scales(self) -> Array:
        """Return what counts as a motion of size 1 for each rate: 1 rad, or the size in m."""
        scales = np.ones(self.mechanism.nv)
        for segment in self.mechanism.segments:
            if segment.rate is not None:
                slides = {JointKind.PRISMATIC: 1, JointKind.FREE: 3}.get(segment.joint.kind, 0)
                scales[segment.rate : segment.rate + slides] = self.size
        return scales
