"""Pictures by the painter's algorithm: faces from far to near, each in one shade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.pictures import colours
from chainform.pictures.camera import Camera, camera_of
from chainform.pictures.film import Film
from chainform.pictures.floor import draw_floor, soft_shadow
from chainform.pictures.mesh import Faces, Stretched, coil_between, mesh_of
from chainform.pictures.motion import library
from chainform.pictures.scene import Point

Array = NDArray[np.float64]

PAPER, INK = "#f6f8fb", "#4a5563"
"""The background, and the colour of what is written."""

FINE = 2
"""Pictures are drawn so many times larger and then reduced, which smooths their edges."""

SIDES = 24
"""Sides of a round shape."""

GHOST = 0.32
"""How much of a ghost covers what is behind it."""

OLD = 0.75
"""The share of the background in the colour of the oldest part of a trace."""


@dataclass(frozen=True)
class Stroke:
    """A piece of a line: how far from the eye it is, and its corners on the picture."""

    depth: float
    corners: list[tuple[float, float]]
    colour: str
    width: int


class Painter:
    """Paints the frames of one film in a size in pixels, with the path of a point."""

    def __init__(self, film: Film, size: tuple[int, int], trace: Point | None) -> None:
        self.film = film
        self.size = size
        self.image = library("PIL.Image", "drawing pictures", "plot")
        self.draw = library("PIL.ImageDraw", "drawing pictures", "plot")
        fonts = library("PIL.ImageFont", "drawing pictures", "plot")
        self.font = fonts.load_default(max(11, size[1] // 34))
        self.trace = None if trace is None else film.path(trace)
        self.mesh = mesh_of(film, SIDES)
        self._still: Any = None

    def picture(self, k: int, label: str = "", ghosts: Sequence[int] = ()) -> Any:
        """Return frame k of the film, an image of Pillow; other frames are ghosts behind it."""
        film, size = self.film, (FINE * self.size[0], FINE * self.size[1])
        camera = camera_of(film.stage, film.bounds, film.offset(k), size)
        image = self._background(camera, film.offset(k), size)
        for ghost in ghosts:
            solid = image.copy()
            faces, spans = self._bodies(ghost)
            _paint(self.draw.Draw(solid), faces, self._springs(camera, spans), film, camera)
            image = self.image.blend(image, solid, GHOST)
        faces, spans = self._bodies(k)
        soft_shadow(image, film, camera, faces)
        strokes = [*self._springs(camera, spans), *self._path(camera, k)]
        _paint(self.draw.Draw(image), faces, strokes, film, camera)
        image = image.reduce(FINE)
        if label:
            edge = max(9, self.size[1] // 42)
            place = (edge, self.size[1] - edge)
            brush = self.draw.Draw(image)
            brush.text(place, label, fill=INK, anchor="ls", font=self.font)
        return image

    def _background(self, camera: Camera, offset: Array, size: tuple[int, int]) -> Any:
        """Return paper with the floor; it is drawn once if the camera stands still."""
        if self._still is None or self.film.stage.follow:
            self._still = self.image.new("RGB", size, PAPER)
            draw_floor(self.draw.Draw(self._still), self.film, camera, offset, PAPER)
        return self._still.copy()

    def _bodies(self, k: int) -> tuple[Faces, list[Stretched]]:
        """Return the faces of frame k, and the spans with their ends."""
        track = self.film.track
        spans: list[Stretched] = []
        for span in self.film.scene.spans:
            first, last = (
                track.positions[k, end.frame] + track.rotations[k, end.frame] @ end.local
                for end in (span.first, span.last)
            )
            spans.append((span, first, last))
        return self.mesh.at(track, k, spans), spans

    @property
    def _width(self) -> int:
        return max(2, round(FINE * self.size[1] / 240))

    def _springs(self, camera: Camera, spans: list[Stretched]) -> list[Stroke]:
        strokes: list[Stroke] = []
        for span, start, end in spans:
            if span.kind == "spring":
                coil = coil_between(start, end, span.radius)
                strokes += _pieces(coil, camera, [span.colour] * len(coil), self._width)
        return strokes

    def _path(self, camera: Camera, k: int) -> list[Stroke]:
        """Return the trace up to frame k, fading with age."""
        if self.trace is None or k == 0:
            return []
        shares = OLD * (1 - np.arange(k + 1) / k)
        shades = [colours.mixed(colours.TRACE, PAPER, float(share)) for share in shares]
        return _pieces(self.trace[: k + 1], camera, shades, self._width)


def _pieces(points: Array, camera: Camera, shades: list[str], width: int) -> list[Stroke]:
    """Return a line in pieces of a few points, so that bodies may hide parts of it."""
    screen, depth = camera.project(points)
    places = [(float(x), float(y)) for x, y in screen]
    return [
        Stroke(float(depth[k : k + 4].mean()), places[k : k + 4], shades[k], width)
        for k in range(0, len(places) - 1, 3)
    ]


def _paint(brush: Any, faces: Faces, strokes: list[Stroke], film: Film, camera: Camera) -> None:
    """Paint faces that look towards the eye, and strokes, from far to near."""
    screen, depth = camera.project(faces.corners)
    corners = screen[faces.faces]
    a, b = corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1]
    is_towards = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0] < 0
    visible = np.flatnonzero(is_towards & (depth[faces.faces].min(axis=1) > 0))
    depths = depth[faces.faces[visible]].mean(axis=1) - faces.front[visible]
    order = np.argsort(-depths)
    visible, depths = visible[order], depths[order]
    shades = [tuple(shade) for shade in _lit(faces, visible, film, camera).tolist()]
    places = corners[visible].reshape(-1, 8).tolist()
    strokes = sorted(strokes, key=lambda stroke: -stroke.depth)
    stops = np.searchsorted(-depths, [-stroke.depth for stroke in strokes]).tolist()
    start = 0
    for stop, stroke in zip([*stops, len(places)], [*strokes, None], strict=True):
        for k in range(start, stop):
            brush.polygon(places[k], fill=shades[k])
        start = stop
        if stroke is not None:
            brush.line(stroke.corners, fill=stroke.colour, width=stroke.width, joint="curve")


def _lit(faces: Faces, chosen: NDArray[np.intp], film: Film, camera: Camera) -> Array:
    """Return the colours of some faces (f, 3), 0 to 255, under one light and a bright sky."""
    p = faces.corners[faces.faces[chosen]]
    normals = np.cross(p[:, 2] - p[:, 0], p[:, 3] - p[:, 1])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    light, up = film.stage.light, film.stage.up
    halfway = light + camera.axes[2]
    diffuse = np.maximum(normals @ light, 0.0)
    sky = 0.5 + 0.5 * (normals @ up)
    shine = np.maximum(normals @ (halfway / np.linalg.norm(halfway)), 0.0) ** 36
    lit = faces.colours[chosen] * (0.5 + 0.22 * sky + 0.42 * diffuse)[:, None]
    return np.clip(255 * (lit + 0.2 * shine[:, None]), 0, 255).astype(int)
