"""Where panels, legends and the heading of a plot stand, measured in inches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainform.simulation.pictures.curves import Panel

LEFT, BOTTOM, GAP, EDGE = 0.78, 0.5, 0.16, 0.16
HEADING, EVENTS = 0.28, 0.24
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
    """The size of a figure (inches), boxes of panels, and the height of the heading (shares)."""

    size: tuple[float, float]
    boxes: tuple[tuple[float, float, float, float], ...]
    legends: tuple[Legend, ...]
    heading: float


def layout_of(
    panels: Sequence[Panel], width: float, height: float, has_heading: bool, has_events: bool
) -> Layout:
    """Return the layout of panels below each other, each of a height in inches."""
    groups = _groups(panels)
    legends = tuple(
        _legend(panels, start, count, height)
        for start, count in groups
        if len(panels[start].curves) > 1
    )
    right = max((_legend_width(panels[one.panel], one) for one in legends), default=EDGE)
    top = EDGE + HEADING * has_heading + EVENTS * has_events
    total = top + BOTTOM + len(panels) * height + (len(panels) - 1) * GAP
    inner = max(width - LEFT - right, 0.3 * width)
    whole = LEFT + inner + right
    boxes: list[tuple[float, float, float, float]] = []
    for k in range(len(panels)):
        low = total - top - (k + 1) * height - k * GAP
        boxes.append((LEFT / whole, low / total, inner / whole, height / total))
    return Layout((whole, total), tuple(boxes), legends, 1 - 0.6 * EDGE / total)


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
