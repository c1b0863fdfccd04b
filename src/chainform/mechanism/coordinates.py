"""What each joint has in q and qd: names and places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chainform.mechanism.intake import Intake
from chainform.mechanism.joints import SUFFIXES, Freedom
from chainform.mechanism.numbering import check_distinct
from chainform.mechanism.specification import SegmentSpecification
from chainform.mechanism.tables import is_list
from chainform.mechanism.types import Coordinate, JointKind, Segment


@dataclass(frozen=True, slots=True)
class Entries:
    """The names of an elementary joint in q and in qd, and its 1-based places in qd if given.

    A fixed joint has none; a coupled one neither, since it shares those of another joint.
    """

    coordinates: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()
    dof: tuple[int, ...] | None = None


def joint_name_of(said: SegmentSpecification, name: str, intake: Intake) -> str:
    """Return the name of the joint: that of its segment unless it has one of its own."""
    if said.joint_name is None:
        return name
    return intake.text(said.joint_name, f"segment {name!r}, joint name")


def entries_of(
    said: SegmentSpecification, joint: str, freedoms: Sequence[Freedom], intake: Intake, where: str
) -> list[Entries]:
    """Return what each elementary joint of a specification has in q and qd.

    Names are given, or made of the name of the joint and a suffix. A rate that moves a single
    coordinate has the name of that coordinate unless it is given one.
    """
    is_fixed = freedoms[0].kind is JointKind.FIXED
    if is_fixed or said.mimic is not None:
        _refuse_places(said, is_fixed, intake, where)
        return [Entries() for _ in freedoms]
    coordinates = [_names(joint, freedom, 0) for freedom in freedoms]
    if said.coordinates is not None:
        coordinates = _given(said.coordinates, coordinates, intake, f"{where}, coordinates")
    rates = [
        _names(joint, freedom, 1) if freedom.kind.has_quaternion else names
        for freedom, names in zip(freedoms, coordinates, strict=True)
    ]
    if said.rates is not None:
        rates = _given(said.rates, rates, intake, f"{where}, rates")
    dofs = _dofs(said.dof, freedoms, intake, f"{where}, dof")
    return [Entries(*entries) for entries in zip(coordinates, rates, dofs, strict=True)]


def _refuse_places(said: SegmentSpecification, is_fixed: bool, intake: Intake, where: str) -> None:
    kind = "fixed" if is_fixed else "coupled"
    reason = "only a moving joint has a place in q" if is_fixed else "it shares those of the other"
    for field in ("dof", "coordinates", "rates"):
        if getattr(said, field) is not None:
            raise intake.error(
                f"a {kind} joint has no {field}", f"{where}, {field}", f"remove it; {reason}"
            )


def _names(joint: str, freedom: Freedom, group: int) -> tuple[str, ...]:
    """Return the usual names of a freedom in q (group 0) or in qd (group 1)."""
    if freedom.kind.has_quaternion:
        return tuple(f"{joint}_{suffix}" for suffix in SUFFIXES[freedom.kind][group])
    return (f"{joint}_{freedom.suffix}" if freedom.suffix else joint,)


def _given(
    value: object, usual: Sequence[tuple[str, ...]], intake: Intake, where: str
) -> list[tuple[str, ...]]:
    """Return the names that were given, parted as the usual ones are."""
    entries = iter(intake.entries(value, sum(map(len, usual)), where))
    return [tuple(intake.text(next(entries), where) for _ in names) for names in usual]


def _dofs(
    value: object, freedoms: Sequence[Freedom], intake: Intake, where: str
) -> list[tuple[int, ...] | None]:
    if value is None:
        return [None] * len(freedoms)
    if len(freedoms) > 1:
        entries = intake.entries(value, len(freedoms), where)
        return [(intake.integer(entry, where),) for entry in entries]
    count = freedoms[0].kind.rates
    if count == 1 or not is_list(value):
        first = intake.integer(value, where)
        return [tuple(range(first, first + count))]
    places = tuple(intake.integer(entry, where) for entry in intake.entries(value, count, where))
    if places != tuple(range(places[0], places[0] + count)):
        remedy = f"write the first of them alone, or {count} numbers one after the other"
        raise intake.error("the rates of one joint follow one another in qd", where, remedy)
    return [places]


def with_coordinates(
    segments: Sequence[Segment], entries: Sequence[Entries], intake: Intake
) -> tuple[tuple[Segment, ...], tuple[Coordinate, ...], tuple[Coordinate, ...]]:
    """Return the segments with their places, the coordinates in the order of q, the rates of qd.

    The order is that of `dof` where the file gives it, else that of the segments. q and qd list
    the joints in the same order.
    """
    moving = [k for k, entry in enumerate(entries) if entry.coordinates]
    _check_dofs(segments, entries, moving, intake)
    moving.sort(key=lambda k: entries[k].dof or ())
    placed = list(segments)
    coordinates: list[Coordinate] = []
    rates: list[Coordinate] = []
    for k in moving:
        placed[k] = replace(segments[k], coordinate=len(coordinates), rate=len(rates))
        coordinates += [Coordinate(name, k) for name in entries[k].coordinates]
        rates += [Coordinate(name, k) for name in entries[k].rates]
    _check_names(segments, coordinates, rates, intake)
    return tuple(placed), tuple(coordinates), tuple(rates)


def _check_dofs(
    segments: Sequence[Segment], entries: Sequence[Entries], moving: Sequence[int], intake: Intake
) -> None:
    missing = [k for k in moving if entries[k].dof is None]
    if len(missing) == len(moving):
        return
    if missing:
        remedy = "give it for every moving joint, or for none"
        where = f"segment {segments[missing[0]].name!r}"
        raise intake.error("dof is missing here but given elsewhere", where, remedy)
    last = sum(len(entries[k].rates) for k in moving)
    seen: set[int] = set()
    for k in moving:
        for dof in entries[k].dof or ():
            if not 1 <= dof <= last or dof in seen:
                raise intake.error(
                    f"dof {dof} is out of range or used twice",
                    f"segment {segments[k].name!r}, dof",
                    f"use each of 1 ... {last} once",
                )
            seen.add(dof)


def _check_names(
    segments: Sequence[Segment],
    coordinates: Sequence[Coordinate],
    rates: Sequence[Coordinate],
    intake: Intake,
) -> None:
    """Refuse names that occur twice or belong to a parameter.

    A name may stand both in q and in qd where it means one joint; otherwise a list of names would
    not tell which of the two it orders.
    """
    check_distinct([segment.name for segment in segments], "segment", intake)
    check_distinct([coordinate.name for coordinate in coordinates], "coordinate", intake)
    check_distinct([rate.name for rate in rates], "rate", intake)
    owners = {coordinate.name: coordinate.segment for coordinate in coordinates}
    for kind, records in (("coordinate", coordinates), ("rate", rates)):
        for record in records:
            where = f"{kind} {record.name!r}"
            if record.name in intake.values:
                raise intake.error("a parameter has the same name", where, "rename one of them")
            if owners.get(record.name, record.segment) != record.segment:
                remedy = "rename one of them"
                raise intake.error("a coordinate of another joint has this name", where, remedy)
