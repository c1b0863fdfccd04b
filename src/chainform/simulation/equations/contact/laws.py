"""Barriers: what a mechanism can run into, and lean on, and leave again.

| sort     | gap g >= 0                                      | held beside it while it touches |
|----------|-------------------------------------------------|---------------------------------|
| end stop | motion less lower limit, or upper limit less it | nothing                         |
| law      | a unilateral constraint of the file             | nothing                         |
| point    | height of a point of a body over a plane        | its place in the plane          |

What is held beside the gap stays where it was when the barrier was touched, as long as friction
can hold it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from chainform.formulations import ConstraintLaws, WorldColumns
from chainform.given import Given
from chainform.graph import Builder, Scalar
from chainform.mechanism import AT_REST, Attachment, Mechanism, Number, Segment
from chainform.mechanism.rational import apply, rotation_between
from chainform.mechanism.types import IDENTITY, Axis
from chainform.spatial import Vector, dot

REST_SPEED = 1e-4
"""Below this closing speed (m/s, rad/s) nothing bounces any more."""

MANNER_FIELDS = ("restitution", "stiffness", "damping", "rest_speed")


@dataclass(frozen=True)
class Manner:
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


def manner_of(table: Given) -> Manner:
    """Return checked settings; those of other things are left to the caller."""
    given = {key: table[key].number(least=0) for key in MANNER_FIELDS if key in table.value}
    manner = Manner(**given)
    if manner.restitution > 1:
        remedy = "give the share of the speed that is left after an impact, such as 0.5"
        raise table.error("restitution lies between 0 and 1", remedy)
    if manner.stiffness is None:
        if "damping" in given:
            remedy = "give a stiffness, too; a rigid stop loses energy by its restitution"
            raise table.error("only a stiff contact has damping", remedy)
        return manner
    if "restitution" in given:
        remedy = "choose: restitution for an impact, stiffness and damping for a spring"
        raise table.error("a stiff contact has no restitution", remedy)
    if manner.stiffness <= 0:
        raise table.error("stiffness is positive", "give it in N/m, or N m/rad")
    return manner


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
    """Something to run into; its residuals are the gap, then what is held beside it."""

    @property
    def name(self) -> str: ...

    @property
    def manner(self) -> Manner: ...

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
    manner: Manner
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
    manner: Manner
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
    manner: Manner
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
