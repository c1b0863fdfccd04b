"""One more frame, body or force: mechanisms made of a checked one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from chainform.mechanism.bodies import body_from
from chainform.mechanism.checks import rechecked
from chainform.mechanism.forces import forces_from
from chainform.mechanism.intake import Intake
from chainform.mechanism.laws import LawIntake
from chainform.mechanism.loops import LoopMaker, check_frame_names
from chainform.mechanism.mechanism import Mechanism
from chainform.mechanism.numbering import GROUND_NAME, Register
from chainform.mechanism.specification import FrameSpecification
from chainform.mechanism.tables import is_list, is_table, table_of
from chainform.mechanism.types import GROUND, Joint, JointKind, Note, Segment


def intake_of(mechanism: Mechanism) -> Intake:
    """Return a desk that knows the parameters of the mechanism."""
    values = {parameter.name: parameter.value for parameter in mechanism.parameters}
    return Intake(mechanism.file, values)


def law_reader(mechanism: Mechanism, further: Collection[str] = ()) -> LawIntake:
    """Return what reads laws of a mechanism; `further` are names that the caller understands."""
    return LawIntake(intake_of(mechanism), mechanism.coordinates, mechanism.rates, further)


def finder_of(mechanism: Mechanism) -> Register:
    """Return the register of the segments by name, and by number from 1."""
    places = range(len(mechanism.segments))
    by_name = {mechanism.segments[k].name: k for k in places}
    return Register(by_name, {k + 1: k for k in places})


def with_frame(
    mechanism: Mechanism, name: object, segment: object, point: object, rotation: object
) -> Mechanism:
    """Return the mechanism with one more frame, checked as one of a file is."""
    intake = intake_of(mechanism)
    segments = range(len(mechanism.segments))
    maker = LoopMaker(mechanism, finder_of(mechanism), segments, intake)
    place = {"segment": segment, "point": point, "rotation": rotation}
    frame = maker.frame(FrameSpecification(name, place), len(mechanism.frames) + 1)
    frames = (*mechanism.frames, frame)
    check_frame_names(mechanism, [frame.name for frame in frames], intake)
    return rechecked(mechanism, replace(mechanism, frames=frames), intake.notes)


def with_forces(mechanism: Mechanism, forces: Mapping[str, object]) -> Mechanism:
    """Return the mechanism with more forces given by laws, checked as those of a file are."""
    intake = intake_of(mechanism)
    table = table_of(forces, intake.file, "forces")
    if not table:
        return mechanism
    said = [_force_table(joint, given, intake) for joint, given in table.items()]
    changed = replace(mechanism, forces=forces_from(said, mechanism, intake))
    return rechecked(mechanism, changed, intake.notes)


def _force_table(joint: object, given: object, intake: Intake) -> dict[str, object]:
    """Return a force as a table: a law, a list of pieces or a table already."""
    if is_list(given):
        return {"joint": joint, "pieces": given}
    if is_table(given):
        return {"joint": joint, **table_of(given, intake.file, f"force on {joint!r}")}
    return {"joint": joint, "law": given}


def with_payload(
    mechanism: Mechanism, segment: object, body: tuple[object, object, object], name: object
) -> Mechanism:
    """Return the mechanism with one more fixed segment; `body` is mass, mass centre, inertia.

    The new segment is the last one, so that the numbers of all others stay.
    """
    intake = intake_of(mechanism)
    named = intake.text(name, "payload, name")
    where = f"segment {named!r}"
    taken = {
        GROUND_NAME,
        *(s.name for s in mechanism.segments),
        *(f.name for f in mechanism.frames),
        *(e.name for e in mechanism.elements),
    }
    if named in taken:
        remedy = "give it another one: with_payload(..., name=...)"
        raise intake.error("a segment or a frame has this name already", where, remedy)
    parent = finder_of(mechanism).find(segment, intake, f"{where}, parent")
    if parent == GROUND:
        remedy = "name the segment that carries it"
        raise intake.error("a payload on the ground moves nowhere", f"{where}, parent", remedy)
    joint = Joint(named, JointKind.FIXED)
    added = Segment(named, parent, joint, body=body_from(*body, intake=intake, where=where))
    text = f"added to the mechanism, fixed to {mechanism.segments[parent].name!r}"
    notes = [*intake.notes, Note("note", where, text)]
    return rechecked(mechanism, replace(mechanism, segments=(*mechanism.segments, added)), notes)
