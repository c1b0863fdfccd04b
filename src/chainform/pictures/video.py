"""Films in files: GIF by Pillow, MP4 by ffmpeg."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from chainform.errors import RunError
from chainform.files import REMEDY, replacing
from chainform.pictures.film import Film
from chainform.pictures.motion import library
from chainform.pictures.painter import Painter
from chainform.pictures.scene import Point

FINE_RATE = 120.0
"""The path of a point is drawn through about so many places per second of motion."""

Progress = Callable[[float], None]


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


def pictures(
    film: Film, size: tuple[int, int], trace: Point | None, timing: Timing, progress: Progress
) -> Iterator[Any]:
    """Yield the pictures of a film."""
    painter = Painter(film, size, trace)
    last = len(film.times) - 1
    digits = 3 if film.times[-1] - film.times[0] < 1 else 2
    for k in range(timing.count):
        at = timing.pick(k, last)
        yield painter.picture(at, f"t = {film.times[at]:.{digits}f} s")
        progress((k + 1) / timing.count)


def write_gif(
    film: Film,
    path: Path,
    size: tuple[int, int],
    trace: Point | None,
    timing: Timing,
    progress: Progress,
) -> None:
    """Write a GIF that runs again and again; all its pictures have the colours of some of them."""
    image = library("PIL.Image", "writing a GIF", "plot")
    palette = _palette(image, Painter(film, size, trace), timing, len(film.times) - 1)
    every = (
        picture.quantize(palette=palette, dither=image.Dither.NONE)
        for picture in pictures(film, size, trace, timing, progress)
    )
    first = next(every)
    # A GIF counts time in hundredths of a second; rounding must not add up.
    ends = [round(100 * k / timing.fps) for k in range(timing.count + 1)]
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


def _palette(image: Any, painter: Painter, timing: Timing, last: int) -> Any:
    """Return the colours of a few pictures together."""
    chosen = sorted({round(share * (timing.count - 1)) for share in (0.0, 0.35, 0.7, 1.0)})
    some = [painter.picture(timing.pick(k, last), "t = 0123456789") for k in chosen]
    sheet = image.new("RGB", (some[0].width, some[0].height * len(some)))
    for k, picture in enumerate(some):
        sheet.paste(picture, (0, k * picture.height))
    return sheet.quantize(256, method=image.Quantize.MEDIANCUT)


def write_mp4(
    film: Film,
    path: Path,
    size: tuple[int, int],
    trace: Point | None,
    timing: Timing,
    progress: Progress,
) -> None:
    """Write an MP4 in H.264 that every browser and slide program plays; sides become even."""
    program = _ffmpeg()
    even = (size[0] + size[0] % 2, size[1] + size[1] % 2)
    with replacing(path) as part, tempfile.TemporaryFile() as log:
        command = [program, *_given(even, timing.fps), *H264, "-y", str(part)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log) as ffmpeg:
            assert ffmpeg.stdin is not None
            try:
                for picture in pictures(film, even, trace, timing, progress):
                    ffmpeg.stdin.write(picture.tobytes())
                ffmpeg.stdin.close()
            except BrokenPipeError:
                # It has ended early; what it said follows below.
                with suppress(BrokenPipeError):
                    ffmpeg.stdin.close()
            except BaseException:
                ffmpeg.kill()
                raise
        if ffmpeg.returncode != 0:
            log.seek(0)
            said = log.read().decode(errors="replace").strip()
            raise RunError(
                f"ffmpeg has failed and said: {said or f'nothing ({ffmpeg.returncode})'}",
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


def _given(size: tuple[int, int], fps: float) -> list[str]:
    """Return the options of ffmpeg for pictures that come one after the other as bytes."""
    side = f"{size[0]}x{size[1]}"
    quiet = ["-hide_banner", "-loglevel", "error"]
    return [*quiet, "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", side, "-r", f"{fps:g}", "-i", "-"]


H264 = (
    *("-an", "-c:v", "libx264", "-pix_fmt", "yuv420p"),
    *("-crf", "18", "-preset", "medium", "-movflags", "+faststart"),
)
"""Options of ffmpeg for a film without sound that begins to play before it is loaded."""
