"""What belongs to the drive of a joint: limits, friction, rotor inertia and gear ratio."""

from __future__ import annotations

from collections.abc import Sequence

from chainform.given import Given
from chainform.mechanism.joints import Freedom
from chainform.mechanism.reader import Reader
from chainform.mechanism.tables import FRICTION_FIELDS, LIMIT_FIELDS
from chainform.mechanism.types import ONE, ZERO, Friction, Joint, Limits, Number

_FIELDS = ("limits", "friction", "rotor_inertia", "gear_ratio")


def joints_from(
    segment: Given, freedoms: Sequence[Freedom], names: Sequence[str], reader: Reader
) -> list[Joint]:
    """Return the elementary joints of a segment, one for each freedom and name."""
    for field in _FIELDS:
        if segment.has(field) and freedoms[0].kind.has_quaternion:
            # A quaternion has no range and no motor.
            message = f"a {freedoms[0].kind.value} joint with a quaternion has no {field!r}"
            remedy = 'remove it, or write euler = "zyx" to have one coordinate for each turn'
            raise segment[field].error(message, remedy)
    limits, frictions, rotors, ratios = (_spread(segment[f], len(freedoms)) for f in _FIELDS)
    return [
        Joint(
            name,
            freedom.kind,
            freedom.axis,
            _limits_from(limits[k], reader),
            _friction_from(frictions[k], reader),
            reader.number(rotors[k], ZERO, least=0),
            gear_ratio_from(ratios[k], ONE, reader),
        )
        for k, (freedom, name) in enumerate(zip(freedoms, names, strict=True))
    ]


def _spread(given: Given, count: int) -> list[Given]:
    """Return one value per freedom: a single freedom has it as it is, several have a list."""
    return given.entries(count) if given.is_given and count > 1 else [given] * count


def _limits_from(given: Given, reader: Reader) -> Limits | None:
    if not given.is_given:
        return None
    table = given.table(LIMIT_FIELDS)
    lower, upper, velocity, effort = (
        reader.fraction(table[field], is_limit=True) if table.has(field) else None
        for field in LIMIT_FIELDS
    )
    if lower is not None and upper is not None and lower > upper:
        raise given.error("lower exceeds upper", "exchange them")
    for greatest in (velocity, effort):
        if greatest is not None and greatest < 0:
            remedy = "give the greatest size, which holds in both senses"
            raise given.error("velocity and effort limits cannot be negative", remedy)
    return Limits(lower, upper, velocity, effort)


def _friction_from(given: Given, reader: Reader) -> Friction | None:
    if not given.is_given:
        return None
    table = given.table(FRICTION_FIELDS)
    return Friction(*(reader.number(table[field], ZERO, least=0) for field in FRICTION_FIELDS))


def gear_ratio_from(given: Given, default: Number, reader: Reader) -> Number:
    """Return motion of the drive over motion of the joint, which is not zero."""
    number = reader.number(given, default)
    if reader.known(number, given) == 0:
        raise given.error("the gear ratio is zero", "give motor rate over joint rate")
    return number
