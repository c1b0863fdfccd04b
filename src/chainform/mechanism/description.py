"""A mechanism as plain data: its native table, and what can be computed from it."""

from __future__ import annotations

from fractions import Fraction

from chainform.expressions import Identifier, symbols_of, value_of
from chainform.given import counted
from chainform.mechanism.components import InertialElement
from chainform.mechanism.data import MechanismData
from chainform.mechanism.native import Table, native_table, table_numbers, written
from chainform.mechanism.numbers import (
    GREATEST,
    exact_text,
    plain_number,
    product_of_ratio,
    short_text,
    sum_of,
)
from chainform.mechanism.records import GROUND, Coordinate, JointKind, Segment


def describe(mechanism: MechanismData, *, short: bool = False) -> Table:
    """Return the native table under `mechanism`, and what is computed from it.

    Numbers are ints and floats where these are exact, else texts; with `short` all are texts for
    people. `values` has the doubles of those that are texts, None while a parameter is free.
    """
    table = native_table(mechanism)
    number = short_text if short else plain_number
    coordinates, rates = mechanism.coordinate_records, mechanism.rate_records
    return {
        "file": mechanism.file,
        "mechanism": written(table, number, short_text if short else exact_text),
        "values": _values(mechanism, table),
        "nq": mechanism.nq,
        "nv": mechanism.nv,
        "base_is_moving": mechanism.base.is_moving,
        "total_mass": _total_mass(mechanism),
        "coordinates": [_coordinate(mechanism, i, entry) for i, entry in enumerate(coordinates)],
        "rates": [_rate(mechanism, i, entry) for i, entry in enumerate(rates)],
        "joints": [_motion(segment) for segment in mechanism.segments],
        "equations": {loop.name: loop.equations for loop in mechanism.loops},
        "actuators": [
            {"name": actuator.name, "states": list(actuator.states), "signal": actuator.signal}
            for actuator in mechanism.actuators
        ],
        "notes": [
            {"level": note.level, "element": note.element, "text": note.text}
            for note in mechanism.notes
        ],
    }


def _values(mechanism: MechanismData, table: Table) -> dict[str, float | None]:
    """Return the doubles of numbers that are written as texts; a law of the motion has none."""
    names = {p.name for p in mechanism.parameters}
    bound = _bound(mechanism)
    values: dict[str, float | None] = {}
    for number in table_numbers(table):
        if not isinstance(text := plain_number(number), str):
            continue
        symbols = frozenset[str]() if isinstance(number, Fraction) else symbols_of(number)
        if symbols <= bound.keys():
            exact = number if isinstance(number, Fraction) else value_of(number, bound)
            values[text] = float(exact) if abs(exact) < GREATEST else None
        elif symbols <= names:
            values[text] = None
    return values


def _motion(segment: Segment) -> Table:
    """Return the first indices of a joint into q and qd, from 1, and its motion as a text."""
    first, count = segment.coordinate, segment.joint.kind.coordinates
    if first is None or segment.rate is None:
        return {"name": segment.joint.name, "coordinate": None, "rate": None, "motion": ""}
    motion = f"q{first + 1} ... q{first + count}"
    if count == 1:
        own = product_of_ratio(Identifier(f"q{first + 1}"), segment.ratio)
        motion = short_text(sum_of(own, segment.offset))
    indices = {"coordinate": first + 1, "rate": segment.rate + 1}
    return {"name": segment.joint.name, **indices, "motion": motion}


def _coordinate(mechanism: MechanismData, index: int, entry: Coordinate) -> Table:
    """Return an entry of q; a coordinate of an element model belongs to no segment."""
    names = {"number": index + 1, "name": entry.name}
    if entry.segment == GROUND:
        return {**names, "segment": "", "kind": "element", "unit": entry.unit}
    segment = mechanism.segments[entry.segment]
    unit = _unit_of(mechanism, index, entry, "") or "1"
    return {**names, "segment": segment.name, "kind": segment.joint.kind.value, "unit": unit}


def _rate(mechanism: MechanismData, index: int, entry: Coordinate) -> Table:
    """Return an entry of qd, with the unit that it has there."""
    names = {"number": index + 1, "name": entry.name}
    if entry.segment == GROUND:
        unit = f"{entry.unit}/s" if entry.unit else ""
        return {**names, "segment": "", "kind": "element", "unit": unit}
    segment = mechanism.segments[entry.segment]
    unit = f"{_unit_of(mechanism, index, entry, 'rad')}/s"
    return {**names, "segment": segment.name, "kind": segment.joint.kind.value, "unit": unit}


def coordinate_units(mechanism: MechanismData) -> list[str]:
    """Return the unit of each entry of q: rad, m, or nothing for the entries of a quaternion."""
    return [_unit_of(mechanism, *entry, "") for entry in enumerate(mechanism.coordinate_records)]


def motion_units(mechanism: MechanismData) -> list[str]:
    """Return for each entry of qd the unit of the motion whose rate it is: rad or m."""
    return [_unit_of(mechanism, *entry, "rad") for entry in enumerate(mechanism.rate_records)]


def _unit_of(mechanism: MechanismData, place: int, record: Coordinate, turning: str) -> str:
    """Return the unit of an entry; `turning` is that of the last ones of a joint with a quaternion.

    A coordinate of a model of elements has no joint, and a unit of its own.
    """
    if record.segment == GROUND:
        return record.unit
    segment = mechanism.segments[record.segment]
    if not segment.joint.kind.has_quaternion:
        return "rad" if segment.joint.kind is JointKind.REVOLUTE else "m"
    linear = segment.joint.kind.rates - 3
    first = segment.rate if turning else segment.coordinate
    return "m" if place - (first or 0) < linear else turning


def effort_unit(unit: str) -> str:
    """Return the unit of the effort on a motion."""
    return {"rad": "N m", "m": "N"}.get(unit, "")


def _total_mass(mechanism: MechanismData) -> float | None:
    """Return the mass (kg); None while a mass has no value, or the sum no double."""
    bound = _bound(mechanism)
    total = Fraction(0)
    masses = [segment.body.mass for segment in mechanism.segments]
    masses += [e.mass for e in mechanism.elements if isinstance(e, InertialElement)]
    for mass in masses:
        if isinstance(mass, Fraction):
            total += mass
        elif symbols_of(mass) <= bound.keys():
            total += value_of(mass, bound)
        else:
            return None
    return float(total) if total < GREATEST else None


def _bound(mechanism: MechanismData) -> dict[str, Fraction]:
    return {p.name: p.value for p in mechanism.parameters if p.value is not None}


def freedom_text(mechanism: MechanismData) -> str:
    """Return of what a mechanism consists, and its freedom, unless loops or constraints bind it."""
    moving = sum(segment.joint.kind.coordinates > 0 for segment in mechanism.segments)
    parts = [counted(moving, "joint")] if mechanism.segments else []
    parts += [counted(len(mechanism.elements), "element")] if mechanism.elements else []
    loops = f", {counted(len(mechanism.loops), 'loop')}" if mechanism.loops else ""
    count = f"{counted(mechanism.nv, 'degree')} of freedom"
    if mechanism.loops or mechanism.constraints:
        count = counted(mechanism.nq, "coordinate")
    return f"{', '.join(parts)} with {count}{loops}"
