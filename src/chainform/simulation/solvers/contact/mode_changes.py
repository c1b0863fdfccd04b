"""What holds when: barriers open and close, contacts and joints slide and stick.

Between two events the state of affairs does not change: a set of rows holds (the mask), joints with
dry friction slide in known directions. At an event

    1. gaps that touch and close are hit, which changes the rates at once (impacts.py);
    2. of all that is at rest then, forces within their bounds decide what stays at rest:
       gaps with a push stay closed, and what friction can hold sticks;
    3. gaps that open so slowly that these forces close them at once are put to rest, and 1 and 2
       are done again: a hop of the height v^2 / (2 a) below that of `balance.HOP` is none;
    4. the state is put onto the rows that hold, and the motion goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.simulation.equations.contact.laws import Barriers
from chainform.simulation.equations.events import EventRecord
from chainform.simulation.machine.failures import cause
from chainform.simulation.machine.method import ActiveMotion
from chainform.simulation.machine.records import NOT_FINITE
from chainform.simulation.solvers.contact.balance_rows import (
    Balance,
    BalanceRows,
    Gap,
    NoForcesError,
    Terms,
    gaps_of,
    is_dictated,
)
from chainform.simulation.solvers.contact.impacts import AT_REST, MotionImpacts
from chainform.simulation.solvers.contact.planes import Planes

Array = NDArray[np.float64]

TOUCH = 1e-10
"""A gap (m, rad) that counts as closed."""
STILL = 1e-10
"""A rate (m/s, rad/s) at which a joint with dry friction may stick."""
ROUNDING = 1e-13
"""What a gap (m, rad) may lie deeper that begins beyond zero while it opens."""
TIED, NEARBY = 1e3, 1e-3
"""A leeway that is never used up, and how far (m, rad) another pose is."""
LEEWAY = 1e-9
"""How far rows may move that touch without a force; and by what share sticking exceeds its bound
before it breaks, so that it does not come back at once."""
DEEPEST = 1e-6
"""How far (m, rad) a gap may close whose motion no force can stop, as at a dead centre."""


class ModeChanges:
    """Keeps the state of affairs of one motion, in the array p that its loop reads.

    `step` is the length of steps (s) where it is fixed.
    """

    def __init__(self, motion: ActiveMotion, barriers: Barriers, step: float | None = None) -> None:
        self.motion = motion
        self.barriers = barriers
        equations, layout, p = motion.machine.equations, motion.machine.layout, motion.p
        self.row_counts, self.nq, self.nv = equations.row_counts, equations.nq, equations.nv
        self.lasting = range(self.row_counts.always)
        self.mask, self.slack = layout.part(p, "mask"), layout.part(p, "slack")
        modes = layout.part(p, "modes")
        ends = np.cumsum([self.row_counts.sticking, self.row_counts.tangential])
        self.directions, anchors, axes = np.split(modes, ends)
        layout.part(p, "bounds")[:] = [j.static * (1 + LEEWAY) for j in barriers.dry]
        self.gaps = gaps_of(barriers, self.row_counts)
        named = zip(self.gaps, barriers.rigid, strict=True)
        self.impacts = MotionImpacts(motion, self.lasting, {g.row: b.name for g, b in named})
        frictions = [gap.friction for gap in self.gaps if gap.tangential]
        layout.part(p, "cones")[:] = np.array(frictions) * (1 + LEEWAY)
        self.sticking = range(self.row_counts.first_sticking, self.row_counts.rows)
        self.resting: list[int] = []
        """Gaps that are closed without a push, and do not begin to open."""
        self.starting: list[int] = []
        """Joints that begin to slide from rest."""
        grips = layout.part(p, "grips")
        self.planes = Planes(self.row_counts, self.mask, self.slack, grips, anchors, axes, step)

    # --- events -------------------------------------------------------------------------

    def begin(self) -> list[EventRecord]:
        """Find what holds at the start; a state beyond a barrier is refused."""
        if self.row_counts.rows == 0:
            return []
        self.check(TOUCH, "q0")
        return self.settle()

    def check(self, depth: float, element: str) -> None:
        """Refuse a state that is deeper in a barrier than a depth (m, rad)."""
        if not self.gaps:
            return
        residuals = self._terms().residuals
        for gap, barrier in zip(self.gaps, self.barriers.rigid, strict=True):
            if residuals[gap.row] < -depth:
                raise RunError(
                    f"{barrier.name} is passed by {-residuals[gap.row]:.4g} at the start",
                    element=element,
                    remedy="begin where all gaps are open or closed",
                )

    def happen(self, number: int) -> list[EventRecord]:
        """Go over an event, by its number among those that are watched here."""
        if number >= self.row_counts.rows - self.row_counts.always:
            # A stiff contact begins or ends: the step ended here, and that was all.
            self.motion.restart(self.motion.y)
            return []
        # Events stand in the order of the rows.
        row = self.row_counts.always + number
        rows = [row]
        for gap in self.gaps:
            if row in gap.tangential:
                rows = [] if self.planes.slides(gap) else list(gap.tangential)
        return self.settle(self._way_out(rows) if np.any(self.mask[rows]) else {})

    def _way_out(self, rows: list[int]) -> dict[int, float]:
        """Return the way in which rows will move that let go: against the force that held them."""
        if rows[0] < self.row_counts.first_tangential:
            return {rows[0]: 1.0}
        machine = self.motion.machine
        machine.rate(self.motion.t, self.motion.y, self.motion.p)
        held = machine.layout.part(self.motion.p, "multipliers")[rows] * self.mask[rows]
        ways = -held / max(float(np.hypot.reduce(held)), 1e-300)
        return dict(zip(rows, ways.tolist(), strict=True))

    def stop_jammed(self) -> list[EventRecord]:
        """Stop contacts whose push grows without end while they slide; return what happened.

        On rough ground a contact that slides may need ever more push, and have ever more friction
        by it, until no force is left that fits. Then it stops at once, as in an impact.
        """
        if not any(self.mask[gap.row] and self.planes.slides(gap) for gap in self.gaps):
            return []
        resting = [gap for gap in self.gaps if self.mask[gap.row]]
        news = self.impacts.stop(self._terms(), resting)[1]
        return news + self.settle() if news else []

    def step_over(self, h: float) -> list[EventRecord]:
        """Go on by a short time h (s) in one step, whatever holds in it; return what happened.

        Impulses of all that is near, over that time, are one complementarity problem of rates:
        gaps are not closed beyond zero at its end, nothing bounces, friction takes energy only. It
        has a solution for any state, so that time goes on where events follow upon each other.
        """
        self._let_all_go()
        self.directions[:] = 0.0
        terms = self._terms()
        free = terms.speeds + h * (terms.J @ terms.solved(terms.r) - terms.gamma)
        near = [g for g in self.gaps if terms.residuals[g.row] + h * free[g.row] <= TOUCH]
        bounds = [h * joint.static for joint in self.barriers.dry]
        joints = dict(zip(self.sticking, bounds, strict=True))
        try:
            self.impacts.over(terms, BalanceRows(self.lasting, near, joints, {}), h)
        except NoForcesError as problem:
            raise self._refusal(problem) from None
        return self.settle()

    # --- what holds ---------------------------------------------------------------------

    def settle(self, leaving: Mapping[int, float] | None = None) -> list[EventRecord]:
        """Bring about what must hold at the present state.

        `leaving` is what is at its bound: rows of one gap, joint or plane, with the components of
        the way in which they will move.
        """
        if self.row_counts.rows == 0:
            return []
        before, sliding = self.mask.copy(), self._sliding()
        terms, news = self._aligned(), list[EventRecord]()
        try:
            if self.gaps:
                terms, news = self._collide(terms)
            news += self._choose(terms, leaving or {})
        except NoForcesError as problem:
            raise self._refusal(problem) from None
        self._put_to_rest()
        self._give_leeway()
        self._leave_out_tied()
        return news + self._changes(before, sliding)

    def _put_to_rest(self) -> None:
        """Put the state onto what holds, and to rest what is at rest without being held."""
        before, H = self.mask.copy(), self._terms().H
        self.mask[[*self.resting, *self.starting, *self.planes.resting]] = 1.0
        y = self.motion.machine.settled(self.motion.t, self.motion.y, self.motion.p)
        self.mask[:] = before
        self.impacts.lose(H, self.motion.y, y)
        self.motion.restart(y)

    def _give_leeway(self) -> None:
        """Let rows begin a little beyond their bounds where that cannot be helped.

        Loops may dictate that a gap goes on to close, or that a contact creeps in another way than
        the one in which it is going to slide.
        """
        terms = self._terms()
        for gap in self.gaps:
            if not self.mask[gap.row] and terms.residuals[gap.row] <= TOUCH:
                depth = max(-terms.residuals[gap.row], 0.0)
                is_closing = terms.speeds[gap.row] < -AT_REST
                if is_closing and depth > DEEPEST:
                    raise self._driven_through(gap)
                least = 2 * depth + LEEWAY if is_closing else depth + ROUNDING if depth else 0.0
                self.slack[gap.row] = max(self.slack[gap.row], least)
            self.planes.give_leeway(terms, gap)

    def _leave_out_tied(self) -> None:
        """Do not watch gaps that others keep closed in any pose, as the fourth leg of a table.

        At a place nearby they follow from what holds as well.
        """
        if not self.resting:
            return
        y = self.motion.y.copy()
        y[: self.nq] += NEARBY * np.sin(1.0 + np.arange(self.nq))
        terms = self._terms(y)
        for row in self.resting:
            if is_dictated(terms, np.flatnonzero(self.mask).tolist(), row):
                self.slack[row] = TIED

    def _aligned(self) -> Terms:
        """Return the terms, without directions in which contacts are blocked."""
        self.planes.unblock()
        terms = self._terms()
        touching = self._touching(terms)
        changed = self.planes.block(terms, self.lasting, touching)
        if changed:
            terms = self._terms()
            self.planes.anchor(terms, changed)
            terms.residuals[changed] = 0.0
        return terms

    def _collide(self, terms: Terms) -> tuple[Terms, list[EventRecord]]:
        """Let gaps be hit that close; return the relative speeds after it, and what happened."""
        touching = self._touching(terms)
        resting = [gap for gap in touching if self.mask[gap.row]]
        return self.impacts.collide(terms, resting, touching)

    def _choose(
        self, terms: Terms, leaving: Mapping[int, float], *, may_jam: bool = True, hops: int = 0
    ) -> list[EventRecord]:
        """Find what is at rest now, and let forces decide what of it stays so.

        Contacts that are jammed while they slide stop by an impact of their own. `hops` tells how
        often gaps were put to rest here that open too slowly.
        """
        still, first = self._still_joints(leaving), self.row_counts.first_tangential
        staying = [gap for gap in self._touching(terms) if gap.row not in leaving]
        shut = [gap for gap in staying if abs(terms.speeds[gap.row]) <= AT_REST]
        # These open; some of them so slowly that they close again at once.
        opening = [gap for gap in staying if terms.speeds[gap.row] > AT_REST]
        if not shut and not still and not leaving and not opening:
            self._let_all_go()
            return []
        # Rates and directions may be others than before.
        terms = self._terms()
        moving = self.planes.moving(terms, shut)
        loose = frozenset(row for row in leaving if row not in moving)
        rows = BalanceRows(self.lasting, shut, still, {**leaving, **moving}, loose)
        balance = Balance.of(terms, rows)
        slow = self.planes.slow_ones(terms, rows, balance, self.motion.t)
        if slow:
            rows = self.planes.turned(terms, rows, slow)
            balance = Balance.of(terms, rows)
        ahead = balance.moves(terms, leaving)
        if ahead < 0:
            return self._choose(terms, {}, may_jam=may_jam)
        if balance.grasp.is_jammed and may_jam:
            terms, news = self.impacts.stop(terms, shut)
            self._let_all_go()
            return news + self._choose(terms, {}, may_jam=False)
        hopping = [gap for gap in opening if balance.closes_again(terms, gap)]
        if hopping and hops <= len(self.gaps):
            news = self._land(terms, balance, hopping)
            return news + self._choose(self._terms(), leaving, may_jam=may_jam, hops=hops + 1)
        self._set(terms, rows, balance, is_breaking=max(leaving, default=-1) >= first)
        for row in leaving:
            if ahead == 0 and not first <= row < self.row_counts.first_sticking:
                self.slack[row] = LEEWAY
        return []

    def _touching(self, terms: Terms) -> list[Gap]:
        """Return the gaps that are closed, whichever way they move."""
        return [gap for gap in self.gaps if terms.residuals[gap.row] <= TOUCH]

    def _land(self, terms: Terms, balance: Balance, gaps: Sequence[Gap]) -> list[EventRecord]:
        """Put gaps to rest that open, with all that holds; let be hit what closes by that."""
        held = [row for row in balance.grasp.holds if row not in self.lasting]
        self.impacts.bring_to_rest(terms, [*held, *(gap.row for gap in gaps)])
        return self._collide(self._terms())[1]

    def _still_joints(self, leaving: Mapping[int, float]) -> dict[int, float]:
        """Return joints that may stick, with their bounds; set the directions of all others."""
        still: dict[int, float] = {}
        for place, (joint, row) in enumerate(zip(self.barriers.dry, self.sticking, strict=True)):
            rate = self.motion.y[self.nq + joint.rate]
            self.directions[place] = np.sign(rate) if abs(rate) > STILL else leaving.get(row, 0.0)
            if not self.directions[place]:
                still[row] = joint.static
        return still

    def _set(self, terms: Terms, rows: BalanceRows, balance: Balance, *, is_breaking: bool) -> None:
        """Write down what holds from now on."""
        before, grasp = self.mask.copy(), balance.grasp
        self._let_all_go()
        for gap in rows.gaps:
            if gap.row in grasp.holds:
                self.mask[gap.row] = 1.0
                if not gap.tangential or grasp.is_jammed:
                    continue
                slides = any(row in rows.ways for row in gap.tangential)
                if slides or not self.planes.hold(terms, gap, balance, before, is_breaking):
                    self.planes.let_slide(terms, gap, rows, balance, LEEWAY)
            elif balance.is_idle(gap.row):
                self.slack[gap.row] = LEEWAY
                self.resting.append(gap.row)
        for row in rows.joints:
            if balance.sticks(row, is_breaking=is_breaking):
                self.mask[row] = 1.0
            else:
                self.starting.append(row)
                self.directions[row - self.row_counts.first_sticking] = -np.sign(grasp.forces[row])
                self.slack[row] = LEEWAY if balance.is_idle(row) else 0.0
        self.planes.turn(terms, self.motion.t)
        self.planes.anchor(self._terms(), self.planes.changed)

    def _let_all_go(self) -> None:
        self.mask[self.row_counts.always :] = 0.0
        self.slack[:] = 0.0
        self.resting, self.starting = [], []
        self.planes.let_all_go()

    def _sliding(self) -> list[bool]:
        """Return which contacts slide in their planes."""
        return [self.planes.slides(gap) for gap in self.gaps]

    def _changes(self, before: Array, sliding: Sequence[bool]) -> list[EventRecord]:
        """Return what began or ceased to hold, in words."""
        changes: list[str] = []
        named = zip(self.gaps, self.barriers.rigid, sliding, self._sliding(), strict=True)
        for gap, barrier, slid, slides in named:
            if self.mask[gap.row] != before[gap.row]:
                changes.append(f"{barrier.name}: {'rests' if self.mask[gap.row] else 'leaves'}")
            elif slid != slides and self.mask[gap.row]:
                changes.append(f"{barrier.name}: {'slides' if slides else 'sticks'}")
        for row, joint in zip(self.sticking, self.barriers.dry, strict=True):
            if self.mask[row] != before[row]:
                changes.append(f"{joint.name}: {'sticks' if self.mask[row] else 'slides'}")
        y = self.motion.y
        q, qd = y[: self.nq].copy(), y[self.nq : self.nq + self.nv].copy()
        return [EventRecord(text, self.motion.t, q, qd) for text in changes]

    def _refusal(self, problem: NoForcesError) -> RunError:
        """Return the error where no forces fit."""
        return RunError(
            f"{problem} at t = {self.motion.t:.9g} s",
            element=", ".join(self._name(row) for row in problem.rows) or "stops",
            remedy="stops that work against each other cannot all be rigid: make one stiff",
        )

    def _driven_through(self, gap: Gap) -> RunError:
        return RunError(
            f"no force can stop {self._name(gap.row)} at t = {self.motion.t:.9g} s: loops, "
            "constraints or the moving base move it beyond the barrier",
            element=self._name(gap.row),
            remedy="change that motion, or end the run there by an event",
        )

    def name_of(self, number: int) -> str:
        """Return the name of the stop, contact or joint to which an event belongs."""
        row, stiff = self.row_counts.always + number, self.barriers.stiff
        return (
            self._name(row)
            if row < self.row_counts.rows
            else stiff[row - self.row_counts.rows].name
        )

    def _name(self, row: int) -> str:
        if row >= self.row_counts.first_sticking:
            return self.barriers.dry[row - self.row_counts.first_sticking].name
        own = (gap.row for gap in self.gaps if row in (gap.row, *gap.tangential))
        return self.impacts.names.get(next(own, -1), "loops")

    def _terms(self, y: Array | None = None) -> Terms:
        motion = self.motion
        area = motion.machine.terms(motion.t, motion.y if y is None else y, motion.p)
        if not np.all(np.isfinite(area)):
            equations = motion.machine.equations
            raise cause(NOT_FINITE, equations, motion.t, motion.y, motion.p, 0.0)
        return Terms.of(area, self.nv, self.row_counts.rows)
