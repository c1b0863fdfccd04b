"""The equations of single actuators as scalars of a graph (Turek 1993, (III.1) to (III.3)).

symbol   meaning                                                       Turek 1993
x, N     states of the actuator; its signal within the limits          (III.1), (III.2)
g        the row with qd = g x, where the motion is part of the state  (III.3)
I        - 1 / (g f), the inertia of the actuator felt at its joint

    N(u) = (|u + u_m| - |u - u_m|) / 2,  which is u between the limits and u_m beyond

An actuator that is given by laws has P and x' from them. An actuator of several joints has the sum
of their motions by weights in place of q and qd, and gives each the effort P by its weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from chainform.errors import DeriveError
from chainform.expressions import symbols_of
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.laws import Laws
from chainform.formulations.shared.scope import error_context
from chainform.graph import Builder, Scalar, Tangents, is_zero
from chainform.mechanism import (
    GROUND,
    MOTION_NAMES,
    ONE,
    SIGNAL_NAME,
    Actuator,
    Mechanism,
    Number,
    kinks_of,
    meaning_of,
    nonlinear_part,
)

HALF = Fraction(1, 2)


def coordinate_of(mechanism: Mechanism, rate: int) -> int:
    """Return the place in q of the coordinate with a rate; in an element model it is the same."""
    segment = mechanism.rate_records[rate].segment
    place = rate if segment == GROUND else mechanism.segments[segment].coordinate
    assert place is not None
    return place


def drives_of(builder: Builder, mechanism: Mechanism) -> list[Drive]:
    """Return the actuators of a mechanism; x and u are declared whole, in their order."""
    kinematics, drives = Kinematics(mechanism, builder), list[Drive]()
    first = 0
    for index, actuator in enumerate(mechanism.actuators):
        states = range(first, first + actuator.order)
        x = [builder.input(f"x{k + 1}", "x", k) for k in states]
        drives.append(Drive(actuator, kinematics, x, index))
        first += actuator.order
    return drives


class Drive:
    """One actuator, its numbers and states as scalars; without `u` its signal is an input."""

    def __init__(
        self,
        actuator: Actuator,
        kinematics: Kinematics,
        x: Sequence[Scalar],
        place: int,
        u: Scalar | None = None,
    ) -> None:
        self.actuator = actuator
        self.kinematics = kinematics
        self.builder = kinematics.builder
        self.rate = actuator.rate
        self.x = x
        self.place = place
        signal = self.builder.input(f"u{place + 1}", "u", place) if u is None else u
        self.N = self._limited(signal, place)
        self.replaced: Mapping[str, Scalar] = {}
        """What stands in place of coordinates and rates in laws, by names of inputs."""
        self.A = [self._numbers(row) for row in actuator.A]
        self.b, self.f = self._numbers(actuator.b), self._numbers(actuator.f)
        self.g = None if actuator.velocity is None else self._numbers(actuator.velocity)
        self.inertia: Scalar | None = None
        """I, None where the actuator has none."""
        if self.g is not None and not is_zero(load := self._dot(self.g, self.f)):
            inertia = -self.builder.call("reciprocal", self.builder.keep(load))
            self.inertia = self.builder.name(f"I_a{place + 1}", inertia)

    @property
    def is_prescribed(self) -> bool:
        """Whether the signal alone prescribes the motion, whatever the load."""
        return self.g is not None and self.inertia is None

    @property
    def position(self) -> Scalar | None:
        """q of the joint, None where it is no part of the state."""
        row = self.actuator.position
        return None if row is None else self._dot(self._numbers(row), self.x)

    @property
    def velocity(self) -> Scalar | None:
        """qd of the joint, None where it is no part of the state."""
        return None if self.g is None else self._dot(self.g, self.x)

    def acceleration(self, N: Scalar, *, free: bool) -> Scalar:
        """Return g (A x + b N), the acceleration without load; `free` tells whether x acts."""
        assert self.g is not None
        return self._combined(self.builder.number(1), N, free=free)

    def effort(self, N: Scalar, *, free: bool) -> Scalar:
        """Return P while the joint is not accelerated; `free` tells whether x and qd act."""
        if self.inertia is not None:
            return self._combined(self.inertia, N, free=free)
        number, actuator = self.kinematics.number, self.actuator
        if actuator.laws is not None:
            return self._law(actuator.laws.effort, N, free=free)
        total = number(actuator.direct) * N
        if free:
            total = total + self._dot(self._numbers(actuator.effort or ()), self.x)
            total = total - self._of_rate(number(actuator.viscous))
        return self.builder.keep(total)

    def derivatives(self, N: Scalar, P: Scalar, qdd: Scalar, *, free: bool) -> list[Scalar]:
        """Return x' = A x + b N + e qd + f P; a state that is a multiple of qd has that of qdd."""
        if self.actuator.laws is not None:
            return [self._law(law, N, free=free) for law in self.actuator.laws.rates]
        result: list[Scalar] = []
        e = self._numbers(self.actuator.e)
        for k, row in enumerate(self.A):
            if self._is_rate(k):
                assert self.g is not None
                result.append(self.builder.keep(qdd / self.g[k]))
                continue
            total = self.b[k] * N + self.f[k] * P
            if free:
                total = total + self._dot(row, self.x) + self._of_rate(e[k])
            result.append(self.builder.keep(total))
        return result

    def _is_rate(self, k: int) -> bool:
        """Whether qd is a multiple of state k alone."""
        if self.g is None or is_zero(self.g[k]):
            return False
        return all(is_zero(entry) for index, entry in enumerate(self.g) if index != k)

    def _combined(self, factor: Scalar, N: Scalar, *, free: bool) -> Scalar:
        """Return factor g (A x + b N), with numbers and parameters multiplied out beforehand."""
        assert self.g is not None
        keep = self.builder.keep
        total = keep(factor * keep(self._dot(self.g, self.b))) * N
        if free:
            for k, x in enumerate(self.x):
                column = keep(self._dot(self.g, [row[k] for row in self.A]))
                total = total + keep(factor * column) * x
        return keep(total)

    def _of_rate(self, factor: Scalar) -> Scalar:
        """Return a multiple of qd; the input is declared only where it is needed."""
        return factor if is_zero(factor) else factor * self._motion("qd")

    # --- several joints -----------------------------------------------------------------

    def efforts(self, P: Scalar) -> dict[int, Scalar]:
        """Return what an effort of the actuator is on each joint, by rate."""
        if not self.actuator.weights:
            return {self.rate: P}
        number, keep = self.kinematics.number, self.builder.keep
        return {rate: keep(number(weight) * P) for rate, weight in self.actuator.weights}

    def _motion(self, group: str) -> Scalar:
        """Return q or qd of what the actuator drives."""
        total = None
        for rate, weight in self.actuator.shares:
            index = rate if group == "qd" else coordinate_of(self.kinematics.mechanism, rate)
            entry = self._entry(group, index)
            part = entry if weight == ONE else self.kinematics.number(weight) * entry
            total = part if total is None else total + part
        assert total is not None
        return total

    def _entry(self, group: str, index: int) -> Scalar:
        found = self.replaced.get(f"{group}{index + 1}")
        return self.kinematics.q(index, group) if found is None else found

    # --- laws ---------------------------------------------------------------------------

    def _law(self, law: Number, N: Scalar, *, free: bool) -> Scalar:
        """Return a law; without what acts freely its part that is linear in the signal."""
        with error_context(self.kinematics.mechanism, f"actuator {self.actuator.name!r}"):
            if free:
                return self.builder.keep(self._laws(law, N).scalar(law))
            part = nonlinear_part(law, lambda name: name == SIGNAL_NAME)
            if part is not None:
                raise DeriveError(
                    f"the law of {self.actuator.name} is not linear in its signal: {part}",
                    element=f"actuator {self.actuator.name!r}",
                    remedy="derive complete_model, or call chainform.linearise",
                )
            signal = self.builder.input(f"u{self.place + 1}", "u", self.place)
            slopes = Tangents(
                self.builder, {self.builder.variable_of(signal): self.builder.number(1)}
            )
            slope = slopes.of(self.builder.keep(self._laws(law, signal).scalar(law)))
            return self.builder.keep(slope * N)

    def _laws(self, law: Number, N: Scalar) -> Laws:
        """Return what reads one of the laws of the actuator."""
        mechanism = self.kinematics.mechanism
        names = frozenset[str]() if isinstance(law, Fraction) else symbols_of(law)
        known = {SIGNAL_NAME: N, **dict(zip(self.actuator.states, self.x, strict=True))}
        for name, group in zip(MOTION_NAMES, ("q", "qd"), strict=True):
            if name in names:
                known[name] = self._motion(group)
        for name in names - known.keys():
            meaning = meaning_of(name, mechanism.coordinates, mechanism.rates)
            if meaning is not None and meaning.group != "t":
                known[name] = self._entry(meaning.group, meaning.index)
        return Laws(self.kinematics, known)

    def kink(self, number: int) -> Scalar:
        """Return what is zero where a law of the actuator has one of its kinks or jumps."""
        kinks = kinks_of(self.actuator, self.kinematics.mechanism)
        return self._law(kinks[number], self.N, free=True)

    def _numbers(self, row: Sequence[Number]) -> list[Scalar]:
        return [self.builder.keep(self.kinematics.number(entry)) for entry in row]

    def _dot(self, row: Sequence[Scalar], column: Sequence[Scalar]) -> Scalar:
        total = self.builder.number(0)
        for a, b in zip(row, column, strict=True):
            total = total + a * b
        return total

    def _limited(self, u: Scalar, place: int) -> Scalar:
        if self.actuator.limit is None:
            return u
        limit, call = self.kinematics.number(self.actuator.limit), self.builder.call
        within = HALF * (call("abs", u + limit) - call("abs", u - limit))
        return self.builder.name(f"N_{place + 1}", within)
