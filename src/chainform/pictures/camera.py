"""The eye: from points in the world to points on a picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.pictures.stage import Bounds, Stage

Array = NDArray[np.float64]

FIELD = np.radians(30.0)
"""The angle of view, from the lower edge to the upper one."""


@dataclass(frozen=True)
class Camera:
    """Axes of the picture (right, up, towards the eye), the eye (m), and pixels per unit of tan."""

    axes: Array
    eye: Array
    focus: float
    middle: tuple[float, float]

    def project(self, points: Array) -> tuple[Array, Array]:
        """Return places on the picture (..., 2) in pixels and depths (...) in m before the eye."""
        local = (points - self.eye) @ self.axes.T
        depth = -local[..., 2]
        scale = self.focus / np.maximum(depth, 1e-9)
        x = self.middle[0] + scale * local[..., 0]
        y = self.middle[1] - scale * local[..., 1]
        return np.stack([x, y], axis=-1), depth


def camera_of(stage: Stage, bounds: Bounds, offset: Array, size: tuple[int, int]) -> Camera:
    """Return a camera that sees all within bounds, moved by `offset` (m), in a picture (pixels)."""
    width, height = size
    towards = stage.direction
    right = np.cross(stage.up, towards)
    length = np.linalg.norm(right)
    right = right / length if length > 1e-6 else np.cross(towards, stage.across)
    axes = np.stack([right, np.cross(towards, right), towards])
    slope = np.tan(FIELD / 2)
    # Room at the edges, and for the time at the lower one.
    room = np.array([slope * width / height * 0.94, slope * 0.88])
    eye = offset + fitting_eye(bounds.outline, axes, room)
    return Camera(axes, eye, height / 2 / slope, (width / 2, height * 0.48))


def fitting_eye(points: Array, axes: Array, room: Array) -> Array:
    """Return the nearest place from which all points are seen within slopes `room` (2,).

    For the sides of the picture the eye must keep the distance z + |x| / slope from each point,
    where x is counted from the middle: so the middle and the distance are found in turn.
    """
    local = points @ axes.T
    x, z = local[:, :2], local[:, 2]
    # The outmost slopes of both sides meet in a point each; the farther one decides.
    high, low = (z[:, None] + x / room).max(axis=0), (z[:, None] - x / room).max(axis=0)
    distance = float(((high + low) / 2).max())
    middle = (high - low) / 2 * room
    return np.array([*middle, distance]) @ axes
