"""The geometry of bodies as the equations have it: masses, and the points that others name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from chainform.errors import ReadError
from chainform.mechanism import GROUND, Body, InertialElement, Mechanism, float_of, float_vector
from chainform.pictures.frames import Frames
from chainform.pictures.shapes import Solid, solid_of

Array = NDArray[np.float64]


NEAR = 1e-9
"""Points nearer than this to the origin, in m, are the origin."""


LARGE, LONG = 0.3, 0.75
"""A solid whose half size is beyond this share of the whole is not drawn; LONG goes for rods."""


@dataclass
class BodyGeometry:
    """One body, in the axes of its frame: joints of children, other points, and the mass (m, kg).

    `solid` is the even solid of the inertia; it is None, and `is_vague` true, where that is so
    large that it cannot be the body.
    """

    name: str
    frame: int
    depth: int = 0
    joints: list[Array] = field(default_factory=list[Array])
    marks: list[Array] = field(default_factory=list[Array])
    mass: float = 0.0
    com: Array = field(default_factory=lambda: np.zeros(3))
    solid: Solid | None = None
    is_vague: bool = False

    @property
    def is_point(self) -> bool:
        """Tell whether all the mass is in one point."""
        return self.mass > 0 and self.solid is None and not self.is_vague

    @property
    def arms(self) -> list[Array]:
        """The joints and other points that are not the origin."""
        return [p for p in (*self.joints, *self.marks) if np.linalg.norm(p) > NEAR]

    @property
    def tip(self) -> Array:
        """The point of the body that is farthest from its joint, as it is drawn."""
        points = self.arms
        if not points and self.solid is not None and self.solid.is_rod:
            reach = self.solid.axes[:, 2] * self.solid.half[2]
            points = [self.com + reach, self.com - reach]
        points.append(self.com)
        return max(points, key=lambda p: float(np.linalg.norm(p)))


def geometries(frames: Frames) -> list[BodyGeometry]:
    """Return the bodies of a mechanism: the ground, the segments, then the elements with a mass."""
    mechanism, known = frames.mechanism, frames.known
    bodies = {0: BodyGeometry("ground", 0)}
    for i, segment in enumerate(mechanism.segments):
        depth = bodies[segment.parent + 1].depth + 1
        bodies[i + 1] = BodyGeometry(segment.name, i + 1, depth)
        bodies[segment.parent + 1].joints.append(float_vector(segment.position, known))
        _add_mass(bodies[i + 1], segment.body, known)
    for frame, point in _marks(mechanism, known):
        bodies[frame].marks.append(point)
    for element in mechanism.elements:
        if isinstance(element, InertialElement):
            place = frames.names.index(element.name)
            below = bodies.get(frames.place(element.on)[0])
            bodies[place] = BodyGeometry(element.name, place, 1 + (below.depth if below else 0))
            _add_mass(bodies[place], Body(element.mass, element.com, element.inertia), known)
    return list(bodies.values())


def _add_mass(geometry: BodyGeometry, body: Body, known: Mapping[str, Fraction]) -> None:
    """Add the mass of a body; one that names parameters without a value has none here."""
    try:
        geometry.mass = float_of(body.mass, known)
        geometry.com = float_vector(body.com, known)
        inertia = np.array([[float_of(entry, known) for entry in row] for row in body.inertia])
    except ReadError:
        return
    geometry.solid = solid_of(geometry.mass, inertia)


def _marks(mechanism: Mechanism, known: Mapping[str, Fraction]) -> list[tuple[int, Array]]:
    """Return the points on segments that frames, loops and springs name."""
    places = [(frame.segment, frame.point) for frame in mechanism.frames]
    for loop in mechanism.loops:
        places += [(end.segment, end.point) for end in (loop.closing, loop.target)]
    for spring in mechanism.springs:
        places += [(end.segment, end.point) for end in spring.ends or ()]
    return [(s + 1, float_vector(p, known)) for s, p in places if s != GROUND]


@dataclass(frozen=True)
class Measures:
    """How large the mechanism is, and how thick a rod is drawn, m."""

    size: float
    rod: float


def measures(bodies: list[BodyGeometry], rotations: Array, positions: Array) -> Measures:
    """Return the measures in a pose: rotations (n, 3, 3) and positions (n, 3) of all frames.

    Rods are thin against the whole, and against a rod of middle length. A body whose even solid is
    large against the whole loses it: its inertia says little about its shape.
    """
    massive = [body for body in bodies if body.mass > 0]
    skeleton = _size([(body, _skeleton(body)) for body in bodies], rotations, positions)
    for body in massive:
        if body.solid is not None and skeleton > 0 and len(massive) > 1:
            limit = skeleton * (LONG if body.solid.is_rod else LARGE)
            body.is_vague = bool(body.solid.half.max() > limit)
            body.solid = None if body.is_vague else body.solid
    whole = [(body, [*_skeleton(body), *_reach(body)]) for body in bodies]
    size = _size(whole, rotations, positions) or 1.0
    lengths = [float(np.linalg.norm(p)) for body in bodies if body.frame for p in _skeleton(body)]
    long = [length for length in lengths if length > 0.02 * size]
    rod = min(0.026 * size, 0.16 * float(np.median(long))) if long else 0.026 * size
    return Measures(size, max(rod, 0.008 * size))


def _skeleton(body: BodyGeometry) -> list[Array]:
    """Return the points that a body is drawn through; of the ground only the joints on it."""
    if not body.frame:
        return body.joints
    return [np.zeros(3), *body.arms, body.com]


def _reach(body: BodyGeometry) -> list[Array]:
    """Return the outmost points of the even solid of a body that shows it."""
    if body.solid is None or body.arms:
        return []
    reach = body.solid.axes * body.solid.half
    return [body.com + sign * reach[:, k] for k in range(3) for sign in (1, -1)]


def _size(
    bodies: list[tuple[BodyGeometry, list[Array]]], rotations: Array, positions: Array
) -> float:
    """Return the diagonal of the box around points of bodies, world axes."""
    points = [
        positions[body.frame] + rotations[body.frame] @ point
        for body, local in bodies
        for point in local
    ]
    return float(np.linalg.norm(np.ptp(np.array(points), axis=0))) if points else 0.0
