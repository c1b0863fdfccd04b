"""Programs in motion: integrators, events, closed loops, results."""

from chainform.simulation.run import Happening, Run
from chainform.simulation.simulate import simulate

__all__ = ["Happening", "Run", "simulate"]
