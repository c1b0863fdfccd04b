"""The part of a mechanism between a segment that becomes the ground and some tips."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Protocol

from chainform.given import Given
from chainform.mechanism.additions import finder_of, reader_of
from chainform.mechanism.base import mapped_base
from chainform.mechanism.checks import names_in, rechecked
from chainform.mechanism.components import Actuator, DriveLaws
from chainform.mechanism.coordinates import Coupling, Entries, with_coordinates, with_couplings
from chainform.mechanism.data import MechanismData
from chainform.mechanism.element_references import order_of, with_elements_of
from chainform.mechanism.exact import exact_rotation
from chainform.mechanism.laws import Order, moved_law
from chainform.mechanism.loop_closure import check_loops
from chainform.mechanism.numbers import difference, product_of_ratio, sum_of
from chainform.mechanism.reader import Reader
from chainform.mechanism.records import (
    GROUND,
    ZERO,
    Attachment,
    Axis,
    BaseMotion,
    Force,
    Frame,
    JointKind,
    Loop,
    Note,
    Number,
    Rotation,
    Segment,
    Spring,
    Vector3,
)
from chainform.mechanism.segments import Register
from chainform.spatial import product, rodrigues


def standing_base(mechanism: MechanismData, root: int, reader: Reader) -> BaseMotion:
    """Return the pose of the segment `root` in the world at zero, as that of a base at rest.

    Turns are exact but for the offsets of coupled joints, which are as exact as those of a file.
    """
    base = mechanism.base
    if root == GROUND:
        return base
    if base.is_moving:
        remedy = "take the part from the ground, or from a mechanism whose base is at rest"
        raise reader.error("the base moves, and so would the root", "subtree, root", remedy)
    turn = BaseMotion(rotation=base.rotation, rpy=base.rpy, quaternion=base.quaternion)
    known = mapped_base(
        turn, lambda number: reader.fraction(reader.given(number, "base, rotation"))
    )
    frame, origin = known.rotation, base.position
    for index in mechanism.path_to(root):
        segment = mechanism.segments[index]
        joint, offset = segment.joint, segment.offset
        origin = _moved(origin, frame, segment.position)
        frame = product(frame, segment.rotation)
        if joint.kind is JointKind.REVOLUTE and offset != ZERO:
            frame = product(frame, _turn(joint.axis, offset, segment.name, reader))
        elif joint.kind is JointKind.PRISMATIC:
            x, y, z = (product_of_ratio(offset, entry) for entry in joint.axis)
            origin = _moved(origin, frame, (x, y, z))
    return BaseMotion(origin, frame)


def _moved(origin: Vector3, frame: Rotation, vector: Vector3) -> Vector3:
    """Return origin + frame vector."""
    x, y, z = (_sum(start, row, vector) for start, row in zip(origin, frame, strict=True))
    return (x, y, z)


def _sum(start: Number, row: Axis, vector: Vector3) -> Number:
    total = start
    for factor, entry in zip(row, vector, strict=True):
        total = sum_of(total, product_of_ratio(entry, factor))
    return total


def _turn(axis: Axis, offset: Number, name: str, reader: Reader) -> Rotation:
    """Return the rotation by a known offset (rad) about a unit axis, by Rodrigues' formula."""
    where = f"segment {name!r}, mimic offset"
    angle = float(reader.fraction(reader.given(offset, where)))
    turn = rodrigues(axis, Fraction(math.cos(angle)), Fraction(math.sin(angle)))
    rotation, remark = exact_rotation(turn)
    if remark is not None:
        reader.note(where, remark)
    return rotation


# --- the part -------------------------------------------------------------------------------


def subtree(mechanism: MechanismData, root: object, tips: object) -> MechanismData:
    """Return the segments beyond `root` that lie on the way to `tips`, as a mechanism."""
    reader = reader_of(mechanism)
    finder = finder_of(mechanism)
    given = reader.given(root, "subtree, root")
    if not mechanism.segments:
        remedy = "take the whole mechanism; frames of elements may be named in outputs"
        raise given.error("a part is cut out of segments, and the mechanism has none", remedy)
    start = finder.find(given) if given.is_given else GROUND
    chosen = _chosen(mechanism, start, reader.given(tips, "subtree, tips"), finder)
    return _Part(mechanism, start, chosen, reader).result()


def _chosen(mechanism: MechanismData, root: int, tips: Given, finder: Register) -> list[int]:
    """Return the segments of the part, in growing order."""
    beyond: set[int] = set()
    for index, segment in enumerate(mechanism.segments):
        if segment.parent == root or segment.parent in beyond:
            beyond.add(index)
    if not beyond:
        remedy = "choose a root that carries other segments"
        raise tips.at("subtree, root").error("no segment lies beyond the root", remedy)
    if not tips.is_given:
        return sorted(beyond)
    chosen: set[int] = set()
    for tip in [tips] if isinstance(tips.value, str) else tips.entries():
        index = finder.find(tip)
        if index not in beyond:
            some = ", ".join(mechanism.segments[k].name for k in sorted(beyond)[:20])
            message = f"the tip {tip.value!r} does not lie beyond the root"
            raise tip.error(message, f"choose among {some}")
        chosen.update(k for k in mechanism.path_to(index) if k in beyond)
    if not chosen:
        raise tips.error("there are no tips", "name one, or leave them out")
    return sorted(chosen)


