"""Pictures of a motion: plots, a page to turn about, films."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.pictures.animation import animate
    from chainform.pictures.motion import Drawable, Plottable, PlottableBatch, Tabular
    from chainform.pictures.page import HtmlPage
    from chainform.pictures.painter import picture
    from chainform.pictures.plots import plot, plot_arrays, plot_batch

__all__ = [
    "Drawable",
    "HtmlPage",
    "Plottable",
    "PlottableBatch",
    "Tabular",
    "animate",
    "picture",
    "plot",
    "plot_arrays",
    "plot_batch",
]

lazy.door(__name__)
