"""The regressor at one state in exact numbers: residues of a prime, or polynomials of parameters.

A state is taken at random: points of the unit circle for the angles of turning joints, rotations
for joints with a quaternion, numbers for everything else. Multiples and fractions of an angle, as
coupled joints have them, are powers of one point, so that they obey the laws of angles. What is
equal there for all columns is equal for all states, but for a chance of about one in the prime.

symbol   meaning                                                              frame
R, r     rotation of a segment against its parent, and its origin there       parent's
w, b     angular velocity and acceleration                                    segment's
a        acceleration of the origin less gravity                              segment's
J        velocity of the origin, and angular velocity, per unit rate          segment's
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from random import Random
from typing import Any, Protocol

from flint import fmpq, fmpq_mpoly_ctx, nmod

from chainform.expressions import (
    Binary,
    Constant,
    Expression,
    Identifier,
    Negate,
    evaluate_expression,
    format_expression,
    value_of,
)
from chainform.expressions import Number as NumberExpression
from chainform.mechanism.data import MechanismData
from chainform.mechanism.dynamic_parameters import (
    INERTIAL,
    PAIRS,
    DynamicParameter,
)
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

PRIME = 2**61 - 1
LONGEST_POWER = 64
"""Multiples of an angle beyond this are not computed in fractions."""


class ExactField(Protocol):
    """Exact scalars: the numbers of a mechanism, and random ones that depend on a name."""

    def number(self, value: Number) -> Any:
        """Return a number of the mechanism."""
        ...

    def random(self, name: str) -> Any:
        """Return a random scalar, the same for the same name."""
        ...

    def angle(self, value: Number, scale: int) -> tuple[Any, Any]:
        """Return the point of the circle at a given angle; `scale` times angles are whole."""
        ...


def turned(point: tuple[Any, Any], power: int) -> tuple[Any, Any]:
    """Return the point at a multiple of the angle of a point: cosine and sine."""
    c, s = point[0], point[1] if power >= 0 else -point[1]
    cosine, sine = c * 0 + 1, s * 0
    for digit in f"{abs(power):b}":
        cosine, sine = cosine * cosine - sine * sine, 2 * (sine * cosine)
        if digit == "1":
            cosine, sine = cosine * c - sine * s, sine * c + cosine * s
    return cosine, sine


def _on_circle(t: Any) -> tuple[Any, Any]:
    share = 1 / (1 + t * t)
    return (1 - t * t) * share, 2 * t * share


class Residues:
    """Residues of a large prime; parameters have random values, equal ones for equal names."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def number(self, value: Number) -> Any:
        """Return the residue of a number or expression."""
        if isinstance(value, Fraction):
            return nmod(value.numerator, PRIME) / nmod(value.denominator, PRIME)
        symbols = _Symbols(lambda name: self.hashed(f"parameter {name}"))
        return evaluate_expression(value, symbols, self)

    def call(self, function: str, arguments: Sequence[Any]) -> Any:
        """Return a function of residues: a reciprocal, or a number of which nothing is known."""
        if function == "reciprocal":
            return 1 / arguments[0]
        return self.hashed(f"{function} {[int(argument) for argument in arguments]}")

    def hashed(self, name: str) -> Any:
        """Return a number that depends on a name alone, not on the state."""
        return nmod(Random(name).randrange(1, PRIME), PRIME)

    def random(self, name: str) -> Any:
        """Return a random residue."""
        return nmod(Random(f"{self.seed} {name}").randrange(1, PRIME), PRIME)

    def angle(self, value: Number, scale: int) -> tuple[Any, Any]:
        """Return the point at an angle: a power of that at 1 / scale."""
        if isinstance(value, Fraction):
            return turned(_on_circle(self.hashed("angle")), int(value * scale))
        return _on_circle(self.hashed(f"angle {format_expression(value)}"))


class _Symbols(dict[str, Any]):
    """A table that computes its entries."""

    def __init__(self, of: Callable[[str], Any]) -> None:
        super().__init__()
        self._of = of

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> Any:
        return self._of(name)


