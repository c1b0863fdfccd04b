"""One more frame, body or force: mechanisms made of a checked one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from chainform.given import Given
from chainform.mechanism.bodies import body_from
from chainform.mechanism.checks import rechecked
from chainform.mechanism.data import MechanismData
from chainform.mechanism.laws import LawReader
from chainform.mechanism.loops import LoopMaker, check_frame_names, forces_from
from chainform.mechanism.reader import Reader
from chainform.mechanism.records import GROUND, Joint, JointKind, Note, Segment
from chainform.mechanism.segments import GROUND_NAME, Register


def reader_of(mechanism: MechanismData) -> Reader:
    """Return what reads numbers with the parameters of the mechanism."""
    values = {parameter.name: parameter.value for parameter in mechanism.parameters}
    return Reader(mechanism.file, values)


def law_reader(mechanism: MechanismData, further: Collection[str] = ()) -> LawReader:
    """Return what reads laws of a mechanism; `further` are names that the caller understands."""
    names = (mechanism.coordinates, mechanism.rates, further)
    return LawReader(reader_of(mechanism), *names, frames=mechanism.frame_names)


def finder_of(mechanism: MechanismData) -> Register:
    """Return the register of the segments by name, and by number from 1."""
    indices = range(len(mechanism.segments))
    by_name = {mechanism.segments[k].name: k for k in indices}
    return Register(by_name, {k + 1: k for k in indices})


def with_frame(
    mechanism: MechanismData, name: object, segment: object, point: object, rotation: object
) -> MechanismData:
    """Return the mechanism with one more frame, checked as one of a file is."""
    reader = reader_of(mechanism)
    segments = range(len(mechanism.segments))
    maker = LoopMaker(mechanism, finder_of(mechanism), segments, reader)
    table = {"name": name, "segment": segment, "point": point, "rotation": rotation}
    frames = (*mechanism.frames, maker.frame(table, len(mechanism.frames) + 1))
    check_frame_names(mechanism, [frame.name for frame in frames], reader)
    return rechecked(mechanism, replace(mechanism, frames=frames), reader.notes)


def with_forces(mechanism: MechanismData, forces: Mapping[str, object]) -> MechanismData:
    """Return the mechanism with more forces given by laws, checked as those of a file are."""
    reader = reader_of(mechanism)
    given = reader.given(forces, "forces").table().items()
    if not given:
        return mechanism
    tables = [_force_table(joint, force) for joint, force in given]
    changed = replace(mechanism, forces=forces_from(tables, mechanism, reader))
    return rechecked(mechanism, changed, reader.notes)


def _force_table(joint: str, given: Given) -> dict[str, object]:
    """Return a force as a table: a law, a list of pieces or a table already."""
    if given.is_table:
        return {"joint": joint, **given.table().value}
    return {"joint": joint, "pieces" if given.is_list else "law": given.value}


def with_payload(
    mechanism: MechanismData, segment: object, body: tuple[object, object, object], name: object
) -> MechanismData:
    """Return the mechanism with one more fixed segment; `body` is mass, mass centre, inertia.

    The new segment is the last one, so that the numbers of all others stay.
    """
    reader = reader_of(mechanism)
    named = reader.given(name, "payload, name").name()
    where = f"segment {named!r}"
    taken = {
        GROUND_NAME,
        *(s.name for s in mechanism.segments),
        *(f.name for f in mechanism.frames),
        *(e.name for e in mechanism.elements),
    }
    if named in taken:
        remedy = "give it another one: with_payload(..., name=...)"
        raise reader.error("a segment or a frame has this name already", where, remedy)
    parent = finder_of(mechanism).find(reader.given(segment, f"{where}, parent"))
    if parent == GROUND:
        remedy = "name the segment that carries it"
        raise reader.error("a payload on the ground moves nowhere", f"{where}, parent", remedy)
    table = dict(zip(("mass", "com", "inertia"), body, strict=True))
    joint = Joint(named, JointKind.FIXED)
    added = Segment(named, parent, joint, body=body_from(reader.given(table, where), reader))
    text = f"added to the mechanism, fixed to {mechanism.segments[parent].name!r}"
    notes = [*reader.notes, Note("note", where, text)]
    return rechecked(mechanism, replace(mechanism, segments=(*mechanism.segments, added)), notes)
