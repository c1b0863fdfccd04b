"""Plots of one motion or of many over time, by matplotlib."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.files import write_whole
from chainform.given import argument
from chainform.pictures import colours
from chainform.pictures.layout import (
    WIDEST,
    FigureLayout,
    draw_marks,
    layout_of,
    marks_of,
    set_logarithmic,
    shortened,
    widths_of,
    write_legend,
)
from chainform.pictures.motion import (
    Plottable,
    PlottableBatch,
    Tabular,
    check_motion,
    library,
    target_file,
    title_of,
)
from chainform.pictures.panels import (
    Panel,
    array_of,
    array_panels,
    batch_panels,
    panels_of,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]


METADATA: dict[str, dict[str, str | None]] = {
    ".svg": {"Date": None, "Creator": "chainform"},
    ".png": {"Software": "chainform"},
    ".pdf": {"CreationDate": None, "Creator": "chainform", "Producer": "chainform"},
}
"""What is written into a file about itself, by its ending: no dates, so that it can be compared."""

NO_GLYPHS = (
    r"Glyph \d+ .* missing from font",
    r"Matplotlib currently does not support .* natively",
)
"""Warnings about names in scripts that the font does not have; in an SVG they are there as text."""

THIN = 0.7
"""The width of the line of one motion of many, in points."""

MOST_POINTS = 200_000
"""With more points in a panel its lines are painted, so that a file does not become too large."""


HEIGHT, HIGHEST = 1.7, 7.0
"""The height of a panel in inches, and the most that a path may have."""


class FigureOptions(TypedDict, total=False):
    """Title; width of a figure and height of each panel in inches; dots per inch of a png."""

    title: str | None
    width: float
    height: float | None
    dpi: float


@dataclass(frozen=True)
class _Sheet:
    """The checked options of a figure, and its file."""

    path: Path | None
    title: str | None = None
    width: float = 8.0
    height: float | None = None
    dpi: float = 150.0

    @staticmethod
    def of(file: str | PathLike[str] | None, options: FigureOptions) -> _Sheet:
        """Return checked options; RunError where matplotlib is not installed."""
        given = argument("options", dict(options)).table(FigureOptions.__annotations__).value
        path = target_file("a plot", file, *METADATA)
        library("matplotlib", "plotting", "plot")
        return _Sheet(path, **given)

    def write(self, figure: Any) -> None:
        """Write a figure to the file, if there is one; errors are not left to matplotlib."""
        if self.path is not None:
            data, ending = BytesIO(), self.path.suffix.lower()
            figure.savefig(data, format=ending[1:], dpi=self.dpi, metadata=METADATA[ending])
            write_whole(self.path, data.getvalue())


def plot(
    run: Plottable,
    what: str | Sequence[str] | None = None,
    file: str | PathLike[str] | None = None,
    *,
    events: bool = True,
    **options: Unpack[FigureOptions],
) -> Figure:
    """Return a figure of a motion over time and write it to `file`, if one is given.

    `what` is any of "q", "qd", "qdd", "tau", "drives", "motion_forces", "x", "u", "energy",
    "reactions(segment)", names of coordinates and outputs such as "pose(tool)", one or several;
    without it coordinates, rates, efforts that are not all zero, forces of motions, and energy.
    The ending of the file is svg, png or pdf. Events are marked by lines with their names, unless
    `events` is False. The other options are those of `FigureOptions`.
    """
    check_motion(run, "plot")
    sheet = _Sheet.of(file, options)
    panels = panels_of(run, what)
    if not panels:
        raise RunError("there is nothing to plot", element="what", remedy='ask for "q"')
    heading, height = title_of(run, sheet.title), sheet.height or HEIGHT
    span = float(run.t[0]), float(run.t[-1])
    shown = run.events if events else ()
    marks = marks_of(shown, span, *widths_of(panels, sheet.width, height))
    layout = layout_of(panels, sheet.width, height, bool(heading), marks.lines)
    with _plot_style():
        figure: Any = _figure(panels, layout, heading, partial(_draw_curves, run.t))
        draw_marks(figure, marks, layout)
        sheet.write(figure)
    return figure


@contextmanager
def _plot_style() -> Generator[None]:
    """Use the style of this file and nothing of the user's, and put theirs back."""
    matplotlib = library("matplotlib", "plotting", "plot")
    with matplotlib.rc_context(), warnings.catch_warnings():
        for message in NO_GLYPHS:
            warnings.filterwarnings("ignore", message, UserWarning)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(colours.STYLE)
        yield


def _figure(
    panels: Sequence[Panel],
    layout: FigureLayout,
    heading: str,
    draw: Callable[[Any, Panel], None],
    below: str = "t (s)",
) -> Any:
    """Return a figure of panels, whose curves are drawn by a function of axes and panel."""
    figures = library("matplotlib.figure", "plotting", "plot")
    figure = figures.Figure(figsize=layout.size, facecolor="white")
    axes: list[Any] = []
    for panel, box in zip(panels, layout.boxes, strict=True):
        ax = figure.add_axes(box, sharex=axes[0] if axes else None)
        axes.append(ax)
        draw(ax, panel)
        _dress(ax, panel, below if len(axes) == len(panels) else "")
    for legend in layout.legends:
        _legend(axes[legend.panel], panels[legend.panel], legend.rows, legend.columns)
    figure.align_ylabels(axes)
    if heading:
        figure.text(
            layout.boxes[0][0], layout.heading, heading, fontsize=10.5, weight="bold", va="top"
        )
    return figure


