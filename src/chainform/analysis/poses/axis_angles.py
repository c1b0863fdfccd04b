"""Angles about axes that bring points and directions where they shall be, for many cases at once.

symbol   meaning
h, o     direction (3,) and a point (3,) of an axis
R        the rotation about h by an angle; w, k vectors (n, 3)

Each function is a subproblem of Paden (1986) or Pieper (1968). What has no solution is nan; where a
direction lies on the axis any angle serves, and it is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.results.rotation_values import rotations_about

Array = NDArray[np.float64]
Numbers = NDArray[np.complex128]

BEYOND = 1e-6
"""Cosines beyond 1 by less are 1: the target is at the border of what can be reached."""
ON_CIRCLE = 1e-4
"""Roots whose size differs from 1 by less are angles; those of double roots are found so badly."""
NOTHING = 1e-13
"""Coefficients below this share of the largest are zero."""


def turned_by(h: Array, angle: Array, w: Array) -> Array:
    """Return R w (n, 3)."""
    return (rotations_about(h, angle) @ w[..., np.newaxis])[..., 0]


def dot(a: Array, b: Array) -> Array:
    """Return the scalar products of vectors (..., 3)."""
    return np.sum(a * b, axis=-1)


def angle_between(h: Array, w: Array, k: Array) -> Array:
    """Return the angle (n,) about h from w to k, as seen along the axis."""
    across = w - dot(w, h)[..., np.newaxis] * h
    return np.arctan2(dot(np.cross(h, across), k), dot(across, k))


def angles_to_plane(h: Array, w: Array, k: Array, d: Array) -> Array:
    """Return both angles (2, n) with k . R w = d."""
    along = dot(w, h)
    across = w - along[..., np.newaxis] * h
    a, b = dot(k, across), dot(k, np.cross(h, across))
    size, middle = np.hypot(a, b), np.arctan2(b, a)
    with np.errstate(divide="ignore", invalid="ignore"):
        cosine = (d - dot(k, h) * along) / size
    cosine = np.where(np.abs(cosine) < 1 + BEYOND, np.clip(cosine, -1, 1), np.nan)
    # Where R has no effect any angle will do.
    half = np.where(size > NOTHING, np.arccos(cosine), 0.0)
    return np.stack([middle + half, middle - half])


def three_turns(axes: Array, rotation: Array) -> Array:
    """Return angles (2, n, 3) about three axes (3, 3) whose product is a rotation (n, 3, 3)."""
    first, second, third = axes
    end = rotation @ third
    middle = angles_to_plane(second, np.broadcast_to(third, end.shape), first, dot(first, end))
    u = _aside(third)
    found = np.zeros((2, len(rotation), 3))
    for k, angle in enumerate(middle):
        inner = turned_by(second, angle, np.broadcast_to(third, end.shape))
        outer = angle_between(first, inner, end)
        both = rotations_about(first, outer) @ rotations_about(second, angle)
        rest = (np.swapaxes(both, 1, 2) @ rotation) @ u
        last = angle_between(third, np.broadcast_to(u, rest.shape), rest)
        found[k] = np.stack([outer, angle, last], axis=1)
    return found


def _aside(h: Array) -> Array:
    """Return a unit vector at right angles to another."""
    unit = np.eye(3)[int(np.argmin(np.abs(h)))]
    across = np.cross(h, unit)
    return np.asarray(across / np.linalg.norm(across), dtype=np.float64)


def planar_turns(axes: Array, points: Array, motion: Array) -> Array:
    """Return angles (2, n, 3) about three parallel axes for motions (n, 4, 4) in their plane."""
    h = axes[0]
    heights = points @ h
    o2, o3, o4 = points + (heights[2] - heights)[:, np.newaxis] * h
    R = motion[:, :3, :3]
    end = (R @ o4) + motion[:, :3, 3]
    arm, fore = o3 - o2, np.broadcast_to(o4 - o3, end.shape)
    reach = dot(end - o2, end - o2) - arm @ arm - dot(fore, fore)
    found = np.zeros((2, len(motion), 3))
    u = _aside(h)
    for k, angle in enumerate(angles_to_plane(axes[1], fore, arm, reach / 2)):
        outer = angle_between(axes[0], arm + turned_by(axes[1], angle, fore), end - o2)
        both = rotations_about(axes[0], outer) @ rotations_about(axes[1], angle)
        rest = (np.swapaxes(both, 1, 2) @ R) @ u
        last = angle_between(axes[2], np.broadcast_to(u, rest.shape), rest)
        found[k] = np.stack([outer, angle, last], axis=1)
    return found


# --- functions of one joint -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Series:
    """A function of one joint for n cases: powers of the coordinate, or of e^(i angle).

    Of a joint that slides the coefficients (n, k) belong to the powers 0 to k - 1; of one that
    turns k is odd, and they belong to the powers -(k - 1)/2 to (k - 1)/2.
    """

    coefficients: Numbers
    turns: bool

    def _padded(self, length: int) -> Numbers:
        more = length - self.coefficients.shape[1]
        pads = (more // 2, more // 2) if self.turns else (0, more)
        return np.pad(self.coefficients, ((0, 0), pads))

    def __add__(self, other: Series | Array | float) -> Series:
        if not isinstance(other, Series):
            values = np.asarray(other, dtype=np.complex128)
            other = Series(np.atleast_1d(values)[:, np.newaxis], self.turns)
        length = max(self.coefficients.shape[1], other.coefficients.shape[1])
        return Series(self._padded(length) + other._padded(length), self.turns)

    def __sub__(self, other: Series | Array | float) -> Series:
        return self + other * -1.0

    def __mul__(self, other: Series | Array | float) -> Series:
        if not isinstance(other, Series):
            values = np.atleast_1d(np.asarray(other, dtype=np.complex128))
            return Series(self.coefficients * values[:, np.newaxis], self.turns)
        a, b = self.coefficients, other.coefficients
        count = max(len(a), len(b))
        made = np.zeros((count, a.shape[1] + b.shape[1] - 1), dtype=np.complex128)
        for k in range(b.shape[1]):
            made[:, k : k + a.shape[1]] += a * b[:, k : k + 1]
        return Series(made, self.turns)

    def at(self, x: Array) -> Array:
        """Return the values (n,) at values of the joint (n,), which are real."""
        count = self.coefficients.shape[1]
        powers = np.arange(float(count)) - (count // 2 if self.turns else 0)
        if self.turns:
            basis = np.exp(1j * powers * x[:, np.newaxis])
        else:
            basis = (x[:, np.newaxis] ** powers).astype(np.complex128)
        return np.sum(self.coefficients * basis, axis=1).real

    def roots(self) -> Array:
        """Return real zeros (k, n), nan for others; each case has its own."""
        c = self.coefficients
        scale = np.max(np.abs(c), initial=0.0)
        used = np.flatnonzero(np.max(np.abs(c), axis=0, initial=0.0) > NOTHING * scale)
        first = 0 if not self.turns or not len(used) else int(used[0])
        c = c[:, first : int(used[-1]) + 1] if len(used) else c[:, :1]
        degree = c.shape[1] - 1
        if degree < 1:
            return np.full((1, len(c)), np.nan)
        companion = np.zeros((len(c), degree, degree), dtype=np.complex128)
        companion[:, range(1, degree), range(degree - 1)] = 1
        with np.errstate(divide="ignore", invalid="ignore"):
            column = -c[:, :-1] / c[:, -1:]
        fine = np.all(np.isfinite(column), axis=1, keepdims=True)
        companion[:, :, -1] = np.where(fine, column, 0)
        z: Numbers = np.asarray(np.linalg.eigvals(companion), dtype=np.complex128)
        z = np.where(fine, z, np.nan).T
        if self.turns:
            return np.where(np.abs(np.abs(z) - 1) < ON_CIRCLE, np.angle(z), np.nan)
        return np.where(np.abs(z.imag) < ON_CIRCLE * (1 + np.abs(z)), z.real, np.nan)
