"""Barriers: what a mechanism can run into, and lean on, and leave again.

| kind     | gap g >= 0                                      | tangential, while it touches    |
|----------|-------------------------------------------------|---------------------------------|
| end stop | motion less lower limit, or upper limit less it | nothing                         |
| law      | a unilateral constraint of the file             | nothing                         |
| point    | height of a point of a body over a plane        | its place in the plane          |

What is tangential to the gap stays where it was when the barrier was touched, as long as friction
can hold it.

`Barriers` holds all that comes and goes in a motion: rigid and stiff ones, and joints with dry
friction. A joint with Coulomb friction f slides one way with f against it, or the other way, or it
sticks: then friction is what keeps it at rest, at most the static bound in size. Written as f
sign(qd) the force would jump to and fro at rest, so it is taken out of the equations of the
mechanism and comes back as -direction f, where the direction (1, -1, or 0) changes at events only.

friction={"slide": 12.0}                  the bound of sticking (N, N m), above what the file says
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

from chainform.display import Displayed
from chainform.formulations import ConstraintLaws, WorldColumns
from chainform.given import Given, argument
from chainform.graph import Builder, Scalar
from chainform.mechanism import (
    AT_REST,
    IDENTITY,
    ZERO,
    Attachment,
    Axis,
    Mechanism,
    Number,
    Segment,
    reader_of,
    rotation_between,
)
from chainform.spatial import Vector, apply, dot

REST_SPEED = 1e-4
"""Below this closing speed (m/s, rad/s) nothing bounces any more."""


@dataclass(frozen=True, repr=False)
class ContactLaw(Displayed):
    """How a barrier answers.

    A rigid one gives back the share `restitution` of the closing speed, and of speeds below
    `rest_speed` nothing. With a stiffness k (N/m, N m/rad) it is a spring instead: at the depth d
    it pushes with k d (1 + c d'), c being the damping (s/m, s/rad), and never pulls.
    """

    restitution: float = 0.0
    stiffness: float | None = None
    damping: float = 0.0
    rest_speed: float = REST_SPEED

    @property
    def is_stiff(self) -> bool:
        """Whether the barrier is a spring and not rigid."""
        return self.stiffness is not None


@dataclass(frozen=True, repr=False)
class Stop(ContactLaw):
    """A stop of a joint: how it answers, and where it stands (m, rad) if not at the limits."""

    lower: Any = None
    upper: Any = None


@dataclass(frozen=True, repr=False)
class Contact(ContactLaw):
    """A contact of a frame with a plane: how it answers, and where the plane is.

    The plane goes through `point` and is normal to `normal`, in world axes, or with plane="base" in
    those of the base. `points` are those of the frame that touch, `friction` is the coefficient.
    """

    friction: float | None = None
    point: Any = None
    points: Any = None
    normal: Any = None
    plane: str | None = None


LAW_FIELDS, STOP_FIELDS, CONTACT_FIELDS = (
    tuple(item.name for item in fields(record)) for record in (ContactLaw, Stop, Contact)
)


def contact_law_of(table: Given) -> ContactLaw:
    """Return checked settings; those of other things are left to the caller."""
    given = {key: table[key].number(least=0) for key in LAW_FIELDS if key in table.value}
    contact_law = ContactLaw(**given)
    if contact_law.restitution > 1:
        remedy = "give the share of the speed that is left after an impact, such as 0.5"
        raise table.error("restitution lies between 0 and 1", remedy)
    if contact_law.stiffness is None:
        if "damping" in given:
            remedy = "give a stiffness, too; a rigid stop loses energy by its restitution"
            raise table.error("only a stiff contact has damping", remedy)
        return contact_law
    if "restitution" in given:
        remedy = "choose: restitution for an impact, stiffness and damping for a spring"
        raise table.error("a stiff contact has no restitution", remedy)
    if contact_law.stiffness <= 0:
        raise table.error("stiffness is positive", "give it in N/m, or N m/rad")
    return contact_law


# --- barriers ---------------------------------------------------------------------------------


class GapContext:
    """Where the laws of barriers are written: one graph that is being built."""

    def __init__(self, builder: Builder, mechanism: Mechanism) -> None:
        self.builder = builder
        self.laws = ConstraintLaws(builder, mechanism)
        self.mechanism = mechanism

    @cached_property
    def places(self) -> WorldColumns:
        """Places in world axes."""
        return WorldColumns(self.builder, self.mechanism)

    @cached_property
    def places_on_base(self) -> WorldColumns:
        """Places in the axes of the base, however that moves."""
        return WorldColumns(self.builder, replace(self.mechanism, base=AT_REST))


class Barrier(Protocol):
    """Something to run into; its residuals are the gap, then what is tangential to it."""

    @property
    def name(self) -> str: ...

    @property
    def contact_law(self) -> ContactLaw: ...

    @property
    def friction(self) -> float:
        """The coefficient of friction in the plane of a contact, the residuals behind the gap."""
        ...

    def residuals(self, context: GapContext) -> list[Scalar]: ...


@dataclass(frozen=True)
class EndStop:
    """An end of the range of a joint: side 1 is the lower end, -1 the upper one."""

    name: str
    segment: Segment
    side: int
    bound: Number
    contact_law: ContactLaw
    friction: float = 0.0

    def residuals(self, context: GapContext) -> list[Scalar]:
        """Return the distance to the stop."""
        kinematics = context.laws.laws.kinematics
        moved = kinematics.displacement(self.segment) - kinematics.number(self.bound)
        return [self.side * moved]


@dataclass(frozen=True)
class LawBarrier:
    """A unilateral constraint of the file."""

    name: str
    law: Number
    contact_law: ContactLaw
    friction: float = 0.0

    def residuals(self, context: GapContext) -> list[Scalar]:
        """Return the law."""
        return [context.laws.laws.scalar(self.law)]


@dataclass(frozen=True)
class PointContact:
    """A point of a body over a plane, with friction in the plane.

    `origin` and `normal` of the plane are in world axes, or where it moves with the base in those
    of the base.
    """

    name: str
    place: Attachment
    origin: Axis
    normal: Axis
    friction: float
    contact_law: ContactLaw
    is_on_base: bool = False

    def residuals(self, context: GapContext) -> list[Scalar]:
        """Return the height over the plane, and where in the plane the point is."""
        number = context.builder.number
        places = context.places_on_base if self.is_on_base else context.places
        point = places.place_of(self.place)
        x, y, z = (p - number(o) for p, o in zip(point, self.origin, strict=True))
        return _split((x, y, z), self.normal)[: 3 if self.friction else 1]


def directions(normal: Axis) -> tuple[Axis, Axis, Axis]:
    """Return the normal of a plane, and two directions across it."""
    rotation = rotation_between(IDENTITY[2], normal)
    across, along = (apply(rotation, axis) for axis in IDENTITY[:2])
    return normal, across, along


def _split(r: Vector, normal: Axis) -> list[Scalar]:
    """Return the components of a vector along a normal and across it."""
    return [dot(r, direction) for direction in directions(normal)]


# --- dry friction -----------------------------------------------------------------------------


@dataclass(frozen=True)
class DryJoint:
    """A rate with dry friction: its place in qd, the effort while it slides, and the static bound.

    Joints that share the rate add up, each with the size of its ratio. Where parameters are among
    them, `laws` has the sizes of ratios with what they multiply, so that the equations know it.
    """

    name: str
    rate: int
    sliding: float
    static: float
    laws: tuple[tuple[Fraction, Number], ...] = ()


def dry_joints(
    mechanism: Mechanism, friction: Mapping[str, Any] | None = None, without: Sequence[str] = ()
) -> list[DryJoint]:
    """Return the rates with dry friction; `friction` gives static bounds by rate."""
    sizes: dict[int, float] = {}
    laws: dict[int, list[tuple[Fraction, Number]]] = {}
    if "friction" not in without:
        for segment in mechanism.segments:
            size, own = _size(mechanism, segment), segment.joint.friction
            if segment.rate is not None and own is not None and size:
                sizes[segment.rate] = sizes.get(segment.rate, 0.0) + size
                laws.setdefault(segment.rate, []).append((abs(segment.ratio), own.coulomb))
    bounds = _bounds(mechanism, friction, sizes)
    return [
        DryJoint(mechanism.rates[rate], rate, size, bounds.get(rate, size), _free(laws[rate]))
        for rate, size in sorted(sizes.items())
    ]


def _free(laws: list[tuple[Fraction, Number]]) -> tuple[tuple[Fraction, Number], ...]:
    """Return laws with parameters among them; nothing where all are numbers."""
    return () if all(isinstance(law, Fraction) for _, law in laws) else tuple(laws)


def without_dry_friction(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism without Coulomb friction in its joints; viscous friction stays."""
    return replace(mechanism, segments=tuple(map(_smooth, mechanism.segments)))


def _smooth(segment: Segment) -> Segment:
    friction = segment.joint.friction
    if friction is None or friction.coulomb == 0:
        return segment
    joint = replace(segment.joint, friction=replace(friction, coulomb=ZERO))
    return replace(segment, joint=joint)


def _size(mechanism: Mechanism, segment: Segment) -> float:
    friction = segment.joint.friction
    if friction is None:
        return 0.0
    given = argument(f"joint {segment.joint.name!r}, friction", None)
    known = reader_of(mechanism).known(friction.coulomb, given)
    if known is None:
        raise given.error("the friction is not known", "give its parameters values")
    return float(abs(segment.ratio) * known)


def _bounds(
    mechanism: Mechanism, friction: Mapping[str, Any] | None, sizes: Mapping[int, float]
) -> dict[int, float]:
    bounds: dict[int, float] = {}
    table = argument("friction", {} if friction is None else friction)
    for name, entry in table.table(remedy='friction={"slide": 12}').items():
        given, rate = entry.at(f"friction {name!r}"), mechanism.rate_index(name)
        if rate not in sizes:
            remedy = "write friction = { coulomb = ... } in the file"
            raise given.error("the joint has no Coulomb friction", remedy)
        bound = given.number(least=0)
        if bound < sizes[rate]:
            remedy = f"give at least {sizes[rate]:g}"
            raise given.error("sticking holds at least as much as sliding", remedy)
        if rate in bounds:
            raise given.error(f"{mechanism.rates[rate]} is given twice", "give each joint once")
        bounds[rate] = bound
    return bounds


# --- all of them ------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Barriers(Displayed):
    """What has rows of constraints that may hold or not, and what is watched without."""

    rigid: tuple[Barrier, ...] = ()
    stiff: tuple[Barrier, ...] = ()
    dry: tuple[DryJoint, ...] = ()
    opened: tuple[str, ...] = ()
    """The loops of the file that close by contact only."""

    def __bool__(self) -> bool:
        return bool(self.rigid or self.stiff or self.dry)

    @property
    def has_rows(self) -> bool:
        """Whether rows of constraints are needed for them."""
        return bool(self.rigid or self.dry)

    @property
    def directions(self) -> list[float]:
        """How the functions that are watched pass zero: falling, those of stiff contacts both."""
        planes = sum(2 for barrier in self.rigid if barrier.friction)
        falling = len(self.rigid) + planes + len(self.dry)
        return [-1.0] * falling + [0.0] * len(self.stiff)

    def bare(self, mechanism: Mechanism) -> Mechanism:
        """Return the mechanism without what is treated here: dry friction, loops by contact."""
        left = without_loops(mechanism, self.opened)
        return without_dry_friction(left) if self.dry else left


def without_loops(mechanism: Mechanism, names: Sequence[str]) -> Mechanism:
    """Return a mechanism without loops of these names."""
    left = tuple(loop for loop in mechanism.loops if loop.name not in names)
    return replace(mechanism, loops=left) if names else mechanism


NO_BARRIERS = Barriers()
