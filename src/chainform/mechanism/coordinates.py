"""What each joint has in q and qd: names and places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chainform.given import Given
from chainform.mechanism.joints import SUFFIXES, Freedom
from chainform.mechanism.reader import Reader
from chainform.mechanism.types import Coordinate, JointKind, Segment


@dataclass(frozen=True, slots=True)
class Entries:
    """The names of an elementary joint in q and in qd, and its 1-based places in qd if given.

    A fixed joint has none; a coupled one neither, since it shares those of another joint.
    """

    coordinates: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()
    dof: tuple[int, ...] | None = None


def entries_of(
    segment: Given, joint: str, freedoms: Sequence[Freedom], reader: Reader
) -> list[Entries]:
    """Return what each elementary joint of a segment has in q and qd.

    Names are given, or made of the name of the joint and a suffix. A rate that moves a single
    coordinate has the name of that coordinate unless it is given one.
    """
    is_fixed = freedoms[0].kind is JointKind.FIXED
    if is_fixed or segment.has("mimic"):
        _refuse_entries(segment, is_fixed)
        return [Entries() for _ in freedoms]
    coordinates = [_names(joint, freedom, 0) for freedom in freedoms]
    if segment.has("coordinates"):
        coordinates = _given(segment["coordinates"], coordinates)
    rates = [
        _names(joint, freedom, 1) if freedom.kind.has_quaternion else names
        for freedom, names in zip(freedoms, coordinates, strict=True)
    ]
    if segment.has("rates"):
        rates = _given(segment["rates"], rates)
    dofs = _dofs(segment["dof"], freedoms, reader)
    return [Entries(*entries) for entries in zip(coordinates, rates, dofs, strict=True)]


def _refuse_entries(segment: Given, is_fixed: bool) -> None:
    kind = "fixed" if is_fixed else "coupled"
    reason = "only a moving joint has a place in q" if is_fixed else "it shares those of the other"
    for field in ("dof", "coordinates", "rates"):
        if segment.has(field):
            raise segment[field].error(f"a {kind} joint has no {field}", f"remove it; {reason}")


def _names(joint: str, freedom: Freedom, group: int) -> tuple[str, ...]:
    """Return the usual names of a freedom in q (group 0) or in qd (group 1)."""
    if freedom.kind.has_quaternion:
        return tuple(f"{joint}_{suffix}" for suffix in SUFFIXES[freedom.kind][group])
    return (f"{joint}_{freedom.suffix}" if freedom.suffix else joint,)


def _given(given: Given, usual: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the names that were given, parted as the usual ones are."""
    entries = iter(given.entries(sum(map(len, usual))))
    return [tuple(next(entries).name() for _ in names) for names in usual]


def _dofs(
    given: Given, freedoms: Sequence[Freedom], reader: Reader
) -> list[tuple[int, ...] | None]:
    if not given.is_given:
        return [None] * len(freedoms)
    if len(freedoms) > 1:
        return [(reader.whole(entry),) for entry in given.entries(len(freedoms))]
    count = freedoms[0].kind.rates
    if count == 1 or not given.is_list:
        first = reader.whole(given)
        return [tuple(range(first, first + count))]
    numbers = tuple(reader.whole(entry) for entry in given.entries(count))
    if numbers != tuple(range(numbers[0], numbers[0] + count)):
        remedy = f"write the first of them alone, or {count} numbers one after the other"
        raise given.error("the rates of one joint follow one another in qd", remedy)
    return [numbers]


def with_coordinates(
    segments: Sequence[Segment], entries: Sequence[Entries], reader: Reader
) -> tuple[tuple[Segment, ...], tuple[Coordinate, ...], tuple[Coordinate, ...]]:
    """Return the segments with their places, the coordinates in the order of q, the rates of qd.

    The order is that of `dof` where the file gives it, else that of the segments. q and qd list
    the joints in the same order.
    """
    moving = [k for k, entry in enumerate(entries) if entry.coordinates]
    _check_dofs(segments, entries, moving, reader)
    moving.sort(key=lambda k: entries[k].dof or ())
    placed = list(segments)
    coordinates: list[Coordinate] = []
    rates: list[Coordinate] = []
    for k in moving:
        placed[k] = replace(segments[k], coordinate=len(coordinates), rate=len(rates))
        coordinates += [Coordinate(name, k) for name in entries[k].coordinates]
        rates += [Coordinate(name, k) for name in entries[k].rates]
    _check_names(segments, coordinates, rates, reader)
    return tuple(placed), tuple(coordinates), tuple(rates)


def _check_dofs(
    segments: Sequence[Segment], entries: Sequence[Entries], moving: Sequence[int], reader: Reader
) -> None:
    missing = [k for k in moving if entries[k].dof is None]
    if len(missing) == len(moving):
        return
    if missing:
        remedy = "give it for every moving joint, or for none"
        where = f"segment {segments[missing[0]].name!r}"
        raise reader.error("dof is missing here but given elsewhere", where, remedy)
    last = sum(len(entries[k].rates) for k in moving)
    seen: set[int] = set()
    for k in moving:
        for dof in entries[k].dof or ():
            if not 1 <= dof <= last or dof in seen:
                raise reader.error(
                    f"dof {dof} is out of range or used twice",
                    f"segment {segments[k].name!r}, dof",
                    f"use each of 1 ... {last} once",
                )
            seen.add(dof)


def _check_names(
    segments: Sequence[Segment],
    coordinates: Sequence[Coordinate],
    rates: Sequence[Coordinate],
    reader: Reader,
) -> None:
    """Refuse names that occur twice or belong to a parameter.

    A name may stand both in q and in qd where it means one joint; otherwise a list of names would
    not tell which of the two it orders.
    """
    reader.check_distinct([segment.name for segment in segments], "segment")
    reader.check_distinct([coordinate.name for coordinate in coordinates], "coordinate")
    reader.check_distinct([rate.name for rate in rates], "rate")
    owners = {coordinate.name: coordinate.segment for coordinate in coordinates}
    for kind, records in (("coordinate", coordinates), ("rate", rates)):
        for record in records:
            where = f"{kind} {record.name!r}"
            if record.name in reader.values:
                raise reader.error("a parameter has the same name", where, "rename one of them")
            if owners.get(record.name, record.segment) != record.segment:
                remedy = "rename one of them"
                raise reader.error("a coordinate of another joint has this name", where, remedy)
