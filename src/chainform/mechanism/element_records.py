"""The records of an element model: frames and masses, springs, dampers, forces.

They are those of Andrieiev and Dziuba 2023.

Numbers called laws are expressions of coordinates, time and parameters; where stated also of
rates and of unknown forces. All other numbers are expressions of parameters alone.

A frame is reached from another one by a chain of steps, each taken in the axes that the steps
before it have led to:

    ShiftStep(a, b, c)      the origin moves by (a, b, c) m
    TurnStep(axis, angle)   the axes turn about a unit axis by an angle in rad
    FixedStep(rotation)     the axes turn by a known rotation

so that R = R_on A_1 A_2 ... and p = p_on + R_on d_1 + R_on A_1 d_2 + ..., which `Sz(d12), Sx(d21),
Rx(theta2)` says in the words of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from chainform.mechanism.records import (
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


@dataclass(frozen=True, slots=True)
class ShiftStep:
    """The origin moves by three laws (m), in the axes reached so far."""

    vector: Vector3


@dataclass(frozen=True, slots=True)
class TurnStep:
    """The axes turn about a unit axis by a law (rad)."""

    axis: Axis
    angle: Number


@dataclass(frozen=True, slots=True)
class FixedStep:
    """The axes turn by a known rotation: new components to those before."""

    rotation: Rotation


Step: TypeAlias = ShiftStep | TurnStep | FixedStep


@dataclass(frozen=True, slots=True)
class ElementPoint:
    """A point: three laws (m) in the axes of the frame named `on`, seen from its origin."""

    on: str
    point: Vector3 = ZERO_VECTOR


@dataclass(frozen=True, slots=True)
class InertialElement:
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


@dataclass(frozen=True, slots=True)
class InertiaElement:
    """An inertia (kg or kg m^2) that resists the change of one law: a rotor behind a gear."""

    name: str
    inertia: Number
    along: Number


@dataclass(frozen=True, slots=True)
class ElasticElement:
    """A stiffness (N/m or N m/rad) and what it resists: a deformation, or the distance of `ends`.

    The force is stiffness times the deformation less `rest`, a law of time and parameters.
    """

    name: str
    stiffness: Number
    rest: Number = ZERO
    deformation: Number | None = None
    ends: tuple[ElementPoint, ElementPoint] | None = None


@dataclass(frozen=True, slots=True)
class DissipativeElement:
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


@dataclass(frozen=True, slots=True)
class ForceElement:
    """A force (N) at a point; the opposite one acts at `to`.

    Its components are laws of coordinates, rates, time and unknowns, in the axes of a frame or of
    the world.
    """

    name: str
    force: Vector3
    at: ElementPoint
    axes: str = WORLD
    to: ElementPoint | None = None


@dataclass(frozen=True, slots=True)
class MomentElement:
    """A moment (N m) on the body of a frame; the opposite one acts on that of the frame `to`."""

    name: str
    moment: Vector3
    on: str
    axes: str = WORLD
    to: str | None = None


@dataclass(frozen=True, slots=True)
class EffortElement:
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


@dataclass(frozen=True, slots=True)
class Definition:
    """A name for a law of coordinates, time, parameters and other definitions."""

    name: str
    law: Number


# --- constraints ----------------------------------------------------------------------------

ConstraintKind: TypeAlias = Literal["holonomic", "nonholonomic", "unilateral"]


@dataclass(frozen=True, slots=True)
class Constraint:
    """A law that is to be zero, or not negative (unilateral)."""

    name: str
    kind: ConstraintKind
    law: Number
    restitution: Number = ZERO
    friction: Number = ZERO


@dataclass(frozen=True, slots=True)
class QuasiVelocity:
    """A name for a law that is linear in the rates: v = cos(phi) der(x) + sin(phi) der(y)."""

    name: str
    law: Number
