"""What event functions are at places within a step, as procedures.

A place is a part of the step, from 0 to 1. In `work` stand, with n entries in a state and F
functions,

    stages (rows n) | state at the end (n) | a state (n) | y' at the end (n) | values (F)
    | values at five places (5 F) | the time | the length of a step, where a method asks for it
"""

from __future__ import annotations

from chainform.runtime.procedures import Floats, Ints, Number, Numbers
from chainform.simulation.loops.places import EVENTS, FAILED, ROWS, SIZE, TURNING
from chainform.simulation.loops.runge_kutta import trial


def events(t: Floats, y: Floats, p: Floats, value: Floats) -> int:
    """Stand for the functions whose zeros are events, which are compiled from a graph."""
    raise NotImplementedError


def functions_of(counts: Ints) -> int:
    """Return how many functions there are: those of events, and rates of some of them."""
    return counts[EVENTS] + counts[TURNING]


def values_at(counts: Ints) -> int:
    """Return where the values of all functions stand in `work`."""
    return (counts[ROWS] + 3) * counts[SIZE]


def clock_at(counts: Ints) -> int:
    """Return where the time stands in `work`."""
    return values_at(counts) + 6 * functions_of(counts)


def look(
    part: float,
    t: Number,
    h: Number,
    latest: Number,
    y: Floats,
    p: Floats,
    work: Floats,
    tableau: Numbers,
    counts: Ints,
) -> None:
    """Set the values of all functions at a place, by a shorter step of the same method.

    They are as accurate as the method itself. A failure is noted in `counts`.
    """
    clock = work[clock_at(counts) :]
    at = work[counts[ROWS] * counts[SIZE] :]
    if part < 1.0:
        at = work[(counts[ROWS] + 1) * counts[SIZE] :]
        note_failure(counts, trial(t, part * h, latest, y, p, work, at, clock, tableau, counts))
    clock[0] = t + part * h
    note_failure(counts, events(clock, at, p, work[values_at(counts) :]))


def note_failure(counts: Ints, status: int) -> None:
    """Note what a function returned, if it could not do its work."""
    if status < 0:
        counts[FAILED] = status


def glance(
    part: float,
    t: Number,
    h: Number,
    y: Floats,
    p: Floats,
    work: Floats,
    counts: Ints,
) -> None:
    """Set the values of all functions at a place nearly, by the cubic between the ends of the step.

    It costs no evaluation of the equations of motion.
    """
    n = counts[SIZE]
    new = work[counts[ROWS] * n :]
    at = work[(counts[ROWS] + 1) * n :]
    last = work[(counts[ROWS] + 2) * n :]
    rest = 1.0 - part
    for e in range(n):
        from_start = y[e] + part * (2.0 * y[e] + h * work[e])
        from_end = new[e] + rest * (2.0 * new[e] - h * last[e])
        at[e] = rest * rest * from_start + part * part * from_end
    clock = work[clock_at(counts) :]
    clock[0] = t + part * h
    note_failure(counts, events(clock, at, p, work[values_at(counts) :]))


def crossing(before: float, after: float, direction: float) -> int:
    """Tell whether a function went through zero in the direction that counts (0: in both)."""
    if before < 0.0 and after >= 0.0 and direction >= 0.0:
        return 1
    if before > 0.0 and after <= 0.0 and direction <= 0.0:
        return 1
    return 0
