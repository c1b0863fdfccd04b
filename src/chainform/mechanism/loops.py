"""Read loops, frames, springs, and generalised forces given by laws.

A force is Q(q, qd, t) on a coordinate, also piece by piece in time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from chainform.given import Given
from chainform.mechanism.data import MechanismData
from chainform.mechanism.laws import TIME, LawReader
from chainform.mechanism.reader import Reader
from chainform.mechanism.records import (
    GROUND,
    LOOP_ROWS,
    ZERO,
    Attachment,
    Force,
    ForcePiece,
    Frame,
    Loop,
    LoopRows,
    Number,
    Spring,
)
from chainform.mechanism.segments import GROUND_NAME, Register
from chainform.mechanism.tables import (
    ATTACHMENT_FIELDS,
    FORCE_FIELDS,
    FRAME_FIELDS,
    LOOP_END_FIELDS,
    LOOP_FIELDS,
    PIECE_FIELDS,
    SPRING_FIELDS,
)

LOOP_WORDS = (*LOOP_ROWS, "spherical")
"""The words for kinds of loops; a spherical joint is a point that two bodies share."""


@dataclass(frozen=True, slots=True)
class LoopMaker:
    """Makes loops and frames for a mechanism whose segments and coordinates are already known.

    `last_segment` leads from an index into the list of specifications to the segment that carries
    the body, which is the last of the chain for a joint of several freedoms.
    """

    mechanism: MechanismData
    register: Register
    last_segment: Sequence[int]
    reader: Reader

    def loops(self, tables: Sequence[Mapping[str, object]]) -> tuple[Loop, ...]:
        """Return the checked loops, in the order given."""
        loops = tuple(self.loop(table, number) for number, table in enumerate(tables, 1))
        self.reader.check_distinct([loop.name for loop in loops], "loop")
        return loops

    def loop(self, value: object, number: int) -> Loop:
        """Return one loop; without a name it is called `loop` and its number."""
        name, table = self.reader.named(value, "loop", number, LOOP_FIELDS)
        word = table["kind"].choice(LOOP_WORDS, "loop of the kind")
        kind = "point" if word == "spherical" else word
        rows = LOOP_ROWS[kind]
        closing = table.required("closing", "write closing = {segment = ..., point = [...]}")
        ends = self.loop_end(closing, rows), self.loop_end(table["target"], rows)
        if kind == "prismatic" and ends[0].axis != ends[1].axis:
            message = "the axes differ, though the two frames keep the same directions"
            remedy = "write the same axis in both; turn one of the frames by rotation or rpy"
            raise table["closing"].error(message, remedy)
        return Loop(name, kind, *ends, self.basic(table["basic"]), self.length(table, kind))

    def loop_end(self, given: Given, rows: LoopRows) -> Attachment:
        """Return one end of a loop, with its axis where the kind has one."""
        table = given.holding({} if not given.is_given else given.value).table(LOOP_END_FIELDS)
        if not rows.has_axes and table.has("axis"):
            raise table["axis"].error("a loop of this kind has no axis", "leave it out")
        place = {key: entry for key, entry in table.value.items() if key != "axis"}
        end = self.attachment(given.holding(place) if given.is_given else given)
        if not rows.has_axes:
            return end
        remedy = 'write it in the axes of the end: axis = "z", or [0, 0, 1]'
        return replace(end, axis=self.reader.axis(table.required("axis", remedy)))

    def length(self, table: Given, kind: str) -> Number | None:
        """Return the distance of the two points, where the kind has one."""
        if kind == "distance":
            remedy = "write the distance of the two points (m): length = 0.5"
            return self.reader.number(table.required("length", remedy), above=0)
        if table.has("length"):
            remedy = 'leave it out, or choose the kind "distance"'
            raise table["length"].error("a loop of this kind has no length", remedy)
        return None

    def frames(self, tables: Sequence[Mapping[str, object]]) -> tuple[Frame, ...]:
        """Return the checked frames, in the order given."""
        frames = tuple(self.frame(table, number) for number, table in enumerate(tables, 1))
        check_frame_names(self.mechanism, [frame.name for frame in frames], self.reader)
        return frames

    def frame(self, value: object, number: int) -> Frame:
        """Return one frame, which must have a name."""
        given = self.reader.given(value, f"frame {number}").table(FRAME_FIELDS)
        name = given["name"].name()
        fields = {key: entry for key, entry in given.value.items() if key != "name"}
        end = self.attachment(given.at(f"frame {name!r}").holding(fields))
        return Frame(name, end.segment, end.point, end.rotation)

    def attachment(self, given: Given) -> Attachment:
        """Return a point and a frame on a segment; nothing given means the origin of the ground."""
        if not given.is_given:
            return Attachment(GROUND)
        table = given.table(ATTACHMENT_FIELDS)
        segment = self.register.find(table.required("segment", "name one; the ground is 'ground'"))
        return Attachment(
            GROUND if segment == GROUND else self.last_segment[segment],
            self.reader.vector(table["point"]),
            self.reader.rotation(table),
        )

    def basic(self, given: Given) -> tuple[int, ...] | None:
        """Return the indices of the basic coordinates, given by name, as q3 or by number."""
        if not given.is_given:
            return None
        indices: list[int] = []
        for entry in given.entries():
            index = self.coordinate(entry)
            if index in indices:
                raise entry.error("a coordinate is named twice", "name each once")
            indices.append(index)
        return tuple(indices)

    def coordinate(self, given: Given) -> int:
        """Return the index into q of one coordinate; it may not belong to a quaternion."""
        name = given.value
        if not isinstance(name, str):
            number = self.reader.whole(given)
            name = f"q{number}" if number > 0 else str(number)
        with given.translate_errors():
            index = self.mechanism.coordinate_index(name)
        record = self.mechanism.coordinate_records[index]
        joint = self.mechanism.segments[record.segment].joint
        if joint.kind.has_quaternion:
            message = f"the coordinate {record.name!r} belongs to a joint with a quaternion"
            remedy = f"choose revolute or prismatic joints, or give {joint.name!r} euler angles"
            raise given.error(message, remedy)
        return index


def check_frame_names(mechanism: MechanismData, names: Sequence[str], reader: Reader) -> None:
    """Raise ReadError for a frame that is called like another one, a segment or the ground."""
    reader.check_distinct(names, "frame")
    taken = {GROUND_NAME, *(segment.name for segment in mechanism.segments)}
    elements = {element.name for element in mechanism.elements}
    for name in names:
        if name in taken:
            remedy = "rename it; the name of a segment already stands for the frame of its body"
            raise reader.error("a segment has this name", f"frame {name!r}", remedy)
        if name in elements:
            raise reader.error("an element has this name", f"frame {name!r}", "rename one of them")


def springs_from(tables: Sequence[Mapping[str, object]], maker: LoopMaker) -> tuple[Spring, ...]:
    """Return the checked springs, in the order given."""
    springs = tuple(_spring(table, number, maker) for number, table in enumerate(tables, 1))
    maker.reader.check_distinct([spring.name for spring in springs], "spring")
    return springs


def _spring(value: object, number: int, maker: LoopMaker) -> Spring:
    reader = maker.reader
    name, table = reader.named(value, "spring", number, SPRING_FIELDS)
    remedy = 'write joint = "...", or ends = [{segment, point}, {segment, point}]'
    form = table.one_of("joint", "ends", remedy=remedy)
    stiffness = reader.number(table["stiffness"], ZERO, least=0)
    rest = reader.number(table["rest"], ZERO)
    damping = reader.number(table["damping"], ZERO, least=0)
    preload = reader.number(table["preload"], ZERO)
    if form == "joint":
        segment = _segment_of(table["joint"], maker)
        return Spring(name, stiffness, rest, damping, segment, preload=preload)
    first, second = map(maker.attachment, table["ends"].entries(2))
    return Spring(name, stiffness, rest, damping, None, (first, second), preload)


def _segment_of(joint: Given, maker: LoopMaker) -> int:
    """Return the segment of a joint of one coordinate, given by the name of the joint."""
    segments = maker.mechanism.segments
    known = {s.joint.name: k for k, s in enumerate(segments) if s.joint.kind.rates == 1}
    name = joint.name()
    if name in known:
        return known[name]
    remedy = ""
    if not known:
        remedy = 'write it as an element: { kind = "elastic", stiffness = 20, deformation = "phi" }'
    raise joint.unknown("joint of one coordinate named", known, remedy)


# --- forces ---------------------------------------------------------------------------------


MOST_PIECES = 10_000


def forces_from(
    tables: Sequence[Mapping[str, object]], mechanism: MechanismData, reader: Reader
) -> tuple[Force, ...]:
    """Return the checked forces of a mechanism: those it has already, then those of tables."""
    frames = mechanism.frame_names
    laws = LawReader(reader, mechanism.coordinates, mechanism.rates, frames=frames)
    first = len(mechanism.forces) + 1
    made = (_force(table, number, mechanism, laws) for number, table in enumerate(tables, first))
    forces = (*mechanism.forces, *made)
    reader.check_distinct([force.name for force in forces], "force")
    return forces


def _force(value: object, number: int, mechanism: MechanismData, laws: LawReader) -> Force:
    name, table = laws.reader.named(value, "force", number, FORCE_FIELDS)
    remedy = 'write law = "...", or pieces = [{ until = 1, law = "..." }, { law = "..." }]'
    form = table.one_of("law", "pieces", remedy=remedy)
    joint = table["joint"]
    with joint.translate_errors():
        rate = mechanism.rate_index(joint.name())
    if form == "law":
        own = {key: table.value[key] for key in PIECE_FIELDS if table.has(key)}
        return Force(name, rate, _pieces([table.holding(own)], table, laws))
    for bound in ("from", "until"):
        if table.has(bound):
            message = f"{bound!r} stands next to pieces"
            raise table.error(message, "write it in the piece that it bounds")
    pieces = [
        piece.at(f"{table.element}, piece {k}")
        for k, piece in enumerate(table["pieces"].entries(), 1)
    ]
    return Force(name, rate, _pieces(pieces, table, laws))


def _pieces(given: Sequence[Given], force: Given, laws: LawReader) -> tuple[ForcePiece, ...]:
    """Return the pieces of one force; each begins where the one before it ends."""
    if not 0 < len(given) <= MOST_PIECES:
        remedy = f"give 1 to {MOST_PIECES} of them"
        raise force.error(f"a force cannot have {len(given)} pieces", remedy)
    pieces: list[ForcePiece] = []
    for entry in given:
        table = entry.table(PIECE_FIELDS)
        remedy = 'write law = "..." with coordinates, der(coordinate), t and parameters'
        law = laws.law(table.required("law", remedy))
        start, until = (_time(table[bound], laws.reader) for bound in ("from", "until"))
        if start is None and pieces:
            start = pieces[-1].until
        piece = ForcePiece(law, start, until)
        _check_order(piece, pieces, entry, laws.reader)
        pieces.append(piece)
    return tuple(pieces)


def _time(given: Given, reader: Reader) -> Number | None:
    """Return the time at which a piece begins or ends, None where it is not given."""
    if not given.is_given:
        return None
    if TIME in reader.values:
        message = f"a parameter is called {TIME}, and a force that begins or ends needs the time"
        raise given.error(message, "rename the parameter")
    return reader.number(given)


def _check_order(
    piece: ForcePiece, before: Sequence[ForcePiece], given: Given, reader: Reader
) -> None:
    """Refuse a piece after one without an end, and times that are known not to grow."""
    if before and before[-1].until is None:
        remedy = "give the piece before it 'until', or leave this one out"
        raise given.error("the piece before has no end, so this one never begins", remedy)
    times = [before[-1].until if before else None, piece.start, piece.until]
    bounds = [reader.known(time, given) for time in times if time is not None]
    known = [bound for bound in bounds if bound is not None]
    empty = piece.start is not None and piece.start == piece.until
    if empty or any(later < earlier for earlier, later in pairwise(known)):
        remedy = "list the pieces by time; each holds from 'from' on and before 'until'"
        raise given.error("the times of the pieces do not grow", remedy)
