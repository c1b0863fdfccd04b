"""A mechanism as tables of plain texts and numbers, for `check` and for people."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from chainform.expressions import (
    Symbol,
    format_expression,
    format_fraction,
    symbols_of,
    value_of,
)
from chainform.mechanism.elements import InertialElement
from chainform.mechanism.elements.describing import (
    ElementRow,
    LawRow,
    constraint_rows,
    element_row,
    quasi_rows,
)
from chainform.mechanism.numbers import GREATEST, product_of_ratio, sum_of
from chainform.mechanism.types import GROUND, Attachment, JointKind, Loop, Note, Number, Segment

if TYPE_CHECKING:
    from chainform.mechanism.mechanism import Mechanism


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """One segment: `number` is 1-based, `parent` a name or `ground`; SI units, parent axes.

    `axis` is None unless the joint turns or slides about a single one; `motion` tells by what it
    moves: `q3`, `q1 ... q7`, or `-q3 + 0.1` for a coupled joint.
    """

    number: int
    name: str
    parent: str
    joint: str
    axis: tuple[str, str, str] | None
    motion: str
    position: tuple[str, str, str]
    mass: str
    com: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class CoordinateRow:
    """One coordinate: `number` is its 1-based place in q; `unit` is 1 in a quaternion.

    A coordinate of an element model belongs to no segment; its unit is what the file says.
    """

    number: int
    name: str
    segment: str
    kind: str
    unit: str
    lower: str | None
    upper: str | None


@dataclass(frozen=True, slots=True)
class RateRow:
    """One rate: `number` is its 1-based place in qd, qdd and tau; `unit` is that in qd."""

    number: int
    name: str
    segment: str
    kind: str
    unit: str


@dataclass(frozen=True, slots=True)
class FrameRow:
    """One named frame: its origin in the axes of its segment (m)."""

    name: str
    segment: str
    point: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """One parameter; `value` is None while it is free."""

    name: str
    value: str | None
    unit: str
    note: str


@dataclass(frozen=True, slots=True)
class LoopRow:
    """One loop: the segments it joins, the number of its equations, its basic coordinates."""

    name: str
    kind: str
    closing: str
    target: str
    equations: int
    basic: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Description:
    """All of it. `total_mass` (kg) is None while a mass has no value, or the sum no double."""

    name: str
    file: str | None
    nq: int
    nv: int
    gravity: tuple[str, str, str]
    base_is_moving: bool
    total_mass: float | None
    segments: tuple[SegmentRow, ...]
    coordinates: tuple[CoordinateRow, ...]
    rates: tuple[RateRow, ...]
    parameters: tuple[ParameterRow, ...]
    loops: tuple[LoopRow, ...]
    frames: tuple[FrameRow, ...]
    elements: tuple[ElementRow, ...]
    unknowns: tuple[str, ...]
    definitions: tuple[LawRow, ...]
    constraints: tuple[LawRow, ...]
    quasi: tuple[LawRow, ...]
    notes: tuple[Note, ...]


def describe(mechanism: Mechanism) -> Description:
    """Return the tables of a mechanism; numbers are written exactly where they are short."""
    return Description(
        mechanism.name,
        mechanism.file,
        mechanism.nq,
        mechanism.nv,
        _texts(mechanism.gravity),
        mechanism.base.is_moving,
        _total_mass(mechanism),
        tuple(
            _segment_row(mechanism, index, segment)
            for index, segment in enumerate(mechanism.segments)
        ),
        tuple(_coordinate_row(mechanism, place) for place in range(mechanism.nq)),
        tuple(_rate_row(mechanism, place) for place in range(mechanism.nv)),
        tuple(
            ParameterRow(p.name, None if p.value is None else short_text(p.value), p.unit, p.note)
            for p in mechanism.parameters
        ),
        tuple(_loop_row(mechanism, loop) for loop in mechanism.loops),
        tuple(
            FrameRow(frame.name, _segment_name(mechanism, frame.segment), _texts(frame.point))
            for frame in mechanism.frames
        ),
        tuple(element_row(element, short_text) for element in mechanism.elements),
        mechanism.unknowns,
        tuple(LawRow(d.name, "definition", short_text(d.law)) for d in mechanism.definitions),
        constraint_rows(mechanism.constraints, short_text),
        quasi_rows(mechanism.quasi, short_text),
        mechanism.notes,
    )


def short_text(value: Number) -> str:
    """Return an expression as it is and a number exactly, or to 15 digits when that is long."""
    if not isinstance(value, Fraction):
        return format_expression(value)
    text = format_fraction(value)
    return text if len(text) <= 18 else f"{float(value):.15g}"


def _texts(vector: tuple[Number, Number, Number]) -> tuple[str, str, str]:
    return (short_text(vector[0]), short_text(vector[1]), short_text(vector[2]))


def _segment_row(mechanism: Mechanism, index: int, segment: Segment) -> SegmentRow:
    return SegmentRow(
        index + 1,
        segment.name,
        _segment_name(mechanism, segment.parent),
        segment.joint.kind.value,
        _texts(segment.joint.axis) if segment.joint.kind.coordinates == 1 else None,
        _motion(segment),
        _texts(segment.position),
        short_text(segment.body.mass),
        _texts(segment.body.com),
    )


def _motion(segment: Segment) -> str:
    """Return the motion of the joint as an expression of coordinates, or as a range of them."""
    if segment.coordinate is None:
        return ""
    first, count = segment.coordinate + 1, segment.joint.kind.coordinates
    if count > 1:
        return f"q{first} ... q{first + count - 1}"
    turned = product_of_ratio(Symbol(f"q{first}"), segment.ratio)
    return short_text(sum_of(turned, segment.offset))


def _unit(segment: Segment, place: int) -> str:
    """Return the unit of an entry of q, `place` being counted within the joint."""
    kind = segment.joint.kind
    if kind is JointKind.REVOLUTE:
        return "rad"
    is_length = kind is JointKind.PRISMATIC or (kind is JointKind.FREE and place < 3)
    return "m" if is_length else "1"


def _coordinate_row(mechanism: Mechanism, place: int) -> CoordinateRow:
    record = mechanism.coordinate_records[place]
    if record.segment == GROUND:
        return CoordinateRow(place + 1, record.name, "", "", record.unit, None, None)
    segment = mechanism.segments[record.segment]
    limits = segment.joint.limits
    lower, upper = (None, None) if limits is None else (limits.lower, limits.upper)
    return CoordinateRow(
        place + 1,
        record.name,
        segment.name,
        segment.joint.kind.value,
        _unit(segment, place - (segment.coordinate or 0)),
        None if lower is None else short_text(lower),
        None if upper is None else short_text(upper),
    )


def _rate_row(mechanism: Mechanism, place: int) -> RateRow:
    record = mechanism.rate_records[place]
    if record.segment == GROUND:
        unit = f"{record.unit}/s" if record.unit else ""
        return RateRow(place + 1, record.name, "", "", unit)
    segment = mechanism.segments[record.segment]
    unit = _unit(segment, place - (segment.rate or 0))
    kind = segment.joint.kind.value
    # What is no length turns, be it the coordinate of a joint or one entry of its quaternion.
    return RateRow(place + 1, record.name, segment.name, kind, "m/s" if unit == "m" else "rad/s")


def _loop_row(mechanism: Mechanism, loop: Loop) -> LoopRow:
    names = mechanism.coordinates
    return LoopRow(
        loop.name,
        loop.kind,
        _end_text(mechanism, loop.closing),
        _end_text(mechanism, loop.target),
        3 if loop.kind == "point" else 6,
        None if loop.basic is None else tuple(names[index] for index in loop.basic),
    )


def _end_text(mechanism: Mechanism, end: Attachment) -> str:
    return f"{_segment_name(mechanism, end.segment)} ({', '.join(_texts(end.point))})"


def _segment_name(mechanism: Mechanism, index: int) -> str:
    return "ground" if index == GROUND else mechanism.segments[index].name


def _total_mass(mechanism: Mechanism) -> float | None:
    bound = {p.name: p.value for p in mechanism.parameters if p.value is not None}
    total = Fraction(0)
    masses = [segment.body.mass for segment in mechanism.segments]
    masses += [e.mass for e in mechanism.elements if isinstance(e, InertialElement)]
    for mass in masses:
        if isinstance(mass, Fraction):
            total += mass
        elif symbols_of(mass) <= set(bound):
            total += value_of(mass, bound)
        else:
            return None
    return float(total) if total < GREATEST else None
