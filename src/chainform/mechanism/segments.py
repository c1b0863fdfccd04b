"""Segments: who carries whom, in which order they are numbered, and the parts of each.

A specification makes a single segment, or a chain for a joint of more freedoms.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from chainform.given import Given
from chainform.mechanism.bodies import body_from
from chainform.mechanism.coordinates import Coupling, Entries, coupling_from, entries_of
from chainform.mechanism.joints import freedoms_of, joints_from
from chainform.mechanism.reader import Reader
from chainform.mechanism.records import (
    GROUND,
    IDENTITY,
    ZERO_VECTOR,
    Body,
    Segment,
)


@dataclass(frozen=True, slots=True)
class SegmentParts:
    """A segment without its indices into q: what it has there, or the joint it follows."""

    segment: Segment
    entries: Entries
    coupling: Coupling | None


def pieces_from(
    table: Given, name: str, parent: int, first: int, reader: Reader
) -> list[SegmentParts]:
    """Return the segments of a table; the first gets the index `first`.

    A joint of several freedoms becomes a chain of massless segments named after their freedoms; the
    last one bears the name and the body of the table. A joint with a quaternion is a single
    segment.
    """
    given = table.at(f"segment {name!r}")
    freedoms = freedoms_of(given, reader)
    coupling = coupling_from(given["mimic"], freedoms, reader)
    joint_name = given["joint name"].name() if given.has("joint name") else name
    entries = entries_of(given, joint_name, freedoms, reader)
    joint_names = [e.coordinates[0] if len(e.coordinates) == 1 else joint_name for e in entries]
    joints = joints_from(given, freedoms, joint_names, reader)
    position = reader.vector(given["position"])
    rotation = reader.rotation(given)
    body = body_from(given, reader)
    names = [f"{name}_{freedom.suffix}" for freedom in freedoms[:-1]] + [name]
    pieces: list[SegmentParts] = []
    for index, joint in enumerate(joints):
        segment = Segment(
            names[index],
            parent if index == 0 else first + index - 1,
            joint,
            position if index == 0 else ZERO_VECTOR,
            rotation if index == 0 else IDENTITY,
            body if index == len(joints) - 1 else Body(),
        )
        pieces.append(SegmentParts(segment, entries[index], coupling))
    return pieces


# --- names and order ------------------------------------------------------------------------


GROUND_NAME = "ground"


@dataclass(frozen=True, slots=True)
class Register:
    """The names and ids by which specifications are called; both lead to an index into the list."""

    by_name: dict[str, int]
    by_id: dict[int, int]

    def find(self, given: Given) -> int:
        """Return the index of the segment called by name or id, GROUND for 0 and `ground`."""
        reference = given.value
        if isinstance(reference, str):
            if reference == GROUND_NAME:
                return GROUND
            if reference not in self.by_name:
                raise given.unknown("segment named", [GROUND_NAME, *self.by_name])
            return self.by_name[reference]
        if isinstance(reference, bool) or not isinstance(reference, int | float | Fraction):
            raise given.expected("a segment", "give its name, its id, or 0 for the ground")
        number = given.whole(least=-(2**53))
        if number == 0:
            return GROUND
        if number not in self.by_id:
            known = sorted(self.by_id)
            remedy = f"the ids run from {known[0]} to {known[-1]}; 0 is the ground"
            raise given.error(f"there is no segment with the id {number}", remedy)
        return self.by_id[number]


def names_of(segments: Sequence[Given], reader: Reader) -> list[str]:
    """Return the names of the segments; one without a name is called `body` and its number."""
    names = [
        table.at(f"segment {number}")["name"].name() if table.has("name") else f"body{number}"
        for number, table in enumerate(segments, 1)
    ]
    if GROUND_NAME in names:
        raise reader.error("a segment cannot have this name", "segment 'ground'", "rename it")
    reader.check_distinct(names, "segment")
    return names


def register_of(segments: Sequence[Given], names: Sequence[str], reader: Reader) -> Register:
    """Return the register of all segments; where no ids are given they are 1, 2, 3 ..."""
    has_ids = any(table.has("id") for table in segments)
    by_id: dict[int, int] = {}
    for k, table in enumerate(segments):
        if has_ids and not table.has("id"):
            continue
        given = table.at(f"segment {names[k]!r}")["id"]
        number = reader.whole(given) if has_ids else k + 1
        if number < 1 or number in by_id:
            message = f"the id {number} cannot be used here"
            raise given.error(message, "give each segment a positive id of its own")
        by_id[number] = k
    return Register({name: k for k, name in enumerate(names)}, by_id)


def parents_of(segments: Sequence[Given], names: Sequence[str], register: Register) -> list[int]:
    """Return the index of each segment's parent.

    A segment without a parent is the root, so there can be one such segment; several segments on
    the ground are named so.
    """
    parents = [
        table.at(f"segment {name!r}")["parent"] for table, name in zip(segments, names, strict=True)
    ]
    roots = [k for k, parent in enumerate(parents) if not parent.is_given]
    if len(roots) > 1:
        some = ", ".join(names[k] for k in roots[:5])
        raise parents[roots[1]].error(
            f"several roots: no parent is given for {some}",
            "give their parents; a segment that stands on the ground has parent = 'ground'",
        )
    return [register.find(parent) if parent.is_given else GROUND for parent in parents]


def parents_first(parents: Sequence[int], names: Sequence[str], reader: Reader) -> list[int]:
    """Return the indices in an order in which parents precede children, otherwise as given."""
    children: list[list[int]] = [[] for _ in parents]
    ready: list[int] = []
    for index, parent in enumerate(parents):
        (ready if parent == GROUND else children[parent]).append(index)
    order: list[int] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(index)
        for child in children[index]:
            heapq.heappush(ready, child)
    if len(order) < len(parents):
        circle = [names[index] for index in _circle(parents, set(order))]
        raise reader.error(
            f"the parents form a circle: {' -> '.join(circle[:20])}",
            f"segment {circle[0]!r}, parent",
            "attach one of them to the ground; describe a closed chain by a loop",
        )
    if order != sorted(order):
        reader.note("segments", "renumbered, so that parents come before children")
    return order


def _circle(parents: Sequence[int], placed: set[int]) -> list[int]:
    """Return one circle of parents among the segments that could not be numbered."""
    index = next(index for index in range(len(parents)) if index not in placed)
    seen: dict[int, None] = {}
    while index not in seen:
        seen[index] = None
        index = parents[index]
    path = list(seen)
    return [*path[path.index(index) :], index]
