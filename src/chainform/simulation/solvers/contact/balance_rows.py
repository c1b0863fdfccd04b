"""Forces or impulses of the rows of a mechanism that may hold, with friction where bodies touch.

A contact with the normal force s and the coefficient mu holds its place with a force of at most
mu s in its plane (Coulomb's cone). What is not held slides, with that force against it.

Forces between parts at rest against each other leave the accelerations

    H qdd = r + J^T s,    w = J qdd - gamma
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.equations.builder import RowCounts
from chainform.simulation.equations.contact.laws import Barriers
from chainform.simulation.solvers.contact.complementarity import Balancing, depends
from chainform.simulation.solvers.contact.force_rows import (
    JOINT,
    LASTING,
    PLANE,
    PUSH,
    SMALL,
    ForceRow,
    RowForces,
)

Array = NDArray[np.float64]


class NoForcesError(Exception):
    """No forces fit; `rows` are those of gaps and joints that took part."""

    def __init__(self, rows: Sequence[int]) -> None:
        super().__init__("no forces keep all contacts and sticking joints as they must be")
        self.rows = rows


@dataclass(frozen=True)
class Terms:
    """H, r, J, gamma, residuals and relative speeds of all rows at one state.

    Where the mass matrix is singular, H is what stands for it under the lasting rows.
    """

    H: Array
    r: Array
    J: Array
    gamma: Array
    residuals: Array
    speeds: Array

    @staticmethod
    def of(area: Array, n: int, m: int) -> Terms:
        """Return the parts of what `Machine.terms` gives."""
        ends = np.cumsum([n * n, n, m * n, m, m])
        H, r, J, gamma, residuals, speeds = np.split(area, ends)
        return Terms(H.reshape(n, n), r, J.reshape(m, n), gamma, residuals, speeds)

    def solved(self, rows: Array) -> Array:
        """Return H^-1 times the transpose of some rows."""
        return np.asarray(np.linalg.solve(self.H, rows.T), dtype=np.float64)


@dataclass(frozen=True)
class Gap:
    """The row of a gap and those of its plane, what it gives back, and its friction."""

    row: int
    tangential: tuple[int, ...] = ()
    restitution: float = 0.0
    rest_speed: float = 0.0
    friction: float = 0.0

    @property
    def smooth(self) -> Gap:
        """The same without friction."""
        return replace(self, tangential=())

    def bounces(self, speed: float) -> bool:
        """Whether it gives something back at a closing speed."""
        return self.restitution > 0 and -speed > self.rest_speed


def gaps_of(barriers: Barriers, row_counts: RowCounts) -> list[Gap]:
    """Return the gaps of rigid barriers, with the rows that they have."""
    gaps: list[Gap] = []
    for i, barrier in enumerate(barriers.rigid):
        first, contact_law = row_counts.first_tangential + 2 * i, barrier.contact_law
        tangential = (first, first + 1) if barrier.friction else ()
        bounce = (contact_law.restitution, contact_law.rest_speed)
        gaps.append(Gap(row_counts.always + i, tangential, *bounce, barrier.friction))
    return gaps


@dataclass(frozen=True)
class ContactSolution:
    """Forces of all rows, what they do to the mechanism (H^-1 J^T s), and what holds."""

    rows: list[int]
    S: Array
    found: RowForces
    forces: Array
    effect: Array
    holding: set[int]
    """The rows of planes that may be held."""
    taken: list[int] = field(default_factory=list[int])
    """Rows that shall hold, too."""
    is_jammed: bool = False
    """Whether nothing fits with friction in planes of contact, which was left out then."""

    @property
    def holds(self) -> set[int]:
        """The rows that a force keeps at rest."""
        return {row for row, holds in zip(self.rows, self.found.holds, strict=True) if holds}

    def side(self, row: int) -> float:
        """Return the component of the unit vector of friction at its bound, 0 if it is not there.

        For a joint that is the sign of its friction.
        """
        return float(self.found.sides[self.rows.index(row)]) if row in self.rows else 0.0

    def take(self, rows: Sequence[int]) -> bool:
        """Let rows hold, too, that are at rest without it; refuse if others keep one at rest.

        What is held must not depend on each other, so that the forces stay as they are.
        """
        held = self.found.holds.copy()
        held[[self.rows.index(row) for row in self.taken]] = True
        for place in map(self.rows.index, rows):
            if depends(self.S, held, place):
                return False
            held[place] = True
        self.taken.extend(rows)
        return True


@dataclass(frozen=True)
class BalanceRows:
    """The rows that take part: lasting ones, gaps, and joints with the bounds of their friction.

    `ways` are components of the unit vectors in which contacts slide in any case, by rows of
    planes. Those in `loose` break loose just now, and may turn to another way.
    """

    lasting: Sequence[int]
    gaps: Sequence[Gap]
    joints: Mapping[int, float]
    ways: Mapping[int, float]
    loose: frozenset[int] = frozenset()
    is_held: bool = False
    """Whether everything is to hold that can, even if it need not."""

    def grasp(self, terms: Terms, b: Array, parts: Array) -> ContactSolution:
        """Return the forces for w = S s + b, where b is that of all rows.

        `parts` are the sizes of the numbers of which b is the sum.
        """
        fitting = self.fitting(terms, b, parts)
        if fitting is not None:
            return fitting
        smooth = replace(self, gaps=[gap.smooth for gap in self.gaps]).fitting(terms, b, parts)
        if smooth is None:
            raise NoForcesError([*(gap.row for gap in self.gaps), *self.joints])
        return replace(smooth, is_jammed=True)

    def fitting(self, terms: Terms, b: Array, parts: Array) -> ContactSolution | None:
        """Return forces that fit, or None."""
        holding = rows_to_hold(terms, self.lasting, self.gaps)
        planes = [(gap, row) for gap in self.gaps for row in gap.tangential]
        own = {gap.row: len(self.lasting) + i for i, gap in enumerate(self.gaps)}
        row_counts = [ForceRow(LASTING)] * len(self.lasting) + [ForceRow(PUSH)] * len(self.gaps)
        row_counts += [
            ForceRow(
                PLANE,
                gap.friction,
                own[gap.row],
                self.ways.get(row, 0.0),
                row in self.loose,
                row not in holding,
            )
            for gap, row in planes
        ]
        row_counts += [ForceRow(JOINT, bound) for bound in self.joints.values()]
        rows = [*self.lasting, *own, *(row for _, row in planes), *self.joints]
        J = terms.J[rows]
        across = terms.solved(J)
        S = J @ across
        # What is not found from one side may be found from the other.
        starts = [True] if self.is_held else [False, True]
        tries = (Balancing(S, b[rows], row_counts, start, parts[rows]).found() for start in starts)
        found = next((forces for forces in tries if forces is not None), None)
        if found is None:
            return None
        forces = np.zeros(len(b))
        forces[rows] = found.s
        return ContactSolution(rows, S, found, forces, across @ found.s, holding)


def is_dictated(terms: Terms, lasting: Sequence[int], row: int) -> bool:
    """Tell whether rows that hold alone decide how a row moves, whatever force acts on it."""
    J = terms.J[[*lasting, row]]
    S, place = J @ terms.solved(J), len(lasting)
    return depends(S, np.arange(place + 1) < place, place, SMALL)


def rows_to_hold(terms: Terms, lasting: Sequence[int], gaps: Sequence[Gap]) -> set[int]:
    """Return the rows of planes that may be held.

    All of them, unless they would do the work of a gap's own row: in a mechanism with few freedoms
    a foot that cannot slip cannot sink in either. Then those that tell nothing new are left out.
    """
    tangential = [row for gap in gaps for row in gap.tangential]
    if not tangential:
        return set()
    own = [gap.row for gap in gaps]
    rows = [*lasting, *own, *tangential]
    J = terms.J[rows]
    S = J @ terms.solved(J)
    is_own = np.array([row in own for row in rows])
    if not any(depends(S, ~is_own, int(place)) for place in np.flatnonzero(is_own)):
        return set(tangential)
    chosen = np.array([row not in tangential for row in rows])
    for place in np.flatnonzero(~chosen):
        chosen[place] = not depends(S, chosen, int(place))
    return {row for row, is_chosen in zip(rows, chosen, strict=True) if is_chosen} & {*tangential}


NOISE = 1e-9
"""Accelerations below this share of what they are the sum of count as none."""
HOP, SMALLEST_HOP = 0.1, 1e-13
"""A hop counts as none below this height over the square of the rest speed (s^2/m), and below this
height (m, rad).

