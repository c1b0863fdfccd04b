"""What each joint has in q and qd: names and indices.

A coupled joint, which follows another, has no coordinate of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from chainform.given import Given, near
from chainform.mechanism.joints import SUFFIXES, JointFreedom
from chainform.mechanism.numbers import product_of_ratio, sum_of, within_range
from chainform.mechanism.reader import Reader
from chainform.mechanism.records import ONE, ZERO, Coordinate, JointKind, Number, Segment
from chainform.mechanism.tables import MIMIC_FIELDS


@dataclass(frozen=True, slots=True)
class Entries:
    """The names of an elementary joint in q and in qd, and its 1-based indices in qd if given.

    A fixed joint has none; a coupled one neither, since it shares those of another joint.
    """

    coordinates: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()
    dof: tuple[int, ...] | None = None


def entries_of(
    segment: Given, joint: str, freedoms: Sequence[JointFreedom], reader: Reader
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
    reason = "only a moving joint has entries in q" if is_fixed else "it shares those of the other"
    for field in ("dof", "coordinates", "rates"):
        if segment.has(field):
            raise segment[field].error(f"a {kind} joint has no {field}", f"remove it; {reason}")


def _names(joint: str, freedom: JointFreedom, group: int) -> tuple[str, ...]:
    """Return the usual names of a freedom in q (group 0) or in qd (group 1)."""
    if freedom.kind.has_quaternion:
        return tuple(f"{joint}_{suffix}" for suffix in SUFFIXES[freedom.kind][group])
    return (f"{joint}_{freedom.suffix}" if freedom.suffix else joint,)


def _given(given: Given, usual: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the names that were given, parted as the usual ones are."""
    entries = iter(given.entries(sum(map(len, usual))))
    return [tuple(next(entries).name() for _ in names) for names in usual]


def _dofs(
    given: Given, freedoms: Sequence[JointFreedom], reader: Reader
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
    """Return the segments with their indices, the coordinates in the order of q, the rates of qd.

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


# --- coupled joints -------------------------------------------------------------------------


LONGEST = 20
"""How many joints may stand between one that follows and the one that has the coordinate."""
SCALAR = frozenset({JointKind.REVOLUTE, JointKind.PRISMATIC})
"""The joints that can follow and be followed: those of one coordinate."""


@dataclass(frozen=True, slots=True)
class Coupling:
    """The motion of a joint is `ratio` times that of the joint named here, plus `offset`.

    Both motions are in rad or m, so the ratio between a turn and a slide is in rad/m or m/rad.
    """

    joint: str
    ratio: Fraction = ONE
    offset: Number = ZERO

    def after(self, inner: Coupling) -> Coupling:
        """Return the coupling to the joint that the followed joint follows itself."""
        offset = sum_of(product_of_ratio(inner.offset, self.ratio), self.offset)
        return Coupling(inner.joint, self.ratio * inner.ratio, offset)


def coupling_from(
    given: Given, freedoms: Sequence[JointFreedom], reader: Reader
) -> Coupling | None:
    """Return the coupling in a table {joint, ratio, offset}, None when nothing is given."""
    if not given.is_given:
        return None
    if len(freedoms) > 1 or freedoms[0].kind not in SCALAR:
        remedy = "only revolute and prismatic joints can follow another joint"
        raise given.error("this joint cannot follow another", remedy)
    table = given.table(MIMIC_FIELDS)
    ratio = reader.fraction(table["ratio"]) if table.has("ratio") else ONE
    coupling = Coupling(table["joint"].name(), ratio, reader.number(table["offset"], ZERO))
    if ratio == 0:
        remedy = "give another ratio, or make the joint a fixed one"
        raise table["ratio"].error("the ratio is zero: nothing would move", remedy)
    return coupling


def with_couplings(
    segments: Sequence[Segment], couplings: Sequence[Coupling | None], reader: Reader
) -> tuple[Segment, ...]:
    """Return the segments, the coupled ones with the coordinate of the joint they follow.

    A joint that follows a coupled joint follows in the end the one that has a coordinate.
    """
    if not any(couplings):
        return tuple(segments)
    moving = [k for k, segment in enumerate(segments) if segment.joint.kind is not JointKind.FIXED]
    reader.check_distinct([segments[k].joint.name for k in moving], "joint")
    by_name = {segments[k].joint.name: k for k in moving}
    resolved: dict[int, Coupling] = {}
    for k, coupling in enumerate(couplings):
        if coupling is not None:
            _resolve(k, segments, couplings, by_name, resolved, reader)
    result = list(segments)
    for k, coupling in resolved.items():
        leader = segments[by_name[coupling.joint]]
        given = reader.given(None, f"segment {segments[k].name!r}, mimic")
        offset = reader.known(coupling.offset, given)
        with given.translate_errors():
            within_range(coupling.ratio)
            within_range(ZERO if offset is None else offset)
        result[k] = replace(
            segments[k],
            coordinate=leader.coordinate,
            rate=leader.rate,
            ratio=coupling.ratio,
            offset=coupling.offset,
        )
    return tuple(result)


def _resolve(
    start: int,
    segments: Sequence[Segment],
    couplings: Sequence[Coupling | None],
    by_name: Mapping[str, int],
    resolved: dict[int, Coupling],
    reader: Reader,
) -> None:
    """Put into `resolved` the couplings of `start` and of all joints between it and its leader."""
    path: list[int] = []
    k = start
    while k not in resolved:
        coupling = couplings[k]
        if coupling is None:
            break
        if k in path or len(path) > LONGEST:
            names = " -> ".join(segments[i].joint.name for i in (*path, k))
            what = "in a circle" if k in path else "in too long a row"
            raise reader.error(
                f"joints follow one another {what}: {names}",
                f"segment {segments[start].name!r}, mimic",
                "let them follow one joint that has a coordinate of its own",
            )
        path.append(k)
        k = _leader(segments[k], coupling, segments, by_name, reader)
    for k in reversed(path):
        coupling = couplings[k]
        assert coupling is not None
        inner = resolved.get(by_name[coupling.joint])
        resolved[k] = coupling if inner is None else coupling.after(inner)


def _leader(
    follower: Segment,
    coupling: Coupling,
    segments: Sequence[Segment],
    by_name: Mapping[str, int],
    reader: Reader,
) -> int:
    """Return the segment of the joint that `follower` follows."""
    where = f"segment {follower.name!r}, mimic, joint"
    index = by_name.get(coupling.joint)
    known = [name for name, k in by_name.items() if segments[k].joint.kind in SCALAR]
    remedy = "the joints of one coordinate are " + ", ".join(known[:20])
    if index is None:
        remedy = near(coupling.joint, known) + remedy
        raise reader.error(f"no joint {coupling.joint[:80]!r} moves", where, remedy)
    if segments[index].joint.kind not in SCALAR:
        message = f"the joint {coupling.joint[:80]!r} has more than one coordinate"
        raise reader.error(message, where, remedy)
    return index
