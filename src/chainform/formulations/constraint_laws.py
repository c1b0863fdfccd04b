"""Constraints as scalars: their laws, and the derivatives of these by time and by rates.

symbol   meaning
f        the law: f(q, t) of a holonomic or unilateral constraint, f(q, qd, t) of a nonholonomic one
f'       its rate; a nonholonomic law stands on the level of rates already and is its own rate
J        df'/dqd, a row for each constraint
gamma    J qdd = gamma, from f'' = 0: gamma is minus the part of f'' that has no qdd

The rate of a coordinate is qd, but for joints with quaternions. There, with the quaternion (u, s)
and the velocities v and w of the body in its own axes,

    u' = (s w + u x w) / 2,     s' = - u . w / 2,     p' = R v
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

from chainform.formulations.element_laws import ElementLaws
from chainform.formulations.motion import is_zero
from chainform.formulations.refusals import blamed
from chainform.graph import Builder, Scalar, Tangents
from chainform.mechanism import Constraint, JointKind, Mechanism, Number, Segment
from chainform.spatial import add, apply, cross, dot, scale

HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Row:
    """A law f, its rate, the row J by rate and gamma."""

    value: Scalar
    rate: Scalar
    J: dict[int, Scalar]
    gamma: Scalar


class ConstraintLaws:
    """The constraints and quasi-velocities of one mechanism."""

    def __init__(self, builder: Builder, mechanism: Mechanism) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.laws = ElementLaws(builder, mechanism)
        self.by_rate = cache(self._by_rate)
        self._clock = cache(self._made_clock)

    @cached_property
    def bilateral(self) -> list[Row]:
        """The rows of holonomic and nonholonomic constraints, in the order of the file."""
        return [self._row(c) for c in self.mechanism.constraints if c.kind != "unilateral"]

    @cached_property
    def unilateral(self) -> list[Row]:
        """The rows of unilateral constraints."""
        return [self._row(c) for c in self.mechanism.constraints if c.kind == "unilateral"]

    @cached_property
    def quasi(self) -> list[Row]:
        """The rows of quasi-velocities: S in place of J, and minus the part of pi' without qdd."""
        rows: list[Row] = []
        for quasi in self.mechanism.quasi:
            with blamed(self.mechanism, f"quasi-velocity {quasi.name!r}"):
                rows.append(self._of_rate(quasi.law))
        return rows

    def _row(self, constraint: Constraint) -> Row:
        with blamed(self.mechanism, f"constraint {constraint.name!r}"):
            if constraint.kind == "nonholonomic":
                return self._of_rate(constraint.law)
            return self.holonomic(self.laws.scalar(constraint.law))

    def holonomic(self, law: Scalar, moving: frozenset[int] | None = None) -> Row:
        """Return the row of a law of coordinates and time.

        `moving` are the coordinates that the law depends on where it holds, all of them by default:
        the others stand still in its derivatives.
        """
        value, clock = self.builder.keep(law), self._clock(moving)
        return self._made(value, self.builder.keep(clock.of(value)), clock)

    def _of_rate(self, law: Number) -> Row:
        value = self.builder.keep(self.laws.scalar(law))
        return self._made(value, value, self._clock(None))

    def _made(self, value: Scalar, rate: Scalar, clock: Tangents) -> Row:
        keep = self.builder.keep
        row = {k: keep(self.by_rate(k).of(rate)) for k in range(self.mechanism.nv)}
        J = {k: entry for k, entry in row.items() if not is_zero(entry)}
        return Row(value, rate, J, keep(-clock.of(rate)))

    # --- derivatives --------------------------------------------------------------------

    def _by_rate(self, k: int) -> Tangents:
        variable = self.builder.variable_of(self._qd(k))
        return Tangents(self.builder, {variable: self.builder.number(1)})

    def _qd(self, k: int) -> Scalar:
        return self.laws.kinematics.q(k, "qd")

    def _made_clock(self, moving: frozenset[int] | None) -> Tangents:
        """Return derivatives by time while the rates stay what they are."""
        direction = {
            self.builder.variable_of(self.laws.kinematics.q(place)): rate
            for place, rate in self.coordinate_rates().items()
            if moving is None or place in moving
        }
        if self.laws.has_time:
            direction[self.builder.variable_of(self.laws.time())] = self.builder.number(1)
        return Tangents(self.builder, direction)

    def coordinate_rates(self) -> dict[int, Scalar]:
        """Return the rate of every coordinate."""
        if not self.mechanism.segments:
            return {k: self._qd(k) for k in range(self.mechanism.nq)}
        rates: dict[int, Scalar] = {}
        for segment in self.mechanism.segments:
            if segment.coordinate is None or segment.rate is None:
                continue
            if segment.joint.kind.has_quaternion:
                rates |= self._quaternion_rates(segment, segment.coordinate, segment.rate)
            else:
                rates[segment.coordinate] = self._qd(segment.rate)
        return rates

    def _quaternion_rates(self, segment: Segment, place: int, rate: int) -> dict[int, Scalar]:
        q, keep = self.laws.kinematics.q, self.builder.keep
        free = segment.joint.kind is JointKind.FREE
        first, turning = place + 3 * free, rate + 3 * free
        u, s = (q(first), q(first + 1), q(first + 2)), q(first + 3)
        w = (self._qd(turning), self._qd(turning + 1), self._qd(turning + 2))
        turned = add(scale(s, w), cross(u, w))
        rates = {first + k: keep(HALF * keep(turned[k])) for k in range(3)}
        rates[first + 3] = keep(-HALF * keep(dot(u, w)))
        if free:
            v = (self._qd(rate), self._qd(rate + 1), self._qd(rate + 2))
            moved = apply(self.laws.kinematics.quaternion(segment), v)
            rates |= {place + k: keep(moved[k]) for k in range(3)}
        return rates
