"""Solids of revolution, of which all that is drawn is made, and the even solid of an inertia.

A profile is a list of strips; a strip is an array of points (r, z, nr, nz): distance from the axis,
height along it, and the normal there. Turned about z it gives a surface; with four sides and flat
normals, a box.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


Layer: TypeAlias = Literal["ground", "body", "joint", "centre", "frame", "axes", "inertia"]

ARC = 7
"""Points of a quarter of a circle."""

LIKE = 0.02
"""Moments of inertia that differ by less than this share are taken as equal."""


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


# --- surfaces -------------------------------------------------------------------------------------


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


# --- the even solid of an inertia -----------------------------------------------------------------


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
