"""Positions and axes of a mechanism as named variables of a graph.

symbol   meaning                                                            frame   Racković 1996
A_j      rotation of segment j against its parent, R0_j Rot(axis, q)        parent  (1.9)
Q_j      rotation of segment j; its columns are the body axes               world   (1.9)
e_j      unit axis of the joint that carries segment j                      world   (1.10)
l_j_k    from joint k to the mass centre of segment j                       body j  r~_jk
r_j_k    from joint k to the mass centre of segment j                       world   r_jk
w_j_i    axis e_i seen from segment j: components e_i . q_j1, q_j2, q_j3    body j  (1.25)

Joint k of r_j_k is the joint of segment j itself, of one of its children, or of a segment
between it and the base. For a prismatic joint j the vector r_j_j begins at the place of the
joint on the parent, so that it contains q_j e_j. Segments and joints are numbered from 1;
q1, q2, ... follow the order of the coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from chainform.expressions import Expression, evaluate_expression, symbols_of
from chainform.formulations.shared.base import Base
from chainform.graph import Builder, Scalar
from chainform.mechanism import GROUND, TIME, JointKind, Mechanism, Segment
from chainform.spatial import (
    Matrix,
    Vector,
    add,
    apply,
    apply_transposed,
    matrix,
    product,
    rodrigues,
    scale,
    subtract,
)

AXES = "xyz"


def _quaternion_entry(one: Scalar, v: Vector, w: Scalar, i: int, k: int) -> Scalar:
    """Return an entry of 1 + 2 w [v x] + 2 [v x][v x]."""
    if i == k:
        a, b = v[(i + 1) % 3], v[(i + 2) % 3]
        return one - 2 * (one.builder.keep(a * a + b * b))
    l = 3 - i - k
    turned = w * v[l] if (k - i) % 3 == 2 else -(w * v[l])
    return 2 * one.builder.keep(v[i] * v[k] + turned)


def input_vector(builder: Builder, group: str, first: int) -> Vector:
    """Return three inputs of a group that follow one another."""
    x, y, z = (builder.input(f"{group}{k + 1}", group, k) for k in range(first, first + 3))
    return (x, y, z)


def wrench_inputs(builder: Builder, number: int) -> tuple[Vector, Vector]:
    """Return force and moment of an external wrench, counted from 0."""
    return input_vector(builder, "wrench", 6 * number), input_vector(
        builder, "wrench", 6 * number + 3
    )


class BuilderArithmetic:
    """Expressions of parameters, computed inside a graph."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def number(self, value: Fraction) -> Scalar:
        """Return an exact coefficient."""
        return self.builder.number(value)

    def call(self, function: str, arguments: Sequence[Scalar]) -> Scalar:
        """Return a call of one argument, or what can be made of such.

        step(x) is 1 from zero on: sign(2 sign(x) + 1) has no third value at the jump. min and max
        take half of both where these are equal, so that their slope is the mean of both sides. A
        whole or half power is made of products and a root, as logarithms of negative numbers have
        no value.
        """
        call, first = self.builder.call, arguments[0]
        match function, list(arguments):
            case "step", _:
                return (call("sign", 2 * call("sign", first) + 1) + 1) / 2
            case (("min" | "max"), _):
                for other in arguments[1:]:
                    ahead, behind = (first, other) if function == "max" else (other, first)
                    chosen = self.builder.keep((call("sign", ahead - behind) + 1) / 2)
                    first = chosen * first + (1 - chosen) * other
                return first
            case "atan2", [y, x]:
                return self._direction(y, x)
            case "pow", [base, exponent] if exponent.is_number and (2 * exponent).number % 1 == 0:
                return self._half_power(base, int((2 * exponent).number))
            case "pow", [base, exponent]:
                return call("exp", exponent * call("log", base))
            case _:
                return call(function, first)

    def _direction(self, y: Scalar, x: Scalar) -> Scalar:
        """Return the angle of the vector (x, y), in (-pi, pi]: twice that of half the turn.

        With s = 1 for x >= 0 and -1 else, y / (r + s x) never cancels. Both are divided by
        |x| + |y|, so that no square is too large or too small. It has no value at (0, 0).
        """
        call, keep = self.builder.call, self.builder.keep
        side, above = (2 * self.call("step", [v]) - 1 for v in (x, y))
        scale = call("reciprocal", keep(call("abs", x) + call("abs", y)))
        x, y = keep(x * scale), keep(y * scale)
        length = keep(call("sqrt", keep(x * x + y * y)) + side * x)
        half = call("atan", keep(y * call("reciprocal", length)))
        return 2 * side * half + (1 - side) * above * (Fraction(math.pi) / 2)

    def _half_power(self, base: Scalar, halves: int) -> Scalar:
        """Return base^(halves / 2) by squaring, from the most significant digit on."""
        call, keep = self.builder.call, self.builder.keep
        count = abs(halves)
        if count % 2:
            base = call("sqrt", base)
        else:
            count //= 2
        product = keep(base)
        for digit in bin(count)[3:]:
            product = keep(product * product)
            if digit == "1":
                product = keep(product * base)
        return product if halves > 0 else call("reciprocal", product)


