"""Actuators: what turns a signal into the drive of a joint (Turek 1993, chapter III).

symbol   meaning                                                           Turek 1993
x        state of the actuator, n entries                                  (III.1)
u        its signal: a voltage, a current in a valve, a wanted torque    (III.1)
N(u)     the signal within its limits, min(max(u, -u_m), u_m)              (III.2)
P        drive: force or moment of the actuator on its joint               (II.43)
q, qd    coordinate and rate of the joint                                  (III.3)

An actuator is linear but for the limits, of any order n >= 0, and of one of two kinds.

The motion is part of its state, as in the paper. Then rows `position` and `velocity` give

    x' = A x + b N(u) + f P,      q = position x,      qd = velocity x             (III.1), (III.3)

so that qdd = velocity x', and P is what the mechanism demands. velocity f is minus the
reciprocal of the actuator's own inertia, felt at the joint; zero means that the load does not act
back and the signal alone prescribes the motion. `position` may be absent, q is then no part of x.

Or it gives an effort, as a row `effort` and two numbers say:

    P = effort x + direct N(u) - viscous qd,      x' = A x + b N(u) + e qd + f P

P acts along the joint in the sense of tau, in N m or N; a joint without an actuator has P = tau.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from chainform.mechanism.records import ZERO, Number

Row: TypeAlias = tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class Actuator:
    """One actuator; `rate` is the index into tau of the freedom that it drives.

    `A` has n rows of n entries; b, f, e and the rows given have n entries each. `limit` is u_m, the
    greatest size of the signal, None for no limit. `states` and `signal` are words for people.
    """

    name: str
    rate: int
    A: tuple[Row, ...] = ()
    b: Row = ()
    f: Row = ()
    e: Row = ()
    limit: Number | None = None
    position: Row | None = None
    velocity: Row | None = None
    effort: Row | None = None
    direct: Number = ZERO
    viscous: Number = ZERO
    states: tuple[str, ...] = ()
    signal: str = "signal"

    @property
    def order(self) -> int:
        """The number of states."""
        return len(self.A)

    @property
    def holds_motion(self) -> bool:
        """Tell whether the rate of the joint is part of the state."""
        return self.velocity is not None

    @property
    def state_names(self) -> tuple[str, ...]:
        """The states with the name of the actuator before them: shoulder.current."""
        return tuple(f"{self.name}.{state}" for state in self.states)

    def numbers(self) -> Iterator[Number]:
        """Yield every number that may name parameters."""
        for row in (*self.A, self.b, self.f, self.e, self.position, self.velocity, self.effort):
            yield from row or ()
        yield from (self.direct, self.viscous)
        if self.limit is not None:
            yield self.limit

    def mapped(self, change: Callable[[Number], Number]) -> Actuator:
        """Return the actuator with every number changed."""

        def row(numbers: Row) -> Row:
            return tuple(change(number) for number in numbers)

        return replace(
            self,
            A=tuple(row(numbers) for numbers in self.A),
            b=row(self.b),
            f=row(self.f),
            e=row(self.e),
            limit=None if self.limit is None else change(self.limit),
            position=None if self.position is None else row(self.position),
            velocity=None if self.velocity is None else row(self.velocity),
            effort=None if self.effort is None else row(self.effort),
            direct=change(self.direct),
            viscous=change(self.viscous),
        )