def _draw_curves(t: Array, ax: Any, panel: Panel) -> None:
    dots = {"marker": "o", "markersize": 3.5} if len(t) == 1 else {}
    thin = 1.0 if len(panel.curves) > 8 else 1.5
    for curve in panel.curves:
        style = (0, (4, 1.6)) if curve.is_dashed else "-"
        fields = {"color": curve.colour, "linestyle": style, "linewidth": thin}
        drawn = "steps-post" if curve.is_held else "default"
        ax.plot(t, curve.values, drawstyle=drawn, **fields, **dots)


def _dress(ax: Any, panel: Panel, below: str) -> None:
    """Give a panel that is drawn its name, a grid and a line at zero, and the last one `below`."""
    name = panel.curves[0].name if len(panel.curves) == 1 else panel.label
    ax.set_ylabel(f"{name} ({panel.unit})" if panel.unit else name)
    ax.margins(x=0.0, y=0.1)
    set_logarithmic([ax] if panel.is_logarithmic else [], "y")
    ax.grid(visible=True)
    low, high = ax.get_ylim()
    if low < 0 < high:
        ax.axhline(0.0, color="#b4bdc8", linewidth=0.9, zorder=1)
    if below:
        ax.set_xlabel(below)
    else:
        ax.tick_params(labelbottom=False)


def _legend(ax: Any, panel: Panel, rows: int, columns: int) -> None:
    """Write the names of curves right of a panel; where there is no room for all, how many more."""
    room = rows * columns
    shown = panel.curves if len(panel.curves) <= room else panel.curves[: room - 1]
    keys: list[tuple[str, str, Any]] = [
        (shortened(c.name, WIDEST), c.colour, (0, (3, 1.2)) if c.is_dashed else "-") for c in shown
    ]
    if len(shown) < len(panel.curves):
        keys.append((f"and {len(panel.curves) - len(shown)} more", colours.INK, "none"))
    write_legend(
        ax,
        keys,
        linewidth=2.0,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.04),
        ncols=columns,
        fontsize=8.5,
        handlelength=1.5,
        columnspacing=1.0,
        labelspacing=0.35,
        borderaxespad=0.3,
    )


# --- tables of numbers ----------------------------------------------------------------------------


def plot_arrays(
    table: Tabular,
    what: Sequence[str] | None = None,
    file: str | PathLike[str] | None = None,
    *,
    over: str | None = None,
    before: Tabular | None = None,
    **options: Unpack[FigureOptions],
) -> Figure:
    """Return a figure of arrays or columns over the rows, or over another column.

    `what` names arrays (`q`) or columns (`q.elbow`), by default all that have not too many entries;
    `over` is the column on the other axis, by default the array that orders the rows; or it has as
    many columns, one for each curve, as the real parts of poles for imaginary ones. Rows without an
    order, as samples, equilibria and modes, are dots, and each branch is a line. Where the
    entries of one position are drawn over each other, a metre is as long on both axes. Columns of
    a table `before` are dashed. The other options are those of `FigureOptions`.
    """
    sheet = _Sheet.of(file, options)
    ordering = "t" if table.rows == "branch" and "t" in table.arrays else table.rows
    names = [n for n in table.arrays if n != ordering] if what is None else list(what)
    panels = [panel for name in names for panel in array_panels(table, name)]
    along, *others = array_panels(table, over or ordering)
    x, curves = along.curves[0].values, [curve for panel in panels for curve in panel.curves]
    places = [curve.values for panel in (along, *others) for curve in panel.curves]
    if not curves or not len(x) or len(places) not in (1, len(curves)):
        remedy = "name arrays with rows, and a column, or as many, to draw them over"
        raise RunError("there is nothing to plot", element="what", remedy=remedy)
    heading = table.mechanism.name if sheet.title is None else sheet.title
    is_shape = along.unit == "m" and {array_of(n) for n in names} == {array_of(over or ordering)}
    height = sheet.height
    if height is None:
        height = _shape_height(x, panels, sheet.width) if is_shape else HEIGHT
    layout = layout_of(panels, sheet.width, height, bool(heading))
    with _plot_style():
        below = f"{along.label} ({along.unit})" if along.unit else along.label
        draw = partial(_draw_rows, x, _lines_of(table))
        if len(places) > 1:
            by_name = dict(zip((curve.name for curve in curves), places, strict=True))
            draw = partial(_draw_paths, by_name, _lines_of(table))
        if before is not None:
            draw = partial(_draw_both, draw, before, over or before.rows)
        figure: Any = _figure(panels, layout, heading, draw, below)
        if is_shape:
            for ax in figure.axes:
                ax.set_aspect("equal", adjustable="datalim")
        if table.rows == "frequency" and over in (None, "frequency") and len(x) > 1 and x[0] > 0:
            set_logarithmic(figure.axes, "x")
        sheet.write(figure)
    return figure


