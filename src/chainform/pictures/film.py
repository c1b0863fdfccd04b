"""A motion ready to be drawn: even times, frames, what moves with them and where it is seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, RunError
from chainform.given import Given
from chainform.mechanism import Mechanism, float_vector
from chainform.pictures.bodies import HELD, add_mounts, first_segments, held_joints, scene_of
from chainform.pictures.frames import Frames, Track, frame_times, resampled
from chainform.pictures.motion import Drawable, TimeMark, check_motion
from chainform.pictures.scene import Point, Scene
from chainform.pictures.shapes import Measures
from chainform.pictures.view import Angles, Bounds, View, bounds_of, cloud_of, view_of

Array = NDArray[np.float64]


HUGE = 1e15
"""What is as far away (m), or turns by as much (rad), has no place in a picture any more."""

UPRIGHT = 0.9
"""The least cosine between an upright axis and the way up."""

LITTLE = 4.0
"""Joints and plates at the ground may be below it by so many thicknesses of a rod."""


@dataclass(frozen=True)
class Film:
    """Times (m,) and coordinates (m, nq), the frames then, and what is drawn of them."""

    mechanism: Mechanism
    times: Array
    q: Array
    track: Track
    scene: Scene
    scale: Measures
    view: View
    bounds: Bounds
    events: tuple[TimeMark, ...]

    def offset(self, k: int) -> Array:
        """Return how far the view has moved with the mechanism in frame k, world axes."""
        middle = self.track.positions[k, 1:].mean(axis=0)
        return middle if self.view.follow else np.zeros(3)

    def path(self, point: Point) -> Array:
        """Return where a point is at all times, (m, 3), world axes."""
        return self.track.path(point.frame, point.local)

    def traced(self, trace: str | bool) -> Point | None:
        """Return the point to trace: the tip for True, or the frame, segment or element named."""
        if trace is False or not self.scene.points:
            return None
        if trace is True:
            return self.scene.points[-1]
        given = Given(trace, "trace", self.mechanism.file, RunError)
        names = [point.name for point in self.scene.points]
        return self.scene.points[names.index(given.choice(names, "frame or segment named"))]


def film_of(run: Drawable, rate: float, most: int, angles: Angles | None = None) -> Film:
    """Return a film of a motion with about `rate` frames per second of motion, `most` at most."""
    check_motion(run, "animate")
    mechanism = run.mechanism
    _check(mechanism, run.q, run.t, "the coordinates are not numbers that can be drawn")
    _check(mechanism, run.qd, run.t, "the rates are not numbers that can be drawn")
    times = frame_times(float(run.t[0]), float(run.t[-1]), rate, most)
    q = resampled(run, times)
    frames = Frames(mechanism)
    if len(frames.names) == 1:
        raise RunError(
            "nothing of the mechanism has a place",
            file=mechanism.file,
            element=mechanism.name,
            remedy="plot it instead",
        )
    track = frames.track(q, times)
    _check(mechanism, track.positions, times, "the mechanism has no pose that can be drawn")
    scene, scale = scene_of(frames, q, track)
    gravity = _direction(float_vector(mechanism.gravity, frames.known))
    ground = ground_height(frames, gravity, float(times[0]))
    view = view_of(scene, scale, track, gravity, angles, ground)
    add_mounts(frames, track, scene, scale, view)
    bounds = bounds_of(scene, track, view.follow)
    if not bounds.radius < HUGE:
        raise RunError(
            "the bodies are too large to be drawn",
            file=mechanism.file,
            element=mechanism.name,
            remedy="plot it instead, or look at the inertias",
        )
    return Film(mechanism, times, q, track, scene, scale, view, bounds, tuple(run.events))


def _direction(gravity: Array) -> Array:
    """Return a vector along gravity, none of whose entries is large."""
    return gravity / max(float(np.abs(gravity).max()), np.finfo(float).tiny)


def _check(mechanism: Mechanism, values: Array, times: Array, message: str) -> None:
    """Raise RunError for the first time at which values are too large, or no numbers."""
    # What is not a number is not below anything.
    good = (np.abs(values.reshape(len(times), -1)) < HUGE).all(axis=1)
    if not good.all():
        raise RunError(
            f"{message} at t = {times[int(np.argmin(good))]:.6g} s",
            file=mechanism.file,
            element="animate",
            remedy="end the motion before that time",
        )


# --- the ground -----------------------------------------------------------------------------------


def ground_height(frames: Frames, gravity: Array, t: float) -> float | None:
    """Return how high (m) the ground is on which a mechanism stands, against gravity (m/s^2).

    It stands if it turns about upright axes first, or on balls, and nothing of it is below the
    ground while all coordinates are zero. All else hangs, slides or flies, or has no weight: None.
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
