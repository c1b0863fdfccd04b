"""Contacts with the ground, as they are asked for.

contacts=["heel", "toe"]                            frames that must stay above the ground
contacts={"heel": {"friction": 0.3, "restitution": 0.2}}         with other properties than usual
contacts={"ball": {"point": [0, 0, 0.1], "normal": [1, 0, 5]}}     another plane
contacts={"foot": {"plane": "base"}}                the deck of a ship that moves
contacts={"legs": {"points": {"heel": [-0.1, 0, 0], "toe": [0.2, 0, 0]}}}     a loop of the file

A frame touches with its origin, or with `points` in its axes. The plane goes through `point` (the
origin) and is normal to `normal` (against gravity). Both are in world axes, and the plane does not
move; with plane="base" they are in the axes of the base, and the plane moves with it. Without
`friction` its coefficient is 1. A loop of the file that is named here is not closed for good: its
closing end is the frame, and the plane goes through its target, which belongs to the base.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, cast

from chainform.errors import ReadError, RunError
from chainform.mechanism import GROUND, Attachment, Mechanism
from chainform.mechanism.additions import intake_of
from chainform.mechanism.intake import Intake
from chainform.mechanism.rational import add, apply
from chainform.mechanism.types import IDENTITY, ZERO_VECTOR, Axis, Vector3
from chainform.simulation.contact.barriers import (
    MANNER_FIELDS,
    Barrier,
    PointContact,
    manner_of,
    number_of,
)

CONTACT_FIELDS = (*MANNER_FIELDS, "point", "points", "normal", "friction", "plane")
WORLD, BASE = PLANES = ("world", "base")
"""What the plane of a contact is fixed to."""
USUAL_FRICTION = 1.0


def contacts_of(mechanism: Mechanism, said: object) -> list[Barrier]:
    """Return the contacts that were asked for."""
    return [
        contact
        for name, table in _tables(said).items()
        for contact in _Contact(mechanism, name, table).made()
    ]


def loops_by_contact(mechanism: Mechanism, said: object) -> tuple[str, ...]:
    """Return the loops of the file that are contacts."""
    names = _tables(said).keys()
    return tuple(loop.name for loop in mechanism.loops if loop.name in names)


def _tables(said: object) -> dict[str, Mapping[str, object]]:
    if said is None:
        return {}
    if isinstance(said, str):
        return {said: {}}
    if isinstance(said, list | tuple):
        return {str(name): {} for name in cast("list[Any]", said)}
    if not isinstance(said, Mapping):
        remedy = 'write ["toe"], or {"toe": {"restitution": 0.2}}'
        raise RunError("contacts are names, or a table by names", element="contacts", remedy=remedy)
    given = cast("Mapping[str, object]", said)
    return {str(name): _table(table, f"contact {name!r}") for name, table in given.items()}


def _table(said: object, where: str) -> Mapping[str, object]:
    if said is True or said is None:
        return {}
    if not isinstance(said, Mapping):
        raise RunError("a contact is a table", element=where, remedy='write {"restitution": 0.2}')
    table = cast("Mapping[str, object]", said)
    for key in table:
        if key not in CONTACT_FIELDS:
            raise RunError(
                f"unknown field {key!r}", element=where, remedy=", ".join(CONTACT_FIELDS)
            )
    return table


class _Contact:
    """One entry of the table of contacts: a frame or the end of a loop, and a plane."""

    def __init__(self, mechanism: Mechanism, name: str, table: Mapping[str, object]) -> None:
        self.mechanism = mechanism
        self.name = name
        self.table = table
        self.where = f"contact {name!r}"
        self.intake: Intake = intake_of(mechanism)

    def made(self) -> list[Barrier]:
        """Return a contact for each point."""
        manner = manner_of(self.table, self.where)
        friction = 0.0 if manner.is_stiff else USUAL_FRICTION
        if self.table.get("friction") is not None:
            friction = number_of(self.table["friction"], f"{self.where}, friction")
        if friction and manner.is_stiff:
            remedy = "leave the friction out, or the stiffness"
            raise RunError("a stiff contact has no friction", element=self.where, remedy=remedy)
        frame, origin = self._ends()
        self._check_base()
        if self.table.get("point") is not None:
            origin = self.intake.known_vector(self.table["point"], f"{self.where}, point")
        normal = self._normal()
        return [
            PointContact(
                name, self._moved(frame, point), origin, normal, friction, manner, self._is_on_base
            )
            for name, point in self._points().items()
        ]

    @property
    def _is_on_base(self) -> bool:
        """Whether the plane moves with the base; that of a loop does."""
        is_loop = any(loop.name == self.name for loop in self.mechanism.loops)
        plane = self.table.get("plane") or (BASE if is_loop else WORLD)
        if plane not in PLANES or (is_loop and plane == WORLD):
            message = "the target of a loop belongs to the base" if is_loop else "no such plane"
            remedy = "leave it out" if is_loop else "choose " + " or ".join(PLANES)
            raise RunError(message, element=f"{self.where}, plane", remedy=remedy)
        return plane == BASE

    def _check_base(self) -> None:
        """Refuse a plane whose place against the base is not known."""
        base = self.mechanism.base
        if not self._is_on_base and base.is_moving and not base.follows_its_place:
            raise RunError(
                "where the base is, against a plane that stands still, does not follow from its "
                "velocity and acceleration",
                element=self.where,
                remedy="give position and orientation of the base as laws of t, or plane='base'",
            )
        is_turned = base.is_turning or base.rpy or base.quaternion or base.rotation != IDENTITY
        if self._is_on_base and is_turned and self.table.get("normal") is None:
            raise RunError(
                "the base is turned against the world",
                element=f"{self.where}, normal",
                remedy="give the normal of the plane in the axes of the base: [0, 0, 1]",
            )

    def _ends(self) -> tuple[Attachment, Axis]:
        """Return the frame that touches, and a point of the plane."""
        for loop in self.mechanism.loops:
            if loop.name == self.name:
                if loop.target.segment != GROUND:
                    remedy = "only a loop that is closed against the ground can be a contact"
                    raise RunError("the target moves", element=self.where, remedy=remedy)
                return loop.closing, self._known(loop.target.point)
        try:
            frame = self.mechanism.frame(self.name)
        except ReadError as problem:
            known = ", ".join(loop.name for loop in self.mechanism.loops)
            remedy = f"{problem.remedy}" + (f"; the loops are {known}" if known else "")
            raise RunError(problem.message, element=self.where, remedy=remedy) from None
        return Attachment(frame.segment, frame.point, frame.rotation), ZERO_VECTOR

    def _points(self) -> dict[str, Axis]:
        """Return the points that touch, in the axes of the frame, by name."""
        said, where = self.table.get("points"), f"{self.where}, points"
        if said is None:
            return {self.name: ZERO_VECTOR}
        if isinstance(said, Mapping):
            named = cast("Mapping[str, object]", said)
            return {str(key): self.intake.known_vector(p, where) for key, p in named.items()}
        points = self.intake.listed(said, where)
        return {
            f"{self.name} {number}": self.intake.known_vector(point, where)
            for number, point in enumerate(points, 1)
        }

    def _moved(self, frame: Attachment, point: Axis) -> Attachment:
        """Return a frame moved to a point in its own axes."""
        if point == ZERO_VECTOR:
            return frame
        place = add(self._known(frame.point), apply(frame.rotation, point))
        return Attachment(frame.segment, place, frame.rotation)

    def _known(self, point: Vector3) -> Axis:
        return self.intake.known_vector(list(point), self.where)

    def _normal(self) -> Axis:
        """Return the direction away from the ground: as said, against gravity, or z without it."""
        where = f"{self.where}, normal"
        if self.table.get("normal") is not None:
            return self.intake.axis(self.table["normal"], where)
        gravity = [self.intake.known(component, where) for component in self.mechanism.gravity]
        if any(component is None for component in gravity) or not any(gravity):
            return IDENTITY[2]
        return self.intake.axis([-cast("Fraction", component) for component in gravity], where)
