"""Events in a plot: lines through all panels, and names above them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from chainform.simulation.pictures.layout import Layout
from chainform.simulation.pictures.motion import Event

COLOUR = "#8a5a00"
LETTER = 0.075
"""The width of a letter in inches."""


def draw_events(
    axes: Sequence[Any], events: Sequence[Event], span: tuple[float, float], layout: Layout
) -> None:
    """Draw events; names that would meet are written as one, with how often each occurs."""
    inside = sorted((e for e in events if span[0] <= e.t <= span[1]), key=lambda e: e.t)
    for event in inside:
        for ax in axes:
            ax.axvline(event.t, color=COLOUR, linewidth=0.8, linestyle=(0, (3, 2)), zorder=1.5)
    inches = layout.size[0] * layout.boxes[0][2]
    scale = inches / (span[1] - span[0]) if span[1] > span[0] else 0.0
    for cluster in clusters(inside, scale):
        first, label = cluster[0], label_of(cluster)
        room = inches - (first.t - span[0]) * scale
        is_right = len(label) * LETTER > room
        axes[0].annotate(
            label,
            (first.t, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(-2 if is_right else 2, 3),
            textcoords="offset points",
            fontsize=8,
            color=COLOUR,
            ha="right" if is_right else "left",
            va="bottom",
            annotation_clip=False,
        )


def clusters(events: Sequence[Event], scale: float) -> list[list[Event]]:
    """Return events in runs whose names would meet, with `scale` inches per second."""
    runs: list[list[Event]] = []
    for event in events:
        if runs and (event.t - runs[-1][0].t) * scale < LETTER * (len(label_of(runs[-1])) + 1):
            runs[-1].append(event)
        else:
            runs.append([event])
    return runs


def label_of(events: Sequence[Event]) -> str:
    """Return the names of some events, each once: `stop, bounce ×3`."""
    counts = Counter(event.name for event in events)
    texts = [name if count == 1 else f"{name} ×{count}" for name, count in counts.items()]
    label = ", ".join(texts)
    return label if len(label) <= 40 else label[:39] + "…"
