"""Turns between frames: of vectors, of motions and of 3 x 3 matrices.

A motion is the angular velocity w and U = [alpha x] + [w x][w x], entries on demand.

A matrix in other axes, R M R^T, needs few products. For a turn about z with cosine c and sine s the
block across the axis needs four: with u = c (M_xx - M_yy) - s (M_xy + M_yx),

    M_xx' = M_yy + c u,   M_yy' = M_xx - c u,   M_xy' = M_xy + s u,   M_yx' = M_yx + s u.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from chainform.graph import Builder, Scalar
from chainform.spatial import (
    Matrix,
    Vector,
    apply,
    apply_transposed,
    column,
    cross,
    dot,
    matrix,
    replaced,
    symmetric,
    transpose,
)


def others(axis: int) -> tuple[int, int]:
    """Return the two axes that follow an axis cyclically: z, x, y are a right-handed triad."""
    return (axis + 1) % 3, (axis + 2) % 3


class FrameTurn(Protocol):
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
        return self.builder.keep_vector(apply_transposed(self.rotation, v))

    def back(self, v: Vector) -> Vector:
        """Return R v."""
        return self.builder.keep_vector(apply(self.rotation, v))


class FrameMotion:
    """w and U of one frame.

    Given are w, the column of U along one axis z, and alpha_z; every other entry of U follows
    from them and is computed at its first use.
    """

    def __init__(self, w: Vector, axis: int, along: Vector, alpha: Scalar) -> None:
        self.w = w
        self.axis = axis
        self.column = along
        self.builder = alpha.builder
        self._alpha = {axis: alpha}
        self._u: dict[tuple[int, int], Scalar] = {}

    @staticmethod
    def at_rest(builder: Builder) -> FrameMotion:
        """Return the motion of a frame that does not turn."""
        zero = builder.number(0)
        return FrameMotion((zero, zero, zero), 2, (zero, zero, zero), zero)

    @staticmethod
    def of(w: Vector, alpha: Vector) -> FrameMotion:
        """Return the motion with given angular velocity and acceleration."""
        keep = alpha[2].builder.keep
        along = (
            keep(w[0] * w[2] + alpha[1]),
            keep(w[1] * w[2] - alpha[0]),
            keep(-(w[0] * w[0] + w[1] * w[1])),
        )
        return FrameMotion(w, 2, along, alpha[2])

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
        zero = self.builder.number(0)
        x, y, z = (sum((self.u(i, k) * v[k] for k in range(3)), zero) for i in range(3))
        return self.builder.keep_vector((x, y, z))

    # --- the same motion, seen otherwise ------------------------------------------------

    def turned(self, turn: AxisTurn) -> FrameMotion:
        """Return the motion in axes that are turned about a coordinate axis."""
        z = turn.axis
        return FrameMotion(turn.into(self.w), z, turn.into(self.along(z)), self.alpha(z))

    def turned_by_matrix(self, turn: MatrixTurn, axis: int) -> FrameMotion:
        """Return the motion in axes turned by a matrix, with the column of `axis` at hand."""
        direction = column(turn.rotation, axis)
        along = turn.into(self.apply(direction))
        alpha = dot(direction, (self.alpha(0), self.alpha(1), self.alpha(2)))
        return FrameMotion(turn.into(self.w), axis, along, self.builder.keep(alpha))

    def with_rate(self, axis: int, rate: Scalar, acceleration: Scalar) -> FrameMotion:
        """Return the motion of a frame that turns about an axis of this one as well.

        The column of U along that axis is the same for both.
        """
        w = replaced(self.w, axis, self.builder.keep(self.w[axis] + rate))
        alpha = self.builder.keep(self.alpha(axis) + acceleration)
        return FrameMotion(w, axis, self.along(axis), alpha)

    def along(self, axis: int) -> Vector:
        """Return the column of U along an axis."""
        return (self.u(0, axis), self.u(1, axis), self.u(2, axis))


# --- matrices -------------------------------------------------------------------------------------


def turned_symmetric(turn: FrameTurn, m: Matrix) -> Matrix:
    """Return a symmetric matrix of the inner frame in the axes of the outer one."""
    if not isinstance(turn, AxisTurn):
        return _turned(turn, m)
    entries = _across(turn, m, 2 * (turn.sin * m[others(turn.axis)[0]][others(turn.axis)[1]]))
    entries |= _mixed(turn.axis, turn.back(column(m, turn.axis)), False)
    return symmetric(lambda i, k: entries[i, k] if (i, k) in entries else entries[k, i])


def turned_matrix(turn: FrameTurn, m: Matrix) -> Matrix:
    """Return any matrix of the inner frame in the axes of the outer one."""
    if not isinstance(turn, AxisTurn):
        return _turned(turn, m)
    keep, z = turn.cos.builder.keep, turn.axis
    x, y = others(z)
    entries = _across(turn, m, turn.sin * keep(m[x][y] + m[y][x]))
    entries |= _mixed(z, turn.back(column(m, z)), False) | _mixed(z, turn.back(m[z]), True)
    return matrix(lambda i, k: keep(entries[i, k]))


def _across(turn: AxisTurn, m: Matrix, sheared: Scalar) -> dict[tuple[int, int], Scalar]:
    """Return the entries without the axis, and that of the axis itself."""
    keep, z = turn.cos.builder.keep, turn.axis
    x, y = others(z)
    u = keep(turn.cos * keep(m[x][x] - m[y][y]) - sheared)
    swing, lean = keep(turn.cos * u), keep(turn.sin * u)
    return {
        (x, x): m[y][y] + swing,
        (y, y): m[x][x] - swing,
        (x, y): m[x][y] + lean,
        (y, x): m[y][x] + lean,
        (z, z): m[z][z],
    }


def _mixed(z: int, v: Vector, lying: bool) -> dict[tuple[int, int], Scalar]:
    """Return the entries of the axis' column, or of its row."""
    return {((z, i) if lying else (i, z)): v[i] for i in others(z)}


def _turned(turn: FrameTurn, m: Matrix) -> Matrix:
    half = transpose((turn.back(column(m, 0)), turn.back(column(m, 1)), turn.back(column(m, 2))))
    return (turn.back(half[0]), turn.back(half[1]), turn.back(half[2]))


def times_cross(w: Vector, m: Matrix) -> Matrix:
    """Return - M [w x] for a symmetric M: its rows are w x (row of M)."""
    return (cross(w, m[0]), cross(w, m[1]), cross(w, m[2]))


def plus(a: Matrix, b: Matrix) -> Matrix:
    """Return A + B."""
    return matrix(lambda i, k: a[i][k] + b[i][k])


def outer(a: Vector, b: Vector) -> Matrix:
    """Return a b^T."""
    return matrix(lambda i, k: a[i] * b[k])


def trace(m: Matrix) -> Scalar:
    """Return the sum of the diagonal."""
    return m[0][0] + m[1][1] + m[2][2]
