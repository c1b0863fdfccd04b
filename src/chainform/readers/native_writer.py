"""Write a mechanism in the native form, so that reading it gives an equal mechanism.

The text is JSON. A number with a short finite decimal is written as that decimal, any other as a
text: a quotient of integers, or the expression of parameters it is. So nothing is rounded. Each
elementary joint is a segment of its own; notes, and the name of the file, are not written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias, cast

from chainform.expressions import format_fraction
from chainform.mechanism import (
    AT_REST,
    GROUND,
    IDENTITY,
    ONE,
    ZERO,
    ZERO_MATRIX,
    ZERO_VECTOR,
    Actuator,
    Attachment,
    BaseMotion,
    Body,
    Force,
    Frame,
    Friction,
    Joint,
    JointKind,
    Limits,
    Loop,
    Mechanism,
    Number,
    Parameter,
    Piece,
    Rotation,
    Segment,
    Spring,
)
from chainform.readers.actuator_writer import actuator_fields
from chainform.readers.native_elements import element_model
from chainform.readers.native_numbers import number_text as _number

Table: TypeAlias = dict[str, object]

LINE = 96
"""A table or list no longer than this stands on one line."""


def native_text(mechanism: Mechanism) -> str:
    """Return the JSON text of a mechanism; `read_text(text, "json")` gives an equal one."""
    return _json_of(native_table(mechanism)) + "\n"


def native_table(mechanism: Mechanism) -> Table:
    """Return the mechanism as the table of a native file; numbers are Fractions or texts."""
    return _Writer(mechanism).table()


class _Writer:
    """Writes the parts of one mechanism, calling segments and coordinates by their names."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism

    def table(self) -> Table:
        mechanism = self.mechanism
        table: Table = {
            "format": "native",
            "name": mechanism.name,
            "units": "SI",
            "gravity": _vector(mechanism.gravity),
        }
        if mechanism.parameters:
            table["parameters"] = {p.name: _parameter(p) for p in mechanism.parameters}
        if mechanism.base != AT_REST:
            table["base"] = _base(mechanism.base)
        if mechanism.segments:
            table["segments"] = [self.segment(i, s) for i, s in enumerate(mechanism.segments)]
        lists = {
            "loops": [self.loop(loop) for loop in mechanism.loops],
            "frames": [self.frame(frame) for frame in mechanism.frames],
            "springs": [self.spring(spring) for spring in mechanism.springs],
            "forces": [self.force(force) for force in mechanism.forces],
            "actuators": [self.actuator(actuator) for actuator in mechanism.actuators],
        }
        lists |= element_model(mechanism)
        return table | {name: entries for name, entries in lists.items() if entries}

    def name_of(self, segment: int) -> str:
        return "ground" if segment == GROUND else self.mechanism.segments[segment].name

    def segment(self, index: int, segment: Segment) -> Table:
        table: Table = {"name": segment.name, "parent": self.name_of(segment.parent)}
        table["joint"] = _joint(segment.joint) | self.motion(index, segment)
        if segment.position != ZERO_VECTOR:
            table["position"] = _vector(segment.position)
        if segment.rotation != IDENTITY:
            table["rotation"] = _matrix(segment.rotation)
        return table | _body(segment.body)

    def motion(self, index: int, segment: Segment) -> Table:
        """Return the place and names of a joint in q and qd, or the joint that it follows."""
        if segment.coordinate is None or segment.rate is None:
            return {}
        mechanism = self.mechanism
        leader = mechanism.coordinate_records[segment.coordinate].segment
        if leader != index:
            joint = mechanism.segments[leader].joint.name
            ratio, offset = _number(segment.ratio), _number(segment.offset)
            return {"mimic": {"joint": joint, "ratio": ratio, "offset": offset}}
        kind = segment.joint.kind
        names = mechanism.coordinates[segment.coordinate :][: kind.coordinates]
        rates = mechanism.rates[segment.rate :][: kind.rates]
        table: Table = {"dof": Fraction(segment.rate + 1)}
        if kind.has_quaternion:
            table["coordinates"] = list(names)
        if names != rates:
            table["rates"] = list(rates)
        return table

    def loop(self, loop: Loop) -> Table:
        table: Table = {
            "name": loop.name,
            "kind": loop.kind,
            "closing": self.attachment(loop.closing),
            "target": self.attachment(loop.target),
        }
        if loop.basic is not None:
            table["basic"] = [self.mechanism.coordinates[index] for index in loop.basic]
        return table

    def frame(self, frame: Frame) -> Table:
        place = Attachment(frame.segment, frame.point, frame.rotation)
        return {"name": frame.name, **self.attachment(place)}

    def spring(self, spring: Spring) -> Table:
        table: Table = {"name": spring.name}
        if spring.segment is not None:
            table["joint"] = self.mechanism.segments[spring.segment].joint.name
        else:
            table["ends"] = [self.attachment(end) for end in spring.ends or ()]
        numbers = {"stiffness": spring.stiffness, "rest": spring.rest, "damping": spring.damping}
        return table | {name: _number(value) for name, value in numbers.items()}

    def force(self, force: Force) -> Table:
        table: Table = {"name": force.name, "joint": self.mechanism.rates[force.rate]}
        if len(force.pieces) == 1:
            return table | _piece(force.pieces[0])
        return table | {"pieces": [_piece(piece) for piece in force.pieces]}

    def actuator(self, actuator: Actuator) -> Table:
        joint = self.mechanism.rates[actuator.rate]
        return dict(actuator_fields(actuator, joint, _number, str))

    def attachment(self, place: Attachment) -> Table:
        table: Table = {"segment": self.name_of(place.segment)}
        if place.point != ZERO_VECTOR:
            table["point"] = _vector(place.point)
        if place.rotation != IDENTITY:
            table["rotation"] = _matrix(place.rotation)
        return table


