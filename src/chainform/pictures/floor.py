"""The floor of a picture: a grid that fades with distance, and soft shadows on it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.pictures import colours
from chainform.pictures.camera import Camera
from chainform.pictures.film import Film
from chainform.pictures.mesh import Faces
from chainform.pictures.motion import library
from chainform.pictures.shapes import along

Array = NDArray[np.float64]

LINE, AXIS = "#c3ccd6", "#9aa6b4"
"""Lines of the grid, and those through the origin."""

PIECES = 24
"""Pieces of a line, each with a shade of its own."""


def grid_step(size: float) -> float:
    """Return 1, 2 or 5 times a power of ten, about a sixth of a size."""
    power = 10.0 ** np.floor(np.log10(size / 6))
    return float(next(f * power for f in (1, 2, 5, 10) if f * power >= size / 6))


def draw_floor(brush: Any, film: Film, camera: Camera, offset: Array, paper: str) -> None:
    """Draw the grid around the place below the middle of the stage, moved by `offset` (m)."""
    stage, reach = film.stage, 2.4 * film.bounds.radius
    centre = film.bounds.centre + offset
    step = grid_step(film.bounds.radius * 2)
    x, y = floor_axes(stage.normal)
    middle = np.array([centre @ x, centre @ y])
    first = np.ceil((middle - reach) / step).astype(int)
    last = np.floor((middle + reach) / step).astype(int)
    for axis in (0, 1):
        for number in range(first[axis], last[axis] + 1):
            ends = np.linspace(-reach, reach, PIECES + 1) + middle[1 - axis]
            flat = np.full((PIECES + 1, 2), number * step)
            flat[:, 1 - axis] = ends
            points = flat @ np.stack([x, y]) + stage.floor * stage.normal
            screen, depth = camera.project(points)
            away = np.linalg.norm((flat[1:] + flat[:-1]) / 2 - middle, axis=1) / reach
            for k in np.flatnonzero((depth[1:] > 0) & (depth[:-1] > 0) & (away < 1)):
                shade = colours.mixed(AXIS if number == 0 else LINE, paper, min(1, away[k] ** 1.5))
                brush.line([tuple(screen[k]), tuple(screen[k + 1])], fill=shade, width=2)


def floor_axes(normal: Array) -> tuple[Array, Array]:
    """Return two unit vectors in the floor, along axes of the world where these lie in it."""
    if np.abs(normal).max() > 1 - 1e-9:
        x, y = (np.eye(3)[k] for k in range(3) if abs(normal[k]) < 0.5)
        return x, y
    axes = along(normal)
    return axes[:, 0], axes[:, 1]


def soft_shadow(image: Any, film: Film, camera: Camera, faces: Faces) -> None:
    """Darken the floor where the light does not reach it, with soft edges."""
    stage = film.stage
    slope = float(stage.light @ stage.normal)
    heights = faces.corners @ stage.normal - stage.floor
    thrown = faces.corners - np.outer(heights / slope, stage.light)
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
