"""Impacts: rates change at once, coordinates do not.

symbol   meaning
H, J     mass matrix; rows of the constraints that take part
v        relative speeds of the rows, J qd and what moves by itself
e        restitution of a gap, 0 for everything else
P        impulses

    qd+ = qd- + H^-1 J^T P,    v+ = v- + S P,    S = J H^-1 J^T

Loops stay closed, v+ = 0. A gap that is hit opens with at least -e v-, and P >= 0 pushes only as
far as that; a gap that was closed before stays so or opens. In the plane of a contact friction
stops what it can. All this at once is solved as in balance_rows.py. Gaps that begin to close
because of it are hit in the next round: a blow goes through a row of balls one after the other. A
gap that closes because loops dictate it, as at the very end of the stroke of a crank, cannot be
hit.

The energy that is lost is - sum P (v+ + v-) / 2; what rows that move by themselves with the speed u
put in is - sum P u.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.simulation.equations.energy_balance import LOSSES, WORK
from chainform.simulation.equations.events import EventRecord, Impact
from chainform.simulation.machine.method import ActiveMotion
from chainform.simulation.solvers.contact.balance_rows import BalanceRows, Gap, Terms, is_dictated
from chainform.simulation.solvers.contact.force_rows import least_solution

Array = NDArray[np.float64]

ROUNDS = 200
"""After so many rounds nothing bounces any more."""
AT_REST = 1e-9
"""A relative speed (m/s, rad/s) below which a gap counts as not moving."""


@dataclass
class ImpactResult:
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
        self.touching = [g for g in touching if not is_dictated(terms, self.lasting, g.row)]
        self.moving = terms.speeds - terms.J @ qd
        """What moves by itself."""
        self.blow = ImpactResult(qd.copy(), np.zeros(len(terms.speeds)))

    @property
    def speeds(self) -> Array:
        """The relative speeds now."""
        return self.terms.J @ self.blow.qd + self.moving

    def closing(self) -> list[Gap]:
        """Return the gaps that are about to be hit."""
        speeds = self.speeds
        return [gap for gap in self.touching if speeds[gap.row] < -AT_REST]

    def run(self) -> ImpactResult:
        """Let everything collide that must, until nothing closes any more."""
        for round_ in range(2 * ROUNDS):
            hit = self.closing()
            if not hit:
                return self.blow
            if not self._strike(hit, bounce=round_ < ROUNDS):
                self._one_by_one(hit)
        raise RunError(
            "impacts at one moment come to no end",
            element="stops",
            remedy="stops that work against each other cannot all be rigid: make one of them stiff",
        )

    def stop(self, jammed: Sequence[Gap]) -> ImpactResult:
        """Stop contacts at once, as far as friction can, that are jammed while they slide."""
        self._strike(jammed, bounce=False, is_held=True)
        return self.run()

    def bring_to_rest(self, rows: Sequence[int]) -> ImpactResult:
        """Stop rows that move, whatever impulses that takes: pulls as well.

        Only for speeds that count as none; what this takes is lost, too.
        """
        before, rows = self.speeds, [*self.lasting, *rows]
        J = self.terms.J[rows]
        across = self.terms.solved(J)
        impulses = np.zeros(len(before))
        impulses[rows] = least_solution(J @ across, -before[rows])
        self._apply(impulses, across @ impulses[rows], before)
        return self.blow

    def _one_by_one(self, hit: Sequence[Gap]) -> None:
        """Strike the gap that closes fastest alone and without friction: that adds no energy."""
        speeds = self.speeds
        worst = min(hit, key=lambda gap: speeds[gap.row])
        self._strike([worst.smooth], bounce=True, is_checked=False)

    def _strike(
        self,
        hit: Sequence[Gap],
        *,
        bounce: bool,
        is_checked: bool = True,
        is_held: bool = False,
    ) -> bool:
        """Apply the impulses of some gaps that are hit together; refuse what adds energy."""
        before = self.speeds
        bouncing = [gap for gap in hit if bounce and gap.bounces(before[gap.row])]
        struck = {gap.row for gap in hit}
        gaps = [*hit, *(gap for gap in self.resting if gap.row not in struck)]
        share = np.ones(len(before))
        for gap in bouncing:
            share[gap.row] += gap.restitution
        rows = BalanceRows(self.lasting, gaps, {}, {}, is_held=is_held)
        parts = np.abs(self.terms.J) @ np.abs(self.blow.qd) + np.abs(self.moving)
        grasp = rows.grasp(self.terms, share * before, parts)
        after = before + self.terms.J @ grasp.effect
        loss = -float(grasp.forces @ (before + after)) / 2
        kinetic = self.blow.qd @ self.terms.H @ self.blow.qd / 2
        if is_checked and loss < -1e-10 * kinetic:
            return False
        self._apply(grasp.forces, grasp.effect, before)
        # What does not bounce is closed from now on.
        closed = {gap.row for gap in (*bouncing, *self.resting)}
        self.resting += [gap for gap in hit if gap.row not in closed]
        return True

    def _apply(self, impulses: Array, effect: Array, before: Array) -> None:
        """Change the rates, and book the energy."""
        after = before + self.terms.J @ effect
        self.blow.qd = self.blow.qd + effect
        self.blow.impulses += impulses
        self.blow.loss -= float(impulses @ (before + after)) / 2
        self.blow.work -= float(impulses @ self.moving)


class MotionImpacts:
    """Impacts of one motion: they change its rates, and what it has lost.

    `lasting` rows always hold; `names` are those of gaps by their rows.
    """

    def __init__(
        self, motion: ActiveMotion, lasting: Sequence[int], names: Mapping[int, str]
    ) -> None:
        equations = motion.machine.equations
        self.motion, self.lasting, self.names = motion, lasting, names
        self.rates = slice(equations.nq, equations.nq + equations.nv)
        self.account = (
            equations.size - equations.balance_states if equations.balance_states else None
        )
        """The index in y of the work done, with the losses behind it."""

    def collide(
        self, terms: Terms, resting: Sequence[Gap], touching: Sequence[Gap]
    ) -> tuple[Terms, list[EventRecord]]:
        """Let gaps be hit that close; return the relative speeds after it, and the impact."""
        collision = self._collision(terms, resting, touching)
        if not collision.closing():
            return terms, []
        return self._taken(terms, collision, collision.run())

    def stop(self, terms: Terms, jammed: Sequence[Gap]) -> tuple[Terms, list[EventRecord]]:
        """Stop closed contacts at once, as far as friction can."""
        collision = self._collision(terms, jammed, jammed)
        return self._taken(terms, collision, collision.stop(jammed))

    def bring_to_rest(self, terms: Terms, rows: Sequence[int]) -> None:
        """Stop rows whose speeds count as none."""
        collision = self._collision(terms, [], [])
        self._apply(terms, collision, collision.bring_to_rest(rows))

    def over(self, terms: Terms, rows: BalanceRows, h: float) -> None:
        """Let forces and impulses of rows act over a short time h, and go to its end.

        Gaps are not closed beyond zero then. This is a step of Moreau's scheme.
        """
        motion, y = self.motion, self.motion.y.copy()
        before, free = terms.speeds, terms.solved(terms.r)
        after = before + h * (terms.J @ free - terms.gamma)
        closed = after.copy()
        for gap in rows.gaps:
            closed[gap.row] += max(float(terms.residuals[gap.row]), 0.0) / h
        parts = np.abs(terms.J) @ np.abs(y[self.rates]) + np.abs(closed)
        grasp = rows.grasp(terms, closed, parts)
        y[self.rates] += h * free + grasp.effect
        change = motion.machine.rate(motion.t, y, motion.p)
        change[self.rates] = 0.0
        y += h * change
        if self.account is not None:
            mean = (before + after + terms.J @ grasp.effect) / 2
            y[self.account + LOSSES] -= float(grasp.forces @ mean)
        motion.restart(motion.machine.settled(motion.t + h, y, motion.p), motion.t + h)

    def lose(self, H: Array, before: Array, after: Array) -> None:
        """Add the energy of rates that a state has lost to the losses in it."""
        if self.account is not None:
            rates, left = before[self.rates], after[self.rates]
            after[self.account + LOSSES] += (rates + left) @ H @ (rates - left) / 2

    def _collision(
        self, terms: Terms, resting: Sequence[Gap], touching: Sequence[Gap]
    ) -> Collision:
        qd = self.motion.y[self.rates].copy()
        return Collision(terms, qd, self.lasting, resting, touching)

    def _taken(
        self, terms: Terms, collision: Collision, blow: ImpactResult
    ) -> tuple[Terms, list[EventRecord]]:
        """Take over what impacts did, and return it as an event."""
        if not np.any(blow.impulses):
            return terms, []
        y, q = self.motion.y, self.motion.y[: self.rates.start].copy()
        qd = y[self.rates].copy()
        terms = self._apply(terms, collision, blow)
        pushes = {
            name: float(blow.impulses[row])
            for row, name in self.names.items()
            if blow.impulses[row] > 0
        }
        name = f"{', '.join(pushes)}: impact"
        return terms, [Impact(name, self.motion.t, q, qd, blow.qd, pushes, blow.loss)]

    def _apply(self, terms: Terms, collision: Collision, blow: ImpactResult) -> Terms:
        """Go on with the rates after impulses; return the terms with the speeds after them."""
        y = self.motion.y
        y[self.rates] = blow.qd
        if self.account is not None:
            y[self.account + LOSSES] += blow.loss
            y[self.account + WORK] += blow.work
        return replace(terms, speeds=collision.speeds)
