"""Programs in motion: integrators, events, closed loops, results."""

from chainform.simulation.assembly import assemble
from chainform.simulation.interruption import Interrupted, MotionError
from chainform.simulation.mobility import Mobility, mobility
from chainform.simulation.run import Happening, Run
from chainform.simulation.scenarios import Scenario
from chainform.simulation.simulate import simulate

__all__ = [
    "Happening",
    "Interrupted",
    "Mobility",
    "MotionError",
    "Run",
    "Scenario",
    "assemble",
    "mobility",
    "simulate",
]
