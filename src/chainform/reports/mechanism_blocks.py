"""A mechanism in a report: its picture, topology, bodies, coordinates and parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.emitters import Letters
from chainform.errors import Error
from chainform.mechanism import Mechanism, closed_pose, freedom_text
from chainform.model import notation_of
from chainform.pictures import picture
from chainform.reports.blocks import (
    DataTable,
    Paragraph,
    PictureBlock,
    ReportBlock,
    TableCell,
    Title,
)

Record = Mapping[str, Any]
ORIGIN = ("0", "0", "0")
INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")
MOST_ROWS = 120
"""Rows of a table; of a longer one the first are shown, and how many there are."""


@dataclass(frozen=True)
class Pose:
    """A mechanism that stands still: what a picture of it needs."""

    mechanism: Mechanism
    q: NDArray[np.float64]
    t: NDArray[np.float64]
    qd: NDArray[np.float64]
    events: tuple[Any, ...] = ()

    @staticmethod
    def of(mechanism: Mechanism) -> Pose:
        """Return the zero pose, or one in which the loops close."""
        q = closed_pose(mechanism) if mechanism.loops else None
        q = mechanism.neutral() if q is None else q
        return Pose(mechanism, q[None, :], np.zeros(1), np.zeros((1, mechanism.nv)))


def picture_blocks(mechanism: Mechanism, size: tuple[int, int]) -> list[ReportBlock]:
    """Return a picture of a mechanism in its zero pose; a sentence where it cannot be drawn."""
    words = "a pose in which its loops close" if mechanism.loops else "its zero pose"
    try:
        image = picture(Pose.of(mechanism), ghosts=0, size=size, trace=False)
    except Error as problem:
        return [Paragraph(f"There is no picture: {problem.message}.")]
    data = BytesIO()
    image.save(data, format="PNG")
    return [PictureBlock(data.getvalue(), f"{mechanism.name} in {words}.", "mechanism")]


def topology_blocks(mechanism: Mechanism) -> list[ReportBlock]:
    """Return segments with their joints, coordinates, loops and elements as tables."""
    description = mechanism.describe(short=True)
    table: Record = description["mechanism"]
    mass = description["total_mass"]
    words = freedom_text(mechanism) if mechanism.segments or mechanism.elements else "no bodies"
    weight = "" if mass is None else f"; total mass {mass:.6g} kg"
    gravity = f"gravity {vector_text(table['gravity'])} m/s² in world axes"
    blocks: list[ReportBlock] = [Paragraph(f"{words}; {gravity}{weight}.")]
    if description["base_is_moving"]:
        blocks.append(Paragraph("The base moves as prescribed in the file."))
    blocks += _segments(description, table.get("segments", ()))
    blocks += _coordinates(description, table.get("segments", ()))
    blocks += _loops(description, table.get("loops", ()))
    blocks += _elements(table)
    return blocks


def body_blocks(mechanism: Mechanism) -> list[ReportBlock]:
    """Return masses, mass centres and moments of inertia as a table."""
    segments: Sequence[Record] = mechanism.describe(short=True)["mechanism"].get("segments", ())
    rows = [
        (s["name"], s.get("mass", "0"), vector_text(s.get("com", ORIGIN)), *_inertia(s))
        for s in segments
        if "mass" in s or "inertia" in s
    ]
    titles = ("segment", "mass (kg)", "mass centre (m)", *(f"I {k}" for k in INERTIA))
    caption = "Bodies: mass centres and moments of inertia (kg m²) in body axes, the latter about "
    caption += "the mass centre."
    return [] if not rows else [_table(titles, rows, titles[3:], caption)]


def _inertia(segment: Record) -> list[str]:
    found = segment.get("inertia", {})
    return [found.get(key, "") for key in INERTIA]


def parameter_blocks(mechanism: Mechanism, free: Sequence[str] = ()) -> list[ReportBlock]:
    """Return the parameters of a mechanism with values and units; which ones stay symbols."""
    given = mechanism.describe(short=True)["mechanism"].get("parameters", {})
    letters = Letters(notation_of(mechanism))
    free = [*free, *(name for name, p in given.items() if "value" not in p)]
    rows = [
        (
            name,
            p.get("value", "none"),
            unit_text(p.get("unit", "")),
            letters(name) if name in free else "number",
            p.get("note", ""),
        )
        for name, p in given.items()
    ]
    if not rows:
        return []
    titles = ("parameter", "value", "unit", "in the formulas", "note")
    return [_table(titles, rows, ("value",), "Parameters of the mechanism.")]


def note_blocks(mechanism: Mechanism) -> list[ReportBlock]:
    """Return what was remarked when the mechanism was read."""
    rows = [(note.level, note.element, note.text) for note in mechanism.notes]
    return [_table(("level", "of", "remark"), rows, (), "Remarks.")] if rows else []


# --- topology ---------------------------------------------------------------------------------


def _segments(description: Record, segments: Sequence[Record]) -> list[ReportBlock]:
    if not segments:
        return []
    rows = [
        (
            str(number),
            s["name"],
            s["parent"],
            s["joint"]["type"],
            vector_text(s["joint"].get("axis")),
            vector_text(s.get("position", ORIGIN)),
            motion["motion"],
        )
        for number, (s, motion) in enumerate(
            zip(segments, description["joints"], strict=True), start=1
        )
    ]
    titles = ("no", "segment", "parent", "joint", "axis", "position (m)", "moved by")
    caption = "Segments: the axis of the joint in body axes, its position in axes of the parent."
    return [_table(titles, rows, ("no",), caption)]


def _coordinates(description: Record, segments: Sequence[Record]) -> list[ReportBlock]:
    limits = {s["name"]: s["joint"].get("limits", {}) for s in segments}
    rows = [
        (
            f"q{row['number']}",
            row["name"],
            row["unit"],
            limits.get(row["segment"], {}).get("lower", ""),
            limits.get(row["segment"], {}).get("upper", ""),
        )
        for row in description["coordinates"]
    ]
    if not rows:
        return []
    titles = ("coordinate", "name", "unit", "lower", "upper")
    return [_table(titles, rows, ("lower", "upper"), "Coordinates, in the order of q.")]


def _loops(description: Record, loops: Sequence[Record]) -> list[ReportBlock]:
    rows = [
        (
            loop["name"],
            loop["kind"],
            _end(loop["closing"]),
            _end(loop["target"]),
            str(description["equations"][loop["name"]]),
            ", ".join(loop.get("basic", ())),
        )
        for loop in loops
    ]
    if not rows:
        return []
    titles = ("loop", "closed by", "closing", "target", "equations", "basic coordinates")
    return [_table(titles, rows, ("equations",), "Loops; points (m) and axes in body axes.")]


def _end(attachment: Record) -> str:
    text = f"{attachment['segment']} {vector_text(attachment.get('point', ORIGIN))}"
    return f"{text}, axis {vector_text(attachment['axis'])}" if "axis" in attachment else text


def _elements(table: Record) -> list[ReportBlock]:
    """Return what else acts and binds, each with the fields of the file."""
    blocks: list[ReportBlock] = []
    for key in ("elements", "springs", "forces", "actuators", "constraints"):
        found: Sequence[Record] = table.get(key, ())
        rows = [
            (str(item.get("name", number)), _words(item)) for number, item in enumerate(found, 1)
        ]
        if rows:
            titles = (key.removesuffix("s"), "fields in the file")
            blocks.append(_table(titles, rows, (), f"{key.capitalize()}."))
    return blocks


def _words(item: Record) -> str:
    return ", ".join(f"{key} = {_value(value)}" for key, value in item.items() if key != "name")


def _value(value: Any) -> str:
    """Return a value of the file; a matrix in rows, a table with its names."""
    if isinstance(value, Mapping):
        return f"{{{_words(cast('Record', value))}}}"
    if isinstance(value, list | tuple):
        return f"({', '.join(map(_value, cast('Sequence[Any]', value)))})"
    return str(value)


def unit_text(unit: str) -> str:
    """Return a unit with raised squares and cubes."""
    return re.sub(r"\^([23])(?![\d.])", lambda power: "²³"[power[1] == "3"], unit)


def vector_text(vector: Sequence[str] | None) -> str:
    """Return a vector in brackets, or nothing."""
    return "" if vector is None else f"({', '.join(vector)})"


def _table(
    titles: Sequence[str],
    rows: Sequence[Sequence[TableCell]],
    numbers: Sequence[str],
    caption: str,
) -> DataTable:
    if len(rows) > MOST_ROWS:
        caption = f"{caption} The first {MOST_ROWS} of {len(rows)}."
        rows = rows[:MOST_ROWS]
    return DataTable.of(titles, rows, numbers, caption)


def mechanism_blocks(mechanism: Mechanism) -> list[ReportBlock]:
    """Return what a notebook shows of a mechanism: its picture and tables."""
    blocks: list[ReportBlock] = [Title(mechanism.name, 2)]
    with suppress(Error):
        blocks += [b for b in picture_blocks(mechanism, (560, 420)) if isinstance(b, PictureBlock)]
    return [*blocks, *topology_blocks(mechanism), *parameter_blocks(mechanism)]
