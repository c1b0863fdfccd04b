"""The equations of a mechanism whose constraints come and go.

symbol   meaning
g, g'    gap of a barrier, and its rate
d, d'    depth of a stiff contact, max(0, -g), and its rate while it is closed
k, c     stiffness and damping of a stiff contact
s        direction in which a joint with dry friction slides: 1, -1, or 0 while it does not
a, e     the angle by which the axes in the plane of a contact are turned; 0 where it is nearly
         blocked along the second one, else 1

    tau_i gains J_i k d max(0, 1 + c d')          a stiff contact with the row J of its gap
    tau_i gains - s f                              a joint with dry friction f

The rows of a plane are cos a J_1 + sin a J_2 and e (cos a J_2 - sin a J_1).

Of the power k d d' max(0, 1 + c d') that a stiff contact takes, k d d' is stored and the rest lost.
What moves it by itself does the work of its push.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from chainform.formulations import BuilderArithmetic, ConstraintRow
from chainform.graph import Builder, Scalar, is_zero
from chainform.simulation.equations.builder import EquationBuilder, RowCounts
from chainform.simulation.equations.contact.laws import Barrier, Barriers, DryJoint, GapContext
from chainform.simulation.equations.energy_balance import powers


class ContactEquations:
    """Declares y' and the terms under all rows that may hold, and what is watched."""

    def __init__(self, equations: EquationBuilder, barriers: Barriers) -> None:
        self.equations = equations
        self.builder: Builder = equations.builder
        self.barriers = barriers
        context = GapContext(self.builder, equations.mechanism)
        made = [[context.laws.holonomic(r) for r in b.residuals(context)] for b in barriers.rigid]
        self.gaps = [rows[0] for rows in made]
        self.stiff = [context.laws.holonomic(b.residuals(context)[0]) for b in barriers.stiff]
        planes = [(x, y) for _, x, y in (rows for rows in made if len(rows) == 3)]
        given = [self._given(i) for i in range(len(barriers.dry) + 5 * len(planes))]
        self.directions = given[: len(barriers.dry)]
        anchors = given[len(barriers.dry) :][: 2 * len(planes)]
        axes = given[len(given) - 3 * len(planes) :]
        turned = [row for i, plane in enumerate(planes) for row in _turned(*plane, *axes[3 * i :])]
        self.tangential = [
            ConstraintRow(row.value - anchor, row.rate, row.J, row.gamma)
            for row, anchor in zip(turned, anchors, strict=True)
        ]

    def declare(
        self,
        tau: Sequence[Scalar],
        always: Sequence[ConstraintRow],
        *,
        energy_balance: bool = False,
        without: Sequence[str] = (),
    ) -> list[Scalar]:
        """Declare all of it, and return the efforts with those of friction and stiff contacts."""
        if self.barriers.has_rows:
            self.equations.add_impulse()
        if energy_balance:
            self._declare_balance(tau, without, has_rows=bool(always))
        acting = self._acting(tau)
        sticking = [self._sticking(joint) for joint in self.barriers.dry]
        rows = [*always, *self.gaps, *self.tangential, *sticking]
        if not always:
            self.equations.declare_rate(acting)
        if rows:
            self.equations.declare_terms(acting, rows)
        grips = len(self.tangential) // 2
        counts = (len(always), len(self.gaps), grips, len(sticking), len(self.stiff))
        self.equations.row_counts = RowCounts(*counts)
        if self.barriers:
            rates = [row.rate for row in (*self.tangential, *sticking)]
            values = [row.value for row in self.gaps] + [row.rate for row in self.gaps]
            self.equations.declare("gaps", [*values, *rates, *(row.value for row in self.stiff)])
        return acting

    def _acting(self, tau: Sequence[Scalar]) -> list[Scalar]:
        acting = list(tau)
        for joint, direction in zip(self.barriers.dry, self.directions, strict=True):
            acting[joint.rate] = acting[joint.rate] - direction * self._size(joint)
        for barrier, row in zip(self.barriers.stiff, self.stiff, strict=True):
            push = self._push(barrier, row)[0]
            for rate, entry in row.J.items():
                acting[rate] = acting[rate] + entry * push
        return acting

    def _declare_balance(
        self, tau: Sequence[Scalar], without: Sequence[str], *, has_rows: bool
    ) -> None:
        """Add up work and losses, unless nothing at all can do work.

        Rows of constraints do some where they move with time; the loop knows how much.
        """
        work, loss = powers(self.builder, self.equations.mechanism, tau, without)
        for joint, direction in zip(self.barriers.dry, self.directions, strict=True):
            loss = loss + direction * self._size(joint) * self.equations.input("qd", joint.rate)
        for barrier, row in zip(self.barriers.stiff, self.stiff, strict=True):
            push, stored = self._push(barrier, row)
            loss = loss - (push - stored) * row.rate
            work = work - push * self._own_rate(row)
        can_work = has_rows or self.barriers.rigid
        if can_work or not is_zero(work) or not is_zero(loss):
            self.equations.add_balance_states([work, loss])

    def _own_rate(self, row: ConstraintRow) -> Scalar:
        """Return how fast a gap opens while no joint moves: that of a barrier that moves."""
        rate = row.rate
        for place, entry in row.J.items():
            rate = rate - entry * self.equations.input("qd", place)
        return self.builder.keep(rate)

    def _size(self, joint: DryJoint) -> Scalar | Fraction:
        """Return the dry friction of a joint that slides, by parameters where it depends on them.

        With a number in place of parameters every value would need machine code of its own.
        """
        if not joint.laws:
            return Fraction(joint.sliding)
        number, total = self.equations.kinematics.number, self.builder.number(0)
        for share, law in joint.laws:
            total = total + number(law) * share
        return self.builder.keep(total)

    def _push(self, barrier: Barrier, row: ConstraintRow) -> tuple[Scalar, Scalar]:
        """Return the force of a stiff contact, and the part of it that is stored."""
        keep, call = self.builder.keep, BuilderArithmetic(self.builder).call
        zero, one = self.builder.number(0), self.builder.number(1)
        depth = keep(call("max", [-row.value, zero]))
        stored = keep(depth * Fraction(barrier.contact_law.stiffness or 0.0))
        damped = keep(one - row.rate * Fraction(barrier.contact_law.damping))
        return keep(stored * call("max", [damped, zero])), stored

    def _sticking(self, joint: DryJoint) -> ConstraintRow:
        zero, one = self.builder.number(0), self.builder.number(1)
        rate = self.equations.input("qd", joint.rate)
        return ConstraintRow(zero, rate, {joint.rate: one}, zero)

    def _given(self, index: int) -> Scalar:
        return self.builder.input(f"given{index + 1}", "force", index)


def _turned(
    x: ConstraintRow, y: ConstraintRow, cosine: Scalar, sine: Scalar, e: Scalar, *_: Scalar
) -> tuple[ConstraintRow, ConstraintRow]:
    """Return the two rows of a plane in turned axes."""
    return _mixed(x, cosine, y, sine), _mixed(y, cosine * e, x, -sine * e)


def _mixed(row: ConstraintRow, share: Scalar, other: ConstraintRow, rest: Scalar) -> ConstraintRow:
    """Return the sum of two rows, each with its share."""
    J = {rate: entry * share for rate, entry in row.J.items()}
    for rate, entry in other.J.items():
        J[rate] = J[rate] + entry * rest if rate in J else entry * rest
    return ConstraintRow(
        row.value * share + other.value * rest,
        row.rate * share + other.rate * rest,
        J,
        row.gamma * share + other.gamma * rest,
    )
