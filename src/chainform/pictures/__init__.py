"""Pictures of a simulated motion: plots, a page to turn about, films."""

from chainform.pictures.animation import animate
from chainform.pictures.page import Page
from chainform.pictures.plots import plot
from chainform.pictures.stills import picture

__all__ = ["Page", "animate", "picture", "plot"]
