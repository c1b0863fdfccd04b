"""An animation as one page of HTML that needs nothing else: data, style and script are in it."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.files import write_whole
from chainform.mechanism import coordinate_units
from chainform.pictures import colours
from chainform.pictures.film import Film
from chainform.pictures.scene import Point, Span
from chainform.pictures.shapes import Part
from chainform.pictures.view import floor_axes, grid_step

Array = NDArray[np.float64]

SCRIPTS = (
    "vectors",
    "shapes",
    "camera",
    "motion",
    "shaders",
    "graphics",
    "drawing",
    "player",
    "hand",
    "controls",
    "main",
)
"""The parts of the script, in the order in which they need one another."""

DIGITS = 6
"""Digits of the numbers of shapes."""


@dataclass(frozen=True, repr=False)
class HtmlPage(Displayed):
    """A page of HTML; a notebook shows it in a frame."""

    text: str

    def __repr__(self) -> str:
        return f"<HtmlPage of {len(self.text)} characters>"

    def save(self, file: str | Path) -> Path:
        """Write the page and return where it is."""
        return write_whole(file, self.text.encode("utf-8"))

    def _repr_html_(self) -> str:
        source = escape(self.text, quote=True)
        return (
            f'<iframe srcdoc="{source}" sandbox="allow-scripts" allowfullscreen '
            'style="width: 100%; height: 560px; border: 0; border-radius: 8px"></iframe>'
        )


def page_of(film: Film, trace: Point | None, speed: float, title: str) -> HtmlPage:
    """Return the page of a film: the path of a point is shown, and time runs at a speed."""
    script = "\n".join(_file(f"{part}.js") for part in SCRIPTS)
    script = f'(() => {{\n"use strict";\n{script}\n}})();\n'
    style = _file("style.css")
    fields = {
        "title": escape(title),
        "style": style,
        "style_hash": _hash(style),
        "script": script,
        "script_hash": _hash(script),
        "data": safe_json(data_of(film, trace, speed, title)),
    }
    pieces = _file("page.html").split("{{")
    parts = [pieces[0]]
    for piece in pieces[1:]:
        field, rest = piece.split("}}", 1)
        parts += [fields[field], rest]
    return HtmlPage("".join(parts))


def safe_json(value: Any) -> str:
    """Return JSON that cannot end the element of a page it stands in."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def data_of(film: Film, trace: Point | None, speed: float, title: str) -> dict[str, Any]:
    """Return what the script reads."""
    mechanism, points = film.mechanism, film.scene.points
    units, series = coordinate_units(mechanism), colours.series(mechanism.nq)
    names = zip(mechanism.coordinates, units, series, strict=True)
    return {
        "title": title,
        "start": float(film.times[0]),
        "end": float(film.times[-1]),
        "count": len(film.times),
        "frames": film.track.positions.shape[1],
        "speed": speed,
        "poses": _packed(_poses(film)),
        "q": _packed(film.q),
        "coordinates": [{"name": n, "unit": u, "colour": c} for n, u, c in names],
        "events": [{"name": event.name, "t": float(event.t)} for event in film.events],
        "parts": [_part(part, film.scale.rod) for part in film.scene.parts],
        "spans": [_span(span) for span in film.scene.spans],
        "points": [{"name": point.name, **_point(point)} for point in points],
        "trace": -1 if trace is None else next(k for k, p in enumerate(points) if p is trace),
        "traceColour": colours.TRACE,
        "stage": _view(film),
    }


def _view(film: Film) -> dict[str, Any]:
    view, bounds = film.view, film.bounds
    return {
        "up": _numbers(view.up),
        "across": _numbers(view.across),
        "normal": _numbers(view.normal),
        "axes": [_numbers(axis) for axis in floor_axes(view.normal)],
        "light": _numbers(view.light),
        "floor": view.floor,
        "step": grid_step(2 * bounds.radius),
        "centre": _numbers(bounds.centre),
        "radius": bounds.radius,
        "outline": [_numbers(point) for point in bounds.outline],
        "follow": view.follow,
        "front": view.front,
        "azimuth": view.azimuth,
        "elevation": view.elevation,
    }


def _part(part: Part, rod: float) -> dict[str, Any]:
    widest = max(float(strip[:, 0].max()) for strip in part.shape.strips)
    round_sides = 8 if widest < 0.3 * rod else 48 if widest > 2.5 * rod else 24
    described: dict[str, Any] = {
        "frame": part.frame,
        "layer": part.layer,
        "sides": 4 if part.shape.is_flat else round_sides,
        "strips": [_numbers(strip.ravel()) for strip in part.shape.strips],
        "place": _numbers(part.place.T.ravel()),
        "colour": part.colour,
    }
    if part.second is not None:
        described["second"] = part.second
    return described


def _span(span: Span) -> dict[str, Any]:
    ends = {"first": _point(span.first), "last": _point(span.last)}
    return {"kind": span.kind, **ends, "radius": span.radius, "colour": span.colour}


def _point(point: Point) -> dict[str, Any]:
    return {"frame": point.frame, "local": _numbers(point.local)}


def _numbers(values: Array) -> list[float]:
    """Return numbers with few digits; whole ones without a decimal point."""
    rounded = (float(f"{value:.{DIGITS}g}") for value in values)
    return [int(value) if value.is_integer() else value for value in rounded]


def _poses(film: Film) -> Array:
    """Return the quaternion and the origin of all frames at all times, (m, n, 7)."""
    quaternions = quaternions_of(film.track.rotations)
    return np.concatenate([quaternions, film.track.positions], axis=-1)


def quaternions_of(rotations: Array) -> Array:
    """Return unit quaternions x y z w of rotations (..., 3, 3).

    The four products of each entry with the greatest one are sums of entries of the rotation, so
    nothing is lost by cancellation.
    """
    r = rotations
    trace = np.trace(r, axis1=-2, axis2=-1)
    # Rows: x, y, z, w times each of x, y, z, w, all times four.
    table = np.empty((*r.shape[:-2], 4, 4))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        table[..., i, i] = 1 + 2 * r[..., i, i] - trace
        table[..., i, j] = table[..., j, i] = r[..., i, j] + r[..., j, i]
        table[..., i, 3] = table[..., 3, i] = r[..., k, j] - r[..., j, k]
    table[..., 3, 3] = 1 + trace
    largest = np.argmax(np.einsum("...ii->...i", table), axis=-1)
    rows = np.take_along_axis(table, largest[..., None, None], axis=-2)[..., 0, :]
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def _packed(values: Array) -> str:
    """Return numbers in single precision, little-endian, as base64."""
    return b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")


def _file(name: str) -> str:
    return (files("chainform.pictures") / "viewer" / name).read_text(encoding="utf-8")
