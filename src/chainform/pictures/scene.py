"""What is to be drawn: parts that move with frames, spans between them, points to trace."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chainform.pictures import colours
from chainform.pictures.shapes import (
    Layer,
    Part,
    Shape,
    along,
    box,
    capsule,
    cylinder,
    placed,
    sphere,
)
from chainform.pictures.solids import Solid

Array = NDArray[np.float64]


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
