"""A motion in one picture: the mechanism at one time, and before it as ghosts."""

from __future__ import annotations

from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chainform.errors import RunError
from chainform.files import check_target, write_whole
from chainform.pictures.film import View, film_of
from chainform.pictures.motion import Motion
from chainform.pictures.painter import Painter
from chainform.pictures.video import FINE_RATE

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_STEPS = 4000
"""Steps of a motion that is drawn as one picture."""


def picture(
    run: Motion,
    file: str | PathLike[str] | None = None,
    *,
    t: float | None = None,
    ghosts: int = 5,
    size: tuple[int, int] = (800, 600),
    view: View | None = None,
    trace: str | bool = True,
) -> Image:
    """Return a picture of a motion and write it to `file` (png), if one is given.

    It shows the mechanism at the time `t`, its end unless given, and at even times before as
    `ghosts`. `size` is in pixels; `view` and `trace` are those of `animate`.
    """
    path = None if file is None else Path(file)
    if path is not None and path.suffix.lower() != ".png":
        raise RunError(
            f"a picture cannot be written as {path.suffix or 'a file without an ending'}",
            file=str(path),
            element="file",
            remedy="let the name end in .png",
        )
    if path is not None:
        check_target(path)
    film = film_of(run, FINE_RATE, MOST_STEPS, view)
    at = len(film.times) - 1 if t is None else int(np.argmin(np.abs(film.times - t)))
    before = np.linspace(0, at, max(ghosts, 0) + 1)[:-1]
    painter = Painter(film, size, film.traced(trace))
    image = painter.picture(at, ghosts=[round(float(k)) for k in before])
    if path is not None:
        data = BytesIO()
        image.save(data, format="PNG")
        write_whole(path, data.getvalue())
    return image
