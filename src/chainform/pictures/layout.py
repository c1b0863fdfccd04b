"""Where panels, legends and the heading of a plot stand, measured in inches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainform.pictures.curves import Panel

LEFT, BOTTOM, GAP, EDGE = 0.78, 0.5, 0.16, 0.16
HEADING, EVENTS = 0.28, 0.2
LETTER, HANDLE, ROW = 0.078, 0.42, 0.168
"""The width of a letter and of the line before a name, and the height of a row, in a legend."""

WIDEST = 24
"""Letters of a name that are shown."""


@dataclass(frozen=True)
class Legend:
    """Names beside a panel, in so many rows and columns."""

    panel: int
    rows: int
    columns: int


@dataclass(frozen=True)
class Layout:
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
) -> Layout:
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
    return Layout((whole, total), tuple(boxes), legends, 1 - 0.6 * EDGE / total)


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
        for start, count in _groups(panels)
        if len(panels[start].curves) > 1
    )


def _right(panels: Sequence[Panel], legends: Sequence[Legend]) -> float:
    """Return the width of what stands on the right of the panels."""
    return max((_legend_width(panels[one.panel], one) for one in legends), default=EDGE)


def _groups(panels: Sequence[Panel]) -> list[tuple[int, int]]:
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
