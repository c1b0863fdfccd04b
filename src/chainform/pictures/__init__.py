"""Pictures of a motion: plots, a page to turn about, films."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.pictures.animation import animate
    from chainform.pictures.motion import Drawable, Plottable, PlottableBatch
    from chainform.pictures.page import HtmlPage
    from chainform.pictures.painter import picture
    from chainform.pictures.plots import plot, plot_batch

__all__ = [
    "Drawable",
    "HtmlPage",
    "Plottable",
    "PlottableBatch",
    "animate",
    "picture",
    "plot",
    "plot_batch",
]

lazy.door(__name__)
