"""Whether a mechanism stands on the ground: then that is the floor, wherever the motion goes.

It stands if it turns about upright axes first, or on balls, and nothing of it is below the ground
while all coordinates are zero. All else hangs, slides or flies, and has its floor below it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error
from chainform.pictures.bodies import scene_of
from chainform.pictures.frames import Frames, Track
from chainform.pictures.mounts import HELD, first_segments, held_joints
from chainform.pictures.stage import cloud_of

Array = NDArray[np.float64]

UPRIGHT = 0.9
"""The least cosine between an upright axis and the way up."""

LITTLE = 4.0
"""Joints and plates at the ground may be below it by so many thicknesses of a rod."""


def ground_height(frames: Frames, gravity: Array, t: float) -> float | None:
    """Return how high (m) the ground is on which a mechanism stands, against gravity (m/s^2).

    None for one that does not stand, or has no weight.
    """
    size = float(np.linalg.norm(gravity))
    if size == 0:
        return None
    up = -gravity / size
    try:
        neutral = frames.mechanism.neutral()[None]
        track = frames.track(neutral, np.array([t]))
        if not _is_upright(frames, track, up):
            return None
        scene, scale = scene_of(frames, neutral, track)
    except Error:
        # In this pose it has no place.
        return None
    base = float(track.positions[0, 0] @ up)
    lowest = float((cloud_of(scene, track) @ up).min())
    return min(base, lowest) if lowest > base - LITTLE * scale.rod else None


def _is_upright(frames: Frames, track: Track, up: Array) -> bool:
    """Tell whether there are joints on the ground, and all turn about the way up, or are balls."""
    segments = frames.mechanism.segments
    if any(segments[i].joint.kind not in HELD for i in first_segments(frames.mechanism)):
        return False
    axes = [axis for _, axis in held_joints(frames, track)]
    return bool(axes) and all(axis is None or abs(axis @ up) > UPRIGHT for axis in axes)