class _Part:
    """Carries the segments `chosen` over into a mechanism whose ground is the segment `root`."""

    def __init__(self, whole: MechanismData, root: int, chosen: list[int], reader: Reader) -> None:
        self.whole = whole
        self.root = root
        self.chosen = chosen
        self.reader = reader
        self.index_of = {root: GROUND, **{old: new for new, old in enumerate(chosen)}}
        self.entries = [Entries() for _ in chosen]
        self.couplings: list[Coupling | None] = [None for _ in chosen]
        self.new_leaders: dict[int, int] = {}

    def result(self) -> MechanismData:
        whole, reader = self.whole, self.reader
        self.share_coordinates()
        bare = [self.segment(old) for old in self.chosen]
        segments, coordinates, rates = with_coordinates(bare, self.entries, reader)
        segments = with_couplings(segments, self.couplings, reader)
        part = replace(
            whole,
            segments=segments,
            coordinate_records=coordinates,
            rate_records=rates,
            base=standing_base(whole, self.root, reader),
            frames=tuple(self.frame(frame) for frame in whole.frames if self.holds(frame)),
            springs=tuple(filter(None, map(self.spring, whole.springs))),
            forces=(),
        )
        part = replace(part, actuators=self.actuators(part))
        part = replace(part, loops=tuple(self.loop(loop, part) for loop in self.loops_inside()))
        root = None if self.root == GROUND else whole.segments[self.root].name
        part = with_elements_of(whole, part, root)
        part = replace(part, forces=self.forces(part, order_of(part, root)))
        used = names_in(part)
        part = replace(part, parameters=tuple(p for p in whole.parameters if p.name in used))
        part = replace(part, notes=self.valid_notes(part))
        return rechecked(whole, part, [*self.remarks(part), *reader.notes, *check_loops(part)])

    def segment(self, old: int) -> Segment:
        segment = self.whole.segments[old]
        return Segment(
            segment.name,
            self.index_of[segment.parent],
            segment.joint,
            segment.position,
            segment.rotation,
            segment.body,
        )

    def share_coordinates(self) -> None:
        """Say which segment has which coordinates, in the old order, and who follows whom.

        Where the joint that has the coordinate is left out, the first that follows it takes over.
        """
        whole, index_of = self.whole, self.index_of
        count = 0
        for leader in dict.fromkeys(record.segment for record in whole.rate_records):
            coordinate = whole.segments[leader].coordinate
            sharing = [k for k in self.chosen if whole.segments[k].coordinate == coordinate]
            if not sharing:
                continue
            if leader in sharing:
                names, rates = (
                    tuple(record.name for record in records if record.segment == leader)
                    for records in (whole.coordinate_records, whole.rate_records)
                )
            else:
                names = rates = (whole.segments[sharing[0]].joint.name,)
                self.new_leaders[leader] = sharing[0]
                leader = sharing[0]
            dof = tuple(range(count + 1, count + 1 + len(rates)))
            count += len(rates)
            self.entries[index_of[leader]] = Entries(names, rates, dof)
            for k in sharing:
                if k != leader:
                    self.couplings[index_of[k]] = _coupling(
                        whole.segments[k], whole.segments[leader]
                    )

    def holds(self, end: Frame | Attachment) -> bool:
        """Tell whether an attachment lies on the part; its ground is the root, and only that."""
        return end.segment in self.index_of

    def frame(self, frame: Frame) -> Frame:
        return replace(frame, segment=self.index_of[frame.segment])

    def spring(self, spring: Spring) -> Spring | None:
        """Return a spring carried over, None when part of it is left out."""
        if spring.ends is None:
            index = self.index_of.get(GROUND if spring.segment is None else spring.segment, GROUND)
            return None if index == GROUND else replace(spring, segment=index)
        first, second = spring.ends
        if not (self.holds(first) and self.holds(second)):
            return None
        ends = (
            replace(first, segment=self.index_of[first.segment]),
            replace(second, segment=self.index_of[second.segment]),
        )
        return replace(spring, ends=ends)

    def forces(self, part: MechanismData, new: Order) -> tuple[Force, ...]:
        """Return the forces on coordinates of the part whose laws name no others, nor frames."""
        whole = self.whole
        old = Order(whole.coordinates, whole.rates)
        forces: list[Force] = []
        for force in whole.forces:
            laws = [moved_law(law, old, new) for law in force.laws]
            pieces = [
                replace(piece, law=law)
                for piece, law in zip(force.pieces, laws, strict=True)
                if law is not None
            ]
            rate = whole.rates[force.rate]
            if rate in part.rates and len(pieces) == len(laws):
                forces.append(replace(force, rate=part.rates.index(rate), pieces=tuple(pieces)))
        return tuple(forces)

    def actuators(self, part: MechanismData) -> tuple[Actuator, ...]:
        """Return the actuators of joints that the part has, whose laws name no others."""
        whole, found = self.whole, list[Actuator]()
        old, new = Order(whole.coordinates, whole.rates), order_of(part, None)
        for actuator in whole.actuators:
            driven = {whole.rates[rate]: weight for rate, weight in actuator.shares}
            if not driven.keys() <= set(part.rates):
                continue
            rates = {part.rates.index(name): weight for name, weight in driven.items()}
            moved = replace(actuator, rate=min(rates))
            if actuator.weights:
                moved = replace(moved, weights=tuple(sorted(rates.items())))
            if actuator.laws is not None:
                laws = [moved_law(law, old, new) for law in actuator.laws.laws]
                known = [law for law in laws if law is not None]
                if len(known) < len(laws):
                    continue
                moved = replace(moved, laws=DriveLaws(tuple(known[:-1]), known[-1]))
            found.append(moved)
        return tuple(found)

    def loops_inside(self) -> list[Loop]:
        return [
            loop
            for loop in self.whole.loops
            if self.holds(loop.closing) and self.holds(loop.target)
        ]

    def loop(self, loop: Loop, part: MechanismData) -> Loop:
        closing, target = (
            replace(end, segment=self.index_of[end.segment]) for end in (loop.closing, loop.target)
        )
        basic = None if loop.basic is None else self.basic(loop.basic, part)
        return replace(loop, closing=closing, target=target, basic=basic)

    def basic(self, indices: tuple[int, ...], part: MechanismData) -> tuple[int, ...]:
        """Return the indices into q of those basic coordinates that the part still has."""
        records = (self.whole.coordinate_records[index] for index in indices)
        owners = [self.new_leaders.get(record.segment, record.segment) for record in records]
        segments = [part.segments[self.index_of[k]] for k in owners if k in self.chosen]
        return tuple(s.coordinate for s in segments if s.coordinate is not None)

    def valid_notes(self, part: MechanismData) -> tuple[Note, ...]:
        """Return the old notes without those on what is left out, and on loops, checked anew."""
        whole = self.whole
        gone = [
            *_missing("segment", whole.segments, part.segments),
            *_missing("frame", whole.frames, part.frames),
            *_missing("parameter", whole.parameters, part.parameters),
            *_missing("actuator", whole.actuators, part.actuators),
            *_missing("element", whole.elements, part.elements),
            *_missing("constraint", whole.constraints, part.constraints),
            *(f"loop {loop.name!r}" for loop in whole.loops),
            "loops",
        ]
        return tuple(
            note
            for note in whole.notes
            if not any(note.element == name or note.element.startswith(name + ",") for name in gone)
        )

    def remarks(self, part: MechanismData) -> list[Note]:
        """Return what was done, for the report."""
        whole = self.whole
        texts: list[str] = []
        if self.root != GROUND:
            name = whole.segments[self.root].name
            texts.append(f"{name!r} is the ground; it stands in the world as in the zero pose")
        for old, new in self.new_leaders.items():
            names = whole.segments[new].joint.name, whole.segments[old].joint.name
            texts.append("{!r} has a coordinate of its own, since {!r} is left out".format(*names))
        others = [s for k, s in enumerate(whole.segments) if k != self.root]
        left_out = [
            *_missing("segment", others, part.segments),
            *_missing("loop", whole.loops, part.loops),
            *_missing("frame", whole.frames, part.frames),
            *_missing("spring", whole.springs, part.springs),
            *_missing("force", whole.forces, part.forces),
            *_missing("actuator", whole.actuators, part.actuators),
            *_missing("element", whole.elements, part.elements),
            *_missing("constraint", whole.constraints, part.constraints),
            *_missing("quasi-velocity", whole.quasi, part.quasi),
        ]
        if left_out:
            more = f" and {len(left_out) - 20} more" if len(left_out) > 20 else ""
            texts.append("left out: " + ", ".join(left_out[:20]) + more)
        return [Note("note", "subtree", text) for text in texts]


def _coupling(follower: Segment, leader: Segment) -> Coupling:
    """Return how the follower moves when the leader moves, both tied to one old coordinate."""
    ratio = follower.ratio / leader.ratio
    offset = difference(follower.offset, product_of_ratio(leader.offset, ratio))
    return Coupling(leader.joint.name, ratio, offset)


class _Named(Protocol):
    @property
    def name(self) -> str: ...


def _missing(kind: str, before: Iterable[_Named], after: Iterable[_Named]) -> list[str]:
    """Return the names that are gone, as notes call their elements."""
    left = {item.name for item in after}
    return [f"{kind} {item.name!r}" for item in before if item.name not in left]
