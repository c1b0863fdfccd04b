"""How many freedoms loops and constraints leave, and which of their equations are redundant.

The rank of J is taken at a pose and at poses near it that are closed as well. A rank that is lower
everywhere is redundancy, as of the third equation of a plane loop in space; a rank that is lower at
one pose only makes it a singular position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.mechanism import Mechanism
from chainform.simulation.constraints.assembly import RANK, assemble
from chainform.simulation.constraints.gaps import Gaps
from chainform.simulation.initial import initial_state

Array = NDArray[np.float64]

NEAR = 0.02
"""How far aside (rad, parts of the size) other poses are looked at."""
POSES = 3
ROUNDING = 1e-13
"""Rows that are smaller, against the largest, are zero."""


@dataclass(frozen=True)
class Mobility:
    """What loops and constraints do to a mechanism at a pose.

    Of `rows` equations `rank` are independent in general and `rank_here` at the pose; `freedoms`
    remain in general. `redundant` tells, by loop or constraint, how many equations follow from
    the others and those before.
    """

    rows: int
    rank: int
    rank_here: int
    freedoms: int
    redundant: dict[str, tuple[int, int]]
    shares_forces: bool = False
    """Whether forces of redundant equations could be shared otherwise: none of them is zero."""

    @property
    def is_singular(self) -> bool:
        """Whether the pose is a singular position."""
        return self.rank_here < self.rank

    @property
    def notes(self) -> tuple[str, ...]:
        """What one should know, in words."""
        notes = [
            f"{name}: {count} of {total} equations {'is' if count == 1 else 'are'} redundant"
            for name, (count, total) in self.redundant.items()
        ]
        if self.shares_forces:
            notes.append("forces of redundant equations: those of least norm")
        if self.is_singular:
            lost = self.rank - self.rank_here
            notes.append(f"singular position: {lost} of {self.rank} equations lost at this pose")
        return tuple(notes)


def mobility(mechanism: Mechanism, q: Any = None, *, t: float = 0.0) -> Mobility:
    """Return ranks and freedoms at a pose in which the loops are closed.

    `q` is an array, or a table by names with zero for what is not named.
    """
    q = initial_state(mechanism, q, None)[: mechanism.nq]
    gaps = Gaps(mechanism, t)
    here = gaps.slopes(q)
    general = max([here, *_aside(gaps, q)], key=lambda J: rank_of(J, gaps))
    rank, rows = rank_of(general, gaps), len(here)
    redundant: dict[str, tuple[int, int]] = {}
    before = 0
    for piece in gaps.pieces:
        so_far = rank_of(general[: piece.first + piece.count], gaps)
        lacking = piece.count - (so_far - before)
        if lacking:
            redundant[piece.name] = (lacking, piece.count)
        before = so_far
    freedoms = mechanism.nv - rank
    sizes = np.linalg.norm(general, axis=1)
    present = int(np.sum(sizes > max(ROUNDING * sizes.max(initial=0.0), _rounding(gaps))))
    return Mobility(rows, rank, rank_of(here, gaps), freedoms, redundant, present > rank)


def rank_of(J: Array, gaps: Gaps) -> int:
    """Return how many rows are independent."""
    sizes = singular_values(J, gaps)
    return int(np.sum(sizes > max(RANK * sizes.max(initial=0.0), _rounding(gaps))))


def _rounding(gaps: Gaps) -> float:
    """Return below what a row is zero, though no other row is larger.

    Entries are lengths of levers, sums of numbers as large as the mechanism, or cosines.
    """
    return ROUNDING * max(1.0, gaps.size)


def singular_values(J: Array, gaps: Gaps) -> Array:
    """Return the singular values of J, for rates of turns and slides of about the same size."""
    scaled = J * gaps.scales()
    loops = sum(piece.count for piece in gaps.pieces if piece.kind != "law")
    lengths = np.linalg.norm(scaled[loops:], axis=1, keepdims=True)
    scaled[loops:] /= np.where(lengths > 0, lengths, 1.0)
    if not scaled.size:
        return np.zeros(0)
    return np.asarray(np.linalg.svd(scaled, compute_uv=False), dtype=np.float64)


def _aside(gaps: Gaps, q: Array) -> list[Array]:
    """Return J at closed poses near a pose, as far as there are any."""
    random, found = np.random.default_rng(1), list[Array]()
    for _ in range(POSES):
        step = NEAR * gaps.scales() * random.uniform(-1, 1, gaps.mechanism.nv)
        try:
            found.append(gaps.slopes(assemble(gaps.mechanism, gaps.moved(q, step), t=gaps.t)))
        except RunError:
            continue
    return found