With the usual rest speed that is 1e-9 m. After bounces that become lower this is where they end."""


@dataclass(frozen=True)
class Balance:
    """The forces of some rows, and the accelerations of the mechanism under them."""

    grasp: ContactSolution
    acceleration: Array
    scale: Array
    """How large accelerations are that forces and inertia give one by one."""

    @staticmethod
    def of(terms: Terms, rows: BalanceRows, more: Array | float = 0.0) -> Balance:
        """Return the balance of rows; `more` is added to the accelerations that they have."""
        free = terms.solved(terms.r)
        parts = np.abs(terms.J) @ np.abs(free) + np.abs(terms.gamma) + np.abs(more)
        grasp = rows.grasp(terms, terms.J @ free - terms.gamma + more, parts)
        return Balance(grasp, free + grasp.effect, np.abs(free) + np.abs(grasp.effect))

    def is_idle(self, row: int) -> bool:
        """Whether a row that no force holds does not begin to move all the same."""
        found, place = self.grasp.found, self.grasp.rows.index(row)
        least = max(NOISE * float(np.max(self.scale, initial=1e-300)), float(found.noise[place]))
        return bool(abs(found.w[place]) <= least)

    def sticks(self, row: int, *, is_breaking: bool) -> bool:
        """Whether friction keeps a row at rest: with force to spare, or just so.

        Where something breaks loose, what is at its bound just so goes along with it.
        """
        grasp = self.grasp
        if row in grasp.holds:
            return True
        is_spent = is_breaking and grasp.side(row) != 0
        return self.is_idle(row) and not is_spent and grasp.take([row])

    def moves(self, terms: Terms, ways: Mapping[int, float]) -> int:
        """Return 1 if rows that were let go move in the ways they are to move, -1 if against them.

        Several rows are the components of one vector; 0 stands for no motion.
        """
        moves, size = 0.0, 1e-300
        for row, way in ways.items():
            moves += way * float(terms.J[row] @ self.acceleration - terms.gamma[row])
            size += abs(way) * float(np.abs(terms.J[row]) @ self.scale + abs(terms.gamma[row]))
        return int(np.sign(moves)) if abs(moves) > NOISE * size else 0

    def closes_again(self, terms: Terms, gap: Gap) -> bool:
        """Tell whether a gap that opens closes before it is open by a height worth noting."""
        speed = float(terms.speeds[gap.row])
        back = float(terms.gamma[gap.row] - terms.J[gap.row] @ self.acceleration)
        return speed**2 <= 2 * max(HOP * gap.rest_speed**2, SMALLEST_HOP) * back