class Kinematics:
    """What formulations in world axes need of a mechanism, each part built at its first use."""

    def __init__(self, mechanism: Mechanism, builder: Builder) -> None:
        self.mechanism = mechanism
        self.builder = builder
        self.parameters = {parameter.name: parameter for parameter in mechanism.parameters}
        self.base = Base(builder, mechanism.base, self.number)
        self.rotation = cache(self._rotation)
        self.relative_rotation = cache(self._relative_rotation)
        self.axis = cache(self._axis)
        self.offset = cache(self._offset)
        self.axis_in_body = cache(self._axis_in_body)

    # --- inputs -------------------------------------------------------------------------

    def q(self, coordinate: int, group: str = "q") -> Scalar:
        """Return a coordinate, its rate (group "qd") or its acceleration ("qdd")."""
        return self.builder.input(f"{group}{coordinate + 1}", group, coordinate)

    def displacement(self, segment: Segment) -> Scalar:
        """Return how far a joint of one freedom is turned or slid."""
        assert segment.coordinate is not None
        moved = self.q(segment.coordinate) * segment.ratio
        return self.builder.keep(moved + self.number(segment.offset))

    def quaternion(self, segment: Segment) -> Matrix:
        """Return the rotation of a joint with a quaternion x y z w of unit length."""
        assert segment.coordinate is not None
        first = segment.coordinate + segment.joint.kind.coordinates - 4
        x, y, z, w = (self.q(first + k) for k in range(4))
        keep = self.builder.keep
        return matrix(
            lambda i, k: keep(_quaternion_entry(self.builder.number(1), (x, y, z), w, i, k))
        )

    def number(self, value: Fraction | Expression) -> Scalar:
        """Return a number of the mechanism, an expression of its parameters, or a law of time."""
        if isinstance(value, Fraction):
            return self.builder.number(value)
        symbols = {name: self.parameter(name) for name in sorted(symbols_of(value))}
        return evaluate_expression(value, symbols, BuilderArithmetic(self.builder))

    def parameter(self, name: str) -> Scalar:
        """Return a parameter that stays symbolic; t, where it is none, is the time."""
        if name == TIME and name not in self.parameters:
            return self.builder.input(TIME, "t", 0)
        return self.builder.parameter(name, self.parameters[name].value)

    def vector(self, values: Sequence[Fraction | Expression]) -> Vector:
        """Return a vector of the mechanism's numbers."""
        return (self.number(values[0]), self.number(values[1]), self.number(values[2]))

    # --- naming -------------------------------------------------------------------------

    def named_scalar(self, name: str, value: Scalar) -> Scalar:
        """Give a scalar a name under which it is an intermediate quantity."""
        (named,) = self.builder.quantity(name, (), [(name, value)])
        return named

    def named_vector(self, name: str, value: Vector) -> Vector:
        """Give a vector a name; its components are name_x, name_y, name_z."""
        entries = [(f"{name}_{AXES[i]}", value[i]) for i in range(3)]
        x, y, z = self.builder.quantity(name, (3,), entries)
        return (x, y, z)

    def named_matrix(self, name: str, value: Matrix) -> Matrix:
        """Give a 3 x 3 matrix a name; its entries are name_xx, name_xy, ..."""
        entries = [(f"{name}_{AXES[i]}{AXES[j]}", value[i][j]) for i in range(3) for j in range(3)]
        flat = self.builder.quantity(name, (3, 3), entries)
        return (
            (flat[0], flat[1], flat[2]),
            (flat[3], flat[4], flat[5]),
            (flat[6], flat[7], flat[8]),
        )

    # --- the tree -----------------------------------------------------------------------

    def segment(self, j: int) -> Segment:
        """Return segment j, counted from 0."""
        return self.mechanism.segments[j]

    def moving_path(self, j: int) -> tuple[int, ...]:
        """Return the segments from the base to j whose joints move, in that order."""
        path = self.mechanism.path_to(j)
        return tuple(i for i in path if self.segment(i).coordinate is not None)

    def is_revolute(self, i: int) -> bool:
        """Whether the joint of segment i turns."""
        return self.segment(i).joint.kind == JointKind.REVOLUTE

    # --- rotations ----------------------------------------------------------------------

    def _relative_rotation(self, j: int) -> Matrix:
        """Return A_j: body axes to the parent's axes."""
        segment = self.segment(j)
        turned: Matrix = segment.rotation
        if segment.joint.kind == JointKind.REVOLUTE:
            angle = self.displacement(segment)
            cos, sin = self.builder.call("cos", angle), self.builder.call("sin", angle)
            turned = product(turned, rodrigues(segment.joint.axis, cos, sin))
        return self.named_matrix(f"A_{j + 1}", turned)

    def _rotation(self, j: int) -> Matrix:
        """Return Q_j: body axes to world axes."""
        if j == GROUND:
            return self.base.rotation
        parent = self.rotation(self.segment(j).parent)
        return self.named_matrix(f"Q_{j + 1}", product(parent, self.relative_rotation(j)))

    def _axis(self, i: int) -> Vector:
        """Return e_i in world axes."""
        axis = apply(self.rotation(i), self.segment(i).joint.axis)
        return self.named_vector(f"e_{i + 1}", axis)

    def _axis_in_body(self, j: int, i: int) -> Vector:
        """Return w_j_i: the axis of joint i, at or before segment j, in the axes of body j."""
        if i == j:
            value: Vector = self.segment(i).joint.axis
        else:
            on_parent = self.axis_in_body(self.segment(j).parent, i)
            value = apply_transposed(self.relative_rotation(j), on_parent)
        return self.named_vector(f"w_{j + 1}_{i + 1}", value)

    # --- positions ----------------------------------------------------------------------

    def _offset(self, j: int, k: int) -> Vector:
        """Return r_j_k: from joint k to the mass centre of segment j."""
        name = f"r_{j + 1}_{k + 1}"
        if k == j:
            return self.named_vector(name, self._own_offset(j))
        if self.segment(k).parent == j:
            com, place = (
                self.vector(self.segment(j).body.com),
                self.vector(self.segment(k).position),
            )
            local = self.named_vector(f"l_{j + 1}_{k + 1}", subtract(com, place))
            return self.named_vector(name, apply(self.rotation(j), local))
        parent = self.segment(j).parent
        to_joint = subtract(self.offset(parent, k), self.offset(parent, j))
        return self.named_vector(name, add(to_joint, self.offset(j, j)))

    def _own_offset(self, j: int) -> Vector:
        segment = self.segment(j)
        com = self.vector(segment.body.com)
        local = self.named_vector(f"l_{j + 1}_{j + 1}", com)
        offset = apply(self.rotation(j), local)
        if segment.joint.kind == JointKind.PRISMATIC:
            offset = add(offset, scale(self.displacement(segment), self.axis(j)))
        return offset

    def offset_of_point(self, name: str, j: int, point: Vector, i: int) -> Vector:
        """Return the vector from joint i to a point fixed in segment j (body axes), in world."""
        local = subtract(point, self.vector(self.segment(j).body.com))
        beyond = apply(self.rotation(j), self.named_vector(f"l_{name}", local))
        return self.named_vector(f"r_{name}_{i + 1}", add(self.offset(j, i), beyond))

    def build_all(self) -> None:
        """Make Q, e and r of every segment, so that each has a name."""
        for j, segment in enumerate(self.mechanism.segments):
            self.rotation(j)
            if segment.coordinate is not None:
                self.axis(j)
            for k in (j, *self.mechanism.children[j]):
                self.offset(j, k)
            for i in self.moving_path(j):
                self.offset(j, i)
