"""The equations of single actuators as scalars of a graph (Turek 1993, (III.1) to (III.3)).

symbol   meaning                                                       Turek 1993
x, N     states of the actuator; its signal within the limits          (III.1), (III.2)
g        the row with qd = g x, where the motion is part of the state  (III.3)
I        - 1 / (g f), the inertia of the actuator felt at its joint

    N(u) = (|u + u_m| - |u - u_m|) / 2,  which is u between the limits and u_m beyond
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from chainform.formulations.shared.kinematics import Kinematics
from chainform.graph import Builder, Scalar, is_zero
from chainform.mechanism import Actuator, Mechanism, Number

HALF = Fraction(1, 2)


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
        signal = self.builder.input(f"u{place + 1}", "u", place) if u is None else u
        self.N = self._limited(signal, place)
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
        total = number(actuator.direct) * N
        if free:
            total = total + self._dot(self._numbers(actuator.effort or ()), self.x)
            total = total - self._of_rate(number(actuator.viscous))
        return self.builder.keep(total)

    def derivatives(self, N: Scalar, P: Scalar, qdd: Scalar, *, free: bool) -> list[Scalar]:
        """Return x' = A x + b N + e qd + f P; a state that is a multiple of qd has that of qdd."""
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
        return factor if is_zero(factor) else factor * self.kinematics.q(self.rate, "qd")

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
