"""Coupled joints: one that follows another has no coordinate of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from chainform.given import Given, near
from chainform.mechanism.joints import Freedom
from chainform.mechanism.numbers import product_of_ratio, sum_of, within_range
from chainform.mechanism.reader import Reader
from chainform.mechanism.tables import MIMIC_FIELDS
from chainform.mechanism.types import ONE, ZERO, JointKind, Number, Segment

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


def coupling_from(given: Given, freedoms: Sequence[Freedom], reader: Reader) -> Coupling | None:
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
    place = by_name.get(coupling.joint)
    known = [name for name, k in by_name.items() if segments[k].joint.kind in SCALAR]
    remedy = "the joints of one coordinate are " + ", ".join(known[:20])
    if place is None:
        remedy = near(coupling.joint, known) + remedy
        raise reader.error(f"no joint {coupling.joint[:80]!r} moves", where, remedy)
    if segments[place].joint.kind not in SCALAR:
        message = f"the joint {coupling.joint[:80]!r} has more than one coordinate"
        raise reader.error(message, where, remedy)
    return place