# --- parts that name nothing else -----------------------------------------------------------


def _parameter(parameter: Parameter) -> Table:
    table: Table = {} if parameter.value is None else {"value": _number(parameter.value)}
    words = {"unit": parameter.unit, "note": parameter.note}
    return table | {key: word for key, word in words.items() if word}


def _base(base: BaseMotion) -> Table:
    table: Table = {} if base.rotation == IDENTITY else {"rotation": _matrix(base.rotation)}
    for name, turn in (("rpy", base.rpy), ("quaternion", base.quaternion)):
        if turn is not None:
            table[name] = _vector(turn)
    vectors = {
        "position": base.position,
        "velocity": base.velocity,
        "angular_velocity": base.angular_velocity,
        "acceleration": base.acceleration,
        "angular_acceleration": base.angular_acceleration,
    }
    return table | {name: _vector(v) for name, v in vectors.items() if v != ZERO_VECTOR}


def _joint(joint: Joint) -> Table:
    table: Table = {"name": joint.name, "type": joint.kind.value}
    if joint.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC):
        table["axis"] = _vector(joint.axis)
    if joint.limits is not None:
        table["limits"] = _limits(joint.limits)
    if joint.friction is not None:
        table["friction"] = _friction(joint.friction)
    if joint.rotor_inertia != ZERO:
        table["rotor_inertia"] = _number(joint.rotor_inertia)
    if joint.gear_ratio != ONE:
        table["gear_ratio"] = _number(joint.gear_ratio)
    return table


def _piece(piece: Piece) -> Table:
    times = {"from": piece.start, "until": piece.until}
    given: Table = {name: _number(time) for name, time in times.items() if time is not None}
    return given | {"law": _number(piece.law)}


def _limits(limits: Limits) -> Table:
    names = ("lower", "upper", "velocity", "effort")
    given = {name: cast("Fraction | None", getattr(limits, name)) for name in names}
    return {name: _number(value) for name, value in given.items() if value is not None}


def _friction(friction: Friction) -> Table:
    return {"viscous": _number(friction.viscous), "coulomb": _number(friction.coulomb)}


def _body(body: Body) -> Table:
    table: Table = {}
    if body.mass != ZERO:
        table["mass"] = _number(body.mass)
    if body.com != ZERO_VECTOR:
        table["com"] = _vector(body.com)
    if body.inertia != ZERO_MATRIX:
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia
        moments = {"xx": xx, "xy": xy, "xz": xz, "yy": yy, "yz": yz, "zz": zz}
        table["inertia"] = {key: _number(entry) for key, entry in moments.items() if entry != ZERO}
    return table


def _vector(vector: Iterable[Number]) -> list[object]:
    return [_number(entry) for entry in vector]


def _matrix(rotation: Rotation) -> list[list[object]]:
    return [_vector(row) for row in rotation]


# --- numbers and text -----------------------------------------------------------------------


def _json_of(value: object, indent: str = "") -> str:
    """Return a value as JSON: short tables and lists on one line, others entry by entry."""
    if isinstance(value, Fraction):
        return format_fraction(value)
    if isinstance(value, Mapping):
        table = cast("Mapping[str, object]", value)
        parts = [f"{json.dumps(key)}: {_json_of(v, indent + '  ')}" for key, v in table.items()]
        return _joined("{", parts, "}", indent)
    if isinstance(value, list):
        entries = [_json_of(entry, indent + "  ") for entry in cast("Sequence[object]", value)]
        return _joined("[", entries, "]", indent)
    return json.dumps(value)


def _joined(start: str, parts: Sequence[str], end: str, indent: str) -> str:
    line = f"{start}{', '.join(parts)}{end}"
    if len(indent) + len(line) <= LINE and "\n" not in line:
        return line
    inner = indent + "  "
    return f"{start}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{end}"
