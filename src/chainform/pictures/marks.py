"""Events in a plot: lines through all panels, with a colour and dashes for each name.

Names stand above their lines where each can be told from the next. Where names would meet that
differ, they are listed above the plot instead. Very many events are short ticks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.pictures.layout import Layout, packed
from chainform.pictures.motion import Event, library

Array = NDArray[np.float64]

COLOURS = (
    *("#8a5a00", "#6a3d9a", "#0b6e6e", "#9b2226"),
    *("#4d7c0f", "#a21caf", "#475569", "#1e40af"),
)
SOFT = "#5c6875"
DASHES = ((3.0, 2.0), (1.0, 1.5), (7.0, 2.0), (5.0, 1.5, 1.0, 1.5))
"""Strokes and gaps of lines, in points; with the colours they tell 32 names apart."""

MANY = 60
"""From more events on they are ticks, whose names are listed."""

TICK = 0.06
"""The length of a tick as a share of the height of a panel."""

FINE = 200.0
"""Ticks per inch; nobody sees more of them."""

MOST_ROWS = 4
"""Rows of a list of names."""

LONGEST = 40
LETTER = 0.068
"""Letters of a label, and the width of one in inches."""


@dataclass(frozen=True)
class Kind:
    """The events of one name: when they are (s), and how they are drawn."""

    name: str
    times: Array
    colour: str
    dashes: tuple[float, ...]

    @property
    def label(self) -> str:
        """The name, and how often it occurs: `bounce ×3`."""
        count = f" ×{len(self.times)}" if len(self.times) > 1 else ""
        return shortened(self.name, LONGEST - len(count)) + count


@dataclass(frozen=True)
class Label:
    """The name of one event, at its time (s); it ends there, or begins."""

    t: float
    text: str
    colour: str
    is_before: bool


@dataclass(frozen=True)
class Marks:
    """What is drawn of events: `labels` at their lines, or `rows` of kinds in a list above."""

    kinds: tuple[Kind, ...] = ()
    labels: tuple[Label, ...] = ()
    rows: tuple[tuple[Kind, ...], ...] = ()
    is_ticked: bool = False

    @property
    def lines(self) -> int:
        """How many lines of text are needed above the plot."""
        return len(self.rows) or int(bool(self.labels))


def marks_of(
    events: Sequence[Event], span: tuple[float, float], inner: float, right: float
) -> Marks:
    """Return how events within a span (s) are drawn.

    Panels have a width of `inner` inches; a list may also go over what is on their `right`.
    """
    inside = sorted((e for e in events if span[0] <= e.t <= span[1]), key=lambda e: e.t)
    kinds = _kinds(inside)
    is_ticked = len(inside) > MANY
    labels = () if is_ticked else _labels(inside, kinds, span, inner)
    if labels or not kinds:
        return Marks(kinds, labels)
    return Marks(kinds, (), _rows(kinds, inner + right), is_ticked)


def _kinds(events: Sequence[Event]) -> tuple[Kind, ...]:
    times: dict[str, list[float]] = {}
    for event in events:
        times.setdefault(event.name, []).append(float(event.t))
    return tuple(
        Kind(
            name,
            np.array(found),
            COLOURS[k % len(COLOURS)],
            DASHES[(k + k // len(COLOURS)) % len(DASHES)],
        )
        for k, (name, found) in enumerate(times.items())
    )


def _rows(kinds: Sequence[Kind], inches: float) -> tuple[tuple[Kind, ...], ...]:
    """Return kinds in rows so many inches wide; what does not fit is counted."""
    rows = packed([kind.label for kind in kinds], inches)
    listed = [tuple(kinds[k] for k in row) for row in rows[:MOST_ROWS]]
    if len(rows) > MOST_ROWS:
        # The last one of the last row makes room.
        left = len(kinds) - sum(map(len, listed)) + 1
        listed[-1] = (*listed[-1][:-1], Kind(f"and {left} more", np.zeros(1), SOFT, (0.0, 1.0)))
    return tuple(listed)


def _labels(
    events: Sequence[Event], kinds: Sequence[Kind], span: tuple[float, float], inches: float
) -> tuple[Label, ...]:
    """Return a label for each event; none at all where two of them would meet."""
    colours = {kind.name: kind.colour for kind in kinds}
    labels: list[Label] = []
    end = -np.inf
    for event in events:
        text = shortened(event.name)
        width = LETTER * (len(text) + 1)
        place = inches * (event.t - span[0]) / (span[1] - span[0]) if span[1] > span[0] else 0.0
        is_before = place + width > inches
        start = place - width if is_before else place
        if start < end:
            return ()
        labels.append(Label(float(event.t), text, colours[event.name], is_before))
        end = start + width
    return tuple(labels)


def shortened(name: str, most: int = LONGEST) -> str:
    """Return a name, or its beginning."""
    return name if len(name) <= most else name[: most - 1] + "…"


# --- drawing ------------------------------------------------------------------------------------


def draw_marks(figure: Any, marks: Marks, layout: Layout) -> None:
    """Draw lines or ticks in all panels of a figure, and names above the first."""
    for ax in figure.axes:
        for kind in marks.kinds:
            _draw_kind(ax, kind, layout, is_ticked=marks.is_ticked)
    for label in marks.labels:
        _write(figure.axes[0], label)
    for place, row in enumerate(reversed(marks.rows)):
        _list(figure, row, layout, place, is_ticked=marks.is_ticked)


def _draw_kind(ax: Any, kind: Kind, layout: Layout, *, is_ticked: bool) -> None:
    """Draw the lines of a name as one broken line, which is light in a file."""
    lines = library("matplotlib.lines", "plotting", "plot")
    times, low = kind.times, 0.0
    if is_ticked:
        times, low = _thinned(times, ax.get_xlim(), layout.size[0] * layout.boxes[0][2]), 1 - TICK
    x = np.repeat(times, 3)
    y = np.tile([low, 1.0, np.nan], len(times))
    style = "-" if is_ticked else (0, kind.dashes)
    line = lines.Line2D(x, y, color=kind.colour, linewidth=0.8, linestyle=style, zorder=1.5)
    line.set_transform(ax.get_xaxis_transform())
    line.set_solid_capstyle("butt")
    ax.add_line(line)


def _thinned(times: Array, span: tuple[float, float], inches: float) -> Array:
    """Return times of which none is drawn where another one is."""
    width = (span[1] - span[0]) / (FINE * inches)
    places = np.unique(np.round((times - span[0]) / width)) if width > 0 else np.zeros(1)
    return span[0] + places * width


def _write(ax: Any, label: Label) -> None:
    """Write a label beside its line."""
    ax.annotate(
        label.text,
        (label.t, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(-2 if label.is_before else 2, 3),
        textcoords="offset points",
        fontsize=8,
        color=label.colour,
        ha="right" if label.is_before else "left",
        va="bottom",
        annotation_clip=False,
    )


def _list(figure: Any, row: Sequence[Kind], layout: Layout, place: int, *, is_ticked: bool) -> None:
    """List kinds in a row above the first panel, the row of place 0 being the lowest."""
    lines = library("matplotlib.lines", "plotting", "plot")
    left, low, _, height = layout.boxes[0]
    handles: list[Any] = []
    for kind in row:
        style = "-" if is_ticked else (0, kind.dashes)
        handles.append(lines.Line2D([], [], color=kind.colour, linewidth=1.2, linestyle=style))
    legend = figure.legend(
        handles,
        [str(k) for k in range(len(row))],
        loc="lower left",
        bbox_to_anchor=(left, low + height + place * layout.line / layout.size[1]),
        ncols=len(row),
        fontsize=8,
        frameon=False,
        handlelength=2.2,
        handletextpad=0.5,
        columnspacing=1.4,
        borderaxespad=0.0,
        borderpad=0.25,
    )
    for text, kind in zip(legend.get_texts(), row, strict=True):
        text.set_text(kind.label)
        text.set_color(kind.colour)
