"""A motion as a moving picture: a page to turn about, or a film in a file."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import overload

from chainform.errors import RunError
from chainform.given import argument
from chainform.simulation.pictures.film import View, film_of
from chainform.simulation.pictures.motion import Motion, title_of
from chainform.simulation.pictures.page import Page, page_of
from chainform.simulation.pictures.video import Timing, write_gif, write_mp4
from chainform.simulation.replacing import check_target

File = str | PathLike[str]
Progress = Callable[[float], None]

WRITERS = {".gif": write_gif, ".mp4": write_mp4}
RATES = {".gif": 25.0, ".mp4": 30.0}
"""Frames per second of a film, by the ending of its file."""

PAGE_RATE, PAGE_POSES = 60.0, 400_000
"""Frames per second of motion in a page, and how many frames of bodies it holds at most."""

MOST_FRAMES = 20_000


@overload
def animate(
    run: Motion,
    file: None = None,
    *,
    speed: float = 1.0,
    fps: float | None = None,
    size: tuple[int, int] = (800, 600),
    view: View | None = None,
    trace: str | bool = True,
    title: str | None = None,
    progress: Progress | None = None,
) -> Page: ...


@overload
def animate(
    run: Motion,
    file: File,
    *,
    speed: float = 1.0,
    fps: float | None = None,
    size: tuple[int, int] = (800, 600),
    view: View | None = None,
    trace: str | bool = True,
    title: str | None = None,
    progress: Progress | None = None,
) -> Path: ...


def animate(
    run: Motion,
    file: File | None = None,
    *,
    speed: float = 1.0,
    fps: float | None = None,
    size: tuple[int, int] = (800, 600),
    view: View | None = None,
    trace: str | bool = True,
    title: str | None = None,
    progress: Progress | None = None,
) -> Page | Path:
    """Return a motion as a page for a notebook, or write it to a file and return where it is.

    The ending of the file chooses: `.html` is one page that works without a network, to be turned
    and zoomed; `.gif` and `.mp4` are films of a `size` in pixels with `fps` frames per second (25
    and 30). Time runs `speed` times as fast as it does. `view` is from where one looks, azimuth
    from the x axis and elevation in degrees; without it the motion itself tells. `trace` draws the
    path of a frame, segment or element by its name, True that of the tip, False none. `progress`
    is called with the share that is done.
    """
    path = None if file is None else Path(file)
    ending = ".html" if path is None else path.suffix.lower()
    if ending not in (".html", ".htm", *WRITERS):
        raise RunError(
            f"an animation cannot be written as {ending or 'a file without an ending'}",
            file=str(path),
            element="file",
            remedy="let the name end in .html, .mp4 or .gif",
        )
    _check_numbers(speed, fps, size)
    if path is not None:
        check_target(path)
    if path is None or ending not in WRITERS:
        page = _page(run, speed, view, trace, title)
        if progress is not None:
            progress(1.0)
        return page if path is None else page.save(path)
    timing = _timing(run, speed, RATES[ending] if fps is None else fps)
    film = film_of(run, timing.rate, timing.count * timing.fine, view)
    WRITERS[ending](film, path, size, film.traced(trace), timing, progress or _ignore)
    return path


def _page(
    run: Motion, speed: float, view: View | None, trace: str | bool, title: str | None
) -> Page:
    mechanism = run.mechanism
    frames = len(mechanism.segments) + len(mechanism.elements) + 1
    film = film_of(run, PAGE_RATE / min(speed, 1.0), max(2, PAGE_POSES // frames), view)
    return page_of(film, film.traced(trace), speed, title_of(run, title))


def _timing(run: Motion, speed: float, fps: float) -> Timing:
    """Return how a film is cut from a motion; a very long one is refused."""
    span = float(run.t[-1] - run.t[0]) if len(run.t) else 0.0
    timing = Timing.of(span, speed, fps)
    if timing.count > MOST_FRAMES:
        raise RunError(
            f"the film would have {timing.count} frames, the limit is {MOST_FRAMES}",
            element="animate",
            remedy="raise speed, lower fps, or animate a part of the motion",
        )
    return timing


def _check_numbers(speed: float, fps: float | None, size: tuple[int, int]) -> None:
    argument("speed", speed).number(above=0)
    if fps is not None:
        argument("fps", fps).number(above=0, most=100)
    for side in argument("size", size).entries(2, "give width and height in pixels"):
        side.number(64, 8192)


def _ignore(_: float) -> None:
    return
