"""Remarks on a finished mechanism that no single element can make."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from chainform.expressions import symbols_of
from chainform.mechanism.mechanism import Mechanism
from chainform.mechanism.types import Note, Number


def check_mechanism(mechanism: Mechanism) -> tuple[Note, ...]:
    """Return the remarks: joints that move nothing, parameters that are not used."""
    return (*_idle_joints(mechanism), *_unused_parameters(mechanism))


def _idle_joints(mechanism: Mechanism) -> Iterator[Note]:
    """Warn of coordinates that move no mass: their row of the mass matrix is zero."""
    has_mass = [not segment.body.is_massless for segment in mechanism.segments]
    for index in reversed(range(len(has_mass))):
        parent = mechanism.segments[index].parent
        if has_mass[index] and parent >= 0:
            has_mass[parent] = True
    for record in mechanism.coordinate_records:
        if not has_mass[record.segment]:
            text = "it moves neither mass nor inertia, so the mass matrix is singular"
            yield Note("warning", f"coordinate {record.name!r}", text)


def _unused_parameters(mechanism: Mechanism) -> Iterator[Note]:
    used = names_in(mechanism)
    for parameter in mechanism.parameters:
        if parameter.name not in used:
            yield Note("note", f"parameter {parameter.name!r}", "it is declared but not used")


def names_in(mechanism: Mechanism) -> frozenset[str]:
    """Return the names of all parameters that occur in the mechanism."""
    names: set[str] = set()
    for number in numbers_of(mechanism):
        if not isinstance(number, Fraction):
            names |= symbols_of(number)
    return frozenset(names)


def numbers_of(mechanism: Mechanism) -> Iterator[Number]:
    """Yield every number of the mechanism that may name parameters."""
    yield from mechanism.gravity
    base = mechanism.base
    for vector in (base.position, base.velocity, base.angular_velocity):
        yield from vector
    yield from base.acceleration
    yield from base.angular_acceleration
    for segment in mechanism.segments:
        body, joint = segment.body, segment.joint
        yield from (body.mass, *body.com, *segment.position)
        yield from (entry for row in body.inertia for entry in row)
        yield from (joint.rotor_inertia, joint.gear_ratio)
        if joint.friction is not None:
            yield from (joint.friction.viscous, joint.friction.coulomb)
    for loop in mechanism.loops:
        yield from (*loop.closing.point, *loop.target.point)
