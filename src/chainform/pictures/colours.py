"""Colours that people with any kind of colour vision can tell apart.

The first are those of Okabe and Ito without the yellow, which is lost on white. A coordinate has
the same colour in a plot and on the body that it moves. Plots have a style besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f6a55")
"""Colours of curves and bodies, in order."""

GRADIENT = ("#4f3f96", "#3f62a5", "#21918c", "#5ec962", "#c9d52a")
"""From dark to light in even steps, for so many curves that single colours would repeat."""

JOINT = "#525d6b"
GROUND = "#8a94a0"
CENTRE_DARK, CENTRE_LIGHT = "#1d232b", "#f5f7fa"
AXES = ("#d1495b", "#3f9b57", "#3a72c9")
"""The axes x, y, z of a frame."""

TRACE = "#e0457b"

INK, SOFT, LINE = "#1f2933", "#5c6875", "#dfe4ea"
"""Text, numbers at axes, grid."""

STYLE: dict[str, Any] = {
    "font.size": 9.0,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "text.color": INK,
    "text.parse_math": False,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#aab4bf",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.formatter.limits": (-3, 5),
    "grid.color": LINE,
    "grid.linewidth": 0.7,
    "lines.linewidth": 1.5,
    "lines.solid_capstyle": "round",
    "xtick.color": "#aab4bf",
    "ytick.color": "#aab4bf",
    "xtick.labelcolor": SOFT,
    "ytick.labelcolor": SOFT,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    # Text stays text, and names inside a file do not change from one writing to the next.
    "svg.fonttype": "none",
    "svg.hashsalt": "chainform",
    "pdf.fonttype": 42,
}
"""The style of plots, for matplotlib."""

Colour = tuple[float, float, float]


def series(count: int) -> list[str]:
    """Return colours for so many curves: single ones twice over, or a gradient for very many."""
    if count <= 2 * len(SERIES):
        return [SERIES[k % len(SERIES)] for k in range(count)]
    return [gradient(k / (count - 1)) for k in range(count)]


def gradient(place: float) -> str:
    """Return the colour at a place from 0 to 1 of the gradient."""
    position = place * (len(GRADIENT) - 1)
    left = min(int(position), len(GRADIENT) - 2)
    return mixed(GRADIENT[left], GRADIENT[left + 1], position - left)


def channels(colour: str) -> Colour:
    """Return red, green and blue from 0 to 1 of `#rrggbb`."""
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return red, green, blue


def mixed(one: str, other: str, share: float) -> str:
    """Return one colour with a share of another in it."""
    pairs = zip(channels(one), channels(other), strict=True)
    return text_of([(1 - share) * a + share * b for a, b in pairs])


def text_of(colour: Sequence[float]) -> str:
    """Return `#rrggbb`."""
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in colour)
