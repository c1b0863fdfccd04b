"""Read loops and frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chainform.errors import ReadError
from chainform.mechanism.intake import Intake, located
from chainform.mechanism.mechanism import Mechanism
from chainform.mechanism.numbering import GROUND_NAME, Register, check_distinct
from chainform.mechanism.specification import FrameSpecification, LoopSpecification
from chainform.mechanism.tables import (
    ATTACHMENT_FIELDS,
    check_fields,
    list_of,
    table_of,
)
from chainform.mechanism.types import GROUND, Attachment, Frame, Loop, Rotation

KINDS = ("point", "frame")


@dataclass(frozen=True, slots=True)
class LoopMaker:
    """Makes loops and frames for a mechanism whose segments and coordinates are already known.

    `last_segment` leads from a place in the list of specifications to the segment that carries
    the body, which is the last of the chain for a joint of several freedoms.
    """

    mechanism: Mechanism
    register: Register
    last_segment: Sequence[int]
    intake: Intake

    def loops(self, said: Sequence[LoopSpecification]) -> tuple[Loop, ...]:
        """Return the checked loops, in the order given."""
        loops = tuple(self.loop(loop, number) for number, loop in enumerate(said, 1))
        check_distinct([loop.name for loop in loops], "loop", self.intake)
        return loops

    def loop(self, said: LoopSpecification, number: int) -> Loop:
        """Return one loop; without a name it is called `loop` and its number."""
        intake = self.intake
        name = f"loop{number}" if said.name is None else intake.text(said.name, f"loop {number}")
        where = f"loop {name!r}"
        if said.kind not in KINDS:
            remedy = "'point' joins two points (3 equations), 'frame' two frames (6)"
            raise intake.error("kind must be 'point' or 'frame'", f"{where}, kind", remedy)
        if said.closing is None:
            remedy = "write closing = {segment = ..., point = [...]}"
            raise intake.error("the closing end is missing", where, remedy)
        closing = self.attachment(said.closing, f"{where}, closing")
        target = self.attachment(said.target, f"{where}, target")
        kind = "point" if said.kind == "point" else "frame"
        return Loop(name, kind, closing, target, self.basic(said.basic, f"{where}, basic"))

    def frames(self, said: Sequence[FrameSpecification]) -> tuple[Frame, ...]:
        """Return the checked frames, in the order given."""
        frames = tuple(self.frame(frame, number) for number, frame in enumerate(said, 1))
        check_frame_names(self.mechanism, [frame.name for frame in frames], self.intake)
        return frames

    def frame(self, said: FrameSpecification, number: int) -> Frame:
        """Return one frame, which must have a name."""
        name = self.intake.text(said.name, f"frame {number}, name")
        place = self.attachment({} if said.place is None else said.place, f"frame {name!r}")
        return Frame(name, place.segment, place.point, place.rotation)

    def attachment(self, value: object, where: str) -> Attachment:
        """Return a place on a segment; nothing given means the origin of the ground."""
        if value is None:
            return Attachment(GROUND)
        table = table_of(value, self.intake.file, where)
        check_fields(table, ATTACHMENT_FIELDS, self.intake.file, where)
        if table.get("segment") is None:
            remedy = "name one; the ground is 'ground'"
            raise self.intake.error("the segment is missing", where, remedy)
        place = self.register.find(table["segment"], self.intake, f"{where} segment")
        return Attachment(
            GROUND if place == GROUND else self.last_segment[place],
            self.intake.vector(table.get("point"), f"{where} point"),
            rotation_in(table, self.intake, where),
        )

    def basic(self, value: object, where: str) -> tuple[int, ...] | None:
        """Return the indices of the basic coordinates, given by name, as q3 or by number."""
        if value is None:
            return None
        indices: list[int] = []
        for entry in list_of(value, self.intake.file, where):
            index = self.coordinate(entry, where)
            if index in indices:
                raise self.intake.error("a coordinate is named twice", where, "name each once")
            indices.append(index)
        return tuple(indices)

    def coordinate(self, entry: object, where: str) -> int:
        """Return the index into q of one coordinate; it may not belong to a quaternion."""
        if not isinstance(entry, str):
            number = self.intake.integer(entry, where)
            entry = f"q{number}" if number > 0 else str(number)
        try:
            with located(self.intake.file, where):
                index = self.mechanism.coordinate_index(entry)
        except ReadError as error:
            error.element = where
            raise
        record = self.mechanism.coordinate_records[index]
        joint = self.mechanism.segments[record.segment].joint
        if joint.kind.has_quaternion:
            message = f"the coordinate {record.name!r} belongs to a joint with a quaternion"
            remedy = f"choose revolute or prismatic joints, or give {joint.name!r} euler angles"
            raise self.intake.error(message, where, remedy)
        return index


def check_frame_names(mechanism: Mechanism, names: Sequence[str], intake: Intake) -> None:
    """Raise ReadError for a frame that is called like another one, a segment or the ground."""
    check_distinct(names, "frame", intake)
    taken = {GROUND_NAME, *(segment.name for segment in mechanism.segments)}
    elements = {element.name for element in mechanism.elements}
    for name in names:
        if name in taken:
            remedy = "rename it; the name of a segment already stands for the frame of its body"
            raise intake.error("a segment has this name", f"frame {name!r}", remedy)
        if name in elements:
            raise intake.error("an element has this name", f"frame {name!r}", "rename one of them")


def rotation_in(table: Mapping[str, object], intake: Intake, where: str) -> Rotation:
    """Return the rotation given in a table as rotation, rpy or quaternion."""
    forms = (table.get(form) for form in ("rotation", "rpy", "quaternion"))
    return intake.rotation(*forms, where=where)
