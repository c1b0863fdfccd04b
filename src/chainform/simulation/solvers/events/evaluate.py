"""What event functions are at places within a step, as procedures.

A place is a part of the step, from 0 to 1.
"""

from __future__ import annotations

from chainform.runtime.procedures import Floats
from chainform.simulation.machine.records import TimeStep, note_failure
from chainform.simulation.solvers.runge_kutta import trial


def events(t: Floats, y: Floats, p: Floats, value: Floats) -> int:
    """Stand for the functions whose zeros are events, which are compiled from a graph."""
    raise NotImplementedError


def look(part: float, step: TimeStep) -> None:
    """Set the values of all functions at a place, by a shorter step of the same method.

    They are as accurate as the method itself. A failure is noted in the step.
    """
    t = step.t
    h = step.h
    at = step.new
    if part < 1.0:
        at = step.at
        note_failure(step, trial(step, part * h, at))
    step.clock[0] = t + part * h
    note_failure(step, events(step.clock, at, step.p, step.watch.values))


def value_at(part: float, event: int, step: TimeStep) -> float:
    """Return the value of a function at a place, and set those of all."""
    look(part, step)
    return step.watch.values[event]


def glance(part: float, step: TimeStep) -> None:
    """Set the values of all functions at a place nearly, by the cubic between the ends of the step.

    It costs no evaluation of the equations of motion.
    """
    t = step.t
    h = step.h
    y = step.y
    k = step.k
    new = step.new
    at = step.at
    last = step.slope
    rest = 1.0 - part
    for e in range(step.size):
        from_start = y[e] + part * (2.0 * y[e] + h * k[e])
        from_end = new[e] + rest * (2.0 * new[e] - h * last[e])
        at[e] = rest * rest * from_start + part * part * from_end
    step.clock[0] = t + part * h
    note_failure(step, events(step.clock, at, step.p, step.watch.values))


def crossing(before: float, after: float, direction: float) -> int:
    """Tell whether a function went through zero in the direction that counts (0: in both)."""
    if before < 0.0 and after >= 0.0 and direction >= 0.0:
        return 1
    if before > 0.0 and after <= 0.0 and direction <= 0.0:
        return 1
    return 0
