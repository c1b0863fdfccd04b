"""A motion as a moving picture: a page to turn about, or a film in a file (GIF or MP4)."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from chainform.errors import RunError
from chainform.files import REMEDY, replacing
from chainform.given import argument
from chainform.pictures.film import Film, film_of
from chainform.pictures.motion import Drawable, library, target_file, title_of
from chainform.pictures.page import HtmlPage, page_of
from chainform.pictures.painter import FINE_RATE, Painter
from chainform.pictures.scene import Point
from chainform.pictures.view import Angles

File = str | PathLike[str]
Progress = Callable[[float], None]

RATES = {".gif": 25.0, ".mp4": 30.0}
"""Frames per second of a film, by the ending of its file."""

PAGE_RATE, PAGE_POSES = 60.0, 400_000
"""Frames per second of motion in a page, and how many frames of bodies it holds at most."""

MOST_FRAMES = 20_000
"""Frames of a film."""

H264 = (
    *("-an", "-c:v", "libx264", "-pix_fmt", "yuv420p"),
    *("-crf", "18", "-preset", "medium", "-movflags", "+faststart"),
)
"""Options of ffmpeg for a film without sound that begins to play before it is loaded."""


class AnimationOptions(TypedDict, total=False):
    """The options of `animate`."""

    speed: float
    fps: float | None
    size: tuple[int, int]
    view: Angles | None
    trace: str | bool
    title: str | None
    progress: Progress | None


@overload
def animate(run: Drawable, file: None = None, **options: Unpack[AnimationOptions]) -> HtmlPage: ...


@overload
def animate(run: Drawable, file: File, **options: Unpack[AnimationOptions]) -> Path: ...


def animate(  # noqa: PLR0913, a front door
    run: Drawable,
    file: File | None = None,
    *,
    speed: float = 1.0,
    fps: float | None = None,
    size: tuple[int, int] = (800, 600),
    view: Angles | None = None,
    trace: str | bool = True,
    title: str | None = None,
    progress: Progress | None = None,
) -> HtmlPage | Path:
    """Return a motion as a page for a notebook, or write it to a file and return where it is.

    The ending of the file chooses: `.html` is one page that works without a network, to be turned
    and zoomed; `.gif` and `.mp4` are films of a `size` in pixels with `fps` frames per second (25
    and 30). Time runs `speed` times as fast as it does. `view` is from where one looks, azimuth
    from the x axis and elevation in degrees; without it the motion itself tells. `trace` draws the
    path of a frame, segment or element by its name, True that of the tip, False none. `progress`
    is called with the share that is done.
    """
    path = target_file("an animation", file, ".html", ".mp4", ".gif", also=".htm")
    ending = ".html" if path is None else path.suffix.lower()
    _check_numbers(speed, fps, size)
    if path is None or ending not in RATES:
        page = _page(run, speed, view, trace, title)
        if progress is not None:
            progress(1.0)
        return page if path is None else page.save(path)
    timing = _timing(run, speed, RATES[ending] if fps is None else fps)
    film = film_of(run, timing.rate, timing.count * timing.fine, view)
    clip = Clip(film, size, film.traced(trace), timing, progress or _ignore)
    write = write_gif if ending == ".gif" else write_mp4
    write(clip, path)
    return path


def _page(
    run: Drawable, speed: float, view: Angles | None, trace: str | bool, title: str | None
) -> HtmlPage:
    mechanism = run.mechanism
    frames = len(mechanism.segments) + len(mechanism.elements) + 1
    film = film_of(run, PAGE_RATE / min(speed, 1.0), max(2, PAGE_POSES // frames), view)
    return page_of(film, film.traced(trace), speed, title_of(run, title))


def _timing(run: Drawable, speed: float, fps: float) -> Timing:
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


# --- films ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Timing:
    """`count` pictures at `fps` per second, each `fine` steps of a motion with `rate` a second."""

    count: int
    fps: float
    fine: int
    rate: float

    @staticmethod
    def of(span: float, speed: float, fps: float) -> Timing:
        """Return the timing of a motion of `span` seconds; the last picture is its end."""
        steps = max(round(span / speed * fps), 1 if span > 0 else 0)
        fine = max(1, int(np.ceil(FINE_RATE * speed / fps)))
        rate = 0.0 if span == 0 else steps * fine / span
        return Timing(steps + 1, fps, fine, rate)

    def pick(self, k: int, last: int) -> int:
        """Return the step of the motion that picture k shows."""
        return min(k * self.fine, last)


@dataclass(frozen=True)
class Clip:
    """A film in a size (pixels) and a timing, with the path of a point."""

    film: Film
    size: tuple[int, int]
    trace: Point | None
    timing: Timing
    progress: Progress

    def pictures(self) -> Iterator[Any]:
        """Yield the pictures."""
        painter, times = self.painter(), self.film.times
        digits = 3 if times[-1] - times[0] < 1 else 2
        for k in range(self.timing.count):
            at = self.timing.pick(k, len(times) - 1)
            yield painter.picture(at, f"t = {times[at]:.{digits}f} s")
            self.progress((k + 1) / self.timing.count)

    def painter(self) -> Painter:
        """Return a new painter."""
        return Painter(self.film, self.size, self.trace)


def write_gif(clip: Clip, path: Path) -> None:
    """Write a GIF that runs again and again; all its pictures have the colours of some of them."""
    image = library("PIL.Image", "writing a GIF", "plot")
    palette = _palette(image, clip)
    every = (
        picture.quantize(palette=palette, dither=image.Dither.NONE) for picture in clip.pictures()
    )
    first = next(every)
    # A GIF counts time in hundredths of a second; rounding must not add up.
    ends = [round(100 * k / clip.timing.fps) for k in range(clip.timing.count + 1)]
    durations = [10 * (b - a) for a, b in pairwise(ends)]
    with replacing(path) as part:
        first.save(
            part,
            format="GIF",
            save_all=True,
            append_images=every,
            duration=durations,
            loop=0,
            optimize=False,
        )


def _palette(image: Any, clip: Clip) -> Any:
    """Return the colours of a few pictures together."""
    painter, last = clip.painter(), len(clip.film.times) - 1
    chosen = sorted({round(share * (clip.timing.count - 1)) for share in (0.0, 0.35, 0.7, 1.0)})
    some = [painter.picture(clip.timing.pick(k, last), "t = 0123456789") for k in chosen]
    sheet = image.new("RGB", (some[0].width, some[0].height * len(some)))
    for k, picture in enumerate(some):
        sheet.paste(picture, (0, k * picture.height))
    return sheet.quantize(256, method=image.Quantize.MEDIANCUT)


def write_mp4(clip: Clip, path: Path) -> None:
    """Write an MP4 in H.264 that every browser and slide program plays; sides become even."""
    program = _ffmpeg()
    width, height = clip.size
    even = (width + width % 2, height + height % 2)
    with replacing(path) as part, tempfile.TemporaryFile() as log:
        command = [program, *_input_options(even, clip.timing.fps), *H264, "-y", str(part)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log) as ffmpeg:
            assert ffmpeg.stdin is not None
            try:
                for picture in replace(clip, size=even).pictures():
                    ffmpeg.stdin.write(picture.tobytes())
                ffmpeg.stdin.close()
            except BrokenPipeError:
                # It has ended early; its message is read below.
                with suppress(BrokenPipeError):
                    ffmpeg.stdin.close()
            except BaseException:
                ffmpeg.kill()
                raise
        if ffmpeg.returncode != 0:
            log.seek(0)
            reason = log.read().decode(errors="replace").strip()
            raise RunError(
                f"ffmpeg has failed: {reason or f'exit status {ffmpeg.returncode}'}",
                file=str(path),
                element="animate",
                remedy=REMEDY,
            )


def _ffmpeg() -> str:
    """Return the program ffmpeg, which imageio-ffmpeg brings on most systems."""
    module = library("imageio_ffmpeg", "writing an MP4", "video")
    try:
        return str(module.get_ffmpeg_exe())
    except RuntimeError as error:
        raise RunError(
            "imageio-ffmpeg has no ffmpeg for this system",
            element="video",
            remedy="install ffmpeg and name it in the variable IMAGEIO_FFMPEG_EXE",
        ) from error


def _input_options(size: tuple[int, int], fps: float) -> list[str]:
    """Return the options of ffmpeg for pictures that come one after the other as bytes."""
    side = f"{size[0]}x{size[1]}"
    quiet = ["-hide_banner", "-loglevel", "error"]
    return [*quiet, "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", side, "-r", f"{fps:g}", "-i", "-"]
