"""Stops of joints and contacts with the ground from tables.

stops=True                                    every limit in the file, without restitution
stops=0.5                                     every limit, with that restitution
stops={"l1": 0.5, "l2": {"stiffness": 1e5, "damping": 0.2}}       single joints
stops={"theta*": 0, "l3": {"lower": 0, "upper": 0.8}}             patterns; limits of one's own
stops={"l*": 0.5, "l2": False}                all but one; a name goes before all patterns
Limits of the file are no stops unless this says so; unilateral constraints of the file are
always there, and may be named here to change how they answer.

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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any, cast

from chainform.errors import ReadError, RunError
from chainform.given import Given, argument
from chainform.mechanism import (
    GROUND,
    IDENTITY,
    ZERO_VECTOR,
    Attachment,
    Axis,
    Constraint,
    Mechanism,
    Number,
    Segment,
    Vector3,
    reader_of,
)
from chainform.simulation.equations.contact.laws import (
    CONTACT_FIELDS,
    STOP_FIELDS,
    Barrier,
    Barriers,
    Contact,
    ContactLaw,
    EndStop,
    LawBarrier,
    PointContact,
    Stop,
    contact_law_of,
    dry_joints,
)
from chainform.simulation.equations.events import Event
from chainform.spatial import add, apply


def stops_of(mechanism: Mechanism, stops: object, without: Sequence[str] = ()) -> list[Barrier]:
    """Return the stops that are given, then the unilateral constraints of the file."""
    tables = _stop_tables(stops)
    joints = {segment.joint.name: segment for segment in _movable(mechanism)}
    laws = {c.name: c for c in mechanism.constraints if c.kind == "unilateral"}
    patterns, own = dict[str, Given | None](), dict[str, Given | None]()
    for name, table in tables.items():
        is_pattern = name not in joints and name not in laws and any(c in name for c in "*?[")
        for found in _names(name, mechanism, joints, laws):
            if not is_pattern and found in own:
                remedy = "give each joint once"
                raise RunError(f"{found} is given twice", element="stops", remedy=remedy)
            (patterns if is_pattern else own)[found] = table
    chosen = {**patterns, **own}
    made: list[Barrier] = []
    for name, segment in joints.items():
        given = chosen.get(name)
        if given is not None:
            made += _ends(mechanism, segment, given, is_named=name in own)
    for name, constraint in laws.items():
        if constraint.friction != 0 and "friction" not in without:
            raise RunError(
                "a law says nothing about directions along the bodies that touch, so there can be "
                "no friction between them",
                element=f"constraint {name!r}, friction",
                remedy='leave it out with without=["friction"], or use contacts of frames',
            )
        made.append(_law_barrier(mechanism, constraint, chosen.get(name)))
    if tables and not made:
        remedy = 'give some: stops={"elbow": {"lower": -1, "upper": 1}}'
        raise argument("stops", stops).error("no joint has limits to stop at", remedy)
    return made


def _stop_tables(stops: object) -> dict[str, Given | None]:
    given = argument("stops", stops)
    if stops is None or stops is False:
        return {}
    if given.is_table:
        return {name: _stop_table(one.at(f"stop {name!r}")) for name, one in given.table().items()}
    return {"*": _stop_table(given)}


def _stop_table(given: Given) -> Given | None:
    """Return how a stop answers; None where there is to be none."""
    if given.value is False:
        return None
    if given.value is True or given.value is None:
        return given.holding({})
    if not given.is_table and isinstance(given.value, int | float):
        return given.holding({"restitution": given.value})
    return given.table(STOP_FIELDS, 'write true, 0.5 or {"stiffness": 1e5, "damping": 0.2}')


def _movable(mechanism: Mechanism) -> Iterator[Segment]:
    return (s for s in mechanism.segments if s.joint.kind.rates == 1)


def _names(
    name: str,
    mechanism: Mechanism,
    joints: Mapping[str, Segment],
    laws: Mapping[str, Constraint],
) -> list[str]:
    """Return what a name or a pattern stands for; `*` alone leaves the laws of the file alone."""
    if name in joints or name in laws:
        return [name]
    if name == "*":
        return list(joints)
    found = [known for known in (*joints, *laws) if fnmatchcase(known, name)]
    if not found and "*" not in name:
        place = mechanism.coordinate_index(name)
        found = [joint for joint, segment in joints.items() if segment.coordinate == place]
    if not found:
        raise RunError(
            f"{name!r} is no joint of one coordinate and no unilateral constraint",
            element="stops",
            remedy="there are " + ", ".join((*joints, *laws)),
        )
    return found


def _ends(mechanism: Mechanism, segment: Segment, given: Given, *, is_named: bool) -> list[Barrier]:
    name, limits = segment.joint.name, segment.joint.limits
    table, reader = given.at(f"stop {name!r}"), reader_of(mechanism)
    contact_law = contact_law_of(table)
    made: list[Barrier] = []
    known: list[Fraction] = []
    for side, end in ((1, "lower"), (-1, "upper")):
        bound: Number | None = None if limits is None else getattr(limits, end)
        if table.has(end):
            bound = reader.number(table[end])
        if bound is not None:
            made.append(EndStop(f"{name} {end}", segment, side, bound, contact_law))
            known += [bound] if isinstance(bound, Fraction) else []
    if len(known) == 2 and known[0] > known[1]:
        ends = f"lower {float(known[0]):g} exceeds upper {float(known[1]):g}"
        raise table.error(ends, "exchange them")
    if not made and is_named:
        remedy = "give lower or upper here, or limits in the file"
        raise table.error(f"the joint {name} has no limits", remedy)
    return made


def _law_barrier(mechanism: Mechanism, constraint: Constraint, given: Given | None) -> Barrier:
    known = reader_of(mechanism).known(constraint.restitution)
    contact_law = ContactLaw(restitution=float(known or 0))
    if given is not None:
        table = given.at(f"constraint {constraint.name!r}")
        if table.has("lower", "upper"):
            remedy = "leave them out: its law tells where it begins"
            raise table.error("a constraint has no ends", remedy)
        own = contact_law_of(table)
        is_own = "restitution" in table.value or own.is_stiff
        contact_law = own if is_own else replace(own, restitution=contact_law.restitution)
    return LawBarrier(constraint.name, constraint.law, contact_law)


# --- contacts ---------------------------------------------------------------------------------


WORLD, BASE = PLANES = ("world", "base")
"""What the plane of a contact is fixed to."""
USUAL_FRICTION = 1.0


def contacts_of(mechanism: Mechanism, contacts: object) -> list[Barrier]:
    """Return the contacts with the ground, a barrier for each point."""
    return [
        barrier
        for name, table in _contact_tables(contacts).items()
        for barrier in _Contact(mechanism, name, table).barriers()
    ]


def loops_by_contact(mechanism: Mechanism, contacts: object) -> tuple[str, ...]:
    """Return the loops of the file that are contacts."""
    names = _contact_tables(contacts).keys()
    return tuple(loop.name for loop in mechanism.loops if loop.name in names)


def _contact_tables(contacts: object) -> dict[str, Given]:
    given = argument("contacts", contacts)
    if isinstance(contacts, str | list | tuple) or contacts is None:
        listed = cast("list[Any]", contacts or [])
        names: list[Any] = [contacts] if isinstance(contacts, str) else listed
        given = given.holding(dict.fromkeys(map(str, names)))
    remedy = 'write ["toe"], or {"toe": {"restitution": 0.2}}'
    return {
        name: _contact_table(entry.at(f"contact {name!r}"))
        for name, entry in given.table(remedy=remedy).items()
    }


def _contact_table(given: Given) -> Given:
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
        contact_law, table = contact_law_of(self.table), self.table
        friction = 0.0 if contact_law.is_stiff else USUAL_FRICTION
        if table.has("friction"):
            friction = table["friction"].number(least=0)
        if friction and contact_law.is_stiff:
            remedy = "leave the friction out, or the stiffness"
            raise table.error("a stiff contact has no friction", remedy)
        frame, origin = self._ends()
        self._check_base()
        if table.has("point"):
            origin = self.reader.known_vector(table["point"])
        normal = self._normal()
        return [
            PointContact(
                name,
                self._moved(frame, point),
                origin,
                normal,
                friction,
                contact_law,
                self._is_on_base,
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
                if loop.kind not in ("point", "frame"):
                    message = f"a loop of the kind {loop.kind!r} cannot be a contact"
                    raise self.table.error(message, 'choose the kind "point" or "frame"')
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


# --- all of them ------------------------------------------------------------------------------


def barriers_of(
    mechanism: Mechanism,
    stops: Any = None,
    contacts: Any = None,
    friction: Mapping[str, Any] | None = None,
    without: Sequence[str] = (),
) -> Barriers:
    """Return the stops, contacts and bounds of friction that are given, and those of the file."""
    every = [*stops_of(mechanism, stops, without), *contacts_of(mechanism, contacts)]
    dry = dry_joints(mechanism, friction, without)
    # Those with friction come first, as their rows do.
    rigid = tuple(sorted((b for b in every if not b.contact_law.is_stiff), key=_is_smooth))
    stiff = tuple(b for b in every if b.contact_law.is_stiff)
    return Barriers(rigid, stiff, tuple(dry), loops_by_contact(mechanism, contacts))


def _is_smooth(barrier: Barrier) -> bool:
    return not barrier.friction


# --- values in place of tables ----------------------------------------------------------------


def tables_of(given: Any) -> Any:
    """Return options with events, stops and contacts as tables, whichever way they were given."""
    if isinstance(given, Stop):
        return {"*": _table(given)}
    if isinstance(given, list | tuple):
        listed = cast("Sequence[Any]", given)
        return _named(listed) if all(isinstance(e, Event) for e in listed) else listed
    if not isinstance(given, Mapping):
        return given
    entries = cast("Mapping[str, Any]", given).items()
    return {n: _table(e) if isinstance(e, Event | Stop | Contact) else e for n, e in entries}


def _named(events: Sequence[Event]) -> dict[str, Any]:
    """Return a table of events by their names; RunError where two have the same."""
    tables: dict[str, Any] = {}
    for event in events:
        if event.name in tables:
            raise RunError(
                f"there are two events of the name {event.name!r}",
                element="events",
                remedy="give each event another name",
            )
        tables[event.name] = _table(replace(event, name=""))
    return tables


def _table(record: Event | Stop | Contact) -> dict[str, Any]:
    """Return the fields of a record that are not as usual."""
    table = {item.name: getattr(record, item.name) for item in fields(record)}
    usual: dict[str, Any] = {item.name: item.default for item in fields(record)}
    # Vectors may be arrays, which do not compare as a whole.
    return {
        name: value
        for name, value in table.items()
        if value is not usual[name] and not (isinstance(value, float) and value == usual[name])
    }
