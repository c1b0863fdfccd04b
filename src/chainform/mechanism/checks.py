"""Remarks on a finished mechanism that no single element can make."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from chainform.errors import DeriveError, Error, ReadError
from chainform.expressions import (
    Binary,
    Expression,
    Identifier,
    format_expression,
    parts_of,
    symbols_of,
    value_of,
)
from chainform.expressions import Number as NumberExpression
from chainform.mechanism.components import Element, InertiaElement, InertialElement
from chainform.mechanism.data import MechanismData
from chainform.mechanism.laws import frame_coordinate_of, group_of, meaning_of, parameters_in
from chainform.mechanism.numbers import numbers_in, symbols_in
from chainform.mechanism.records import ZERO, ZERO_MATRIX, ZERO_VECTOR, Body, Note, Number


def element_remarks(mechanism: MechanismData) -> Iterator[Note]:
    """Yield what the user should know about elements, unknown forces and definitions."""
    if not mechanism.segments:
        yield from _idle_coordinates(mechanism)
    used = symbols_in((mechanism.elements, mechanism.constraints, mechanism.quasi))
    used |= symbols_in(mechanism.definitions)
    named = [("unknown", name) for name in mechanism.unknowns]
    named += [("definition", definition.name) for definition in mechanism.definitions]
    for kind, name in named:
        if name not in used:
            yield Note("note", f"{kind} {name!r}", "it is declared but not used")


def _idle_coordinates(mechanism: MechanismData) -> Iterator[Note]:
    """Warn of coordinates that no mass depends on: their rows of the mass matrix are zero."""
    names = names_behind(mechanism, mechanism.elements, _names_of_masses(mechanism))
    meanings = [meaning_of(name, mechanism.coordinates, mechanism.rates) for name in names]
    moving = {meaning.index for meaning in meanings if meaning is not None and meaning.group == "q"}
    for index, name in enumerate(mechanism.coordinates):
        if index not in moving:
            text = "it moves neither mass nor inertia, so the mass matrix is singular"
            yield Note("warning", f"coordinate {name!r}", text)


def _names_of_masses(mechanism: MechanismData) -> frozenset[str]:
    """Return the names in the positions of masses, and in the laws along which inertia resists."""
    frames = {e.name: e for e in mechanism.elements if isinstance(e, InertialElement)}
    names = symbols_in(tuple(e.along for e in mechanism.elements if isinstance(e, InertiaElement)))
    heavy = (e for e in frames.values() if e.mass != ZERO or e.inertia != ZERO_MATRIX)
    waiting, seen = list(heavy), set[str]()
    while waiting:
        element = waiting.pop()
        if element.name not in seen:
            seen.add(element.name)
            names |= symbols_in(element.chain)
            waiting += [frames[element.on]] if element.on in frames else []
    return names


def names_behind(
    mechanism: MechanismData, elements: Sequence[Element], names: Iterable[str]
) -> frozenset[str]:
    """Return the names, and those in the definitions and chains of frames that they stand for."""
    laws = {definition.name: definition.law for definition in mechanism.definitions}
    frames = {e.name: e for e in elements if isinstance(e, InertialElement)}
    waiting, reached = list(names), set(names)
    while waiting:
        name = waiting.pop()
        behind = symbols_in(laws[name]) if name in laws else frozenset[str]()
        coordinate = frame_coordinate_of(name)
        frame = frames.get(coordinate.frame) if coordinate is not None else None
        while frame is not None:
            behind |= symbols_in(frame.chain)
            frame = frames.get(frame.on)
        waiting += behind - reached
        reached |= behind
    return frozenset(reached)


# --- the whole mechanism --------------------------------------------------------------------


AMOUNTS = ("mass", "inertia", "stiffness", "damping", "coulomb")
"""Fields of springs and elements that are not negative; an inertia that is a matrix is none."""
SLIGHT = 1e-9
"""A determinant of the inertia that is a smaller share of the cube of its trace is none."""


def check_mechanism(mechanism: MechanismData) -> tuple[Note, ...]:
    """Return the remarks: misleading names, joints that move nothing, unused parameters."""
    return (
        *_misleading_names(mechanism),
        *_idle_joints(mechanism),
        *element_remarks(mechanism),
        *_unused_parameters(mechanism),
    )


def rechecked(old: MechanismData, new: MechanismData, remarks: Sequence[Note]) -> MechanismData:
    """Return `new`, made of `old`, with the notes of both: old ones, `remarks`, new checks."""
    outdated = check_mechanism(old)
    old_notes = (note for note in new.notes if note not in outdated)
    return replace(new, notes=(*old_notes, *remarks, *check_mechanism(new)), source=None)


def _misleading_names(mechanism: MechanismData) -> Iterator[Note]:
    """Warn of a coordinate called q3 that is not the third, and of a rate called qd3."""
    groups = (("coordinate", "q", mechanism.coordinates), ("rate", "qd", mechanism.rates))
    for kind, letter, names in groups:
        standing = {f"{letter}{index}": index for index in range(1, len(names) + 1)}
        for index, name in enumerate(names, 1):
            if standing.get(name, index) != index:
                text = f"the name suggests another index in {letter}; it is number {index}"
                yield Note("warning", f"{kind} {name!r}", text)


def _idle_joints(mechanism: MechanismData) -> Iterator[Note]:
    """Warn of joints that move no mass: their rows of the mass matrix are zero.

    A joint that others follow moves mass if one of these does. A rotor is mass enough.
    """
    has_mass = [not segment.body.is_massless for segment in mechanism.segments]
    moves_mass: set[int | None] = set()
    for index in reversed(range(len(has_mass))):
        segment = mechanism.segments[index]
        if segment.joint.rotor_inertia != 0:
            moves_mass.add(segment.coordinate)
        if has_mass[index]:
            moves_mass.add(segment.coordinate)
            if segment.parent >= 0:
                has_mass[segment.parent] = True
    if mechanism.elements or not mechanism.segments:
        return
    for index in dict.fromkeys(record.segment for record in mechanism.coordinate_records):
        segment = mechanism.segments[index]
        if segment.coordinate not in moves_mass:
            kind = "joint" if segment.joint.kind.has_quaternion else "coordinate"
            text = "it moves neither mass nor inertia, so the mass matrix is singular"
            yield Note("warning", f"{kind} {segment.joint.name!r}", text)


def _unused_parameters(mechanism: MechanismData) -> Iterator[Note]:
    used = names_in(mechanism)
    for parameter in mechanism.parameters:
        if parameter.name not in used:
            yield Note("note", f"parameter {parameter.name!r}", "it is declared but not used")


def names_in(mechanism: MechanismData) -> frozenset[str]:
    """Return the names of all parameters that occur in the mechanism."""
    names: set[str] = set()
    for number in numbers_of(mechanism):
        if not isinstance(number, Fraction):
            names |= symbols_of(number)
    for law in laws_of(mechanism):
        names |= parameters_in(law, mechanism.coordinates, mechanism.rates)
    others = {*mechanism.unknowns, *(definition.name for definition in mechanism.definitions)}
    return frozenset(names - others)


def laws_of(mechanism: MechanismData) -> Iterator[Number]:
    """Yield every law of the mechanism: expressions that may name coordinates, rates and time."""
    for force in mechanism.forces:
        yield from force.laws
    yield from numbers_in((mechanism.elements, mechanism.definitions))
    yield from numbers_in((mechanism.constraints, mechanism.quasi))


def amounts_of(mechanism: MechanismData) -> Iterator[tuple[str, Number]]:
    """Yield the numbers that no file may have negative, each with the name of its element."""
    for segment in mechanism.segments:
        joint, where = segment.joint, f"segment {segment.name!r}"
        yield f"{where}, mass", segment.body.mass
        yield f"{where}, rotor_inertia", joint.rotor_inertia
        if joint.friction is not None:
            yield f"{where}, friction viscous", joint.friction.viscous
            yield f"{where}, friction coulomb", joint.friction.coulomb
    for element in (*mechanism.springs, *mechanism.elements):
        for field in AMOUNTS:
            number = getattr(element, field, ZERO)
            if not isinstance(number, tuple):
                yield f"{element.name!r}, {field}", number


def refuse_moments(
    mechanism: MechanismData, who: str, remedy: str, raises: type[Error] = DeriveError
) -> None:
    """Refuse bodies that are given by first moments where only mass centres are known."""
    for segment in mechanism.segments:
        if segment.body.moment != ZERO_VECTOR:
            raise raises(
                f"{who} needs the mass centre of each body, and this one has a first moment",
                file=mechanism.file,
                element=f"segment {segment.name!r}",
                remedy=remedy,
            )


def has_base_bodies(mechanism: MechanismData) -> bool:
    """Whether bodies are those of base parameters: one has a first moment, and no mass.

    Such a body stands for parts of others, too, so that it need not be one that could be built.
    """
    bodies = [segment.body for segment in mechanism.segments]
    return any(body.mass == ZERO and body.moment != ZERO_VECTOR for body in bodies)


def lacks_inertia(mechanism: MechanismData) -> bool:
    """Whether a moving body may have no mass, or hardly a moment of inertia about some axis.

    Where none does, the mass matrix of a tree is positive definite in every pose.
    """
    moving = (segment.body for segment in mechanism.segments if segment.coordinate is not None)
    return not all(_has_inertia(body) for body in moving)


def _has_inertia(body: Body) -> bool:
    """Whether mass and inertia are numbers, and those of a body that has some about every axis.

    Doubles tell it: the bound is far above their rounding, and what they cannot hold has none.
    """
    (a, d, e), (_, b, f), (_, _, c) = body.inertia
    numbers = [n for n in (body.mass, a, b, c, d, e, f) if isinstance(n, Fraction)]
    if len(numbers) < 7 or body.moment != ZERO_VECTOR:
        return False
    try:
        mass, a, b, c, d, e, f = map(float, numbers)
        minor = a * b - d * d
        whole = c * minor - a * f * f - b * e * e + 2 * d * e * f
        return mass > 0 and a > 0 and minor > 0 and whole > SLIGHT * (a + b + c) ** 3
    except OverflowError:
        return False


def numbers_of(mechanism: MechanismData) -> Iterator[Number]:
    """Yield every number of the mechanism that may name parameters."""
    yield from mechanism.gravity
    yield from mechanism.base.numbers
    for segment in mechanism.segments:
        body, joint = segment.body, segment.joint
        yield from (body.mass, *body.com, *body.moment, *segment.position, segment.offset)
        yield from (entry for row in body.inertia for entry in row)
        yield from (joint.rotor_inertia, joint.gear_ratio)
        if joint.friction is not None:
            yield from (joint.friction.viscous, joint.friction.coulomb)
    for loop in mechanism.loops:
        yield from loop.numbers
    for frame in mechanism.frames:
        yield from frame.point
    for spring in mechanism.springs:
        yield from (spring.stiffness, spring.rest, spring.damping, spring.preload)
        yield from (entry for end in spring.ends or () for entry in end.point)
    for force in mechanism.forces:
        yield from force.numbers
    for actuator in mechanism.actuators:
        yield from actuator.numbers()


# --- parts of laws that parameters decide -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ConstantPart:
    """A part of a number or law that names nothing but parameters: the largest such part there.

    Where it is a divisor it may not be zero, even where what it divides is: 0/0 would count as 0.
    """

    element: str
    law: Expression
    part: Expression
    is_divisor: bool

    def check(self, values: Mapping[str, Fraction], file: str | None = None) -> None:
        """Refuse a part that has no value with values of parameters, or that divides by zero."""
        try:
            if value_of(self.part, values) or not self.is_divisor:
                return
            message = f"{_shown(self.law)} divides by zero"
        except ReadError as error:
            message = f"{_shown(self.law)} has no value: {error.message}"
        names = sorted(symbols_of(self.part))
        given = ", ".join(f"{name} = {float(values[name]):.6g}" for name in names[:4])
        remedy = f"give {names[0]} another value, or correct the law" if names else "correct it"
        message += f" with {given}" if names else ""
        raise DeriveError(message, file=file, element=self.element, remedy=remedy)


def constant_parts(mechanism: MechanismData, names: Collection[str]) -> Iterator[ConstantPart]:
    """Yield the constant parts of all numbers and laws, given which parameters have values."""
    order = (mechanism.coordinates, mechanism.rates)
    known = {name for name in names if group_of(name, *order) is None}
    for element, number in _named_numbers(mechanism):
        if isinstance(number, Fraction):
            continue
        found = list[tuple[Expression, bool]]()
        if _is_constant(number, known, found):
            found.append((number, False))
        yield from (ConstantPart(element, number, *part) for part in found)


def _is_constant(
    law: Expression, known: Collection[str], found: list[tuple[Expression, bool]]
) -> bool:
    """Tell whether a law names nothing but known parameters; else note its constant parts."""
    parts = parts_of(law)
    if not parts:
        return not isinstance(law, Identifier) or law.name in known
    are_constant = [_is_constant(part, known, found) for part in parts]
    if all(are_constant):
        return True
    for k, part in enumerate(parts):
        is_divisor = isinstance(law, Binary) and law.operator == "/" and k == 1
        if are_constant[k] and (is_divisor or not isinstance(part, NumberExpression)):
            found.append((part, is_divisor))
    return False


def _named_numbers(mechanism: MechanismData) -> Iterator[tuple[str, Number]]:
    """Yield all numbers and laws, each with the name of its element."""
    for actuator in mechanism.actuators:
        where, laws = f"actuator {actuator.name!r}", actuator.laws
        if laws is not None:
            yield f"{where}, effort", laws.effort
            named = zip(actuator.states, laws.rates, strict=True)
            yield from ((f"{where}, state {state}", law) for state, law in named)
        yield from ((where, number) for number in numbers_in(replace(actuator, laws=None)))
    named = {
        "segment": mechanism.segments,
        "loop": mechanism.loops,
        "frame": mechanism.frames,
        "spring": mechanism.springs,
        "force": mechanism.forces,
        "element": mechanism.elements,
        "definition": mechanism.definitions,
        "constraint": mechanism.constraints,
        "quasi-velocity": mechanism.quasi,
    }
    for kind, records in named.items():
        for record in records:
            yield from ((f"{kind} {record.name!r}", number) for number in numbers_in(record))
    yield from (("base", number) for number in numbers_in(mechanism.base))
    yield from (("gravity", number) for number in mechanism.gravity)


def _shown(law: Expression) -> str:
    text = format_expression(law)
    return text if len(text) <= 60 else text[:57] + "..."
