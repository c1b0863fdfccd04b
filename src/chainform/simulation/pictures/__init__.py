"""Pictures of a simulated motion: plots, a page to turn about, films."""

from chainform.simulation.pictures.animation import animate
from chainform.simulation.pictures.page import Page
from chainform.simulation.pictures.plots import plot
from chainform.simulation.pictures.stills import picture

__all__ = ["Page", "animate", "picture", "plot"]
