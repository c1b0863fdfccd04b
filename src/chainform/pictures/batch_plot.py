"""Plots of many motions over time: a thin line for each, from the first, dark, to the last."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from chainform.errors import ReadError, RunError
from chainform.mechanism import Mechanism
from chainform.pictures import colours
from chainform.pictures.curves import Curve, Panel
from chainform.pictures.layout import Layout, layout_of
from chainform.pictures.motion import library, title_of
from chainform.pictures.plan import coordinate_units, motion_units, rate_unit
from chainform.pictures.plots import check_file, dress, plot_style, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

THIN = 0.7
MOST_POINTS = 200_000
"""With more points in a panel its lines are painted, so that a file does not become too large."""


class Batch(Protocol):
    """Many motions at the same times: q (b, m, nq), qd (b, m, nv), energy (b, m)."""

    @property
    def mechanism(self) -> Mechanism: ...

    @property
    def t(self) -> Array: ...

    @property
    def q(self) -> Array: ...

    @property
    def qd(self) -> Array: ...

    @property
    def energy(self) -> Array: ...


def plot_batch(
    batch: Batch,
    what: str | Sequence[str] | None = None,
    file: str | PathLike[str] | None = None,
    *,
    title: str | None = None,
    width: float = 8.0,
    height: float = 1.7,
    dpi: float = 150.0,
) -> Figure:
    """Return a figure of many motions and write it to `file`, if one is given.

    `what` is any of "q", "qd", "energy" and names of coordinates, one or several, each coordinate
    in a panel of its own; without it all coordinates. The rest is as for a single motion.
    """
    path = None if file is None else Path(file)
    check_file(path)
    library("matplotlib", "plotting", "plot")
    if not batch.q.shape[0] * batch.q.shape[1]:
        raise RunError("there is nothing to plot", element="what", remedy="give times of output")
    items = ["q"] if what is None else [what] if isinstance(what, str) else list(what)
    panels = [panel for item in items for panel in _panels(batch, item)]
    heading = title_of(batch, title)
    layout = layout_of(panels, width, height, bool(heading))
    with plot_style():
        figure: Any = _figure(batch, panels, layout, heading)
        save_figure(figure, path, dpi)
    return figure


def _panels(batch: Batch, item: str) -> list[Panel]:
    """Return a panel for each coordinate, its values (b, m)."""
    mechanism = batch.mechanism
    if item == "energy":
        return [_panel("energy", "J", batch.energy)]
    if item == "qd":
        names, units = mechanism.rates, [rate_unit(unit) for unit in motion_units(mechanism)]
        return [_panel(f"der({n})", units[k], batch.qd[..., k]) for k, n in enumerate(names)]
    names, units = mechanism.coordinates, coordinate_units(mechanism)
    try:
        places = range(mechanism.nq) if item == "q" else [mechanism.coordinate_index(item)]
    except ReadError as problem:
        remedy = "plot q, qd, energy or coordinates: " + ", ".join(names)
        raise RunError(problem.message, element="what", remedy=remedy) from problem
    return [_panel(names[k], units[k], batch.q[..., k]) for k in places]


def _panel(name: str, unit: str, values: Array) -> Panel:
    return Panel(name, unit, (Curve(name, values, colours.SERIES[0]),))


def _figure(batch: Batch, panels: Sequence[Panel], layout: Layout, heading: str) -> Any:
    figures = library("matplotlib.figure", "plotting", "plot")
    figure = figures.Figure(figsize=layout.size, facecolor="white")
    axes: list[Any] = []
    for panel, box in zip(panels, layout.boxes, strict=True):
        ax = figure.add_axes(box, sharex=axes[0] if axes else None)
        axes.append(ax)
        _draw(ax, batch.t, panel.curves[0].values)
        dress(ax, panel, is_last=len(axes) == len(panels))
    figure.align_ylabels(axes)
    if heading:
        place = layout.boxes[0][0], layout.heading
        figure.text(*place, heading, fontsize=10.5, weight="bold", va="top")
    return figure


def _draw(ax: Any, t: Array, values: Array) -> None:
    b, m = values.shape
    shades = colours_of(b)
    if m == 1:
        # The places stand one above the other.
        ax.scatter(np.repeat(t, b), values[:, 0], c=shades, s=6.0, linewidths=0.0)
        return
    collections = library("matplotlib.collections", "plotting", "plot")
    lines = np.stack([np.broadcast_to(t, (b, m)), values], axis=2)
    thin = collections.LineCollection(lines, colors=shades, linewidths=THIN, alpha=_alpha(b))
    thin.set_rasterized(b * m > MOST_POINTS)
    ax.add_collection(thin)
    ax.autoscale_view()


def colours_of(count: int) -> list[str]:
    """Return a colour for each motion: even steps of the gradient."""
    if count == 1:
        return [colours.SERIES[0]]
    return [colours.gradient(k / (count - 1)) for k in range(count)]


def _alpha(count: int) -> float:
    return max(0.2, min(1.0, 60 / count))
