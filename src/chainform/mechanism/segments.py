"""Make the segments of one specification: a single one, or a chain for a joint of more freedoms."""

from __future__ import annotations

from dataclasses import dataclass

from chainform.given import Given
from chainform.mechanism.bodies import body_from
from chainform.mechanism.coordinates import Entries, entries_of
from chainform.mechanism.coupling import Coupling, coupling_from
from chainform.mechanism.drives import joints_from
from chainform.mechanism.joints import freedoms_of
from chainform.mechanism.reader import Reader
from chainform.mechanism.types import IDENTITY, ZERO_VECTOR, Body, Segment


@dataclass(frozen=True, slots=True)
class Piece:
    """A segment without its place in q: what it has there, or the joint it follows."""

    segment: Segment
    entries: Entries
    coupling: Coupling | None


def pieces_from(table: Given, name: str, parent: int, first: int, reader: Reader) -> list[Piece]:
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
    pieces: list[Piece] = []
    for place, joint in enumerate(joints):
        segment = Segment(
            names[place],
            parent if place == 0 else first + place - 1,
            joint,
            position if place == 0 else ZERO_VECTOR,
            rotation if place == 0 else IDENTITY,
            body if place == len(joints) - 1 else Body(),
        )
        pieces.append(Piece(segment, entries[place], coupling))
    return pieces
