"""Programs in motion: integrators, events, closed loops, results."""

from chainform.simulation.batch_run import BatchInterrupted, BatchRun
from chainform.simulation.equations.assembly import Mobility, assemble, mobility
from chainform.simulation.equations.contact.laws import Contact, Stop
from chainform.simulation.equations.events import Event, EventRecord
from chainform.simulation.execution import Interrupted, MotionError
from chainform.simulation.files.scenario import Scenario
from chainform.simulation.machine.method import Solver
from chainform.simulation.problem import Problem, ProblemOptions, System
from chainform.simulation.run import Run
from chainform.simulation.simulate import simulate, simulate_batch

__all__ = [
    "BatchInterrupted",
    "BatchRun",
    "Contact",
    "Event",
    "EventRecord",
    "Interrupted",
    "Mobility",
    "MotionError",
    "Problem",
    "ProblemOptions",
    "Run",
    "Scenario",
    "Solver",
    "Stop",
    "System",
    "assemble",
    "mobility",
    "simulate",
    "simulate_batch",
]
