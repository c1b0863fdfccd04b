"""Records of what stands on the tree of a mechanism: elements, constraints, actuators.

Elements are frames and masses, springs, dampers and forces, those of Andrieiev and Dziuba 2023.

Numbers called laws are expressions of coordinates, time and parameters; where stated also of
rates and of unknown forces. All other numbers are expressions of parameters alone.

A frame is reached from another one by a chain of steps, each taken in the axes that the steps
before it have led to:

    ShiftStep(a, b, c)      the origin moves by (a, b, c) m
    TurnStep(axis, angle)   the axes turn about a unit axis by an angle in rad
    FixedStep(rotation)     the axes turn by a known rotation

so that R = R_on A_1 A_2 ... and p = p_on + R_on d_1 + R_on A_1 d_2 + ..., which `Sz(d12), Sx(d21),
Rx(theta2)` says in the words of the paper.

Actuators are what turns a signal into the drive of a joint (Turek 1993, chapter III).

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

An actuator that gives an effort may also be given by laws, which need not be linear:

    P = effort(u, x, q, der(q), t),      x_k' = rate_k(u, x, q, der(q), t)

and may drive several joints, each by its weight w: then q = sum w_i q_i, and joint i gets w_i P, so
that P der(q) is the power that all of them get.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from chainform.display import Displayed
from chainform.expressions import substitute
from chainform.mechanism.records import (
    ONE,
    ZERO,
    ZERO_MATRIX,
    ZERO_VECTOR,
    Axis,
    Matrix3,
    Number,
    Rotation,
    Vector3,
)

WORLD = "world"
"""The axes in which components are given unless a frame is named."""


@dataclass(frozen=True, slots=True, repr=False)
class ShiftStep(Displayed):
    """The origin moves by three laws (m), in the axes reached so far."""

    vector: Vector3


@dataclass(frozen=True, slots=True, repr=False)
class TurnStep(Displayed):
    """The axes turn about a unit axis by a law (rad)."""

    axis: Axis
    angle: Number


@dataclass(frozen=True, slots=True, repr=False)
class FixedStep(Displayed):
    """The axes turn by a known rotation: new components to those before."""

    rotation: Rotation


Step: TypeAlias = ShiftStep | TurnStep | FixedStep


@dataclass(frozen=True, slots=True, repr=False)
class ElementPoint(Displayed):
    """A point: three laws (m) in the axes of the frame named `on`, seen from its origin."""

    on: str
    point: Vector3 = ZERO_VECTOR


@dataclass(frozen=True, slots=True, repr=False)
class InertialElement(Displayed):
    """A frame at the end of a chain, and the mass that it carries.

    A `frame` has none, a `point` only mass at its origin. A `body` has mass, a mass centre and an
    inertia about the mass centre, both in its axes (m, kg m^2).
    """

    name: str
    kind: Literal["frame", "point", "body"]
    on: str
    chain: tuple[Step, ...] = ()
    mass: Number = ZERO
    com: Vector3 = ZERO_VECTOR
    inertia: Matrix3 = ZERO_MATRIX


@dataclass(frozen=True, slots=True, repr=False)
class InertiaElement(Displayed):
    """An inertia (kg or kg m^2) that resists the change of one law: a rotor behind a gear."""

    name: str
    inertia: Number
    along: Number


@dataclass(frozen=True, slots=True, repr=False)
class ElasticElement(Displayed):
    """A stiffness (N/m or N m/rad) and what it resists: a deformation, or the distance of `ends`.

    The force is stiffness times the deformation less `rest`, a law of time and parameters.
    """

    name: str
    stiffness: Number
    rest: Number = ZERO
    deformation: Number | None = None
    ends: tuple[ElementPoint, ElementPoint] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class DissipativeElement(Displayed):
    """A resistance to a rate: damping times the rate, and `coulomb` in the sense of the rate.

    The rate is that of a `deformation`, or of the distance of two `ends`, or a law of coordinates,
    rates and time given as it is (`rate`). N s/m or N m s/rad; N or N m.
    """

    name: str
    damping: Number
    coulomb: Number = ZERO
    deformation: Number | None = None
    rate: Number | None = None
    ends: tuple[ElementPoint, ElementPoint] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ForceElement(Displayed):
    """A force (N) at a point; the opposite one acts at `to`.

    Its components are laws of coordinates, rates, time and unknowns, in the axes of a frame or of
    the world.
    """

    name: str
    force: Vector3
    at: ElementPoint
    axes: str = WORLD
    to: ElementPoint | None = None


@dataclass(frozen=True, slots=True, repr=False)
class MomentElement(Displayed):
    """A moment (N m) on the body of a frame; the opposite one acts on that of the frame `to`."""

    name: str
    moment: Vector3
    on: str
    axes: str = WORLD
    to: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class EffortElement(Displayed):
    """A force or moment whose work is `effort` times the change of the law `along`."""

    name: str
    kind: Literal["force", "moment"]
    effort: Number
    along: Number


Element: TypeAlias = (
    InertialElement
    | InertiaElement
    | ElasticElement
    | DissipativeElement
    | ForceElement
    | MomentElement
    | EffortElement
)


@dataclass(frozen=True, slots=True, repr=False)
class Definition(Displayed):
    """A name for a law of coordinates, time, parameters and other definitions."""

    name: str
    law: Number


ConstraintKind: TypeAlias = Literal["holonomic", "nonholonomic", "unilateral"]


@dataclass(frozen=True, slots=True, repr=False)
class Constraint(Displayed):
    """A law that is to be zero, or not negative (unilateral)."""

    name: str
    kind: ConstraintKind
    law: Number
    restitution: Number = ZERO
    friction: Number = ZERO


@dataclass(frozen=True, slots=True, repr=False)
class QuasiVelocity(Displayed):
    """A name for a law that is linear in the rates: v = cos(phi) der(x) + sin(phi) der(y)."""

    name: str
    law: Number


# --- actuators ------------------------------------------------------------------------------


Row: TypeAlias = tuple[Number, ...]
SIGNAL_NAME = "u"
MOTION_NAMES = ("q", "der(q)")
"""What laws of an actuator call its signal within its limits, and the motion that it drives."""


@dataclass(frozen=True, slots=True, repr=False)
class DriveLaws(Displayed):
    """The rates of the states of an actuator, and its effort P, as laws.

    They name `u`, the signal within its limits, the states, `q` and `der(q)`, the motion that the
    actuator drives, and besides these coordinates, rates, time and parameters.
    """

    rates: Row
    effort: Number

    @property
    def laws(self) -> Row:
        """All laws."""
        return (*self.rates, self.effort)


@dataclass(frozen=True, slots=True, repr=False)
class Actuator(Displayed):
    """One actuator; `rate` is the index into tau of the freedom that it drives.

    `A` has n rows of n entries; b, f, e and the rows given have n entries each. `limit` is u_m, the
    greatest size of the signal, None for no limit. `states` and `signal` are words for people.

    With `laws` these stand in place of all rows, and name the states. With `weights`, pairs of a
    rate and its weight, the actuator drives several joints; `rate` is the first of them then.
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
    laws: DriveLaws | None = None
    weights: tuple[tuple[int, Number], ...] = ()

    @property
    def order(self) -> int:
        """The number of states."""
        return len(self.A if self.laws is None else self.laws.rates)

    @property
    def shares(self) -> tuple[tuple[int, Number], ...]:
        """The rates that are driven, each with its weight."""
        return self.weights or ((self.rate, ONE),)

    @property
    def own_names(self) -> tuple[str, ...]:
        """The names that mean something in its laws only."""
        return (SIGNAL_NAME, *MOTION_NAMES, *self.states)

    @property
    def holds_motion(self) -> bool:
        """Tell whether the rate of the joint is part of the state."""
        return self.velocity is not None

    @property
    def state_names(self) -> tuple[str, ...]:
        """The states with the name of the actuator before them: shoulder.current."""
        return tuple(f"{self.name}.{state}" for state in self.states)

    def numbers(self) -> Iterator[Number]:
        """Yield every number that may name parameters; in laws without the names of their own."""
        for row in (*self.A, self.b, self.f, self.e, self.position, self.velocity, self.effort):
            yield from row or ()
        yield from (self.direct, self.viscous, *(weight for _, weight in self.weights))
        if self.limit is not None:
            yield self.limit
        own = dict.fromkeys(self.own_names, ONE)
        for law in self.laws.laws if self.laws is not None else ():
            yield law if isinstance(law, Fraction) else substitute(law, own)

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
            laws=None
            if self.laws is None
            else DriveLaws(row(self.laws.rates), change(self.laws.effort)),
            weights=tuple((rate, change(weight)) for rate, weight in self.weights),
        )