UNORDERED = ("sample", "equilibrium", "target", "mode")
"""Rows that do not follow each other."""


def _shape_height(x: Array, panels: Sequence[Panel], width: float) -> float:
    """Return the height of panels in which a metre is as long on both axes."""
    spans = [float(np.ptp(curve.values)) for panel in panels for curve in panel.curves]
    inner = widths_of(panels, width, HEIGHT)[0]
    ratio = 1.2 * max(spans) / max(float(np.ptp(x)), 1e-300)
    return float(np.clip(inner * ratio, HEIGHT, HIGHEST))


def _lines_of(table: Tabular) -> list[slice] | None:
    """Return the rows of each line; None for rows that do not follow each other."""
    count = len(table.arrays[table.rows])
    if table.rows in UNORDERED or (table.rows == "branch" and "t" not in table.arrays):
        return None
    branch = table.arrays.get("branch", np.zeros(count))
    ends = [0, *(np.flatnonzero(np.diff(branch)) + 1).tolist(), count]
    return [slice(a, b) for a, b in pairwise(ends)]


def _draw_rows(x: Array, lines: list[slice] | None, ax: Any, panel: Panel) -> None:
    if lines is None:
        size = 3.5 if len(x) <= FEW else 1.2
        style = {"markersize": size, "markeredgewidth": 0.0, "clip_on": False}
        style["rasterized"] = len(x) > MOST_DOTS
        for curve in panel.curves:
            ax.plot(x, curve.values, color=curve.colour, linestyle="none", marker="o", **style)
        return
    for rows in lines:
        part = [replace(curve, values=curve.values[rows]) for curve in panel.curves]
        _draw_curves(x[rows], ax, replace(panel, curves=tuple(part)))


def _draw_paths(
    places: Mapping[str, Array], lines: list[slice] | None, ax: Any, panel: Panel
) -> None:
    """Draw each curve of a panel over places of its own, which begin at dots."""
    for curve in panel.curves:
        x = places[curve.name]
        ax.plot(x[:1], curve.values[:1], color=curve.colour, marker="o", markersize=3.5)
        _draw_rows(x, lines, ax, replace(panel, curves=(curve,)))


FEW, MOST_DOTS = 100, 5000
"""Up to how many dots are large, and from how many on they are painted."""


def _draw_both(
    draw: Callable[[Any, Panel], None], before: Tabular, over: str, ax: Any, panel: Panel
) -> None:
    """Draw the curves of a panel, and where they were before."""
    columns, dashes = before.columns(), {"linestyle": (0, (3, 1.5)), "linewidth": 1.2}
    for curve in (curve for curve in panel.curves if curve.name in columns):
        ax.plot(columns[over], columns[curve.name], color=curve.colour, alpha=0.55, **dashes)
    draw(ax, panel)


# --- many motions ---------------------------------------------------------------------------------


def plot_batch(
    batch: PlottableBatch,
    what: str | Sequence[str] | None = None,
    file: str | PathLike[str] | None = None,
    **options: Unpack[FigureOptions],
) -> Figure:
    """Return a figure of many motions and write it to `file`, if one is given.

    `what` is any of "q", "qd", "energy" and names of coordinates, one or several, each coordinate
    in a panel of its own; without it all coordinates. The rest is as for a single motion.
    """
    sheet = _Sheet.of(file, options)
    if not batch.q.shape[0] * batch.q.shape[1]:
        raise RunError("there is nothing to plot", element="what", remedy="give times of output")
    items = ["q"] if what is None else [what] if isinstance(what, str) else list(what)
    panels = [panel for item in items for panel in batch_panels(batch, item)]
    heading = title_of(batch, sheet.title)
    layout = layout_of(panels, sheet.width, sheet.height or HEIGHT, bool(heading))
    with _plot_style():
        figure: Any = _figure(panels, layout, heading, partial(_draw_batch, batch.t))
        sheet.write(figure)
    return figure


def _draw_batch(t: Array, ax: Any, panel: Panel) -> None:
    values = panel.curves[0].values
    b, m = values.shape
    shades = colours_of(b)
    if m == 1:
        # The places stand one above the other.
        ax.scatter(np.repeat(t, b), values[:, 0], c=shades, s=6.0, linewidths=0.0)
        return
    collections = library("matplotlib.collections", "plotting", "plot")
    lines = np.stack([np.broadcast_to(t, (b, m)), values], axis=2)
    thin = collections.LineCollection(
        lines, colors=shades, linewidths=THIN, alpha=max(0.2, min(1.0, 60 / b))
    )
    thin.set_rasterized(b * m > MOST_POINTS)
    ax.add_collection(thin)
    ax.autoscale_view()


def colours_of(count: int) -> list[str]:
    """Return a colour for each motion: even steps of the gradient."""
    if count == 1:
        return [colours.SERIES[0]]
    return [colours.gradient(k / (count - 1)) for k in range(count)]
