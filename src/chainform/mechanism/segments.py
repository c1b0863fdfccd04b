"""Make the segments of one specification: a single one, or a chain for a joint of more freedoms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from chainform.mechanism.bodies import body_from
from chainform.mechanism.intake import Intake
from chainform.mechanism.joints import Freedom, JointGeometry, freedoms_of
from chainform.mechanism.specification import SegmentSpecification
from chainform.mechanism.tables import FRICTION_FIELDS, LIMIT_FIELDS, check_fields, table_of
from chainform.mechanism.types import (
    IDENTITY,
    ONE,
    ZERO,
    ZERO_VECTOR,
    Body,
    Friction,
    Joint,
    JointKind,
    Limits,
    Number,
    Segment,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A segment with the name of its coordinate and its 1-based place in q, where these exist."""

    segment: Segment
    coordinate: str | None
    dof: int | None


def pieces_from(
    said: SegmentSpecification, name: str, parent: int, first: int, intake: Intake
) -> list[Piece]:
    """Return the segments of a specification; the first gets the index `first`.

    A joint of several freedoms becomes a chain of massless segments named after their freedoms; the
    last one bears the name and the body of the specification.
    """
    where = f"segment {name!r}"
    geometry = JointGeometry(said.axis, said.axes, said.euler)
    freedoms = freedoms_of(said.joint_type, geometry, intake, where)
    joints = _joints_from(said, name, freedoms, intake)
    dofs = _dofs_from(said.dof, freedoms, intake, where)
    position = intake.vector(said.position, f"{where}, position")
    rotation = intake.rotation(said.rotation, said.rpy, said.quaternion, f"{where}, rotation")
    body = body_from(said.mass, said.com, said.inertia, intake, where)
    names = [f"{name}_{freedom.suffix}" for freedom in freedoms[:-1]] + [name]
    pieces: list[Piece] = []
    for place, joint in enumerate(joints):
        segment = Segment(
            names[place],
            parent if place == 0 else first + place - 1,
            joint,
            position if place == 0 else ZERO_VECTOR,
            rotation if place == 0 else IDENTITY,
            body if place == len(joints) - 1 else Body(),
        )
        coordinate = None if joint.kind is JointKind.FIXED else joint.name
        pieces.append(Piece(segment, coordinate, dofs[place]))
    return pieces


def _joints_from(
    said: SegmentSpecification, name: str, freedoms: Sequence[Freedom], intake: Intake
) -> list[Joint]:
    where = f"segment {name!r}"
    count = len(freedoms)
    limits = _spread(said.limits, count, intake, f"{where}, limits")
    frictions = _spread(said.friction, count, intake, f"{where}, friction")
    rotors = _spread(said.rotor_inertia, count, intake, f"{where}, rotor_inertia")
    ratios = _spread(said.gear_ratio, count, intake, f"{where}, gear_ratio")
    return [
        Joint(
            joint_name,
            freedom.kind,
            freedom.axis,
            _limits_from(limits[place], intake, f"{where}, limits"),
            _friction_from(frictions[place], intake, f"{where}, friction"),
            _at_least_zero(rotors[place], intake, f"{where}, rotor_inertia"),
            _gear_ratio_from(ratios[place], intake, f"{where}, gear_ratio"),
        )
        for place, (freedom, joint_name) in enumerate(
            zip(freedoms, _coordinate_names(said, name, freedoms, intake), strict=True)
        )
    ]


def _coordinate_names(
    said: SegmentSpecification, name: str, freedoms: Sequence[Freedom], intake: Intake
) -> list[str]:
    """Return the joint names, which are those of the coordinates: given, or joint and suffix."""
    where = f"segment {name!r}, coordinates"
    if said.coordinates is not None:
        given = intake.entries(said.coordinates, len(freedoms), where)
        return [intake.text(entry, where) for entry in given]
    joint = name
    if said.joint_name is not None:
        joint = intake.text(said.joint_name, f"segment {name!r}, joint name")
    return [f"{joint}_{freedom.suffix}" if freedom.suffix else joint for freedom in freedoms]


def _dofs_from(
    value: object, freedoms: Sequence[Freedom], intake: Intake, where: str
) -> list[int | None]:
    if value is None:
        return [None] * len(freedoms)
    if freedoms[0].kind is JointKind.FIXED:
        remedy = "remove it; only a moving joint has a place in q"
        raise intake.error("a fixed joint has no dof", f"{where}, dof", remedy)
    entries = _spread(value, len(freedoms), intake, f"{where}, dof")
    return [intake.integer(entry, f"{where}, dof") for entry in entries]


def _spread(value: object, count: int, intake: Intake, where: str) -> list[object]:
    """Return one value per freedom: a single freedom has it as it is, several have a list."""
    if value is None:
        return [None] * count
    return [value] if count == 1 else intake.entries(value, count, where)


def _limits_from(value: object, intake: Intake, where: str) -> Limits | None:
    if value is None:
        return None
    table = table_of(value, intake.file, where)
    check_fields(table, LIMIT_FIELDS, intake.file, where)
    lower, upper, velocity, effort = (
        None if table.get(field) is None else intake.fraction(table[field], f"{where} {field}")
        for field in LIMIT_FIELDS
    )
    if lower is not None and upper is not None and lower > upper:
        raise intake.error("lower exceeds upper", where, "exchange them")
    for greatest in (velocity, effort):
        if greatest is not None and greatest < 0:
            remedy = "give the greatest size, which holds in both senses"
            raise intake.error("velocity and effort limits cannot be negative", where, remedy)
    return Limits(lower, upper, velocity, effort)


def _friction_from(value: object, intake: Intake, where: str) -> Friction | None:
    if value is None:
        return None
    table = table_of(value, intake.file, where)
    check_fields(table, FRICTION_FIELDS, intake.file, where)
    viscous, coulomb = (
        _at_least_zero(table.get(field), intake, f"{where} {field}") for field in FRICTION_FIELDS
    )
    return Friction(viscous, coulomb)


def _at_least_zero(value: object, intake: Intake, where: str) -> Number:
    if value is None:
        return ZERO
    number = intake.number(value, where)
    known = intake.known(number, where)
    if known is not None and known < 0:
        raise intake.error("the number is negative", where, "give a number of at least zero")
    return number


def _gear_ratio_from(value: object, intake: Intake, where: str) -> Number:
    if value is None:
        return ONE
    number = intake.number(value, where)
    if intake.known(number, where) == Fraction(0):
        raise intake.error("the gear ratio is zero", where, "give motor rate over joint rate")
    return number
