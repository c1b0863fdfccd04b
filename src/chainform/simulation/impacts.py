"""Impacts: rates change at once, coordinates do not.

symbol   meaning
H, J     mass matrix; rows of the constraints that take part
v        relative speeds of the rows, J qd and what moves by itself
e        restitution of a gap, 0 for everything else
P        impulses

    qd+ = qd- + H^-1 J^T P,    v+ = v- + S P,    S = J H^-1 J^T

Loops stay closed, v+ = 0. A gap that is hit opens with at least -e v-, and P >= 0 pushes only as
far as that; a gap that was closed before stays so or opens. All this at once is solved as in
complementarity.py. Gaps that begin to close because of it are hit in the next round: a blow goes
through a row of balls one after the other.

The energy that is lost is - sum P (v+ + v-) / 2; what rows that move by themselves with the speed u
put in is - sum P u.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.simulation.complementarity import depends, solve_bounded

Array = NDArray[np.float64]

ROUNDS = 200
"""After so many rounds nothing bounces any more."""
AT_REST = 1e-9
"""A relative speed (m/s, rad/s) below which a gap counts as not moving."""


@dataclass(frozen=True)
class Terms:
    """H, r, J, gamma, residuals and relative speeds of all rows at one state."""

    H: Array
    r: Array
    J: Array
    gamma: Array
    residuals: Array
    speeds: Array

    @staticmethod
    def of(area: Array, n: int, m: int) -> Terms:
        """Return the parts of what the kernel `terms` gives."""
        ends = np.cumsum([n * n, n, m * n, m, m])
        H, r, J, gamma, residuals, speeds = np.split(area, ends)
        return Terms(H.reshape(n, n), r, J.reshape(m, n), gamma, residuals, speeds)

    def compliance(self, rows: Sequence[int]) -> tuple[Array, Array]:
        """Return H^-1 J^T and J H^-1 J^T of some rows."""
        J = self.J[list(rows)]
        across = np.asarray(np.linalg.solve(self.H, J.T), dtype=np.float64)
        return across, J @ across


@dataclass(frozen=True)
class Gap:
    """The rows of a barrier: its gap, and those beside it; and what it gives back."""

    row: int
    beside: tuple[int, ...]
    restitution: float
    rest_speed: float

    @property
    def slipping(self) -> Gap:
        """The same without what is held beside it: what does not push does not hold either."""
        return replace(self, beside=())

    def bounces(self, speed: float) -> bool:
        """Whether it gives something back at a closing speed."""
        return self.restitution > 0 and -speed > self.rest_speed


def rows_beside(terms: Terms, lasting: Sequence[int], gaps: Sequence[Gap]) -> set[int]:
    """Return the rows beside gaps that hold with them.

    All of them, unless they would do the work of a gap's own row: in a mechanism with few freedoms
    a foot that cannot slip cannot sink in either. Then those that tell nothing new are left out.
    """
    beside = [row for gap in gaps for row in gap.beside]
    if not beside:
        return set()
    own = [gap.row for gap in gaps]
    rows = [*lasting, *own, *beside]
    _, S = terms.compliance(rows)
    is_own = np.array([row in own for row in rows])
    if not any(depends(S, ~is_own, int(place)) for place in np.flatnonzero(is_own)):
        return set(beside)
    chosen = np.array([row not in beside for row in rows])
    for place in np.flatnonzero(~chosen):
        chosen[place] = not depends(S, chosen, int(place))
    return {row for row, is_chosen in zip(rows, chosen, strict=True) if is_chosen} & {*beside}


@dataclass
class Blow:
    """What impacts did: rates after them, impulses by row, energy lost and put in."""

    qd: Array
    impulses: Array
    loss: float = 0.0
    work: float = 0.0


class Collision:
    """All impacts at one moment.

    `lasting` rows always hold, `resting` gaps were closed before, `touching` ones can be hit.
    """

    def __init__(
        self,
        terms: Terms,
        qd: Array,
        lasting: Sequence[int],
        resting: Sequence[Gap],
        touching: Sequence[Gap],
    ) -> None:
        self.terms = terms
        self.lasting = list(lasting)
        self.resting = list(resting)
        self.touching = list(touching)
        self.moving = terms.speeds - terms.J @ qd
        """What moves by itself."""
        self.blow = Blow(qd.copy(), np.zeros(len(terms.speeds)))

    @property
    def speeds(self) -> Array:
        """The relative speeds now."""
        return self.terms.J @ self.blow.qd + self.moving

    def closing(self) -> list[Gap]:
        """Return the gaps that are about to be hit."""
        speeds = self.speeds
        return [gap for gap in self.touching if speeds[gap.row] < -AT_REST]

    def run(self) -> Blow:
        """Let everything collide that must, until nothing closes any more."""
        for round_ in range(2 * ROUNDS):
            hit = self.closing()
            if not hit:
                return self.blow
            plastic = round_ >= ROUNDS
            if not self._strike(hit, plastic=plastic) and not self._one_by_one(hit):
                break
        raise RunError(
            "impacts at one moment come to no end",
            element="stops",
            remedy="stops that work against each other cannot all be rigid: make one of them stiff",
        )

    def _one_by_one(self, hit: Sequence[Gap]) -> bool:
        """Strike the gap that closes fastest alone: that never adds energy."""
        speeds = self.speeds
        worst = min(hit, key=lambda gap: speeds[gap.row])
        return self._strike([worst], plastic=False, checked=False)

    def _strike(self, hit: Sequence[Gap], *, plastic: bool, checked: bool = True) -> bool:
        """Apply the impulses of some gaps that are hit together; refuse what adds energy."""
        speeds = self.speeds
        bouncing = [gap for gap in hit if not plastic and gap.bounces(speeds[gap.row])]
        gaps = [*hit, *(gap for gap in self.resting if gap not in hit)]
        while True:
            impulses, rows, across, S = self._impulses(gaps, bouncing)
            idle = [gap for gap in gaps if gap.beside and impulses[rows.index(gap.row)] == 0]
            if not idle:
                break
            gaps = [gap.slipping if gap in idle else gap for gap in gaps]
        before = self.speeds[rows]
        loss = -float(impulses @ (before + S @ impulses / 2))
        kinetic = self.blow.qd @ self.terms.H @ self.blow.qd / 2
        if checked and loss < -1e-10 * kinetic:
            return False
        self.blow.qd = self.blow.qd + across @ impulses
        self.blow.impulses[rows] += impulses
        self.blow.loss += loss
        self.blow.work -= float(impulses @ self.moving[rows])
        # What does not bounce is closed from now on.
        self.resting += [gap for gap in hit if gap not in bouncing and gap not in self.resting]
        return True

    def _impulses(
        self, gaps: Sequence[Gap], bouncing: Sequence[Gap]
    ) -> tuple[Array, list[int], Array, Array]:
        """Return the impulses of rows, H^-1 J^T and S of these."""
        beside = rows_beside(self.terms, self.lasting, gaps)
        rows = [*self.lasting, *(gap.row for gap in gaps), *sorted(beside)]
        pushing = {gap.row for gap in gaps}
        speeds = self.speeds
        share = np.ones(len(speeds))
        for gap in bouncing:
            share[gap.row] += gap.restitution
        lower = np.array([0.0 if row in pushing else -np.inf for row in rows])
        across, S = self.terms.compliance(rows)
        found = solve_bounded(S, (share * speeds)[rows], lower, np.full(len(rows), np.inf))
        return found.s, rows, across, S
