"""What holds when: barriers open and close, contacts and joints slide and stick.

Between two events the state of affairs does not change: a set of rows holds (the mask), joints with
dry friction slide in known directions. At an event

    1. gaps that touch and close are hit, which changes the rates at once (impacts.py);
    2. of all that is at rest then, forces within their bounds decide what stays at rest (grip.py):
       gaps with a push stay closed, and what friction can hold sticks;
    3. the state is put onto the rows that hold, and the motion goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.simulation.balance import Balance
from chainform.simulation.bookkeeping import LOSSES, WORK
from chainform.simulation.grip import Gap, Rows, Terms
from chainform.simulation.impacts import AT_REST, Blow, Collision
from chainform.simulation.run import Happening
from chainform.simulation.solver import Motion
from chainform.simulation.switches import Switches

Array = NDArray[np.float64]

TOUCH = 1e-10
"""A gap (m, rad) that counts as closed."""
STILL = 1e-10
"""A rate (m/s, rad/s) at which a joint with dry friction may stick."""
LEEWAY = 1e-9
"""How far rows may move that touch without a force; and by what share sticking exceeds its bound
before it breaks, so that it does not come back at once."""


@dataclass(frozen=True)
class Impact(Happening):
    """An impact: the state before it, the rates after it, the impulses (N s, N m s) of the gaps
    that took part, by name, and the energy it took (J)."""

    qd_after: Array
    impulses: dict[str, float]
    loss: float


class Switching:
    """Keeps the state of affairs of one motion, in the array p that its loop reads."""

    def __init__(self, motion: Motion, switches: Switches) -> None:
        self.motion = motion
        self.switches = switches
        equations, layout, p = motion.machine.equations, motion.machine.layout, motion.p
        self.sorts, self.nq, self.nv = equations.sorts, equations.nq, equations.nv
        self.books = equations.size - equations.books if equations.books else None
        self.mask, self.slack = layout.part(p, "mask"), layout.part(p, "slack")
        modes = layout.part(p, "modes")
        self.directions, self.anchors = np.split(modes, [self.sorts.sticking])
        self.grips = layout.part(p, "grips")
        self.ways = layout.part(p, "ways").reshape(-1, 2)
        layout.part(p, "bounds")[:] = [j.static * (1 + LEEWAY) for j in switches.dry]
        self.gaps = self._gaps()
        layout.part(p, "cones")[:] = [g.friction * (1 + LEEWAY) for g in self.gaps if g.beside]
        self.sticking = range(self.sorts.first_sticking, self.sorts.rows)

    def _gaps(self) -> list[Gap]:
        gaps: list[Gap] = []
        for i, barrier in enumerate(self.switches.rigid):
            first = self.sorts.first_beside + 2 * i
            beside = (first, first + 1) if barrier.friction else ()
            manner = barrier.manner
            bounce = (manner.restitution, manner.rest_speed)
            gaps.append(Gap(self.sorts.always + i, beside, *bounce, barrier.friction))
        return gaps

    # --- events -------------------------------------------------------------------------

    def begin(self) -> list[Happening]:
        """Find what holds at the start; a state beyond a barrier is refused."""
        if self.sorts.rows == 0:
            return []
        residuals = self._terms().residuals
        for gap, barrier in zip(self.gaps, self.switches.rigid, strict=True):
            if residuals[gap.row] < -TOUCH:
                raise RunError(
                    f"{barrier.name} is passed by {-residuals[gap.row]:.4g} at the start",
                    element="q0",
                    remedy="begin where all gaps are open or closed",
                )
        return self.settle()

    def happen(self, number: int) -> list[Happening]:
        """Go over an event, by its number among those that are watched here."""
        if number < self.sorts.touching:
            row = self.gaps[number].row
            return self.settle({(row,): np.ones(1)} if self.mask[row] else {})
        number -= self.sorts.touching
        if number < self.sorts.gripping:
            return self.settle(self._breaking(self.gaps[number].beside))
        number -= self.sorts.gripping
        if number < self.sorts.sticking:
            return self.settle(self._breaking((self.sticking[number],)))
        # A stiff contact begins or ends: the step ended here, and that was all.
        self.motion.restart(self.motion.y)
        return []

    def _breaking(self, rows: tuple[int, ...]) -> dict[tuple[int, ...], Array]:
        """Return rows that break loose, with their way: against the force that held them."""
        if not np.any(self.mask[list(rows)]):
            return {}
        machine = self.motion.machine
        machine.rate(self.motion.t, self.motion.y, self.motion.p)
        force = machine.layout.part(self.motion.p, "multipliers")[list(rows)]
        return {rows: -force / np.linalg.norm(force)}

    # --- what holds ---------------------------------------------------------------------

    def settle(self, leaving: Mapping[tuple[int, ...], Array] | None = None) -> list[Happening]:
        """Bring about what must hold at the present state.

        `leaving` are rows at their bound, each with the way in which it will move.
        """
        if self.sorts.rows == 0:
            return []
        before, terms, news = self.mask.copy(), self._terms(), list[Happening]()
        if self.gaps:
            terms, news = self._collide(terms)
        news += self._choose(terms, leaving or {})
        y = self.motion.machine.settled(self.motion.t, self.motion.y, self.motion.p)
        self.motion.restart(y)
        return news + self._changes(before)

    def _collide(self, terms: Terms) -> tuple[Terms, list[Happening]]:
        """Let gaps be hit that close; return the relative speeds after it, and what happened."""
        y = self.motion.y
        touching = [gap for gap in self.gaps if terms.residuals[gap.row] <= TOUCH]
        resting = [gap for gap in touching if self.mask[gap.row]]
        qd = y[self.nq : self.nq + self.nv].copy()
        collision = Collision(terms, qd, range(self.sorts.always), resting, touching)
        if not collision.closing():
            return terms, []
        return self._struck(terms, collision, collision.run())

    def _struck(
        self, terms: Terms, collision: Collision, blow: Blow
    ) -> tuple[Terms, list[Happening]]:
        """Take over what impacts did."""
        y, qd = self.motion.y, self.motion.y[self.nq : self.nq + self.nv].copy()
        impulses = {
            barrier.name: float(blow.impulses[gap.row])
            for gap, barrier in zip(self.gaps, self.switches.rigid, strict=True)
            if blow.impulses[gap.row] > 0
        }
        y[self.nq : self.nq + self.nv] = blow.qd
        if self.books is not None:
            y[self.books + LOSSES] += blow.loss
            y[self.books + WORK] += blow.work
        name, q = f"{', '.join(impulses)}: impact", y[: self.nq].copy()
        impact = Impact(name, self.motion.t, q, qd, blow.qd, impulses, blow.loss)
        return replace(terms, speeds=collision.speeds), [impact]

    def _choose(
        self, terms: Terms, leaving: Mapping[tuple[int, ...], Array], *, may_jam: bool = True
    ) -> list[Happening]:
        """Find what is at rest now, and let forces decide what of it stays so.

        Contacts that are jammed while they slide stop by an impact of their own.
        """
        still = self._still_joints(leaving)
        shut = [
            gap
            for gap in self.gaps
            if terms.residuals[gap.row] <= TOUCH
            and abs(terms.speeds[gap.row]) <= AT_REST
            and (gap.row,) not in leaving
        ]
        if not shut and not still and not leaving:
            self._let_all_go()
            return []
        # Rates and directions may be others than before.
        terms = self._terms()
        slips = {
            gap.row: -way for gap in shut if (way := self._way(terms, gap, leaving)) is not None
        }
        rows = Rows(range(self.sorts.always), shut, still)
        balance = Balance.of(terms, rows, slips)
        back = [rows for rows, way in leaving.items() if balance.returns(terms, rows, way)]
        if back:
            left = {rows: way for rows, way in leaving.items() if rows not in back}
            return self._choose(terms, left, may_jam=may_jam)
        if balance.grasp.is_jammed and may_jam:
            rates = self.motion.y[self.nq : self.nq + self.nv].copy()
            collision = Collision(terms, rates, range(self.sorts.always), shut, shut)
            terms, news = self._struck(terms, collision, collision.stop(shut))
            return news + self._choose(terms, {}, may_jam=False)
        self._set(terms, shut, list(still), balance)
        return []

    def _still_joints(self, leaving: Mapping[tuple[int, ...], Array]) -> dict[int, float]:
        """Return joints that may stick, with their bounds; set the directions of all others."""
        still: dict[int, float] = {}
        for place, (joint, row) in enumerate(zip(self.switches.dry, self.sticking, strict=True)):
            rate = self.motion.y[self.nq + joint.rate]
            self.directions[place] = 0.0
            if abs(rate) > STILL:
                self.directions[place] = np.sign(rate)
            elif (row,) in leaving:
                self.directions[place] = leaving[(row,)][0]
            else:
                still[row] = joint.static
        return still

    def _way(
        self, terms: Terms, gap: Gap, leaving: Mapping[tuple[int, ...], Array]
    ) -> Array | None:
        """Return the direction in which a closed contact slides, None if it may be at rest."""
        speeds = terms.speeds[list(gap.beside)]
        size = float(np.linalg.norm(speeds))
        return speeds / size if size > AT_REST else leaving.get(gap.beside)

    def _set(
        self, terms: Terms, shut: Sequence[Gap], still: Sequence[int], balance: Balance
    ) -> None:
        """Write down what holds from now on."""
        before, grasp = self.mask.copy(), balance.grasp
        self._let_all_go()
        for gap in shut:
            if gap.row in grasp.holds:
                self.mask[gap.row] = 1.0
                self._hold_place(terms, gap, balance, before)
            elif balance.is_idle(gap.row):
                self.slack[gap.row] = LEEWAY
        for row in still:
            place = row - self.sorts.first_sticking
            if row in grasp.holds or (balance.is_idle(row) and not grasp.depends(row)):
                self.mask[row] = 1.0
            else:
                self.directions[place] = -np.sign(grasp.forces[row])
                self.slack[row] = LEEWAY if balance.is_idle(row) else 0.0

    def _hold_place(self, terms: Terms, gap: Gap, balance: Balance, before: Array) -> None:
        """Let a closed contact slide, or hold it where it is."""
        place = gap.row - self.sorts.always
        if gap.row in balance.grasp.slips:
            self.grips[place] = 0.0 if balance.grasp.is_jammed else gap.friction
            self.ways[place] = -balance.grasp.slips[gap.row]
            return
        for row in gap.beside:
            if row in balance.grasp.rows:
                self.mask[row] = 1.0
                if not before[row]:
                    self.anchors[row - self.sorts.first_beside] += terms.residuals[row]

    def _let_all_go(self) -> None:
        self.mask[self.sorts.always :] = 0.0
        self.slack[:] = 0.0
        self.grips[:] = 0.0

    def _changes(self, before: Array) -> list[Happening]:
        """Return what began or ceased to hold, in words."""
        named = [(gap.row, b.name) for gap, b in zip(self.gaps, self.switches.rigid, strict=True)]
        words = {row: (name, "rests", "leaves") for row, name in named}
        for row, joint in zip(self.sticking, self.switches.dry, strict=True):
            words[row] = (joint.name, "sticks", "slides")
        y = self.motion.y
        q, qd = y[: self.nq].copy(), y[self.nq : self.nq + self.nv].copy()
        return [
            Happening(f"{name}: {begins if self.mask[row] else ends}", self.motion.t, q, qd)
            for row, (name, begins, ends) in words.items()
            if self.mask[row] != before[row]
        ]

    def _terms(self) -> Terms:
        motion = self.motion
        area = motion.machine.terms(motion.t, motion.y, motion.p)
        return Terms.of(area, self.nv, self.sorts.rows)