class Polynomials:
    """Polynomials of the parameters with rational coefficients; states have short numbers.

    What is no polynomial, such as a root or a quotient, is an indeterminate of its own. Without
    parameters they are rational numbers.
    """

    def __init__(self, numbers: Iterable[Number], seed: int = 0) -> None:
        self.seed = seed
        atoms = dict.fromkeys(atom for number in numbers for atom in _atoms(number))
        self.atoms: tuple[Expression, ...] = tuple(atoms)
        names = [f"x{k}" for k in range(len(atoms))]
        self.context = fmpq_mpoly_ctx.get(names, "lex") if names else None
        gens = self.context.gens() if self.context is not None else ()
        self._gens = dict(zip(self.atoms, gens, strict=True))

    def number(self, value: Number) -> Any:
        """Return a number or expression."""
        if not isinstance(value, Fraction):
            return self._polynomial(value)
        exact = fmpq(value.numerator, value.denominator)
        return exact if self.context is None else self.context.constant(exact)

    def _polynomial(self, expression: Expression) -> Any:
        if expression in self._gens:
            return self._gens[expression]
        match expression:
            case Negate(operand):
                return -self._polynomial(operand)
            case Binary("+", left, right):
                return self._polynomial(left) + self._polynomial(right)
            case Binary("-", left, right):
                return self._polynomial(left) - self._polynomial(right)
            case Binary("*", left, right):
                return self._polynomial(left) * self._polynomial(right)
            case Binary("/", left, right):
                return self._polynomial(left) * self.number(1 / value_of(right))
            case Binary("^", base, exponent):
                return self._polynomial(base) ** int(value_of(exponent))
            case _:
                return self.number(value_of(expression))

    def random(self, name: str) -> Any:
        """Return a short random fraction."""
        random = Random(f"{self.seed} {name}")
        return self.number(
            Fraction(random.choice((-1, 1)) * random.randrange(1, 12), random.randrange(1, 4))
        )

    def point(self, name: str) -> tuple[Any, Any]:
        """Return a random point of the circle with short coordinates."""
        t = Fraction(Random(f"{self.seed} {name}").randrange(2, 12), 1)
        return self.number((1 - t * t) / (1 + t * t)), self.number(2 * t / (1 + t * t))

    def angle(self, value: Number, scale: int) -> tuple[Any, Any]:
        """Return a point for an angle, mirrored for the opposite angle."""
        if isinstance(value, Fraction) and value < 0:
            cosine, sine = self.angle(-value, scale)
            return cosine, -sine
        text = str(value) if isinstance(value, Fraction) else format_expression(value)
        t = Fraction(Random(f"angle {text}").randrange(2, 90), 7)
        return self.number((1 - t * t) / (1 + t * t)), self.number(2 * t / (1 + t * t))


def _atoms(value: Number) -> Iterable[Expression]:
    """Yield the parameters, and the parts that are no polynomials of them."""
    match value:
        case Fraction() | NumberExpression() | Constant():
            return
        case Negate(operand):
            yield from _atoms(operand)
        case Binary("+" | "-" | "*", left, right):
            yield from (*_atoms(left), *_atoms(right))
        case Binary("/", left, right) if not list(_atoms(right)):
            yield from _atoms(left)
        case Binary("^", base, exponent) if _is_natural(exponent):
            yield from _atoms(base)
        case Identifier():
            yield value
        case _:
            yield value


def _is_natural(exponent: Expression) -> bool:
    if list(_atoms(exponent)):
        return False
    number = value_of(exponent)
    return number.denominator == 1 and 0 < number <= LONGEST_POWER


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
        into = (apply_transposed(turn, v) for v in (w, b, felt))
        return _Place(*into, axes, self.none, ())

    def parent(self, segment: int) -> _Place:
        """Return a segment at the state; the base for the ground."""
        return self._base if segment == GROUND else self.places[segment]

    # --- joints -------------------------------------------------------------------------

    def point(self, name: str) -> tuple[Any, Any]:
        """Return a random point of the circle."""
        field = self.field
        return (
            field.point(name) if isinstance(field, Polynomials) else _on_circle(field.random(name))
        )

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
        point = turned(self.point(name), int(segment.ratio * whole[coordinate]))
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
            self._about(unit(i, one, self.zero), self.point(f"{name} {i}")) for i in range(3)
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
        return [(rate, value * stretch * self._inverse(dot(r, r))) for rate, value in slopes]

    def _inverse(self, value: Any) -> Any:
        return (
            self.field.random(f"inverse {value}")
            if isinstance(self.field, Polynomials)
            else 1 / value
        )

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
