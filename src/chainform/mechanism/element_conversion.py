"""Any mechanism of joints with one coordinate, written as elements.

| of the mechanism      | becomes                                                          |
|-----------------------|------------------------------------------------------------------|
| segment               | body on the chain of its joint, with mass or without             |
| frame                 | frame                                                            |
| spring                | elastic element, and a dissipative one if it has damping         |
| friction of a joint   | dissipative element along its motion                             |
| rotor behind a gear   | inertia along the motion of the rotor                            |

Coordinates, parameters, forces given by laws, constraints, actuators and whatever elements there
are already stay what they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from chainform.errors import DeriveError
from chainform.expressions import Binary, Identifier
from chainform.mechanism.checks import rechecked, refuse_moments
from chainform.mechanism.components import (
    DissipativeElement,
    ElasticElement,
    Element,
    ElementPoint,
    FixedStep,
    InertiaElement,
    InertialElement,
    ShiftStep,
    Step,
    TurnStep,
)
from chainform.mechanism.data import MechanismData
from chainform.mechanism.laws import Meaning, Order, symbol_of
from chainform.mechanism.numbers import expression_of, product_of_ratio, quotient_of, sum_of
from chainform.mechanism.records import (
    GROUND,
    IDENTITY,
    ZERO,
    ZERO_VECTOR,
    Attachment,
    Coordinate,
    Frame,
    JointKind,
    Note,
    Number,
    Rotation,
    Segment,
    Spring,
    Vector3,
)
from chainform.mechanism.segments import GROUND_NAME


def as_elements(mechanism: MechanismData) -> MechanismData:
    """Return the mechanism without segments; nothing changes if it has none."""
    if not mechanism.segments:
        return mechanism
    _refuse_quaternions(mechanism)
    refuse_moments(mechanism, "an element", "give its mass and mass centre")
    work = _Conversion(mechanism)
    changed = replace(
        mechanism,
        segments=(),
        coordinate_records=tuple(work.coordinate(k) for k in range(mechanism.nq)),
        rate_records=tuple(work.rate(k) for k in range(mechanism.nv)),
        loops=(),
        frames=(),
        springs=(),
        elements=(*work.elements(), *mechanism.elements),
    )
    notes: list[Note] = []
    if mechanism.loops:
        text = "left out: the elements are those of the tree that is left when loops are opened"
        notes.append(Note("warning", "loops", text))
    return rechecked(mechanism, changed, notes)


def _refuse_quaternions(mechanism: MechanismData) -> None:
    for segment in mechanism.segments:
        if segment.joint.kind.has_quaternion:
            raise DeriveError(
                f"the {segment.joint.kind.value} joint {segment.joint.name} has a quaternion, "
                "and frame chains have turns and shifts along one coordinate each",
                file=mechanism.file,
                element=segment.name,
                remedy='describe the joint by angles with euler = "zyx"',
            )


class _Conversion:
    """Writes the parts of one mechanism as elements, each with a name of its own."""

    def __init__(self, mechanism: MechanismData) -> None:
        self.mechanism = mechanism
        self.taken = {element.name for element in mechanism.elements}
        self.taken |= {segment.name for segment in mechanism.segments}
        self.taken |= {frame.name for frame in mechanism.frames}

    def elements(self) -> Iterator[Element]:
        mechanism = self.mechanism
        for segment in mechanism.segments:
            yield self.body(segment)
        for frame in mechanism.frames:
            yield self.frame(frame)
        for spring in mechanism.springs:
            yield from self.spring(spring)
        for segment in mechanism.segments:
            yield from self.joint(segment)

    def named(self, name: str) -> str:
        """Return a name that no other element has."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    # --- coordinates --------------------------------------------------------------------

    def coordinate(self, index: int) -> Coordinate:
        record = self.mechanism.coordinate_records[index]
        return Coordinate(record.name, GROUND, self.unit(record))

    def rate(self, index: int) -> Coordinate:
        record = self.mechanism.rate_records[index]
        return Coordinate(record.name, GROUND, self.unit(record))

    def unit(self, record: Coordinate) -> str:
        kind = self.mechanism.segments[record.segment].joint.kind
        return "rad" if kind is JointKind.REVOLUTE else "m"

    def symbol(self, index: int) -> Identifier:
        """Return the coordinate in a law: by its name where that can stand there, else as q3."""
        mechanism = self.mechanism
        order = Order(mechanism.coordinates, mechanism.rates)
        symbol = symbol_of(Meaning("q", index), order)
        if symbol is None:
            name = mechanism.coordinates[index]
            raise DeriveError(
                f"no law can name the coordinate {name!r}: its name is no word, and its index, "
                f"q{index + 1}, is the name of another one",
                file=mechanism.file,
                element=f"coordinate {name!r}",
                remedy="rename one of the two, with letters, digits and underscores",
            )
        return symbol

    def motion(self, segment: Segment) -> Number:
        """Return how far a joint is turned or slid, as a law."""
        assert segment.coordinate is not None
        turned = product_of_ratio(self.symbol(segment.coordinate), segment.ratio)
        return sum_of(turned, segment.offset)

    # --- segments and frames ------------------------------------------------------------

    def name_of(self, segment: int) -> str:
        return GROUND_NAME if segment == GROUND else self.mechanism.segments[segment].name

    def body(self, segment: Segment) -> InertialElement:
        body, on = segment.body, self.name_of(segment.parent)
        chain = (*_steps_to(segment.position, segment.rotation), *self.joint_steps(segment))
        return InertialElement(segment.name, "body", on, chain, body.mass, body.com, body.inertia)

    def joint_steps(self, segment: Segment) -> tuple[Step, ...]:
        axis = segment.joint.axis
        if segment.joint.kind is JointKind.REVOLUTE:
            return (TurnStep(axis, self.motion(segment)),)
        if segment.joint.kind is JointKind.PRISMATIC:
            motion = self.motion(segment)
            x, y, z = (product_of_ratio(motion, component) for component in axis)
            return (ShiftStep((x, y, z)),)
        return ()

    def frame(self, frame: Frame) -> InertialElement:
        chain = _steps_to(frame.point, frame.rotation)
        return InertialElement(frame.name, "frame", self.name_of(frame.segment), chain)

    # --- springs, friction, rotors ------------------------------------------------------

    def spring(self, spring: Spring) -> Iterator[Element]:
        deformation = None
        if spring.segment is not None:
            deformation = self.motion(self.mechanism.segments[spring.segment])
        ends = spring.ends and (self.point(spring.ends[0]), self.point(spring.ends[1]))
        name, rest = self.named(spring.name), spring.rest
        if spring.preload != ZERO:
            rest = sum_of(rest, quotient_of(spring.preload, self._stiffness(spring)))
        yield ElasticElement(name, spring.stiffness, rest, deformation, ends)
        if spring.damping != ZERO:
            name = self.named(f"{spring.name}_damper")
            yield DissipativeElement(name, spring.damping, ZERO, deformation, None, ends)

    def _stiffness(self, spring: Spring) -> Number:
        """Return the stiffness of a spring with preload, which elements have in the rest length."""
        if spring.stiffness == ZERO:
            raise DeriveError(
                "an elastic element has no preload without stiffness",
                file=self.mechanism.file,
                element=f"spring {spring.name!r}",
                remedy="give the spring a stiffness, or write the preload as a force",
            )
        return spring.stiffness

    def point(self, end: Attachment) -> ElementPoint:
        return ElementPoint(self.name_of(end.segment), end.point)

    def joint(self, segment: Segment) -> Iterator[Element]:
        joint, friction = segment.joint, segment.joint.friction
        if segment.coordinate is None:
            return
        if friction is not None and (friction.viscous, friction.coulomb) != (ZERO, ZERO):
            name = self.named(f"{joint.name}_friction")
            motion = self.motion(segment)
            yield DissipativeElement(name, friction.viscous, friction.coulomb, motion)
        if joint.rotor_inertia != ZERO:
            turns = _product(joint.gear_ratio, self.motion(segment))
            yield InertiaElement(self.named(f"{joint.name}_rotor"), joint.rotor_inertia, turns)


def _steps_to(position: Vector3, rotation: Rotation) -> tuple[Step, ...]:
    shift: tuple[Step, ...] = () if position == ZERO_VECTOR else (ShiftStep(position),)
    return shift if rotation == IDENTITY else (*shift, FixedStep(rotation))


def _product(a: Number, b: Number) -> Number:
    if isinstance(a, Fraction):
        return product_of_ratio(b, a)
    return Binary("*", a, expression_of(b))
