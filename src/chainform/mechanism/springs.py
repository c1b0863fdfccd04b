"""Read springs: in a joint, or between two points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chainform.given import Given
from chainform.mechanism.loops import LoopMaker
from chainform.mechanism.tables import SPRING_FIELDS
from chainform.mechanism.types import ZERO, Spring


def springs_from(tables: Sequence[Mapping[str, object]], maker: LoopMaker) -> tuple[Spring, ...]:
    """Return the checked springs, in the order given."""
    springs = tuple(_spring(table, number, maker) for number, table in enumerate(tables, 1))
    maker.reader.check_distinct([spring.name for spring in springs], "spring")
    return springs


def _spring(value: object, number: int, maker: LoopMaker) -> Spring:
    reader = maker.reader
    name, table = reader.named(value, "spring", number, SPRING_FIELDS)
    remedy = 'write joint = "...", or ends = [{segment, point}, {segment, point}]'
    form = table.one_of("joint", "ends", remedy=remedy)
    stiffness = reader.number(table["stiffness"], ZERO, least=0)
    rest = reader.number(table["rest"], ZERO)
    damping = reader.number(table["damping"], ZERO, least=0)
    if form == "joint":
        return Spring(name, stiffness, rest, damping, _segment_of(table["joint"], maker))
    first, second = map(maker.attachment, table["ends"].entries(2))
    return Spring(name, stiffness, rest, damping, None, (first, second))


def _segment_of(joint: Given, maker: LoopMaker) -> int:
    """Return the segment of a joint of one coordinate, given by the name of the joint."""
    segments = maker.mechanism.segments
    known = {s.joint.name: k for k, s in enumerate(segments) if s.joint.kind.rates == 1}
    name = joint.name()
    if name in known:
        return known[name]
    remedy = ""
    if not known:
        remedy = 'write it as an element: { kind = "elastic", stiffness = 20, deformation = "phi" }'
    raise joint.unknown("joint of one coordinate named", known, remedy)
