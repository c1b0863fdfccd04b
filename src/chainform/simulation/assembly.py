"""Assembly: closing the loops of a mechanism from rough values.

symbol   meaning
r(q)     gaps of loops (distances over the size of the mechanism, rotation vectors in rad), then the
         laws of holonomic constraints
J        their derivatives by the rates

Damped least squares (Levenberg, Marquardt) moves the coordinates that are not held fixed by

    (J^T J + d) step = - J^T r

with d smaller after each step that helps and larger otherwise, so that far from a closed pose it
goes downhill and near one it converges quadratically. Where it gets stuck, as in a stretched pose,
it begins again a little aside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.formulations import ConstraintLaws
from chainform.graph import Builder, Graph
from chainform.mechanism import Mechanism
from chainform.mechanism.closing import numeric_loops
from chainform.mechanism.pose import numeric_tree
from chainform.mechanism.types import JointKind
from chainform.simulation.along import values_along
from chainform.simulation.initial import initial_state

Array = NDArray[np.float64]
Places = NDArray[np.intp]

CLOSED = 1e-11
"""The greatest gap of an assembled mechanism, relative to its size."""
ROUNDING = 1e-15
STEPS = 200
ASIDE = (0.0, 0.03, 0.1, 0.3, 0.6, 1.0)
"""How far aside (rad, parts of the size) attempts begin; all but the first several times."""
TRIES = 4
RANK = 1e-9
"""Singular values below this share of the largest count as zero."""


@dataclass(frozen=True)
class Piece:
    """Rows of the gaps that belong together, and what they are: a loop or a constraint."""

    name: str
    first: int
    count: int
    kind: str


class Gaps:
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
    def pieces(self) -> list[Piece]:
        """The rows by loop and constraint, those that bind rates last."""
        pieces: list[Piece] = []
        first = 0
        for loop in self.mechanism.loops:
            count = 3 if loop.kind == "point" else 6
            pieces.append(Piece(f"loop {loop.name!r}", first, count, loop.kind))
            first += count
        for law in (*self.laws, *self.rate_laws):
            pieces.append(Piece(f"constraint {law.name!r}", first, 1, "law"))
            first += 1
        return pieces

    @cached_property
    def _law_graph(self) -> Graph:
        """Values, rates and derivatives of all laws."""
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

    def at(self, q: Array) -> tuple[Array, Array]:
        """Return r and its derivatives at a pose."""
        poses, count = self.tree.poses(q), len(self.laws)
        gaps = [loop.gap(poses) for loop in self.loops]
        rest = self._laws_at("values", q)[:count]
        J = self.slopes(q)
        return np.concatenate([*gaps, rest]), J[: len(J) - len(self.rate_laws)]

    def slopes(self, q: Array) -> Array:
        """Return J of all rows, those that bind rates with them, (rows, nv)."""
        n, poses = self.mechanism.nv, self.tree.poses(q)
        slopes = [loop.jacobian(self.tree, poses, n) for loop in self.loops]
        return np.concatenate([*slopes, self._laws_at("slopes", q).reshape(-1, n)])

    def drift(self, q: Array) -> Array:
        """Return the rates of all rows while nothing moves but the time."""
        loops = sum(piece.count for piece in self.pieces if piece.kind != "law")
        return np.concatenate([np.zeros(loops), self._laws_at("rates", q)])

    def piece_of(self, row: int) -> Piece:
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


def assemble(
    mechanism: Mechanism, q0: Any = None, fixed: Sequence[str] = (), *, t: float = 0.0
) -> Array:
    """Return coordinates near q0 (rad, m) in which all loops and holonomic constraints hold.

    `q0` is an array, or a table by names with zero for what is not named. The coordinates named in
    `fixed` stay as they are; a joint with a quaternion is fixed as a whole. Where constraints name
    the time, they hold at `t`. RunError says which loop stays open, and by how much.
    """
    q = initial_state(mechanism, q0, None)[: mechanism.nq]
    gaps = Gaps(mechanism, t)
    q = gaps.moved(q, np.zeros(mechanism.nv))
    if not (gaps.loops or gaps.laws):
        return q
    free = free_rates(mechanism, fixed)
    best, least = q, np.inf
    for number, start in enumerate(_starts(gaps, q, free)):
        found, size = descend(gaps, start, free)
        if size <= CLOSED:
            return found
        if number == 0 or not size > least:
            best, least = found, size
    raise _open(gaps, best, fixed)


def consistent_rates(
    mechanism: Mechanism, q: Array, qd0: Any = None, fixed: Sequence[str] = (), *, t: float = 0.0
) -> Array:
    """Return rates near qd0 with which loops and constraints go on to hold, q being assembled.

    Of all such rates they are the nearest. Those named in `fixed` stay as they are.
    """
    qd = initial_state(mechanism, None, qd0)[mechanism.nq :]
    gaps = Gaps(mechanism, t)
    if not gaps.has_rows:
        return qd
    held = {mechanism.rate_index(name) for name in fixed}
    free = np.array([k for k in range(mechanism.nv) if k not in held], dtype=np.intp)
    J, scales = gaps.slopes(q), gaps.scales()[free]
    missing = J @ qd + gaps.drift(q)
    change = np.linalg.lstsq(J[:, free] * scales, -missing, rcond=RANK)[0]
    qd[free] += scales * change
    left = J @ qd + gaps.drift(q)
    if np.max(np.abs(left), initial=0.0) > 1e-8 * max(1.0, float(np.max(np.abs(qd), initial=0.0))):
        piece = gaps.piece_of(int(np.argmax(np.abs(left))))
        remedy = "give rates that fit together"
        remedy += f", or leave {', '.join(fixed)} free" if len(fixed) else ""
        raise RunError(
            f"no such rates keep {piece.name} closed",
            file=mechanism.file,
            element=piece.name,
            remedy=remedy,
        )
    return qd


def free_rates(mechanism: Mechanism, fixed: Sequence[str]) -> Places:
    """Return the rates that are not held by fixed coordinates, as places in qd."""
    held: set[int] = set()
    for name in (fixed,) if isinstance(fixed, str) else fixed:
        place = mechanism.coordinate_index(name)
        segment = mechanism.coordinate_records[place].segment
        if segment < 0:
            held.add(place)
            continue
        first, kind = mechanism.segments[segment].rate, mechanism.segments[segment].joint.kind
        assert first is not None
        held |= set(range(first, first + kind.rates))
    return np.array([k for k in range(mechanism.nv) if k not in held], dtype=np.intp)


def _starts(gaps: Gaps, q: Array, free: Places) -> Iterator[Array]:
    """Yield the pose itself, then poses further and further aside, always the same ones."""
    random, scales = np.random.default_rng(0), gaps.scales()
    for aside in ASIDE:
        for _ in range(TRIES if aside else 1):
            step = np.zeros(len(scales))
            step[free] = aside * scales[free] * random.uniform(-1, 1, len(free))
            yield gaps.moved(q, step)


def descend(gaps: Gaps, q: Array, free: Places) -> tuple[Array, float]:
    """Take damped steps until the gaps vanish or no step helps; return the pose and the gap."""
    scales = gaps.scales()[free]
    gap, slope = gaps.at(q)
    damping = 1e-3
    for _ in range(STEPS):
        size = float(np.max(np.abs(gap), initial=0.0))
        if not np.isfinite(size) or size <= ROUNDING:
            break
        A, step = slope[:, free] * scales, np.zeros(slope.shape[1])
        if size < 1e-6:
            # Near a closed pose: the shortest step, also where rows depend on each other.
            step[free] = scales * np.linalg.lstsq(A, -gap, rcond=1e-10)[0]
        else:
            normal = A.T @ A + damping * np.eye(len(free))
            step[free] = scales * np.linalg.solve(normal, -A.T @ gap)
        trial = gaps.moved(q, step)
        new, turned = gaps.at(trial)
        if new @ new < gap @ gap:
            q, gap, slope = trial, new, turned
            damping = max(damping / 10, 1e-12)
        elif size < 1e-6 or damping > 1e6:
            break
        else:
            damping *= 10
    return q, float(np.max(np.abs(gap), initial=0.0))


def _open(gaps: Gaps, q: Array, fixed: Sequence[str]) -> RunError:
    """Return the error that names the loop that stays open most."""
    gap, _ = gaps.at(q)
    worst = gaps.piece_of(int(np.argmax(np.abs(gap))))
    rows = gap[worst.first : worst.first + worst.count]
    if worst.kind == "law":
        left = f"stays at {rows[0]:.3g}"
    else:
        left = f"stays open by {np.linalg.norm(rows[:3]) * gaps.size:.3g} m"
        if worst.kind == "frame":
            left += f" and {np.linalg.norm(rows[3:]):.3g} rad"
    remedy = "begin nearer to a closed pose, or correct lengths and points"
    if len(fixed):
        held = fixed if isinstance(fixed, str) else ", ".join(fixed)
        remedy += f"; or leave {held} free"
    return RunError(
        f"the mechanism cannot be assembled: {worst.name} {left}",
        file=gaps.mechanism.file,
        element=worst.name,
        remedy=remedy,
    )
