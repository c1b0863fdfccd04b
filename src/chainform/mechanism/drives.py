"""What belongs to the drive of a joint: limits, friction, rotor inertia and gear ratio."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from chainform.mechanism.intake import Intake
from chainform.mechanism.joints import Freedom
from chainform.mechanism.specification import SegmentSpecification
from chainform.mechanism.tables import FRICTION_FIELDS, LIMIT_FIELDS, check_fields, table_of
from chainform.mechanism.types import ONE, ZERO, Friction, Joint, Limits, Number

_FIELDS = ("limits", "friction", "rotor_inertia", "gear_ratio")


def joints_from(
    said: SegmentSpecification,
    freedoms: Sequence[Freedom],
    names: Sequence[str],
    intake: Intake,
    where: str,
) -> list[Joint]:
    """Return the elementary joints of a specification, one for each freedom and name."""
    if freedoms[0].kind.has_quaternion:
        _refuse_drive(said, freedoms[0], intake, where)
    count = len(freedoms)
    columns = (
        _spread(getattr(said, field), count, intake, f"{where}, {field}") for field in _FIELDS
    )
    limits, frictions, rotors, ratios = columns
    return [
        Joint(
            name,
            freedom.kind,
            freedom.axis,
            _limits_from(limits[place], intake, f"{where}, limits"),
            _friction_from(frictions[place], intake, f"{where}, friction"),
            _at_least_zero(rotors[place], intake, f"{where}, rotor_inertia"),
            _gear_ratio_from(ratios[place], intake, f"{where}, gear_ratio"),
        )
        for place, (freedom, name) in enumerate(zip(freedoms, names, strict=True))
    ]


def _refuse_drive(said: SegmentSpecification, freedom: Freedom, intake: Intake, where: str) -> None:
    """Refuse what belongs to one coordinate: a quaternion has no range and no motor."""
    for field in _FIELDS:
        if getattr(said, field) is not None:
            raise intake.error(
                f"a {freedom.kind.value} joint with a quaternion has no {field!r}",
                f"{where}, {field}",
                'remove it, or write euler = "zyx" to have one coordinate for each turn',
            )


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
        None
        if table.get(field) is None
        else intake.fraction(table[field], f"{where} {field}", is_limit=True)
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
