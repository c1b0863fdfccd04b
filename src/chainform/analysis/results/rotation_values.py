"""Rotations of many states at once, in doubles: their vectors, quaternions and rates.

For a rotation R of time, with its derivatives, angular velocity and acceleration in world axes are
the vectors of

    [w x] = R' R^T,    [w' x] = R'' R^T + R' R'^T
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chainform.spatial import quaternion_product, roll_pitch_yaw, rotation_of_quaternion

Array = NDArray[np.float64]
Values = tuple[Array, Array, Array]
"""Values, rates and accelerations, each (m, ...)."""
SMALL = 1e-9
"""Of smaller angles (rad) the sine is the angle, to rounding."""
NEAR_HALF_TURN = -0.9
"""Where the cosine is smaller, the sine alone tells the axis badly."""


def axial(matrix: Array) -> Array:
    """Return the vector of the skew part of matrices (..., 3, 3)."""
    parts = [matrix[..., i, k] - matrix[..., k, i] for i, k in ((2, 1), (0, 2), (1, 0))]
    return np.stack(parts, axis=-1) / 2


def rotation_vectors(rotation: Array) -> Array:
    """Return axis times angle (rad), (m, 3), of rotations (m, 3, 3)."""
    vector = axial(rotation)
    sine = np.sqrt(np.einsum("...i,...i->...", vector, vector))
    cosine = (rotation[..., 0, 0] + rotation[..., 1, 1] + rotation[..., 2, 2] - 1) / 2
    factor = np.arctan2(sine, cosine) / np.maximum(sine, SMALL)
    found = vector * np.where(sine > SMALL, factor, 1.0)[..., np.newaxis]
    turned = cosine < NEAR_HALF_TURN
    if turned.any():
        found[turned] = _vectors_of_quaternions(quaternions_of(rotation[turned]))
    return found


def _vectors_of_quaternions(quaternion: Array) -> Array:
    """Return axis times angle of unit quaternions far from no turn."""
    sine = np.linalg.norm(quaternion[..., :3], axis=-1)
    angle = 2 * np.arctan2(sine, quaternion[..., 3])
    angle = np.where(angle > np.pi, angle - 2 * np.pi, angle)
    return quaternion[..., :3] * (angle / sine)[..., np.newaxis]


def quaternions_of(rotation: Array) -> Array:
    """Return unit quaternions (..., 4), x y z w, of rotations (..., 3, 3)."""
    (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(rotation, (-2, -1), (0, 1))
    rows = [
        [1 + a - e - i, b + d, c + g, h - f],
        [b + d, 1 - a + e - i, f + h, c - g],
        [c + g, f + h, 1 - a - e + i, d - b],
        [h - f, c - g, d - b, 1 + a + e + i],
    ]
    table = np.moveaxis(np.array(rows), (0, 1), (-2, -1))
    # Each row is the quaternion times four times one of its components: the largest is best.
    best = np.argmax(np.diagonal(table, axis1=-2, axis2=-1), axis=-1)
    row = np.take_along_axis(table, best[..., np.newaxis, np.newaxis], axis=-2)[..., 0, :]
    return row / np.linalg.norm(row, axis=-1, keepdims=True)


def rotations_of(quaternion: Array) -> Array:
    """Return the rotations (m, 3, 3) of quaternions (m, 4)."""
    return np.moveaxis(np.array(rotation_of_quaternion(*quaternion.T)), 2, 0)


def rotations_about(axis: Array, angle: Array) -> Array:
    """Return the rotations (..., 3, 3) about a unit axis (3,) by angles (...)."""
    x, y, z = axis
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    sine, cosine = (f(angle)[..., np.newaxis, np.newaxis] for f in (np.sin, np.cos))
    return np.eye(3) + sine * skew + (1 - cosine) * (skew @ skew)


def aligned(quaternions: Array) -> Array:
    """Return quaternions (m, 4) of length 1, each with the sign nearest to the one before."""
    units = of_length_one(quaternions)
    signs = np.sign(np.einsum("mi,mi->m", units[1:], units[:-1]))
    signs = np.concatenate([[1.0], np.where(signs < 0, -1.0, 1.0)])
    return units * np.cumprod(signs)[:, np.newaxis]


def rotated(quaternion: Array, vector: Array) -> Array:
    """Return vectors (m, 3) turned by unit quaternions (m, 4)."""
    u, s = quaternion[:, :3], quaternion[:, 3:]
    across = np.cross(u, vector)
    return np.asarray(vector + 2 * (s * across + np.cross(u, across)), np.float64)


def turned(quaternion: Array, turn: Array) -> Array:
    """Return unit quaternions (m, 4) after turns (m, 3), axis times angle (rad) in body axes."""
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    vector = turn * (np.sinc(angle / (2 * np.pi)) / 2)
    return of_length_one(_product(quaternion, vector, np.cos(angle[..., 0] / 2)))


def quaternion_rates(quaternion: Array, velocity: Array) -> Array:
    """Return the rates (m, 4) of unit quaternions under angular velocities (m, 3), body axes."""
    return _product(quaternion, velocity / 2, np.zeros(len(quaternion)))


def of_length_one(quaternion: Array) -> Array:
    """Return quaternions (m, 4) divided by their lengths."""
    return quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True)


def _product(quaternion: Array, vector: Array, scalar: Array) -> Array:
    """Return products of quaternions (m, 4) with others, given as (m, 3) and (m,)."""
    (a, b, c, d), (x, y, z) = (tuple(np.moveaxis(part, -1, 0)) for part in (quaternion, vector))
    return np.stack(quaternion_product((a, b, c, d), (x, y, z, scalar)), axis=-1)


# --- rates ------------------------------------------------------------------------------------


def angular(rotation: Array, rate: Array, acceleration: Array) -> Values:
    """Return rotations with angular velocities and accelerations (m, 3) in world axes."""
    back = np.swapaxes(rotation, -1, -2)
    velocity = rate @ back
    return rotation, axial(velocity), axial(acceleration @ back + rate @ np.swapaxes(rate, -1, -2))


def of_matrices(values: Array, rates: Array, accelerations: Array) -> Values:
    """Return matrices of nine numbers, row after row, with their rates."""
    parts = (values, rates, accelerations)
    return angular(*(x.reshape(-1, 3, 3) for x in parts))


def of_quaternions(values: Array, rates: Array, accelerations: Array) -> Values:
    """Return the rotations of quaternions of any length but zero, which may change."""
    length = np.linalg.norm(values, axis=1, keepdims=True)
    u, ud = values / length, rates / length
    # The derivatives of v / |v|, with v already divided by its length.
    pull = np.sum(u * ud, axis=1, keepdims=True)
    udd = accelerations / length
    bend = np.sum(ud * ud, axis=1, keepdims=True) + np.sum(u * udd, axis=1, keepdims=True)
    second = udd - 2 * pull * ud - bend * u + 3 * pull**2 * u
    first = ud - pull * u
    return angular(_form(u, u), 2 * _form(u, first), 2 * (_form(first, first) + _form(u, second)))


def _form(a: Array, b: Array) -> Array:
    """Return the bilinear form whose value at (u, u) is the rotation of a unit quaternion."""

    def square(x: Array) -> Array:
        # |x|^2 times the rotation, which is quadratic in x.
        size = np.sum(x * x, axis=1)
        safe = np.where(size[:, np.newaxis] > 0, x, 1.0)
        return rotations_of(safe) * size[:, np.newaxis, np.newaxis]

    return (square(a + b) - square(a - b)) / 4


def of_roll_pitch_yaw(values: Array, rates: Array, accelerations: Array) -> Values:
    """Return the rotations Rz(yaw) Ry(pitch) Rx(roll)."""
    roll, pitch, yaw = ((np.cos(x), np.sin(x)) for x in values.T)
    rotation = np.moveaxis(np.array(roll_pitch_yaw(roll, pitch, yaw)), 2, 0)
    (cp, sp), (cy, sy), zero = pitch, yaw, np.zeros(len(values))
    # w = B (roll', pitch', yaw'): the columns are the axes about which each turns.
    axes = np.array([[cy * cp, -sy, zero], [sy * cp, cy, zero], [-sp, zero, zero + 1]])
    pd, yd = rates[:, 1], rates[:, 2]
    x, y, z = -sy * yd * cp - cy * sp * pd, cy * yd * cp - sy * sp * pd, -cp * pd
    change = np.array([[x, -cy * yd, zero], [y, -sy * yd, zero], [z, zero, zero]])
    velocity = np.einsum("ikm,mk->mi", axes, rates)
    acceleration = np.einsum("ikm,mk->mi", axes, accelerations)
    return rotation, velocity, acceleration + np.einsum("ikm,mk->mi", change, rates)


TURNS = {"rpy": of_roll_pitch_yaw, "quaternion": of_quaternions, "matrix": of_matrices}
"""How numbers become rotations, with angular velocities and accelerations."""
