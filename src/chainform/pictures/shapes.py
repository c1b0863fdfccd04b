"""Solids of revolution, of which all that is drawn is made, and the geometry of bodies.

A profile is a list of strips; a strip is an array of points (r, z, nr, nz): distance from the axis,
height along it, and the normal there. Turned about z it gives a surface; with four sides and flat
normals, a box. A body has the even solid of its inertia, and the points that others name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chainform.errors import ReadError
from chainform.mechanism import GROUND, Body, InertialElement, Mechanism, float_of, float_vector
from chainform.pictures.frames import Frames

Array = NDArray[np.float64]
Layer: TypeAlias = Literal["ground", "body", "joint", "centre", "frame", "axes", "inertia"]
ARC = 7
"""Points of a quarter of a circle."""
LIKE = 0.02
"""Moments of inertia that differ by less than this share are taken as equal."""
NEAR = 1e-9
"""Points nearer than this to the origin, in m, are the origin."""
LARGE, LONG = 0.3, 0.75
"""A solid whose half size is beyond this share of the whole is not drawn; LONG goes for rods."""


@dataclass(frozen=True)
class Shape:
    """A profile and the number of sides it is turned in; a box has four flat ones."""

    strips: tuple[Array, ...]
    sides: int = 32

    @property
    def is_flat(self) -> bool:
        """Tell whether each side is a plane."""
        return self.sides == 4


@dataclass(frozen=True)
class Part:
    """A shape on a frame: `place` (3, 4) takes points of the shape to the axes of the frame, m.

    With a second colour the eight octants of the shape have one and the other in turn, so that it
    is seen to turn.
    """

    frame: int
    layer: Layer
    shape: Shape
    place: Array
    colour: str
    second: str | None = None


def sphere(radius: float) -> Shape:
    """Return a ball."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, 2 * ARC + 1)
    normals = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return Shape((_strip(radius * normals, normals),))


def cylinder(radius: float, half: float, bevel: float = 0.0) -> Shape:
    """Return a cylinder about z from -half to half, its edges broken by `bevel`."""
    b = min(bevel, radius / 2, half / 2)
    inner, end, slope = radius - b, half - b, np.sqrt(0.5)
    strips = [
        _line((0.0, -half), (inner, -half), (0.0, -1.0)),
        _line((inner, -half), (radius, -end), (slope, -slope)),
        # In two halves, so that each of them may have a colour of its own.
        np.concatenate(
            [
                _line((radius, -end), (radius, 0.0), (1.0, 0.0)),
                _line((radius, 0.0), (radius, end), (1.0, 0.0))[1:],
            ]
        ),
        _line((radius, end), (inner, half), (slope, slope)),
        _line((inner, half), (0.0, half), (0.0, 1.0)),
    ]
    return Shape(tuple(strips if b > 0 else strips[::2]))


def box(half: float, bevel: float = 0.0) -> Shape:
    """Return a box of the half height `half` whose other half sides are one."""
    plain = cylinder(np.sqrt(2.0), half, bevel)
    return Shape(plain.strips, sides=4)


def capsule(first: float, last: float, length: float) -> Shape:
    """Return a rod along z from 0 to `length` with round ends of two radii."""
    if length <= abs(first - last):
        return sphere(max(first, last))
    tilt = float(np.arcsin((first - last) / length))
    lower = np.linspace(-np.pi / 2, tilt, ARC + 1)
    upper = np.linspace(tilt, np.pi / 2, ARC + 1)
    normals = [np.stack([np.cos(angles), np.sin(angles)], axis=1) for angles in (lower, upper)]
    points = [first * normals[0], last * normals[1] + np.array([0.0, length])]
    return Shape((_strip(np.concatenate(points), np.concatenate(normals)),))


def _line(start: tuple[float, float], end: tuple[float, float], normal: object) -> Array:
    return _strip(np.array([start, end]), np.array([normal, normal], dtype=np.float64))


def _strip(points: Array, normals: Array) -> Array:
    return np.concatenate([points, normals], axis=1)


# --- where shapes stand -----------------------------------------------------------------------


def placed(origin: Array, axes: Array | None = None) -> Array:
    """Return the place (3, 4) of a shape: the images of x, y, z, then the origin."""
    return np.concatenate([np.eye(3) if axes is None else axes, origin[:, None]], axis=1)


