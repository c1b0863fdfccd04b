"""Assembly: closing the loops of a mechanism from rough values; and the mobility that they leave.

symbol   meaning
r(q)     gaps of loops (distances over the size of the mechanism, rotation vectors in rad), then the
         laws of holonomic constraints
J        their derivatives by the rates

Damped least squares (Levenberg, Marquardt) moves the coordinates that are not held fixed by

    (J^T J + d) step = - J^T r

with d smaller after each step that helps and larger otherwise, so that far from a closed pose it
goes downhill and near one it converges quadratically. Where it gets stuck, as in a stretched pose,
it begins again a little aside.

For the mobility the rank of J is taken at a pose and at poses near it that are closed as well. A
rank that is lower everywhere is redundancy, as of the third equation of a plane loop in space; a
rank that is lower at one pose only makes it a singular position.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.linalg import norm
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.errors import RunError
from chainform.mechanism import LOOP_ROWS, JointKind, Mechanism
from chainform.simulation.equations.initial import initial_state
from chainform.simulation.equations.loop_constraints import ConstraintResiduals

Array = NDArray[np.float64]
Places = NDArray[np.intp]
CLOSED = 1e-11
"""The greatest gap of an assembled mechanism, relative to its size."""
ROUNDING = 1e-15
OPEN, LEVEL = 1e-3, 1e-5
"""A mechanism that is open by more, where all slopes of the gap are smaller, is stuck."""
STEPS = 200
ASIDE = (0.0, 0.03, 0.1, 0.3, 0.6, 1.0)
"""How far aside (rad, parts of the size) attempts begin; all but the first several times."""
TRIES = 4
RANK = 1e-9
"""Singular values below this share of the largest count as zero."""


def assemble(
    mechanism: Mechanism, q0: Any = None, fixed: Sequence[str] = (), *, t: float = 0.0
) -> Array:
    """Return coordinates near q0 (rad, m) in which all loops and holonomic constraints hold.

    `q0` is an array, or a table by names with zero for what is not named. The coordinates named in
    `fixed` stay as they are; a joint with a quaternion is fixed as a whole. Where constraints name
    the time, they hold at `t`. RunError says which loop stays open, and by how much.
    """
    q = initial_state(mechanism, q0, None)[: mechanism.nq]
    gaps = ConstraintResiduals(mechanism, t)
    q = gaps.moved(q, np.zeros(mechanism.nv))
    if not (gaps.loops or gaps.laws):
        return q
    free = free_rates(mechanism, fixed)
    best, least = q, np.inf
    for number, start in enumerate(_starts(gaps, q, free)):
        found, size = descend(gaps, start, free)
        if size <= CLOSED:
            return _unwound(gaps, found, q, free)
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
    gaps = ConstraintResiduals(mechanism, t)
    if not gaps.has_rows:
        return qd
    held = {mechanism.rate_index(name) for name in fixed}
    free = np.array([k for k in range(mechanism.nv) if k not in held], dtype=np.intp)
    J, scales = gaps.slopes(q), gaps.scales()[free]
    missing = J @ qd + gaps.drift(q)
    change = np.linalg.lstsq(J[:, free] * scales, -missing, rcond=RANK)[0]
    qd[free] += scales * change
    left = J @ qd + gaps.drift(q)
    if not rates_fit(gaps, q, qd, 1e-8):
        piece = gaps.piece_of(int(np.argmax(np.abs(left))))
        which, remedy = "", "laws that move with time contradict loops or others: take one out"
        if len(fixed):
            which = "such "
            remedy = f"give rates that fit together, or leave {', '.join(fixed)} free"
        raise RunError(
            f"no {which}rates keep {piece.name} closed",
            file=mechanism.file,
            element=piece.name,
            remedy=remedy,
        )
    return qd


def rates_fit(gaps: ConstraintResiduals, q: Array, qd: Array, limit: float = CLOSED) -> bool:
    """Whether loops and constraints go on to hold with these rates."""
    left = gaps.slopes(q) @ qd + gaps.drift(q)
    size = max(1.0, float(np.max(np.abs(qd), initial=0.0)))
    return not np.max(np.abs(left), initial=0.0) > limit * size


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


def _starts(gaps: ConstraintResiduals, q: Array, free: Places) -> Iterator[Array]:
    """Yield the pose itself, then poses further and further aside, always the same ones."""
    random, scales = np.random.default_rng(0), gaps.scales()
    for aside in ASIDE:
        for _ in range(TRIES if aside else 1):
            step = np.zeros(len(scales))
            step[free] = aside * scales[free] * random.uniform(-1, 1, len(free))
            yield gaps.moved(q, step)


def descend(gaps: ConstraintResiduals, q: Array, free: Places) -> tuple[Array, float]:
    """Take damped steps until the gaps vanish or no step helps; return the pose and the gap."""
    scales = gaps.scales()[free]
    gap, slope = gaps.at(q), gaps.position_slopes(q)
    damping = 1e-3
    for _ in range(STEPS):
        size = float(np.max(np.abs(gap), initial=0.0))
        if not np.isfinite(size) or size <= ROUNDING:
            break
        A, step = slope[:, free] * scales, np.zeros(slope.shape[1])
        if size > OPEN and norm(A.T @ gap) <= LEVEL * norm(A) * norm(gap):
            break
        if size < 1e-6:
            # Near a closed pose: the shortest step, also where rows depend on each other.
            step[free] = scales * np.linalg.lstsq(A, -gap, rcond=1e-10)[0]
        else:
            both = np.concatenate([A, np.sqrt(damping) * np.eye(len(free))])
            right = np.concatenate([-gap, np.zeros(len(free))])
            step[free] = scales * np.linalg.lstsq(both, right, rcond=None)[0]
        trial = gaps.moved(q, step)
        new = gaps.at(trial)
        if new @ new < gap @ gap:
            q, gap, slope = trial, new, gaps.position_slopes(trial)
            damping = max(damping / 10, 1e-12)
        elif size < 1e-6 or damping > 1e6:
            break
        else:
            damping *= 10
    return q, float(np.max(np.abs(gap), initial=0.0))


def _unwound(gaps: ConstraintResiduals, found: Array, q: Array, free: Places) -> Array:
    """Return a closed pose without whole turns away from where it began, if it stays closed."""
    near, mechanism = found.copy(), gaps.mechanism
    for place, record in enumerate(mechanism.coordinate_records):
        segment = mechanism.segments[record.segment] if record.segment >= 0 else None
        if segment is None or segment.rate not in free:
            continue
        if segment.joint.kind is not JointKind.REVOLUTE:
            continue
        near[place] -= 2 * np.pi * np.round((found[place] - q[place]) / (2 * np.pi))
    gap = gaps.at(near)
    return near if float(np.max(np.abs(gap), initial=0.0)) <= CLOSED else found


def _open(gaps: ConstraintResiduals, q: Array, fixed: Sequence[str]) -> RunError:
    """Return the error that names the loop that stays open most."""
    gap = gaps.at(q)
    worst = gaps.piece_of(int(np.argmax(np.abs(gap))))
    rows = gap[worst.first : worst.first + worst.count]
    if worst.kind == "law":
        left = f"stays at {rows[0]:.3g}"
    else:
        linear = len(LOOP_ROWS[worst.kind].linear)
        left = f"stays open by {np.linalg.norm(rows[:linear]) * gaps.size:.3g} m"
        if worst.count > linear:
            left += f" and {np.linalg.norm(rows[linear:]):.3g} rad"
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


# --- mobility ---------------------------------------------------------------------------------


NEAR = 0.02
"""How far aside (rad, parts of the size) other poses are looked at."""
POSES = 3
RANK_ROUNDING = 1e-13
"""Rows that are smaller, against the largest, are zero."""


@dataclass(frozen=True, repr=False)
class Mobility(Displayed):
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
    gaps = ConstraintResiduals(mechanism, t)
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
    present = int(np.sum(sizes > max(RANK_ROUNDING * sizes.max(initial=0.0), _rounding(gaps))))
    return Mobility(rows, rank, rank_of(here, gaps), freedoms, redundant, present > rank)


def rank_of(J: Array, gaps: ConstraintResiduals) -> int:
    """Return how many rows are independent."""
    sizes = singular_values(J, gaps)
    return int(np.sum(sizes > max(RANK * sizes.max(initial=0.0), _rounding(gaps))))


def _rounding(gaps: ConstraintResiduals) -> float:
    """Return below what a row is zero, though no other row is larger.

    Entries are lengths of levers, sums of numbers as large as the mechanism, or cosines.
    """
    return RANK_ROUNDING * max(1.0, gaps.size)


def singular_values(J: Array, gaps: ConstraintResiduals) -> Array:
    """Return the singular values of J, for rates of turns and slides of about the same size."""
    scaled = J * gaps.scales()
    loops = sum(piece.count for piece in gaps.pieces if piece.kind != "law")
    lengths = np.linalg.norm(scaled[loops:], axis=1, keepdims=True)
    scaled[loops:] /= np.where(lengths > 0, lengths, 1.0)
    if not scaled.size:
        return np.zeros(0)
    return np.asarray(np.linalg.svd(scaled, compute_uv=False), dtype=np.float64)


def _aside(gaps: ConstraintResiduals, q: Array) -> list[Array]:
    """Return J at closed poses near a pose, as far as there are any."""
    random, found = np.random.default_rng(1), list[Array]()
    for _ in range(POSES):
        step = NEAR * gaps.scales() * random.uniform(-1, 1, gaps.mechanism.nv)
        try:
            found.append(gaps.slopes(assemble(gaps.mechanism, gaps.moved(q, step), t=gaps.t)))
        except RunError:
            continue
    return found
