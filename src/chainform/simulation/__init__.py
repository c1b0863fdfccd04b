"""Programs in motion: integrators, events, closed loops, results."""

from chainform.simulation.batch_run import BatchInterrupted, BatchRun, needs_runs
from chainform.simulation.equations.assembly import Mobility, assemble, mobility
from chainform.simulation.equations.contact.laws import Contact, Stop
from chainform.simulation.equations.events import Event, EventRecord, Impact
from chainform.simulation.execution import Interrupted, MotionError
from chainform.simulation.files.formats import FORMS, form_of
from chainform.simulation.files.scenario import Scenario
from chainform.simulation.machine.method import Solver
from chainform.simulation.problem import Problem, ProblemOptions, System
from chainform.simulation.quantities import check_output
from chainform.simulation.run import Run
from chainform.simulation.simulate import simulate, simulate_batch

__all__ = [
    "FORMS",
    "BatchInterrupted",
    "BatchRun",
    "Contact",
    "Event",
    "EventRecord",
    "Impact",
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
    "check_output",
    "form_of",
    "mobility",
    "needs_runs",
    "simulate",
    "simulate_batch",
]
