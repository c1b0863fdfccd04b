"""Read springs: in a joint, or between two points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chainform.mechanism.intake import Intake
from chainform.mechanism.loops import LoopMaker
from chainform.mechanism.numbering import check_distinct
from chainform.mechanism.tables import SPRING_FIELDS, check_fields
from chainform.mechanism.types import Number, Spring


def springs_from(said: Sequence[Mapping[str, object]], maker: LoopMaker) -> tuple[Spring, ...]:
    """Return the checked springs, in the order given."""
    springs = tuple(_spring(table, number, maker) for number, table in enumerate(said, 1))
    check_distinct([spring.name for spring in springs], "spring", maker.intake)
    return springs


def _spring(table: Mapping[str, object], number: int, maker: LoopMaker) -> Spring:
    intake = maker.intake
    name = f"spring{number}"
    if table.get("name") is not None:
        name = intake.text(table["name"], f"spring {number}, name")
    where = f"spring {name!r}"
    check_fields(table, SPRING_FIELDS, intake.file, where)
    if (table.get("joint") is None) == (table.get("ends") is None):
        remedy = 'write joint = "...", or ends = [{segment, point}, {segment, point}]'
        raise intake.error("a spring has either a joint or two ends", where, remedy)
    stiffness, rest, damping = (
        _number(table.get(field), intake, f"{where}, {field}")
        for field in ("stiffness", "rest", "damping")
    )
    if table.get("joint") is not None:
        segment = _segment_of(table["joint"], maker, f"{where}, joint")
        return Spring(name, stiffness, rest, damping, segment)
    places = intake.entries(table["ends"], 2, f"{where}, ends")
    first, second = (maker.attachment(place, f"{where}, ends") for place in places)
    return Spring(name, stiffness, rest, damping, None, (first, second))


def _number(value: object, intake: Intake, where: str) -> Number:
    number = intake.number(0 if value is None else value, where)
    known = intake.known(number, where)
    if known is not None and known < 0 and not where.endswith("rest"):
        raise intake.error("the number is negative", where, "give a number of at least zero")
    return number


def _segment_of(joint: object, maker: LoopMaker, where: str) -> int:
    """Return the segment of a joint of one coordinate, given by the name of the joint."""
    name = maker.intake.text(joint, where)
    for index, segment in enumerate(maker.mechanism.segments):
        if segment.joint.name == name and segment.joint.kind.rates == 1:
            return index
    known = [s.joint.name for s in maker.mechanism.segments if s.joint.kind.rates == 1]
    remedy = "the joints of one coordinate are " + ", ".join(known[:20])
    if not known:
        remedy = 'write it as an element: { kind = "elastic", stiffness = 20, deformation = "phi" }'
    raise maker.intake.error(f"no joint {name[:80]!r} of one coordinate exists", where, remedy)
