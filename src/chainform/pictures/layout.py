"""Where panels, legends, events and the heading of a plot stand, measured in inches.

Events are lines through all panels, with a colour and dashes for each name. Names stand above their
lines where there is room between them. Where different names would meet, they are listed above the
plot instead. Very many events are short ticks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.pictures.motion import TimeMark, library
from chainform.pictures.panels import Panel

Array = NDArray[np.float64]


LEFT, BOTTOM, GAP, EDGE = 0.78, 0.5, 0.16, 0.16
HEADING, EVENTS = 0.28, 0.2
LETTER, HANDLE, ROW = 0.078, 0.42, 0.168
"""The width of a letter and of the line before a name, and the height of a row, in a legend."""

WIDEST = 24
"""Letters of a name that are shown."""

COLOURS = (
    *("#8a5a00", "#6a3d9a", "#0b6e6e", "#9b2226"),
    *("#4d7c0f", "#a21caf", "#475569", "#1e40af"),
)
SOFT = "#5c6875"
DASHES = ((3.0, 2.0), (1.0, 1.5), (7.0, 2.0), (5.0, 1.5, 1.0, 1.5))
"""Strokes and gaps of lines, in points; with the colours 32 names differ."""

MANY = 60
"""From more events on they are ticks, whose names are listed."""

TICK = 0.06
"""The length of a tick as a share of the height of a panel."""

FINE = 200.0
"""Ticks per inch; nobody sees more of them."""

MOST_ROWS = 4
"""Rows of a list of names."""

LONGEST, LABEL_LETTER = 40, 0.068
"""Letters of a label, and the width of one in inches."""


@dataclass(frozen=True)
class Legend:
    """Names on the right of a panel, in so many rows and columns."""

    panel: int
    rows: int
    columns: int


@dataclass(frozen=True)
class FigureLayout:
    """The size of a figure (inches), boxes of panels, and the height of the heading (shares).

    `line` is the height of a line of text about events, in inches.
    """

    size: tuple[float, float]
    boxes: tuple[tuple[float, float, float, float], ...]
    legends: tuple[Legend, ...]
    heading: float
    line: float = EVENTS


def widths_of(panels: Sequence[Panel], width: float, height: float) -> tuple[float, float]:
    """Return how wide panels are in a figure, and what is on their right, in inches."""
    right = _right(panels, _legends(panels, height))
    return max(width - LEFT - right, 0.3 * width), right


def layout_of(
    panels: Sequence[Panel], width: float, height: float, has_heading: bool, event_lines: int = 0
) -> FigureLayout:
    """Return the layout of panels below each other, each of a height in inches.

    Above them is room for a heading and for lines of text about events.
    """
    legends = _legends(panels, height)
    top = (
        EDGE
        + HEADING * has_heading
        + EVENTS * event_lines
        - 0.06 * (has_heading and event_lines > 0)
    )
    total = top + BOTTOM + len(panels) * height + (len(panels) - 1) * GAP
    inner, right = widths_of(panels, width, height)
    whole = LEFT + inner + right
    boxes: list[tuple[float, float, float, float]] = []
    for k in range(len(panels)):
        low = total - top - (k + 1) * height - k * GAP
        boxes.append((LEFT / whole, low / total, inner / whole, height / total))
    return FigureLayout((whole, total), tuple(boxes), legends, 1 - 0.6 * EDGE / total)


def packed(labels: Sequence[str], inches: float) -> list[list[int]]:
    """Return rows of labels, each with a line before it, that are at most so many inches wide."""
    rows: list[list[int]] = []
    room = 0.0
    for k, label in enumerate(labels):
        width = 0.47 + 0.066 * len(label)
        if not rows or width > room:
            rows.append([])
            room = inches
        rows[-1].append(k)
        room -= width
    return rows


def _legends(panels: Sequence[Panel], height: float) -> tuple[Legend, ...]:
    return tuple(
        _legend(panels, start, count, height)
        for start, count in _panel_runs(panels)
        if len(panels[start].curves) > 1
    )


def _right(panels: Sequence[Panel], legends: Sequence[Legend]) -> float:
    """Return the width of what stands on the right of the panels."""
    return max((_legend_width(panels[one.panel], one) for one in legends), default=EDGE)


def _panel_runs(panels: Sequence[Panel]) -> list[tuple[int, int]]:
    """Return runs of panels with the same curves: the first, and how many there are."""
    groups: list[tuple[int, int]] = []
    for k, panel in enumerate(panels):
        if groups and panels[groups[-1][0]].key == panel.key:
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((k, 1))
    return groups


def _legend(panels: Sequence[Panel], start: int, count: int, height: float) -> Legend:
    """Return a legend that may reach down along all panels that it serves."""
    rows = max(1, int((count * height + (count - 1) * GAP) / ROW))
    columns = min(3, -(-len(panels[start].curves) // rows))
    return Legend(start, rows, columns)


def _legend_width(panel: Panel, legend: Legend) -> float:
    letters = min(WIDEST, max(len(curve.name) for curve in panel.curves))
    return legend.columns * (HANDLE + LETTER * max(letters, 4)) + EDGE


# --- events ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EventGroup:
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
    """What is drawn of events: `labels` at their lines, or `rows` of groups in a list above."""

    groups: tuple[EventGroup, ...] = ()
    labels: tuple[Label, ...] = ()
    rows: tuple[tuple[EventGroup, ...], ...] = ()
    is_ticked: bool = False

    @property
    def lines(self) -> int:
        """How many lines of text are needed above the plot."""
        return len(self.rows) or int(bool(self.labels))


def marks_of(
    events: Sequence[TimeMark], span: tuple[float, float], inner: float, right: float
) -> Marks:
    """Return how events within a span (s) are drawn.

    Panels have a width of `inner` inches; a list may also go over what is on their `right`.
    """
    inside = sorted((e for e in events if span[0] <= e.t <= span[1]), key=lambda e: e.t)
    groups = _event_groups(inside)
    is_ticked = len(inside) > MANY
    labels = () if is_ticked else _labels(inside, groups, span, inner)
    if labels or not groups:
        return Marks(groups, labels)
    return Marks(groups, (), _rows(groups, inner + right), is_ticked)


def _event_groups(events: Sequence[TimeMark]) -> tuple[EventGroup, ...]:
    times: dict[str, list[float]] = {}
    for event in events:
        times.setdefault(event.name, []).append(float(event.t))
    return tuple(
        EventGroup(
            name,
            np.array(found),
            COLOURS[k % len(COLOURS)],
            DASHES[(k + k // len(COLOURS)) % len(DASHES)],
        )
        for k, (name, found) in enumerate(times.items())
    )


def _rows(groups: Sequence[EventGroup], inches: float) -> tuple[tuple[EventGroup, ...], ...]:
    """Return groups in rows so many inches wide; what does not fit is counted."""
    rows = packed([group.label for group in groups], inches)
    listed = [tuple(groups[k] for k in row) for row in rows[:MOST_ROWS]]
    if len(rows) > MOST_ROWS:
        # The last one of the last row makes room.
        left = len(groups) - sum(map(len, listed)) + 1
        rest = EventGroup(f"and {left} more", np.zeros(1), SOFT, (0.0, 1.0))
        listed[-1] = (*listed[-1][:-1], rest)
    return tuple(listed)


def _labels(
    events: Sequence[TimeMark],
    groups: Sequence[EventGroup],
    span: tuple[float, float],
    inches: float,
) -> tuple[Label, ...]:
    """Return a label for each event; none at all where two of them would meet."""
    colours = {group.name: group.colour for group in groups}
    labels: list[Label] = []
    end = -np.inf
    for event in events:
        text = shortened(event.name)
        width = LABEL_LETTER * (len(text) + 1)
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


def draw_marks(figure: Any, marks: Marks, layout: FigureLayout) -> None:
    """Draw lines or ticks in all panels of a figure, and names above the first."""
    for ax in figure.axes:
        for group in marks.groups:
            _draw_group(ax, group, layout, is_ticked=marks.is_ticked)
    for label in marks.labels:
        _write(figure.axes[0], label)
    for place, row in enumerate(reversed(marks.rows)):
        _list(figure, row, layout, place, is_ticked=marks.is_ticked)


def _draw_group(ax: Any, group: EventGroup, layout: FigureLayout, *, is_ticked: bool) -> None:
    """Draw the lines of a name as one broken line, which is light in a file."""
    lines = library("matplotlib.lines", "plotting", "plot")
    times, low = group.times, 0.0
    if is_ticked:
        times, low = _thinned(times, ax.get_xlim(), layout.size[0] * layout.boxes[0][2]), 1 - TICK
    x = np.repeat(times, 3)
    y = np.tile([low, 1.0, np.nan], len(times))
    style = "-" if is_ticked else (0, group.dashes)
    line = lines.Line2D(x, y, color=group.colour, linewidth=0.8, linestyle=style, zorder=1.5)
    line.set_transform(ax.get_xaxis_transform())
    line.set_solid_capstyle("butt")
    ax.add_line(line)


def _thinned(times: Array, span: tuple[float, float], inches: float) -> Array:
    """Return times of which none is drawn where another one is."""
    width = (span[1] - span[0]) / (FINE * inches)
    places = np.unique(np.round((times - span[0]) / width)) if width > 0 else np.zeros(1)
    return span[0] + places * width


def _write(ax: Any, label: Label) -> None:
    """Write a label at its line."""
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


def _list(
    figure: Any, row: Sequence[EventGroup], layout: FigureLayout, place: int, *, is_ticked: bool
) -> None:
    """List groups in a row above the first panel, the row of place 0 being the lowest."""
    left, low, _, height = layout.boxes[0]
    keys = [(g.label, g.colour, "-" if is_ticked else (0, g.dashes)) for g in row]
    legend = write_legend(
        figure,
        keys,
        linewidth=1.2,
        loc="lower left",
        bbox_to_anchor=(left, low + height + place * layout.line / layout.size[1]),
        ncols=len(row),
        fontsize=8,
        handlelength=2.2,
        columnspacing=1.4,
        borderaxespad=0.0,
        borderpad=0.25,
    )
    for text, group in zip(legend.get_texts(), row, strict=True):
        text.set_color(group.colour)


def set_logarithmic(axes: Sequence[Any], side: str) -> None:
    """Let a side of axes, x or y, go by logarithms, with plain numbers."""
    ticker = library("matplotlib.ticker", "plotting", "plot")
    for ax in axes:
        ax.set(**{f"{side}scale": "log"})
        low, high = getattr(ax, f"get_{side}lim")()
        axis = getattr(ax, f"{side}axis")
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter("{x:g}" if high < 10 * low else ticker.NullFormatter())


def write_legend(
    place: Any, keys: Sequence[tuple[str, str, Any]], linewidth: float, **options: Any
) -> Any:
    """Return the legend in axes or a figure; keys are names, colours and styles of lines."""
    line = library("matplotlib.lines", "plotting", "plot").Line2D
    handles = [line([], [], color=c, linestyle=s, linewidth=linewidth) for _, c, s in keys]
    numbers = [str(k) for k in range(len(keys))]
    legend = place.legend(handles, numbers, frameon=False, handletextpad=0.5, **options)
    # A name that begins with an underscore would be left out if it were given as a label.
    for text, (name, _, _) in zip(legend.get_texts(), keys, strict=True):
        text.set_text(name)
    return legend
