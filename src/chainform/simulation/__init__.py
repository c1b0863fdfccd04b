"""Programs in motion: integrators, events, closed loops, results."""

from chainform.simulation.batches.batch_run import BatchRun
from chainform.simulation.constraints.assembly import assemble
from chainform.simulation.constraints.mobility import Mobility, mobility
from chainform.simulation.interruption import BatchInterrupted, Interrupted, MotionError
from chainform.simulation.problem import Problem, ProblemOptions, System
from chainform.simulation.run import EventRecord, Run
from chainform.simulation.scenarios import Scenario
from chainform.simulation.simulate import simulate, simulate_batch

__all__ = [
    "BatchInterrupted",
    "BatchRun",
    "EventRecord",
    "Interrupted",
    "Mobility",
    "MotionError",
    "Problem",
    "ProblemOptions",
    "Run",
    "Scenario",
    "System",
    "assemble",
    "mobility",
    "simulate",
    "simulate_batch",
]
