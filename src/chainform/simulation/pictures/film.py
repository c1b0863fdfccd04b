"""A motion ready to be drawn: even times, frames, what moves with them and where it is seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.given import Given
from chainform.mechanism import Mechanism
from chainform.simulation.pictures.anatomy import Measures
from chainform.simulation.pictures.bodies import scene_of
from chainform.simulation.pictures.frames import Frames, Track
from chainform.simulation.pictures.motion import Event, Motion, check_motion
from chainform.simulation.pictures.mounts import add_mounts
from chainform.simulation.pictures.resampling import frame_times, resampled
from chainform.simulation.pictures.scene import Point, Scene
from chainform.simulation.pictures.stage import Stage, framed, stage_of
from chainform.simulation.pictures.standing import ground_height

Array = NDArray[np.float64]

View = tuple[float, float]
"""From where one looks: azimuth and elevation in degrees."""

HUGE = 1e15
"""What is as far away (m), or turns by as much (rad), has no place in a picture any more."""


@dataclass(frozen=True)
class Film:
    """Times (m,) and coordinates (m, nq), the frames then, and what is drawn of them."""

    mechanism: Mechanism
    times: Array
    q: Array
    track: Track
    scene: Scene
    scale: Measures
    stage: Stage
    events: tuple[Event, ...]

    def offset(self, k: int) -> Array:
        """Return how far the stage has moved with the mechanism in frame k, world axes."""
        middle = self.track.positions[k, 1:].mean(axis=0)
        return middle if self.stage.follow else np.zeros(3)

    def path(self, point: Point) -> Array:
        """Return where a point is at all times, (m, 3), world axes."""
        turned = self.track.rotations[:, point.frame] @ point.local
        return self.track.positions[:, point.frame] + turned

    def traced(self, trace: str | bool) -> Point | None:
        """Return the point to trace: the tip for True, or the frame, segment or element named."""
        if trace is False or not self.scene.points:
            return None
        if trace is True:
            return self.scene.points[-1]
        given = Given(trace, "trace", self.mechanism.file, RunError)
        names = [point.name for point in self.scene.points]
        return self.scene.points[names.index(given.choice(names, "frame or segment named"))]


def film_of(run: Motion, rate: float, most: int, view: View | None = None) -> Film:
    """Return a film of a motion with about `rate` frames per second of motion, `most` at most."""
    check_motion(run, "animate")
    mechanism = run.mechanism
    _check(mechanism, run.q, run.t, "the coordinates are not numbers that can be drawn")
    _check(mechanism, run.qd, run.t, "the rates are not numbers that can be drawn")
    times = frame_times(float(run.t[0]), float(run.t[-1]), rate, most)
    q = resampled(run, times)
    with np.errstate(all="ignore"):
        frames = Frames(mechanism, q, times)
    if len(frames.names) == 1:
        raise RunError(
            "nothing of the mechanism has a place",
            file=mechanism.file,
            element=mechanism.name,
            remedy="plot it instead",
        )
    places = frames.track.positions
    _check(mechanism, places, times, "the mechanism has no pose that can be drawn")
    scene, scale = scene_of(frames)
    track = frames.track
    gravity = _direction(frames.laws.vector(mechanism.gravity)[0])
    ground = ground_height(mechanism, gravity, float(times[0]))
    stage = stage_of(scene, scale, track, gravity, view, ground)
    add_mounts(frames, scene, scale, stage)
    stage = framed(stage, scene, track)
    if not stage.radius < HUGE:
        raise RunError(
            "the bodies are too large to be drawn",
            file=mechanism.file,
            element=mechanism.name,
            remedy="plot it instead, or look at the inertias",
        )
    return Film(mechanism, times, q, track, scene, scale, stage, tuple(run.happenings))


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