def along(direction: Array) -> Array:
    """Return a rotation whose third column is the unit vector along `direction`."""
    z = direction / np.linalg.norm(direction)
    helper = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = np.cross(helper, z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


# --- surfaces ---------------------------------------------------------------------------------


def surface(shape: Shape, sides: int, step: float) -> tuple[Array, NDArray[np.intp]]:
    """Return the corners (k, 3) and four-sided faces (f, 4) of a shape.

    Round shapes get `sides` sides, and no face is longer along the profile than `step`.
    """
    count = 4 if shape.is_flat else sides
    # Boxes are turned by an eighth, so that their sides are normal to x and y.
    angles = (np.arange(count) + (0.5 if shape.is_flat else 0.0)) * (2 * np.pi / count)
    corners: list[Array] = []
    faces: list[NDArray[np.intp]] = []
    total = 0
    for strip in shape.strips:
        points = _refined(strip[:, :2], step)
        r, z = points[:, :1], points[:, 1:]
        ring = np.stack([r * np.cos(angles), r * np.sin(angles), z + 0 * angles], axis=-1)
        corners.append(ring.reshape(-1, 3))
        row, side = np.meshgrid(np.arange(len(points) - 1), np.arange(count), indexing="ij")
        a, b = total + row * count + side, total + row * count + (side + 1) % count
        faces.append(np.stack([a, b, b + count, a + count], axis=-1).reshape(-1, 4))
        total += len(points) * count
    return np.concatenate(corners), np.concatenate(faces)


def rings(shape: Shape) -> Array:
    """Return points all around a shape where it is highest, lowest and widest, (k, 3)."""
    profile = np.concatenate(shape.strips)[:, :2]
    r, z = profile[:, 0], profile[:, 1]
    wide = r == r.max()
    chosen = [int(np.argmin(z)), int(np.argmax(z))]
    chosen += [
        int(np.argmin(np.where(wide, z, np.inf))),
        int(np.argmax(np.where(wide, z, -np.inf))),
    ]
    angles = np.arange(8) * (np.pi / 4)
    ring = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    return np.concatenate([r[k] * ring + np.array([0.0, 0.0, z[k]]) for k in chosen])


def _refined(points: Array, step: float) -> Array:
    """Return the points of a profile with more of them where they are farther than `step`."""
    pieces = [points[:1]]
    for start, end in pairwise(points):
        count = max(1, int(np.ceil(np.linalg.norm(end - start) / step)))
        shares = np.arange(1, count + 1)[:, None] / count
        pieces.append(start + shares * (end - start))
    return np.concatenate(pieces)


# --- the even solid of an inertia -------------------------------------------------------------


@dataclass(frozen=True)
class Solid:
    """A ball, a cylinder or a box: half sizes along its axes, which are the columns of `axes`.

    A cylinder has its axis along z; its first two half sizes are its radius. Sizes are in m and
    may be zero, as those of a thin rod or disc.
    """

    kind: Literal["ball", "cylinder", "box"]
    half: Array
    axes: Array

    @property
    def is_rod(self) -> bool:
        """Tell whether it is long and thin: along z, if a cylinder."""
        return self.kind == "cylinder" and bool(self.half[2] > 3.5 * self.half[0])


def solid_of(mass: float, inertia: Array) -> Solid | None:
    """Return the even solid of a mass (kg) and an inertia about the mass centre (kg m^2).

    None for a body without mass, and for one without extent, which is a point. With half sizes a,
    b, c a box has I_x = m (b^2 + c^2) / 3; a cylinder of radius r has I_z = m r^2 / 2 and
    I_x = m (r^2 / 4 + c^2 / 3); a ball has I = 2 m r^2 / 5.
    """
    if mass <= 0 or not np.isfinite(inertia).all():
        return None
    moments, axes = np.linalg.eigh((inertia + inertia.T) / 2)
    moments = np.maximum(moments, 0.0)
    if moments[2] <= 0:
        return None
    per_mass = moments / mass
    if moments[2] - moments[0] <= LIKE * moments[2]:
        return Solid("ball", np.full(3, np.sqrt(2.5 * per_mass.mean())), np.eye(3))
    for odd, pair in ((0, (1, 2)), (2, (0, 1))):
        gap = abs(moments[pair[1]] - moments[pair[0]])
        about, across = per_mass[odd], per_mass[list(pair)].mean()
        square = 3 * across - 1.5 * about
        if gap <= LIKE * moments[2] and square >= -LIKE * about:
            radius = np.sqrt(2 * about)
            half = np.array([radius, radius, np.sqrt(max(square, 0.0))])
            return Solid("cylinder", half, _right_handed(axes[:, [*pair, odd]]))
    squares = 1.5 * (per_mass.sum() - 2 * per_mass)
    return Solid("box", np.sqrt(np.maximum(squares, 0.0)), _right_handed(axes))


def _right_handed(axes: Array) -> Array:
    return axes if np.linalg.det(axes) > 0 else axes * np.array([1.0, 1.0, -1.0])


# --- bodies as the equations have them: masses, and the points that others name ---------------


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
