"""The motion of a frame: angular velocity w and U = [alpha x] + [w x][w x], entries on demand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from chainform.graph import Builder, Number, Scalar
from chainform.spatial import Matrix, Vector, apply, apply_transposed, column, dot, replaced


def others(axis: int) -> tuple[int, int]:
    """Return the two axes that follow an axis cyclically: z, x, y are a right-handed triad."""
    return (axis + 1) % 3, (axis + 2) % 3


def is_zero(value: Scalar | Number) -> bool:
    """Whether a scalar is known to be zero."""
    if isinstance(value, Scalar):
        return value.is_number and not value.number
    return not value


class Turn(Protocol):
    """A change of axes between two frames with a common origin."""

    def into(self, v: Vector) -> Vector:
        """Return a vector of the outer frame in the axes of the inner one."""
        ...

    def back(self, v: Vector) -> Vector:
        """Return a vector of the inner frame in the axes of the outer one."""
        ...


@dataclass(frozen=True, slots=True)
class AxisTurn:
    """The inner frame is turned about a coordinate axis."""

    axis: int
    cos: Scalar
    sin: Scalar

    def into(self, v: Vector) -> Vector:
        """Return R^T v."""
        return self._turned(v, self.sin)

    def back(self, v: Vector) -> Vector:
        """Return R v."""
        return self._turned(v, -self.sin)

    def _turned(self, v: Vector, sin: Scalar) -> Vector:
        builder = self.cos.builder
        x, y = others(self.axis)
        turned = replaced(v, x, builder.keep(self.cos * v[x] + sin * v[y]))
        return replaced(turned, y, builder.keep(self.cos * v[y] - sin * v[x]))


@dataclass(frozen=True, slots=True)
class MatrixTurn:
    """The inner frame is turned by a rotation matrix, constant or not."""

    builder: Builder
    rotation: Matrix

    def into(self, v: Vector) -> Vector:
        """Return R^T v."""
        return self._kept(apply_transposed(self.rotation, v))

    def back(self, v: Vector) -> Vector:
        """Return R v."""
        return self._kept(apply(self.rotation, v))

    def _kept(self, v: Vector) -> Vector:
        keep = self.builder.keep
        return (keep(v[0]), keep(v[1]), keep(v[2]))


class Motion:
    """w and U of one frame.

    Given are w, the column of U along one axis z, and alpha_z; every other entry of U follows
    from them and is computed when it is asked for.
    """

    def __init__(self, w: Vector, axis: int, along: Vector, alpha: Scalar) -> None:
        self.w = w
        self.axis = axis
        self.column = along
        self.builder: Builder = alpha.builder
        self._alpha = {axis: alpha}
        self._u: dict[tuple[int, int], Scalar] = {}

    @staticmethod
    def at_rest(builder: Builder) -> Motion:
        """Return the motion of a frame that does not turn."""
        zero = builder.number(0)
        return Motion((zero, zero, zero), 2, (zero, zero, zero), zero)

    @staticmethod
    def of(w: Vector, alpha: Vector) -> Motion:
        """Return the motion with given angular velocity and acceleration."""
        builder: Builder = alpha[2].builder
        keep = builder.keep
        along = (
            keep(w[0] * w[2] + alpha[1]),
            keep(w[1] * w[2] - alpha[0]),
            keep(-(w[0] * w[0] + w[1] * w[1])),
        )
        return Motion(w, 2, along, alpha[2])

    def product(self, i: int, k: int) -> Scalar:
        """Return w_i w_k."""
        return self.builder.keep(self.w[i] * self.w[k])

    def u(self, i: int, k: int) -> Scalar:
        """Return U_ik."""
        if (i, k) not in self._u:
            self._u[i, k] = self.builder.keep(self._entry(i, k))
        return self._u[i, k]

    def _entry(self, i: int, k: int) -> Scalar:
        z = self.axis
        x, y = others(z)
        if k == z:
            return self.column[i]
        if i == z:
            return 2 * self.product(z, k) - self.column[k]
        if i != k:
            alpha = self._alpha[z]
            return self.product(x, y) + (alpha if (i, k) == (y, x) else -alpha)
        other = y if i == x else x
        return -(self.product(other, other) + self.product(z, z))

    def alpha(self, i: int) -> Scalar:
        """Return the component of the angular acceleration along an axis."""
        if i not in self._alpha:
            x, y = others(i)
            self._alpha[i] = self.builder.keep(self.u(y, x) - self.product(x, y))
        return self._alpha[i]

    def apply(self, v: Vector) -> Vector:
        """Return U v, for a vector with few components."""
        keep = self.builder.keep
        rows = tuple(
            sum((self.u(i, k) * v[k] for k in range(3)), self.builder.number(0)) for i in range(3)
        )
        return (keep(rows[0]), keep(rows[1]), keep(rows[2]))

    # --- the same motion, seen otherwise ------------------------------------------------

    def turned(self, turn: AxisTurn) -> Motion:
        """Return the motion in axes that are turned about a coordinate axis."""
        z = turn.axis
        return Motion(turn.into(self.w), z, turn.into(self.along(z)), self.alpha(z))

    def turned_by_matrix(self, turn: MatrixTurn, axis: int) -> Motion:
        """Return the motion in axes turned by a matrix, with the column of `axis` at hand."""
        direction = column(turn.rotation, axis)
        along = turn.into(self.apply(direction))
        alpha = dot(direction, (self.alpha(0), self.alpha(1), self.alpha(2)))
        return Motion(turn.into(self.w), axis, along, self.builder.keep(alpha))

    def with_rate(self, axis: int, rate: Scalar, acceleration: Scalar) -> Motion:
        """Return the motion of a frame that turns about an axis of this one as well.

        The column of U along that axis is the same for both.
        """
        w = replaced(self.w, axis, self.builder.keep(self.w[axis] + rate))
        alpha = self.builder.keep(self.alpha(axis) + acceleration)
        return Motion(w, axis, self.along(axis), alpha)

    def along(self, axis: int) -> Vector:
        """Return the column of U along an axis."""
        return (self.u(0, axis), self.u(1, axis), self.u(2, axis))
