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

from fractions import Fraction
from typing import Any, cast

from chainform.errors import ReadError
from chainform.given import Given, argument
from chainform.mechanism import (
    GROUND,
    IDENTITY,
    ZERO_VECTOR,
    Attachment,
    Axis,
    Mechanism,
    Vector3,
    reader_of,
)
from chainform.simulation.contact.barriers import (
    MANNER_FIELDS,
    Barrier,
    PointContact,
    manner_of,
)
from chainform.spatial import add, apply

CONTACT_FIELDS = (*MANNER_FIELDS, "point", "points", "normal", "friction", "plane")
WORLD, BASE = PLANES = ("world", "base")
"""What the plane of a contact is fixed to."""
USUAL_FRICTION = 1.0


def contacts_of(mechanism: Mechanism, contacts: object) -> list[Barrier]:
    """Return the contacts with the ground, a barrier for each point."""
    return [
        barrier
        for name, table in _tables(contacts).items()
        for barrier in _Contact(mechanism, name, table).barriers()
    ]


def loops_by_contact(mechanism: Mechanism, contacts: object) -> tuple[str, ...]:
    """Return the loops of the file that are contacts."""
    names = _tables(contacts).keys()
    return tuple(loop.name for loop in mechanism.loops if loop.name in names)


def _tables(contacts: object) -> dict[str, Given]:
    given = argument("contacts", contacts)
    if isinstance(contacts, str | list | tuple) or contacts is None:
        listed = cast("list[Any]", contacts or [])
        names: list[Any] = [contacts] if isinstance(contacts, str) else listed
        given = given.holding(dict.fromkeys(map(str, names)))
    remedy = 'write ["toe"], or {"toe": {"restitution": 0.2}}'
    return {
        name: _table(entry.at(f"contact {name!r}"))
        for name, entry in given.table(remedy=remedy).items()
    }


def _table(given: Given) -> Given:
    usual = given.value is True or given.value is None
    return (given.holding({}) if usual else given).table(CONTACT_FIELDS, '{"restitution": 0.2}')


class _Contact:
    """One entry of the table of contacts: a frame or the end of a loop, and a plane."""

    def __init__(self, mechanism: Mechanism, name: str, table: Given) -> None:
        self.mechanism = mechanism
        self.name = name
        self.table = table
        self.reader = reader_of(mechanism)

    def barriers(self) -> list[Barrier]:
        """Return a contact for each point."""
        manner, table = manner_of(self.table), self.table
        friction = 0.0 if manner.is_stiff else USUAL_FRICTION
        if table.has("friction"):
            friction = table["friction"].number(least=0)
        if friction and manner.is_stiff:
            remedy = "leave the friction out, or the stiffness"
            raise table.error("a stiff contact has no friction", remedy)
        frame, origin = self._ends()
        self._check_base()
        if table.has("point"):
            origin = self.reader.known_vector(table["point"])
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
        plane = self.table["plane"]
        if is_loop and plane.value == WORLD:
            raise plane.error("the target of a loop belongs to the base", "leave it out")
        if plane.is_given:
            return plane.choice(PLANES) == BASE
        return is_loop

    def _check_base(self) -> None:
        """Refuse a plane whose place against the base is not known."""
        base = self.mechanism.base
        if not self._is_on_base and base.is_moving and not base.follows_its_place:
            raise self.table.error(
                "where the base is, against a plane that stands still, does not follow from its "
                "velocity and acceleration",
                "give position and orientation of the base as laws of t, or plane='base'",
            )
        is_turned = base.is_turning or base.rpy or base.quaternion or base.rotation != IDENTITY
        if self._is_on_base and is_turned and not self.table.has("normal"):
            remedy = "give the normal of the plane in the axes of the base: [0, 0, 1]"
            raise self.table["normal"].error("the base is turned against the world", remedy)

    def _ends(self) -> tuple[Attachment, Axis]:
        """Return the frame that touches, and a point of the plane."""
        for loop in self.mechanism.loops:
            if loop.name == self.name:
                if loop.target.segment != GROUND:
                    remedy = "only a loop that is closed against the ground can be a contact"
                    raise self.table.error("the target moves", remedy)
                return loop.closing, self._known(loop.target.point)
        try:
            frame = self.mechanism.frame(self.name)
        except ReadError as problem:
            known = ", ".join(loop.name for loop in self.mechanism.loops)
            remedy = f"{problem.remedy}" + (f"; the loops are {known}" if known else "")
            raise self.table.error(problem.message, remedy) from None
        return Attachment(frame.segment, frame.point, frame.rotation), ZERO_VECTOR

    def _points(self) -> dict[str, Axis]:
        """Return the points that touch, in the axes of the frame, by name."""
        given = self.table["points"]
        if not given.is_given:
            return {self.name: ZERO_VECTOR}
        if given.is_table:
            points = given.table().items()
        else:
            points = [(f"{self.name} {k}", point) for k, point in enumerate(given.entries(), 1)]
        return {name: self.reader.known_vector(point) for name, point in points}

    def _moved(self, frame: Attachment, point: Axis) -> Attachment:
        """Return a frame moved to a point in its own axes."""
        if point == ZERO_VECTOR:
            return frame
        place = add(self._known(frame.point), apply(frame.rotation, point))
        return Attachment(frame.segment, place, frame.rotation)

    def _known(self, point: Vector3) -> Axis:
        return self.reader.known_vector(self.table.holding(list(point)))

    def _normal(self) -> Axis:
        """Return the direction away from the ground: given, against gravity, or z without it."""
        given = self.table["normal"]
        if given.is_given:
            return self.reader.axis(given)
        gravity = [self.reader.known(component, given) for component in self.mechanism.gravity]
        if any(component is None for component in gravity) or not any(gravity):
            return IDENTITY[2]
        against = [-cast("Fraction", component) for component in gravity]
        return self.reader.axis(given.holding(against))
