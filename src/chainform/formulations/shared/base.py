"""The motion of the base body: Turek's body 0, whose motion is given.

symbol   meaning                                                                     frame
R0       rotation of the base, its components to world components                    world
p0, v0   position and velocity of its origin                                         world
w0, e0   angular velocity and angular acceleration                                   world
a0       acceleration of its origin                                                  world

Where one of these is a law of time, those that follow from it are its derivatives. With angles
R0 = Rz(c) Ry(b) Rx(a) and with a quaternion (v, s) of length l

    w0 = c' z + Rz (b' y + Ry a' x),        w0 = 2 (s v' - s' v + v x v') / l^2
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property

from chainform.graph import Builder, Scalar, Tangents
from chainform.mechanism import ZERO, BaseMotion, Number, is_law_of_time
from chainform.spatial import (
    Matrix,
    Vector,
    add,
    apply,
    cross,
    matrix,
    product,
    rodrigues,
    scale,
    subtract,
    unit,
)


class Base:
    """The motion of the base as scalars of a graph; each built at its first use.

    `number` gives a number of the mechanism, an expression of parameters or a law of time.
    """

    def __init__(
        self, builder: Builder, motion: BaseMotion, number: Callable[[Number], Scalar]
    ) -> None:
        self.builder = builder
        self.motion = motion
        self.number = number

    def _vector(self, components: Sequence[Number]) -> Vector:
        x, y, z = (self.builder.keep(self.number(component)) for component in components)
        return (x, y, z)

    # --- place --------------------------------------------------------------------------

    @cached_property
    def position(self) -> Vector:
        """The origin."""
        return self._vector(self.motion.position)

    @cached_property
    def rotation(self) -> Matrix:
        """R0; of exact numbers where the orientation is known."""
        if self.motion.rpy is not None:
            x, y, z = self._turns
            return self.builder.keep_matrix(product(product(z, y), x))
        if self.motion.quaternion is not None:
            return self._of_quaternion()
        return self.motion.rotation

    @cached_property
    def _turns(self) -> tuple[Matrix, Matrix, Matrix]:
        """Rx, Ry and Rz of the three angles."""
        angles, call = self._vector(self.motion.rpy or ()), self.builder.call
        x, y, z = (
            rodrigues(unit(i, Fraction(1), ZERO), call("cos", angle), call("sin", angle))
            for i, angle in enumerate(angles)
        )
        return x, y, z

    @cached_property
    def _quaternion(self) -> tuple[Vector, Scalar, Scalar]:
        """The parts v and s of the quaternion, and 2 / l^2."""
        x, y, z, s = (self.builder.keep(self.number(c)) for c in self.motion.quaternion or ())
        square = self.builder.keep(x * x + y * y + z * z + s * s)
        return (x, y, z), s, self.builder.keep(2 * self.builder.call("reciprocal", square))

    def _of_quaternion(self) -> Matrix:
        """Return 1 + 2 (s [v x] + [v x][v x]) / l^2, a rotation for any length but zero."""
        v, s, twice = self._quaternion

        def entry(i: int, k: int) -> Scalar:
            a, b = v[(i + 1) % 3], v[(i + 2) % 3]
            if i == k:
                return 1 - twice * (a * a + b * b)
            turned = s * v[3 - i - k]
            return twice * (v[i] * v[k] + (turned if (k - i) % 3 == 2 else -turned))

        return self.builder.keep_matrix(matrix(entry))

    # --- velocity -----------------------------------------------------------------------

    @cached_property
    def velocity(self) -> Vector:
        """The velocity of the origin."""
        if is_law_of_time(self.motion.position):
            return self._rate(self.position)
        return self._vector(self.motion.velocity)

    @cached_property
    def angular_velocity(self) -> Vector:
        """The angular velocity."""
        motion = self.motion
        if motion.rpy is not None and is_law_of_time(motion.rpy):
            _, about_y, about_z = self._turns
            a, b, c = self._rate(self._vector(motion.rpy))
            zero = self.builder.number(0)
            inner = add(unit(1, b, zero), apply(about_y, unit(0, a, zero)))
            return self.builder.keep_vector(add(unit(2, c, zero), apply(about_z, inner)))
        if motion.quaternion is not None and is_law_of_time(motion.quaternion):
            v, s, twice = self._quaternion
            rate, slope = self._rate(v), self._tangents.of(s)
            turning = add(subtract(scale(s, rate), scale(slope, v)), cross(v, rate))
            return self.builder.keep_vector(scale(twice, self.builder.keep_vector(turning)))
        return self._vector(motion.angular_velocity)

    # --- acceleration -------------------------------------------------------------------

    @cached_property
    def acceleration(self) -> Vector:
        """The acceleration of the origin."""
        if is_law_of_time((*self.motion.position, *self.motion.velocity)):
            return self._rate(self.velocity)
        return self._vector(self.motion.acceleration)

    @cached_property
    def angular_acceleration(self) -> Vector:
        """The angular acceleration."""
        turn = self.motion.rpy or self.motion.quaternion or ()
        if is_law_of_time((*turn, *self.motion.angular_velocity)):
            return self._rate(self.angular_velocity)
        return self._vector(self.motion.angular_acceleration)

    # --- derivatives by time ------------------------------------------------------------

    @cached_property
    def _tangents(self) -> Tangents:
        time = self.builder.variable_of(self.builder.input("t", "t", 0))
        return Tangents(self.builder, {time: self.builder.number(1)})

    def _rate(self, v: Vector) -> Vector:
        rate = self._tangents.of
        return self.builder.keep_vector((rate(v[0]), rate(v[1]), rate(v[2])))
