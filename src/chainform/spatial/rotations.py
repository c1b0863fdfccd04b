"""Rotations: Rodrigues' formula of finite rotation, and quaternions (x, y, z, w)."""

from __future__ import annotations

from typing import Any, TypeAlias

from chainform.spatial.vectors import Matrix, Vector

CosineAndSine: TypeAlias = tuple[Any, Any]
"""The cosine and the sine of an angle."""

Quaternion: TypeAlias = tuple[Any, Any, Any, Any]
"""x, y, z, w; the vector part first."""


def rodrigues(axis: Vector, cos: Any, sin: Any) -> Matrix:
    """Return the rotation about a unit axis by the angle with this cosine and sine.

    R = cos 1 + sin [e x] + (1 - cos) e e^T. The diagonal is written e_i^2 + (1 - e_i^2) cos,
    so that for a coordinate axis every entry is a number, the cosine or +- the sine.
    """

    def entry(i: int, j: int) -> Any:
        if i == j:
            square = axis[i] * axis[i]
            return square + (1 - square) * cos
        k = 3 - i - j
        signed = axis[k] if (j - i) % 3 == 2 else -axis[k]
        both = axis[i] * axis[j]
        return both - both * cos + signed * sin

    rows = tuple((entry(i, 0), entry(i, 1), entry(i, 2)) for i in range(3))
    return (rows[0], rows[1], rows[2])


def roll_pitch_yaw(roll: CosineAndSine, pitch: CosineAndSine, yaw: CosineAndSine) -> Matrix:
    """Return Rz(yaw) Ry(pitch) Rx(roll), each angle given by its cosine and sine."""
    (cr, sr), (cp, sp), (cy, sy) = roll, pitch, yaw
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


def rotation_of_quaternion(x: Any, y: Any, z: Any, w: Any) -> Matrix:
    """Return the rotation of the quaternion (x, y, z, w), of any length but zero.

    Dividing by the squared length makes the matrix rational and exactly orthogonal for every
    rational quaternion.
    """
    s = 2 / (x * x + y * y + z * z + w * w)
    return (
        (1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)),
        (s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w)),
        (s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y)),
    )


def quaternion_of(rotation: Matrix) -> Quaternion:
    """Return a quaternion (x, y, z, w) of the rotation, of any length.

    Each row of the symmetric matrix below is the quaternion times four times one of its components;
    the row with the greatest diagonal entry is the most accurate. No square root is needed.
    """
    (a, b, c), (d, e, f), (g, h, i) = rotation
    rows = (
        (1 + a - e - i, b + d, c + g, h - f),
        (b + d, 1 - a + e - i, f + h, c - g),
        (c + g, f + h, 1 - a - e + i, d - b),
        (h - f, c - g, d - b, 1 + a + e + i),
    )
    return max(enumerate(rows), key=lambda row: row[1][row[0]])[1]


def quaternion_product(a: Quaternion, b: Quaternion) -> Quaternion:
    """Return a b: the turn b in the axes that a has turned, after a."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )
