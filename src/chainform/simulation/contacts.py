"""Contacts with the ground, as they are asked for.

contacts=["heel", "toe"]                            frames that must stay above the ground
contacts={"heel": {"restitution": 0.2, "slips": True}}       without resistance in the plane
contacts={"ball": {"point": [0, 0, 0.1], "normal": [1, 0, 5]}}     another plane
contacts=["legs"]                                   a loop of the file that closes by contact

A frame touches with its origin. The plane goes through `point` (the origin of the world) and is
normal to `normal` (against gravity). A loop closes when its closing point comes down to its target
along the normal, wherever it then is across it.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, cast

from chainform.errors import ReadError, RunError
from chainform.mechanism import Attachment, Mechanism
from chainform.mechanism.additions import intake_of
from chainform.mechanism.intake import Intake
from chainform.mechanism.types import IDENTITY, Axis
from chainform.simulation.barriers import (
    MANNER_FIELDS,
    Barrier,
    LoopContact,
    PointContact,
    manner_of,
)

CONTACT_FIELDS = (*MANNER_FIELDS, "point", "normal", "slips")


def contacts_of(mechanism: Mechanism, said: object) -> list[Barrier]:
    """Return the contacts that were asked for."""
    if said is None:
        return []
    if isinstance(said, str):
        said = [said]
    if isinstance(said, Mapping):
        tables = dict(cast("Mapping[str, Any]", said))
    elif isinstance(said, list | tuple):
        tables = dict.fromkeys(map(str, cast("list[Any]", said)))
    else:
        remedy = 'write ["toe"], or {"toe": {"restitution": 0.2}}'
        raise RunError("contacts are names, or a table by names", element="contacts", remedy=remedy)
    return [_contact(mechanism, str(name), table) for name, table in tables.items()]


def _contact(mechanism: Mechanism, name: str, said: object) -> Barrier:
    where, intake = f"contact {name!r}", intake_of(mechanism)
    if said is True or said is None:
        said = {}
    if not isinstance(said, Mapping):
        raise RunError("a contact is a table", element=where, remedy='write {"restitution": 0.2}')
    table = cast("Mapping[str, object]", said)
    for key in table:
        if key not in CONTACT_FIELDS:
            raise RunError(
                f"unknown field {key!r}", element=where, remedy=", ".join(CONTACT_FIELDS)
            )
    manner = manner_of(table, where)
    normal = _normal(mechanism, table.get("normal"), intake, f"{where}, normal")
    for loop in mechanism.loops:
        if loop.name == name:
            if manner.is_stiff or table.keys() & {"point", "slips"}:
                remedy = "give restitution, normal and rest_speed only; a frame can do the rest"
                raise RunError("a loop is a rigid contact", element=where, remedy=remedy)
            return LoopContact(name, loop, normal, manner)
    origin = intake.known_vector(table.get("point", [0, 0, 0]), f"{where}, point")
    slips = bool(table.get("slips", False)) or manner.is_stiff
    return PointContact(name, _place(mechanism, name, where), origin, normal, slips, manner)


def _place(mechanism: Mechanism, name: str, where: str) -> Attachment:
    try:
        frame = mechanism.frame(name)
    except ReadError as problem:
        known = ", ".join(loop.name for loop in mechanism.loops)
        remedy = f"{problem.remedy}" + (f"; the loops are {known}" if known else "")
        raise RunError(str(problem.message), element=where, remedy=remedy) from None
    return Attachment(frame.segment, frame.point, frame.rotation)


def _normal(mechanism: Mechanism, said: object, intake: Intake, where: str) -> Axis:
    """Return the direction away from the ground: as said, against gravity, or z without it."""
    if said is not None:
        return intake.axis(said, where)
    gravity = [intake.known(component, where) for component in mechanism.gravity]
    if any(component is None for component in gravity) or not any(gravity):
        return IDENTITY[2]
    return intake.axis([-cast("Fraction", component) for component in gravity], where)
