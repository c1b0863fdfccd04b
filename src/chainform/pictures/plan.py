"""Names and units of what a motion consists of."""

from __future__ import annotations

from chainform.mechanism import Coordinate, JointKind, Mechanism


def coordinate_units(mechanism: Mechanism) -> list[str]:
    """Return the unit of each entry of q: rad, m, or nothing for the entries of a quaternion."""
    units: list[str] = []
    for place, record in enumerate(mechanism.coordinate_records):
        kind = _kind(mechanism, record)
        if kind is None or not kind.has_quaternion:
            units.append(_plain_unit(kind, record))
        else:
            first = mechanism.segments[record.segment].coordinate or 0
            units.append("m" if place - first < kind.coordinates - 4 else "")
    return units


def motion_units(mechanism: Mechanism) -> list[str]:
    """Return for each entry of qd the unit of the motion whose rate it is: rad or m."""
    units: list[str] = []
    for place, record in enumerate(mechanism.rate_records):
        kind = _kind(mechanism, record)
        if kind is None or not kind.has_quaternion:
            units.append(_plain_unit(kind, record))
        else:
            first = mechanism.segments[record.segment].rate or 0
            units.append("m" if place - first < kind.rates - 3 else "rad")
    return units


def effort_unit(unit: str) -> str:
    """Return the unit of the effort on a motion."""
    return {"rad": "N m", "m": "N"}.get(unit, "")


def rate_unit(unit: str, order: int = 1) -> str:
    """Return the unit of the first or second derivative by time."""
    per = "s" if order == 1 else "s²"
    return f"{unit or '1'}/{per}"


def _kind(mechanism: Mechanism, record: Coordinate) -> JointKind | None:
    """Return the joint that a coordinate belongs to; None in a model of elements."""
    return mechanism.segments[record.segment].joint.kind if record.segment >= 0 else None


def _plain_unit(kind: JointKind | None, record: Coordinate) -> str:
    if kind is None:
        return record.unit
    return "rad" if kind is JointKind.REVOLUTE else "m"
