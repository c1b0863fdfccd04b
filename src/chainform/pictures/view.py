"""The view of a motion: where the floor is, which way is up, and from where the camera looks.

The floor is the ground on which a mechanism stands, or lies below everything, normal to gravity. A
plane mechanism without gravity has it behind instead, like a drawing board.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.pictures.frames import Track
from chainform.pictures.scene import Scene
from chainform.pictures.shapes import Measures, along, rings

Array = NDArray[np.float64]


Angles = tuple[float, float]
"""From where one looks: azimuth and elevation in degrees."""

FLAT = 0.02
"""A motion is plane when its depth is less than this share of its width."""

SAMPLES = 80
"""At how many times the motion is measured."""

DIRECTIONS = 96
"""In how many directions the outmost points are looked for."""

FOLLOW = 3.0
"""A mechanism that wanders farther than this many times its size is followed by the camera."""

FIELD = np.radians(30.0)
"""The angle of view, from the lower edge to the upper one."""


@dataclass(frozen=True)
class View:
    """From where one looks, and at which floor, world axes, m.

    `up` is the way up on the screen and `across` a unit vector normal to it. The floor has a unit
    `normal` and the height `floor` along it. With `follow` the camera moves with the middle of all
    frames. One looks from `azimuth`, counted from `across` about `up`, and `elevation` (rad);
    `front` is the azimuth from which x runs to the right, or a plane motion faces the eye.
    """

    up: Array
    across: Array
    normal: Array
    floor: float
    follow: bool
    front: float
    azimuth: float
    elevation: float

    @property
    def direction(self) -> Array:
        """The unit vector from the centre towards the eye."""
        return np.cos(self.elevation) * self._level(0.0) + np.sin(self.elevation) * self.up

    @property
    def light(self) -> Array:
        """The unit vector towards the light: above, in front and to the left of who looks."""
        right = self._level(np.pi / 2)
        towards = self.normal + 0.5 * self.up - 0.4 * right + 0.3 * self.direction
        return towards / np.linalg.norm(towards)

    def _level(self, turn: float) -> Array:
        angle = self.azimuth + turn
        return np.cos(angle) * self.across + np.sin(angle) * np.cross(self.up, self.across)


@dataclass(frozen=True)
class Bounds:
    """How far the motion reaches: all is within `radius` of `centre`, m.

    `outline` (k, 3) are the outmost points. Where the camera follows, all this is counted from the
    middle of all frames at each time.
    """

    centre: Array
    radius: float
    outline: Array


def view_of(
    scene: Scene,
    scale: Measures,
    track: Track,
    gravity: Array,
    angles: Angles | None = None,
    ground: float | None = None,
) -> View:
    """Return the view of a motion; `angles` are those from which one looks, where given.

    `ground` is the height (m) of the ground on which the mechanism stands, if it does.
    """
    some = _some(track)
    cloud = cloud_of(scene, some)
    paths = _paths(scene, some)
    plane = _plane_normal(paths)
    up = _up(gravity, plane)
    is_board = plane is not None and not np.linalg.norm(gravity) > 0
    normal, floor = up, _floor(cloud @ up, float(some.positions[0, 0] @ up), scale)
    if plane is not None and is_board:
        # One looks at the board from the side on which x points to the right.
        normal = plane if np.cross(up, plane) @ np.ones(3) > 0 else -plane
        floor = float((cloud @ normal).min()) - 0.5 * scale.rod
    elif ground is not None:
        floor = ground
    middle = some.positions[:, 1:].mean(axis=1)
    follow = float(np.linalg.norm(np.ptp(middle, axis=0))) > FOLLOW * scale.size
    across = _across(up)
    front = _front(up, across, plane)
    azimuth, elevation = _best_angles(paths, up, across, plane, front)
    if is_board:
        azimuth, elevation = front + 0.2, 0.15
    if angles is not None:
        azimuth, elevation = (float(np.radians(angle)) for angle in angles)
    return View(up, across, normal, floor, follow, front, azimuth, elevation)


def bounds_of(scene: Scene, track: Track, follow: bool) -> Bounds:
    """Return how far all parts of a scene reach."""
    some = _some(track)
    cloud = cloud_of(scene, some)
    seen = cloud - some.positions[:, 1:].mean(axis=1)[:, None] if follow else cloud
    centre = (seen.min(axis=(0, 1)) + seen.max(axis=(0, 1))) / 2
    radius = float(np.linalg.norm(seen - centre, axis=-1).max())
    return Bounds(centre, radius, _outmost(seen.reshape(-1, 3)))


def _some(track: Track) -> Track:
    rows = np.unique(np.linspace(0, len(track.positions) - 1, SAMPLES).astype(int))
    return Track(track.rotations[rows], track.positions[rows])


def cloud_of(scene: Scene, track: Track) -> Array:
    """Return corners of all that is drawn, (m, k, 3), world axes."""
    pieces = [track.positions]
    for part in scene.parts:
        if part.layer in ("body", "joint", "centre", "ground"):
            local = rings(part.shape) @ part.place[:, :3].T + part.place[:, 3]
            turned = np.einsum("mij,kj->mki", track.rotations[:, part.frame], local)
            pieces.append(turned + track.positions[:, part.frame, None])
    ends = [end for span in scene.spans for end in (span.first, span.last)]
    pieces += [track.path(end.frame, end.local)[:, None] for end in ends]
    return np.concatenate(pieces, axis=1)


def _outmost(points: Array) -> Array:
    """Return the outmost points in many directions, spread evenly over the ball."""
    k = np.arange(DIRECTIONS) + 0.5
    height, angle = 1 - 2 * k / DIRECTIONS, np.pi * (1 + 5**0.5) * k
    level = np.sqrt(1 - height**2)
    ways = np.stack([level * np.cos(angle), level * np.sin(angle), height], axis=1)
    return points[sorted({int(np.argmax(points @ way)) for way in ways})]


def _paths(scene: Scene, track: Track) -> Array:
    """Return where joints and tips of bodies are, (k, 3), world axes."""
    tips = [track.path(point.frame, point.local) for point in scene.points]
    return np.concatenate([track.positions[:, 1:].reshape(-1, 3), *tips])


def _main_axes(points: Array) -> tuple[Array, Array]:
    """Return how wide points lie in three directions, narrow ones first, and these as columns."""
    away = points - points.mean(axis=0)
    squares, axes = np.linalg.eigh(away.T @ away)
    return np.sqrt(np.maximum(squares, 0.0)), axes


def _plane_normal(paths: Array) -> Array | None:
    """Return the unit normal of the plane in which all joints and tips stay, if there is one."""
    widths, axes = _main_axes(paths)
    if widths[1] <= FLAT * widths[2] or widths[0] > FLAT * widths[2]:
        return None
    normal = axes[:, 0]
    return normal * np.sign(normal[int(np.argmax(np.abs(normal)))])


def _up(gravity: Array, plane: Array | None) -> Array:
    """Return the way up: against gravity, else z, or y in a plane that z is normal to."""
    if np.linalg.norm(gravity) > 0:
        return -gravity / np.linalg.norm(gravity)
    for up in np.eye(3)[::-1]:
        if plane is None or abs(up @ plane) < 0.7:
            return up if plane is None else _unit(up - (up @ plane) * plane)
    return np.eye(3)[2]


def _floor(heights: Array, base: float, scale: Measures) -> float:
    """Return the height of the floor: that of the base, or lower if something reaches lower."""
    low = float(heights.min())
    return min(low, base) if low > base - 4.0 * scale.rod else low - 0.06 * scale.size


def _across(up: Array) -> Array:
    """Return x, or another axis where x is upright, without its part along `up`."""
    axis = np.eye(3)[0] if abs(up[0]) < 0.9 else np.eye(3)[1]
    return _unit(axis - (axis @ up) * up)


def _front(up: Array, across: Array, plane: Array | None) -> float:
    """Return the azimuth of the front."""
    if plane is None or abs(plane @ up) > 0.7:
        return -np.pi / 2
    towards = plane if np.cross(up, plane) @ np.ones(3) > 0 else -plane
    return float(np.arctan2(towards @ np.cross(up, across), towards @ across))


def _best_angles(
    paths: Array, up: Array, across: Array, plane: Array | None, front: float
) -> tuple[float, float]:
    """Return azimuth and elevation (rad) of the best view; a plane motion nearly faces it."""
    if plane is not None and abs(plane @ up) < 0.7:
        return front + 0.42, 0.22
    if plane is not None:
        return float(np.radians(-65)), float(np.radians(48))
    _, axes = _main_axes(paths - np.outer(paths @ up, up))
    wide = axes[:, 2]
    main = float(np.arctan2(wide @ np.cross(up, across), wide @ across))
    usual = np.radians(-55)
    options = [main + sign * np.radians(58) + turn for sign in (1, -1) for turn in (0, np.pi)]
    best = min(options, key=lambda a: abs(np.angle(np.exp(1j * (a - usual)))))
    return float(best), float(np.radians(20))


def _unit(vector: Array) -> Array:
    return vector / np.linalg.norm(vector)


# --- the floor ------------------------------------------------------------------------------------


def grid_step(size: float) -> float:
    """Return 1, 2 or 5 times a power of ten, about a sixth of a size."""
    power = 10.0 ** np.floor(np.log10(size / 6))
    return float(next(f * power for f in (1, 2, 5, 10) if f * power >= size / 6))


def floor_axes(normal: Array) -> tuple[Array, Array]:
    """Return two unit vectors in the floor, along axes of the world where these lie in it."""
    if np.abs(normal).max() > 1 - 1e-9:
        x, y = (np.eye(3)[k] for k in range(3) if abs(normal[k]) < 0.5)
        return x, y
    axes = along(normal)
    return axes[:, 0], axes[:, 1]


# --- the camera -----------------------------------------------------------------------------------


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


def camera_of(view: View, bounds: Bounds, offset: Array, size: tuple[int, int]) -> Camera:
    """Return a camera that sees all within bounds, moved by `offset` (m), in a picture (pixels)."""
    width, height = size
    towards = view.direction
    right = np.cross(view.up, towards)
    length = np.linalg.norm(right)
    right = right / length if length > 1e-6 else np.cross(towards, view.across)
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
