"""What holds when: barriers open and close, joints slide and stick.

Between two events the state of affairs does not change: a set of rows holds (the mask), joints with
dry friction slide in known directions. At an event

    1. gaps that touch and close are hit, which changes the rates at once (impacts.py);
    2. of all that is at rest then, forces within their bounds decide what stays at rest
       (complementarity.py): gaps with a push stay closed, joints below their bound stick;
    3. the state is put onto the rows that hold, and the motion goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.simulation.balance import Balance
from chainform.simulation.bookkeeping import LOSSES, WORK
from chainform.simulation.impacts import AT_REST, Collision, Gap, Terms, rows_beside
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
        equations, layout = motion.machine.equations, motion.machine.layout
        self.sorts, self.nq, self.nv = equations.sorts, equations.nq, equations.nv
        self.books = equations.size - equations.books if equations.books else None
        self.mask = layout.part(motion.p, "mask")
        modes = layout.part(motion.p, "modes")
        self.directions = modes[: self.sorts.sticking]
        self.anchors = modes[self.sorts.sticking :]
        self.slack = layout.part(motion.p, "slack")
        layout.part(motion.p, "bounds")[:] = [j.static * (1 + LEEWAY) for j in switches.dry]
        self.gaps = self._gaps()
        self.sticking = range(self.sorts.first_sticking, self.sorts.rows)

    def _gaps(self) -> list[Gap]:
        gaps: list[Gap] = []
        after = self.sorts.always + self.sorts.touching
        for i, barrier in enumerate(self.switches.rigid):
            manner, beside = barrier.manner, tuple(range(after, after + barrier.held))
            gaps.append(Gap(self.sorts.always + i, beside, manner.restitution, manner.rest_speed))
            after += barrier.held
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
        elif number < self.sorts.touching + self.sorts.sticking:
            row = self.sticking[number - self.sorts.touching]
        else:
            # A stiff contact begins or ends: the step ended here, and that was all.
            self.motion.restart(self.motion.y)
            return []
        return self.settle([row] if self.mask[row] else [])

    # --- what holds ---------------------------------------------------------------------

    def settle(self, let_go: Iterable[int] = ()) -> list[Happening]:
        """Bring about what must hold at the present state; rows that let go were at their bound."""
        if self.sorts.rows == 0:
            return []
        before, terms, news = self.mask.copy(), self._terms(), list[Happening]()
        leaving = self._ways_out(let_go)
        if self.gaps:
            terms, news = self._collide(terms)
        self._choose(terms, leaving)
        y = self.motion.machine.settled(self.motion.t, self.motion.y, self.motion.p)
        self.motion.restart(y)
        return news + self._changes(before)

    def _ways_out(self, let_go: Iterable[int]) -> dict[int, float]:
        """Return rows that let go, each with the direction in which it will move."""
        rows = list(let_go)
        if not rows:
            return {}
        machine = self.motion.machine
        machine.rate(self.motion.t, self.motion.y, self.motion.p)
        forces = machine.layout.part(self.motion.p, "multipliers")
        return {row: -float(np.sign(forces[row])) if row in self.sticking else 1.0 for row in rows}

    def _collide(self, terms: Terms) -> tuple[Terms, list[Happening]]:
        """Let gaps be hit that close; return the relative speeds after it, and what happened."""
        y = self.motion.y
        touching = [gap for gap in self.gaps if terms.residuals[gap.row] <= TOUCH]
        resting = [gap for gap in touching if self.mask[gap.row]]
        qd = y[self.nq : self.nq + self.nv].copy()
        collision = Collision(terms, qd, range(self.sorts.always), resting, touching)
        if not collision.closing():
            return terms, []
        blow = collision.run()
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

    def _choose(self, terms: Terms, leaving: dict[int, float]) -> None:
        """Find what is at rest now, and let forces decide what of it stays so."""
        rates = self.motion.y[self.nq : self.nq + self.nv]
        still: list[int] = []
        for place, (joint, row) in enumerate(zip(self.switches.dry, self.sticking, strict=True)):
            rate = rates[joint.rate]
            self.directions[place] = np.sign(rate) if abs(rate) > STILL else leaving.get(row, 0.0)
            if abs(rate) <= STILL and row not in leaving:
                still.append(row)
        shut = [
            gap if np.all(np.abs(terms.speeds[list(gap.beside)]) <= AT_REST) else gap.slipping
            for gap in self.gaps
            if terms.residuals[gap.row] <= TOUCH
            and abs(terms.speeds[gap.row]) <= AT_REST
            and gap.row not in leaving
        ]
        if not shut and not still and not leaving:
            self._let_all_go()
            return
        # Rates and directions may be others than before.
        terms = self._terms()
        balance = self._balance(terms, shut, still)
        back = {row for row, way in leaving.items() if balance.returns(terms, row, way)}
        if back:
            self._choose(terms, {row: way for row, way in leaving.items() if row not in back})
        else:
            self._set(terms, shut, still, balance)

    def _balance(self, terms: Terms, shut: Sequence[Gap], still: Sequence[int]) -> Balance:
        """Return the forces of closed gaps and still joints; what does not push lets go."""
        lasting = range(self.sorts.always)
        while True:
            beside = rows_beside(terms, lasting, shut)
            rows = [*lasting, *(gap.row for gap in shut), *sorted(beside), *still]
            balance = Balance.of(terms, rows, {gap.row for gap in shut}, self._bounds(still))
            idle = [gap for gap in shut if gap.beside and balance.forces[gap.row] == 0]
            if not idle:
                return balance
            shut = [gap.slipping if gap in idle else gap for gap in shut]

    def _bounds(self, still: Sequence[int]) -> dict[int, float]:
        return {row: self.switches.dry[row - self.sorts.first_sticking].static for row in still}

    def _set(
        self, terms: Terms, shut: Sequence[Gap], still: Sequence[int], balance: Balance
    ) -> None:
        """Write down what holds from now on."""
        before = self.mask.copy()
        self._let_all_go()
        for gap in shut:
            if gap.row in balance.holds:
                held = [row for row in gap.beside if row in balance.forces]
                self.mask[[gap.row, *held]] = 1.0
                for row in held:
                    if not before[row]:
                        place = row - self.sorts.always - self.sorts.touching
                        self.anchors[place] += terms.residuals[row]
            elif balance.is_idle(gap.row):
                self.slack[gap.row] = LEEWAY
        for row in still:
            force = balance.forces[row]
            if row in balance.holds:
                self.mask[row] = 1.0
            elif not balance.is_idle(row):
                self.directions[row - self.sorts.first_sticking] = -np.sign(force)
            elif balance.depends(row):
                self.directions[row - self.sorts.first_sticking] = -np.sign(force)
                self.slack[row] = LEEWAY
            else:
                self.mask[row] = 1.0

    def _let_all_go(self) -> None:
        self.mask[self.sorts.always :] = 0.0
        self.slack[:] = 0.0

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
