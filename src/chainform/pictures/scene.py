"""What is drawn: parts that move with frames, spans between them, points to trace; its faces."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chainform.pictures import colours
from chainform.pictures.frames import Track
from chainform.pictures.shapes import (
    Layer,
    Part,
    Shape,
    Solid,
    along,
    box,
    capsule,
    cylinder,
    placed,
    sphere,
    surface,
)

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

DRAWN = ("body", "joint", "centre", "frame", "ground")
"""Layers that are drawn."""

FRONT = {"centre": 1.2, "frame": 1.0, "joint": 0.4}
"""How far the faces of a layer are drawn before their place, in radii of a rod: they stand out."""

TURNS = 9
"""Turns of a coil spring."""


@dataclass(frozen=True)
class Point:
    """A point of a frame, in its axes, m; by its name where it may be traced."""

    frame: int
    local: Array
    name: str = ""


@dataclass(frozen=True)
class Span:
    """Something between two points that need not keep their distance: a strut or a spring."""

    kind: Literal["strut", "spring"]
    first: Point
    last: Point
    radius: float
    colour: str


Stretched: TypeAlias = tuple[Span, Array, Array]
"""A span and where its ends are, world axes."""


@dataclass
class Scene:
    """All that is drawn. `points` may be traced; the last one is the tip."""

    parts: list[Part] = field(default_factory=list[Part])
    spans: list[Span] = field(default_factory=list[Span])
    points: list[Point] = field(default_factory=list[Point])

    def add(
        self,
        frame: int,
        layer: Layer,
        shape: Shape,
        place: Array,
        colour: str,
        second: str | None = None,
    ) -> None:
        """Add a part."""
        self.parts.append(Part(frame, layer, shape, place, colour, second))

    def rod(
        self,
        frame: int,
        ends: tuple[Array, Array],
        radii: tuple[float, float],
        colour: str,
        layer: Layer = "body",
    ) -> None:
        """Add a rod with round ends between two points."""
        start, end = ends
        length = float(np.linalg.norm(end - start))
        if length < 1e-9:
            self.ball(frame, start, max(radii), colour, layer)
            return
        shape = capsule(*radii, length)
        self.add(frame, layer, shape, placed(start, along(end - start)), colour)

    def ball(
        self, frame: int, centre: Array, radius: float, colour: str, layer: Layer = "body"
    ) -> None:
        """Add a ball."""
        self.add(frame, layer, sphere(radius), placed(centre), colour)

    def drum(
        self,
        frame: int,
        centre: Array,
        axis: Array,
        sizes: tuple[float, float],
        colour: str,
        layer: Layer = "joint",
    ) -> None:
        """Add a cylinder: its radius and half its length, along an axis."""
        radius, half = sizes
        shape = cylinder(radius, half, 0.18 * radius)
        self.add(frame, layer, shape, placed(centre, along(axis)), colour)

    def block(self, frame: int, place: Array, half: Array, colour: str, layer: Layer) -> None:
        """Add a box with half sizes along the columns of its place (3, 4)."""
        scaled = place * np.array([half[0], half[1], 1.0, 1.0])
        self.add(frame, layer, box(half[2]), scaled, colour)

    def centre(self, frame: int, point: Array, radius: float) -> None:
        """Add the sign of a mass centre: a ball in black and white octants."""
        dark, light = colours.CENTRE_DARK, colours.CENTRE_LIGHT
        self.add(frame, "centre", sphere(radius), placed(point), dark, light)

    def solid(
        self, frame: int, com: Array, solid: Solid, least: float, colour: str, layer: Layer
    ) -> None:
        """Add an even solid about a mass centre; thin ones get the least half size."""
        half = np.maximum(solid.half, least)
        place = placed(com, solid.axes)
        second = colours.mixed(colour, "#ffffff", 0.45) if layer == "body" else None
        match solid.kind:
            case "ball":
                self.add(frame, layer, sphere(half[0]), place, colour, second)
            case "cylinder":
                shape = cylinder(half[0], half[2], 0.1 * min(half[0], half[2]))
                self.add(frame, layer, shape, place, colour, second)
            case "box":
                self.block(frame, place, half, colour, layer)

    def triad(self, frame: int, place: Array, length: float, layer: Layer) -> None:
        """Add the three axes of a frame in red, green and blue."""
        for k, colour in enumerate(colours.AXES):
            ends = (place[:, 3], place[:, 3] + length * place[:, k])
            self.rod(frame, ends, (0.06 * length, 0.06 * length), colour, layer)


# --- faces ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Faces:
    """Corners (k, 3), faces of four (f, 4), their colours (f, 3), how far they stand out (f,)."""

    corners: Array
    faces: Indices
    colours: Array
    front: Array


@dataclass(frozen=True)
class Mesh:
    """Faces in the axes of frames; `owners` (k,) are the frames of the corners."""

    local: Faces
    owners: Indices

    def at(self, track: Track, k: int, spans: list[Stretched]) -> Faces:
        """Return the faces at time k in the world; struts stretch between their ends."""
        turns, places = track.rotations[k][self.owners], track.positions[k][self.owners]
        moved = np.einsum("kij,kj->ki", turns, self.local.corners) + places
        pieces = [Faces(moved, self.local.faces, self.local.colours, self.local.front)]
        pieces += [_strut(*span) for span in spans if span[0].kind == "strut"]
        return _together(pieces)


def mesh_of(scene: Scene, rod: float, sides: int) -> Mesh:
    """Return the faces of all parts that are drawn; those thinner than a rod have fewer sides."""
    pieces: list[Faces] = []
    owners: list[Indices] = []
    for part in scene.parts:
        if part.layer in DRAWN:
            widest = max(float(strip[:, 0].max()) for strip in part.shape.strips)
            fitting = (
                sides // 2 if widest < 0.4 * rod else 2 * sides if widest > 2.5 * rod else sides
            )
            corners, faces = surface(part.shape, fitting, 3.0 * rod)
            moved = corners @ part.place[:, :3].T + part.place[:, 3]
            front = np.full(len(faces), FRONT.get(part.layer, 0.0) * rod)
            pieces.append(Faces(moved, faces, _colours(part, corners, faces), front))
            owners.append(np.full(len(corners), part.frame, dtype=np.intp))
    return Mesh(_together(pieces), np.concatenate([*owners, np.zeros(0, dtype=np.intp)]))


def _together(pieces: list[Faces]) -> Faces:
    nothing = np.zeros((0, 4), dtype=np.intp)
    pieces = [*pieces, Faces(np.zeros((0, 3)), nothing, np.zeros((0, 3)), np.zeros(0))]
    counts = np.cumsum([0, *(len(piece.corners) for piece in pieces[:-1])])
    faces = [piece.faces + start for piece, start in zip(pieces, counts, strict=True)]
    return Faces(
        np.concatenate([piece.corners for piece in pieces]),
        np.concatenate(faces),
        np.concatenate([piece.colours for piece in pieces]),
        np.concatenate([piece.front for piece in pieces]),
    )


def _colours(part: Part, corners: Array, faces: Indices) -> Array:
    """Return the colour of each face: with a second colour, one and the other by octants."""
    first = np.tile(colours.channels(part.colour), (len(faces), 1))
    if part.second is None:
        return first
    odd = np.prod(np.sign(corners[faces].mean(axis=1)), axis=1) < 0
    return np.where(odd[:, None], colours.channels(part.second), first)


def _strut(span: Span, start: Array, end: Array) -> Faces:
    """Return a strut between two points."""
    gap = end - start
    length = max(float(np.linalg.norm(gap)), 1e-12)
    axes = along(gap) if length > 1e-9 else np.eye(3)
    corners, faces = surface(cylinder(span.radius, length / 2), 12, length / 8 + span.radius)
    corners = (corners + np.array([0.0, 0.0, length / 2])) @ axes.T + start
    shades = np.tile(colours.channels(span.colour), (len(faces), 1))
    # Rods in the same place cover a strut.
    return Faces(corners, faces, shades, np.full(len(faces), -2.0 * span.radius))


def coil_between(start: Array, end: Array, radius: float) -> Array:
    """Return the line of a coil spring between two points, (k, 3)."""
    gap = end - start
    length = float(np.linalg.norm(gap))
    if length < 1e-9:
        return np.stack([start, end])
    s = np.linspace(0.0, 1.0, 14 * TURNS + 1)
    # The ends of the coil run straight into the points.
    wide = radius * np.clip(np.minimum(s, 1 - s) * 12 - 0.6, 0.0, 1.0)
    angle = 2 * np.pi * TURNS * s
    local = np.stack([wide * np.cos(angle), wide * np.sin(angle), length * s], axis=1)
    return start + local @ along(gap).T
