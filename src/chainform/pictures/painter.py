"""Pictures by the painter's algorithm: faces from far to near, each in one shade, above a floor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chainform.files import write_whole
from chainform.pictures import colours
from chainform.pictures.film import Film, film_of
from chainform.pictures.motion import Drawable, library, target_file
from chainform.pictures.scene import Faces, Point, Stretched, coil_between, mesh_of
from chainform.pictures.view import Angles, Camera, camera_of, floor_axes, grid_step

if TYPE_CHECKING:
    from PIL.Image import Image

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

FINE_RATE = 120.0
"""The path of a point is drawn through about so many places per second of motion."""

MOST_STEPS = 4000
"""Steps of a motion that is drawn as one picture."""

LINE, AXIS = "#c3ccd6", "#9aa6b4"
"""Lines of the grid, and those through the origin."""

PIECES = 24
"""Pieces of a line of the grid, each with a shade of its own."""


@dataclass(frozen=True)
class Stroke:
    """A piece of a line: how far from the eye it is, and its corners on the picture."""

    depth: float
    corners: list[tuple[float, float]]
    colour: str
    width: int


class Painter:
    """Paints the frames of one film in a size in pixels, with the path of a point."""

    def __init__(
        self,
        film: Film,
        size: tuple[int, int],
        trace: Point | None,
        stretches: Sequence[tuple[float, float]] | None = None,
    ) -> None:
        self.film = film
        self.stretches = stretches
        self.size = size
        self.image = library("PIL.Image", "drawing pictures", "plot")
        self.draw = library("PIL.ImageDraw", "drawing pictures", "plot")
        fonts = library("PIL.ImageFont", "drawing pictures", "plot")
        self.font = fonts.load_default(max(11, size[1] // 34))
        self.trace = None if trace is None else film.path(trace)
        self.mesh = mesh_of(film.scene, film.scale.rod, SIDES)
        self._still: Any = None

    def picture(self, k: int, label: str = "", ghosts: Sequence[int] = ()) -> Any:
        """Return frame k of the film, an image of Pillow; other frames are ghosts behind it."""
        film, size = self.film, (FINE * self.size[0], FINE * self.size[1])
        camera = camera_of(film.view, film.bounds, film.offset(k), size)
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
        if self._still is None or self.film.view.follow:
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
        """Return the trace up to frame k, fading with age; chosen stretches of it do not fade."""
        if self.trace is None or k == 0:
            return []
        shares = OLD * (1 - np.arange(k + 1) / k)
        shades = [colours.mixed(colours.TRACE, PAPER, float(share)) for share in shares]
        if self.stretches is None:
            return _pieces(self.trace[: k + 1], camera, shades, self._width)
        strokes: list[Stroke] = []
        for start, end in self.stretches:
            first, last = np.searchsorted(self.film.times[: k + 1], (start, end))
            ink = [colours.TRACE] * int(last - first)
            strokes += _pieces(self.trace[first:last], camera, ink, self._width)
        return strokes


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
    light, up = film.view.light, film.view.up
    halfway = light + camera.axes[2]
    diffuse = np.maximum(normals @ light, 0.0)
    sky = 0.5 + 0.5 * (normals @ up)
    shine = np.maximum(normals @ (halfway / np.linalg.norm(halfway)), 0.0) ** 36
    lit = faces.colours[chosen] * (0.5 + 0.22 * sky + 0.42 * diffuse)[:, None]
    return np.clip(255 * (lit + 0.2 * shine[:, None]), 0, 255).astype(int)


# --- the floor ------------------------------------------------------------------------------------


def draw_floor(brush: Any, film: Film, camera: Camera, offset: Array, paper: str) -> None:
    """Draw the grid below the middle of the motion, moved by `offset` (m)."""
    view, reach = film.view, 2.4 * film.bounds.radius
    centre = film.bounds.centre + offset
    step = grid_step(film.bounds.radius * 2)
    x, y = floor_axes(view.normal)
    middle = np.array([centre @ x, centre @ y])
    first = np.ceil((middle - reach) / step).astype(int)
    last = np.floor((middle + reach) / step).astype(int)
    for axis in (0, 1):
        for number in range(first[axis], last[axis] + 1):
            ends = np.linspace(-reach, reach, PIECES + 1) + middle[1 - axis]
            flat = np.full((PIECES + 1, 2), number * step)
            flat[:, 1 - axis] = ends
            points = flat @ np.stack([x, y]) + view.floor * view.normal
            screen, depth = camera.project(points)
            away = np.linalg.norm((flat[1:] + flat[:-1]) / 2 - middle, axis=1) / reach
            for k in np.flatnonzero((depth[1:] > 0) & (depth[:-1] > 0) & (away < 1)):
                shade = colours.mixed(AXIS if number == 0 else LINE, paper, min(1, away[k] ** 1.5))
                brush.line([tuple(screen[k]), tuple(screen[k + 1])], fill=shade, width=2)


def soft_shadow(image: Any, film: Film, camera: Camera, faces: Faces) -> None:
    """Darken the floor where the light does not reach it, with soft edges."""
    view = film.view
    slope = float(view.light @ view.normal)
    heights = faces.corners @ view.normal - view.floor
    thrown = faces.corners - np.outer(heights / slope, view.light)
    screen, depth = camera.project(thrown)
    images = library("PIL.Image", "drawing pictures", "plot")
    drawing = library("PIL.ImageDraw", "drawing pictures", "plot")
    filters = library("PIL.ImageFilter", "drawing pictures", "plot")
    small = 4
    mask = images.new("L", (image.width // small, image.height // small), 0)
    brush = drawing.Draw(mask)
    every = faces.faces
    above = (heights[every].min(axis=1) > -1e-9) & (depth[every].min(axis=1) > 0)
    # The other half of the faces of a closed body throws the same shadow.
    a, b = (screen[every[:, j]] - screen[every[:, i]] for i, j in ((0, 2), (1, 3)))
    above &= a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0] < 0
    for place in (screen[every[above]].reshape(-1, 8) / small).tolist():
        brush.polygon(place, fill=64)
    box = mask.filter(filters.BoxBlur(image.height / 200)).getbbox()
    if box is not None:
        soft = mask.crop(box).filter(filters.GaussianBlur(image.height / 600))
        soft = soft.resize((small * soft.width, small * soft.height), images.Resampling.BILINEAR)
        image.paste("#4c5a6b", (small * box[0], small * box[1]), soft)


# --- one picture ----------------------------------------------------------------------------------


def picture(  # noqa: PLR0913, a front door
    run: Drawable,
    file: str | PathLike[str] | None = None,
    *,
    t: float | None = None,
    ghosts: int = 5,
    size: tuple[int, int] = (800, 600),
    view: Angles | None = None,
    trace: str | bool = True,
    stretches: Sequence[tuple[float, float]] | None = None,
) -> Image:
    """Return a picture of a motion and write it to `file` (png), if one is given.

    It shows the mechanism at the time `t`, its end unless given, and at even times before as
    `ghosts`. `size` is in pixels; `view` and `trace` are those of `animate`.
    `stretches` are pairs of times between which the path of the point is drawn, in place of all of
    it: those in which a pen is down.
    """
    path = target_file("a picture", file, ".png")
    film = film_of(run, FINE_RATE, MOST_STEPS, view)
    at = len(film.times) - 1 if t is None else int(np.argmin(np.abs(film.times - t)))
    before = np.linspace(0, at, max(ghosts, 0) + 1)[:-1]
    painter = Painter(film, size, film.traced(trace), stretches)
    image = painter.picture(at, ghosts=[round(float(k)) for k in before])
    if path is not None:
        data = BytesIO()
        image.save(data, format="PNG")
        write_whole(path, data.getvalue())
    return image
