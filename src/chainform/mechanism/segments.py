"""Make the segments of one specification: a single one, or a chain for a joint of more freedoms."""

from __future__ import annotations

from dataclasses import dataclass

from chainform.mechanism.bodies import body_from
from chainform.mechanism.coordinates import Entries, entries_of, joint_name_of
from chainform.mechanism.coupling import Coupling, coupling_from
from chainform.mechanism.drives import joints_from
from chainform.mechanism.intake import Intake
from chainform.mechanism.joints import JointGeometry, freedoms_of
from chainform.mechanism.specification import SegmentSpecification
from chainform.mechanism.types import IDENTITY, ZERO_VECTOR, Body, Segment


@dataclass(frozen=True, slots=True)
class Piece:
    """A segment without its place in q: what it has there, or the joint it follows."""

    segment: Segment
    entries: Entries
    coupling: Coupling | None


def pieces_from(
    said: SegmentSpecification, name: str, parent: int, first: int, intake: Intake
) -> list[Piece]:
    """Return the segments of a specification; the first gets the index `first`.

    A joint of several freedoms becomes a chain of massless segments named after their freedoms; the
    last one bears the name and the body of the specification. A joint with a quaternion is a
    single segment.
    """
    where = f"segment {name!r}"
    geometry = JointGeometry(said.axis, said.axes, said.euler)
    freedoms = freedoms_of(said.joint_type, geometry, intake, where)
    coupling = coupling_from(said.mimic, freedoms, intake, where)
    joint_name = joint_name_of(said, name, intake)
    entries = entries_of(said, joint_name, freedoms, intake, where)
    joint_names = [e.coordinates[0] if len(e.coordinates) == 1 else joint_name for e in entries]
    joints = joints_from(said, freedoms, joint_names, intake, where)
    position = intake.vector(said.position, f"{where}, position")
    rotation = intake.rotation(said.rotation, said.rpy, said.quaternion, f"{where}, rotation")
    body = body_from(said.mass, said.com, said.inertia, intake, where)
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
