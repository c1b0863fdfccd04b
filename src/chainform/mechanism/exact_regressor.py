"""The regressor at one state in exact numbers; the state is taken at random.

Angles of turning joints are points of the unit circle, joints with a quaternion have any rotation,
and everything else a number. Coupled joints have powers of one point.

symbol   meaning                                                              frame
R, r     rotation of a segment against its parent, and its origin there       parent's
w, b     angular velocity and acceleration                                    segment's
a        acceleration of the origin less gravity                              segment's
J        velocity of the origin, and angular velocity, per unit rate          segment's
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

from chainform.mechanism.data import MechanismData
from chainform.mechanism.dynamic_parameters import (
    INERTIAL,
    PAIRS,
    DynamicParameter,
)
from chainform.mechanism.exact_fields import ExactField, turned
from chainform.mechanism.records import GROUND, Attachment, JointKind, Number, Segment, Spring
from chainform.spatial import (
    Matrix,
    Vector,
    add,
    apply,
    apply_transposed,
    cross,
    dot,
    matrix,
    product,
    scale,
    subtract,
    unit,
)

# --- motion and columns ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    """A segment at a state; `columns` are J by rate."""

    w: Vector
    b: Vector
    a: Vector
    rotation: Matrix
    """Segment axes to base axes, for springs between points."""
    position: Vector
    columns: tuple[tuple[int, Vector, Vector], ...]


class ExactRegressor:
    """The columns of the regressor of a mechanism at a random state."""

    def __init__(self, mechanism: MechanismData, field: ExactField) -> None:
        self.mechanism = mechanism
        self.field = field
        self.zero = field.number(Fraction(0))
        self.none: Vector = (self.zero, self.zero, self.zero)
        self.scales = angle_scales(mechanism)
        self.places: list[_Place] = []
        for segment in mechanism.segments:
            self.places.append(self._place(segment))

    def _vector(self, values: Sequence[Number]) -> Vector:
        x, y, z = map(self.field.number, values)
        return (x, y, z)

    def _matrix(self, rows: Sequence[Sequence[Number]]) -> Matrix:
        return (self._vector(rows[0]), self._vector(rows[1]), self._vector(rows[2]))

    def _random_vector(self, name: str) -> Vector:
        x, y, z = (self.field.random(f"{name} {axis}") for axis in "xyz")
        return (x, y, z)

    @cached_property
    def _base(self) -> _Place:
        base = self.mechanism.base
        turn = self._matrix(base.rotation)
        felt = subtract(self._vector(base.acceleration), self._vector(self.mechanism.gravity))
        w, b = self._vector(base.angular_velocity), self._vector(base.angular_acceleration)
        one = self.field.number(Fraction(1))
        axes = matrix(lambda i, k: one if i == k else self.zero)
        w, b, a = (apply_transposed(turn, v) for v in (w, b, felt))
        return _Place(w, b, a, axes, self.none, ())

    def parent(self, segment: int) -> _Place:
        """Return a segment at the state; the base for the ground."""
        return self._base if segment == GROUND else self.places[segment]

    # --- joints -------------------------------------------------------------------------

    def displacement(self, segment: Segment) -> Any:
        """Return how far a joint has moved along or about its axis."""
        ratio, offset = self.field.number(segment.ratio), self.field.number(segment.offset)
        return self.field.random(f"q {segment.coordinate}") * ratio + offset

    def _turn(self, segment: Segment) -> Matrix:
        """Return the rotation of a joint that turns."""
        name = f"q {segment.coordinate} angle"
        if segment.joint.kind.has_quaternion:
            return self._any_rotation(name)
        whole, of_offsets = self.scales
        coordinate = segment.coordinate or 0
        point = turned(self.field.point(name), int(segment.ratio * whole[coordinate]))
        if segment.offset != 0:
            c, s = self.field.angle(segment.offset, of_offsets)
            point = point[0] * c - point[1] * s, point[1] * c + point[0] * s
        return self._about(self._vector(segment.joint.axis), point)

    def _about(self, axis: Vector, point: tuple[Any, Any]) -> Matrix:
        """Return the rotation about a unit vector: c + (1 - c) e e^T + s [e x]."""
        c, s = point
        skew = {(0, 1): -axis[2], (0, 2): axis[1], (1, 2): -axis[0]}

        def entry(i: int, k: int) -> Any:
            square = (1 - c) * axis[i] * axis[k]
            if i == k:
                return square + c
            return square + s * (skew[i, k] if i < k else -skew[k, i])

        return matrix(entry)

    def _any_rotation(self, name: str) -> Matrix:
        one = self.field.number(Fraction(1))
        x, y, z = (
            self._about(unit(i, one, self.zero), self.field.point(f"{name} {i}")) for i in range(3)
        )
        return product(product(x, y), z)

    def _place(self, segment: Segment) -> _Place:
        before, kind = self.parent(segment.parent), segment.joint.kind
        turn, r = self._matrix(segment.rotation), self._vector(segment.position)
        axis, fixed = self._vector(segment.joint.axis), self._matrix(segment.rotation)
        if kind == JointKind.PRISMATIC:
            r = add(r, apply(fixed, scale(self.displacement(segment), axis)))
        elif kind == JointKind.FREE:
            r = add(r, apply(fixed, self._random_vector(f"q {segment.coordinate}")))
        if kind == JointKind.REVOLUTE or kind.has_quaternion:
            turn = product(turn, self._turn(segment))
        w, b = apply_transposed(turn, before.w), apply_transposed(turn, before.b)
        swing = add(cross(before.b, r), cross(before.w, cross(before.w, r)))
        a = apply_transposed(turn, add(before.a, swing))
        columns = [
            (i, apply_transposed(turn, add(v, cross(o, r))), apply_transposed(turn, o))
            for i, v, o in before.columns
        ]
        own = self._own_columns(segment, axis)
        v, o = self._motion(own, "qd")
        vd, od = self._motion(own, "qdd")
        b = add(b, add(od, cross(w, o)))
        a = add(a, add(vd, cross(add(scale(2, w), o), v)))
        world = product(before.rotation, turn)
        position = add(before.position, apply(before.rotation, r))
        return _Place(add(w, o), b, a, world, position, (*columns, *own))

    def _own_columns(self, segment: Segment, axis: Vector) -> list[tuple[int, Vector, Vector]]:
        if segment.rate is None:
            return []
        if segment.joint.kind.has_quaternion:
            one, first = self.field.number(Fraction(1)), segment.rate
            axes = [unit(i, one, self.zero) for i in range(3)]
            slides = axes if segment.joint.kind == JointKind.FREE else []
            turns = [(first + len(slides) + i, self.none, e) for i, e in enumerate(axes)]
            return [*((first + i, e, self.none) for i, e in enumerate(slides)), *turns]
        along = scale(self.field.number(segment.ratio), axis)
        is_turning = segment.joint.kind == JointKind.REVOLUTE
        return [(segment.rate, *((self.none, along) if is_turning else (along, self.none)))]

    def _motion(
        self, columns: Sequence[tuple[int, Vector, Vector]], group: str
    ) -> tuple[Vector, Vector]:
        linear, angular = self.none, self.none
        for rate, v, o in columns:
            size = self.field.random(f"{group} {rate}")
            linear, angular = add(linear, scale(size, v)), add(angular, scale(size, o))
        return linear, angular

    # --- columns ------------------------------------------------------------------------

    def column(self, parameter: DynamicParameter) -> list[Any]:
        """Return the column of a parameter, an entry for each rate."""
        entries = [self.zero] * self.mechanism.nv
        if not parameter.is_inertial:
            for rate, value in self._passive(parameter):
                entries[rate] = entries[rate] + value
            return entries
        force, moment = self._wrench(self.places[parameter.place], INERTIAL.index(parameter.kind))
        for rate, v, o in self.places[parameter.place].columns:
            entries[rate] = entries[rate] + dot(v, force) + dot(o, moment)
        return entries

    def _wrench(self, place: _Place, index: int) -> tuple[Vector, Vector]:
        if index == 0:
            return place.a, self.none
        one = self.field.number(Fraction(1))
        if index <= len(self.none):
            e = unit(index - 1, one, self.zero)
            return add(cross(place.b, e), cross(place.w, cross(place.w, e))), cross(e, place.a)
        pair = set(PAIRS[index - len(self.none) - 1])
        inertia = matrix(lambda i, k: one if {i, k} == pair else self.zero)
        spin = cross(place.w, apply(inertia, place.w))
        return self.none, add(apply(inertia, place.b), spin)

    def _passive(self, parameter: DynamicParameter) -> list[tuple[int, Any]]:
        if parameter.kind in ("stiffness", "preload", "damping"):
            return self._spring(parameter.kind, self.mechanism.springs[parameter.place])
        segment = self.mechanism.segments[parameter.place]
        assert segment.rate is not None
        ratio, rate = self.field.number(abs(segment.ratio)), segment.rate
        if parameter.kind == "viscous":
            return [(rate, ratio * ratio * self.field.random(f"qd {rate}"))]
        if parameter.kind == "coulomb":
            return [(rate, ratio * self.field.random(f"sign qd {rate}"))]
        gear = ratio * self.field.number(segment.joint.gear_ratio)
        return [(rate, gear * gear * self.field.random(f"qdd {rate}"))]

    def _spring(self, kind: str, spring: Spring) -> list[tuple[int, Any]]:
        if spring.ends is None:
            assert spring.segment is not None
            segment = self.mechanism.segments[spring.segment]
            assert segment.rate is not None
            ratio, rate = self.field.number(segment.ratio), segment.rate
            if kind == "damping":
                return [(rate, ratio * ratio * self.field.random(f"qd {rate}"))]
            return [(rate, ratio * self.displacement(segment) if kind == "stiffness" else -ratio)]
        slopes = self._slopes(spring.ends)
        if kind == "stiffness":
            return slopes
        if kind == "preload":
            # A root has no value here; equal springs have equal ones.
            ends = sorted(str(end) for end in spring.ends)
            return [(rate, -value * self.field.random(f"length {ends}")) for rate, value in slopes]
        stretch = sum((v * self.field.random(f"qd {rate}") for rate, v in slopes), self.zero)
        r = subtract(*(self._end(end)[0] for end in reversed(spring.ends)))
        return [(rate, value * stretch * self.field.inverse(dot(r, r))) for rate, value in slopes]

    def _end(self, end: Attachment) -> tuple[Vector, list[tuple[int, Vector]]]:
        """Return an end of a spring and its velocity per unit rate, in base axes."""
        place, arm = self.parent(end.segment), self._vector(end.point)
        moves = [(i, apply(place.rotation, add(v, cross(o, arm)))) for i, v, o in place.columns]
        return add(place.position, apply(place.rotation, arm)), moves

    def _slopes(self, ends: tuple[Attachment, Attachment]) -> list[tuple[int, Any]]:
        (near, before), (far, behind) = map(self._end, ends)
        r = subtract(far, near)
        return [(i, dot(r, v)) for i, v in behind] + [(i, -dot(r, v)) for i, v in before]


def angle_scales(mechanism: MechanismData) -> tuple[dict[int, int], int]:
    """Return for each coordinate a number that makes all its ratios whole, and one for offsets."""
    ratios: dict[int, int] = {}
    offsets = 1
    for segment in mechanism.segments:
        if segment.coordinate is not None:
            before = ratios.get(segment.coordinate, 1)
            ratios[segment.coordinate] = lcm(before, segment.ratio.denominator)
        if isinstance(segment.offset, Fraction):
            offsets = lcm(offsets, segment.offset.denominator)
    return ratios, offsets
