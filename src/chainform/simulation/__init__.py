"""Programs in motion: integrators, events, closed loops, results."""

from chainform.simulation.batches.batch import simulate_batch
from chainform.simulation.batches.batch_run import BatchRun
from chainform.simulation.constraints.assembly import assemble
from chainform.simulation.constraints.mobility import Mobility, mobility
from chainform.simulation.interruption import BatchInterrupted, Interrupted, MotionError
from chainform.simulation.run import Happening, Run
from chainform.simulation.scenarios import Scenario
from chainform.simulation.simulate import simulate

__all__ = [
    "BatchInterrupted",
    "BatchRun",
    "Happening",
    "Interrupted",
    "Mobility",
    "MotionError",
    "Run",
    "Scenario",
    "assemble",
    "mobility",
    "simulate",
    "simulate_batch",
]
