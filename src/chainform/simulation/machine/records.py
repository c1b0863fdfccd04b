"""The records of a motion on its way: its step and its events, step control, output, the whole.

Python fills them in before a loop begins (solvers/integrator.py, batches) and reads them when it
comes back.
"""

from __future__ import annotations

from typing import TypeAlias

from chainform.runtime import Floats, Number, Numbers, Struct, Structs

EPSILON = 2.220446049250313e-16

REACHED, PAUSED, EVENT, TOO_SMALL, NOT_FINITE, NOT_SOLVED, NO_VALUE, NO_MASS = range(8)
"""Why a loop came back."""

NO_SOLUTION, NO_NUMBER, UNRESISTED = -1, -2, -3
"""What a function returns that cannot do its work, and nothing below zero otherwise: equations have
no solution; something is not a number; nothing resists a rate, UNRESISTED less its number."""


class EventMark(Struct):
    """A function of an event; once that has happened, `after` is its value then."""

    direction: float
    """The direction that counts (0: both),"""
    before: float
    """its value where the motion was looked at last,"""
    after: float
    """its value at the end of the step,"""
    part: float
    """and the part of the step up to its event (2: none)."""


class EventWatch(Struct):
    """The functions whose zeros are events, and the stretch of a step that is looked at."""

    count: int
    """How many events there are,"""
    rates: int
    """how many rates of functions, behind them: those of the first ones that are armed."""
    armed_from: int
    """The first event that ends a state of affairs,"""
    armed: int
    """and how many do."""
    first: int
    """The first of the events that happened, or the one that has no value."""
    marks: Structs[EventMark]
    values: Floats
    """The values of all functions, those of rates last,"""
    samples: Floats
    """and at five places of the stretch."""
    low: float
    """Where the stretch begins, as a part of the step,"""
    high: float
    """where it ends,"""
    limit: float
    """and where functions lose their values, in it or at its end."""
    sure: float
    """The last place before, where values are exact."""


class TimeStep(Struct):
    """One step of a method, and the room for it."""

    t: Number
    """Its start (s),"""
    h: Number
    """its length,"""
    latest: Number
    """and the last time at which forces are those of the step."""
    is_last: int
    """Whether it ends where no step may go beyond."""
    size: int
    """How many numbers a state has,"""
    coordinates: int
    """how many of them are coordinates,"""
    rates: int
    """and how many are rates."""
    stages: int
    rows: int
    """How many states the room for stages holds."""
    tableau: Numbers
    y: Floats
    """The state at its start,"""
    p: Floats
    k: Floats
    """the stages, the first one y' at the start,"""
    new: Floats
    """the state at its end,"""
    at: Floats
    """a state in between,"""
    slope: Floats
    """y' at its end,"""
    clock: Floats
    """a time, with the length of a step behind it where a method needs that."""
    calls: int
    """How often the last trial evaluated the equations."""
    failed: int
    """What a function returned that could not do its work; 0 while there is none."""
    watch: EventWatch


class StepControl(Struct):
    """How long steps are."""

    rtol: Number
    atol: Number
    exponent: Number
    """-1/order."""
    longest: Number
    length: Number
    """The length of the next step (0: to be chosen)."""
    is_fixed: int
    has_second: int
    """Whether there are two estimates of the error."""
    is_projected: int
    """Whether steps end on constraints."""
    sums: int
    """How many entries at the end of a state only add up."""


class OutputRows(Struct):
    """The rows of output: a state at each of some times, and numbers of p behind it."""

    times: Numbers
    count: int
    next: int
    """The next of them."""
    rows: Floats
    tail: int
    """How many numbers of p go out behind a state,"""
    tail_from: int
    """and where they begin."""


class Integration(Struct):
    """A motion from one time to another."""

    time: Number
    """The present time (s),"""
    lost: Number
    """what rounding has taken from it,"""
    end: Number
    """the time at its end,"""
    stop: Number
    """and the one that the present step may not go beyond."""
    hold: Number
    """The time between two samples of held forces (0: none),"""
    start: Number
    """the time of the first,"""
    ticks: int
    """and how many were taken."""
    breaks: Numbers
    """Times at which forces jump,"""
    break_count: int
    next_break: int
    limit: int
    """The most steps before a pause."""
    accepted: int
    rejected: int
    calls: int
    """How often the equations were evaluated."""
    status: int
    """Why the loop came back."""
    work: Floats
    """The room for a step, which `lay_out` divides."""
    step: TimeStep
    control: StepControl
    output: OutputRows


Marks: TypeAlias = Structs[EventMark]
Motions: TypeAlias = Structs[Integration]


def rhs(t: Floats, y: Floats, p: Floats, rate: Floats) -> int:
    """Stand for the equations of motion, which are compiled from a graph; below zero: a failure."""
    raise NotImplementedError


def functions_of(watch: EventWatch) -> int:
    """Return how many functions there are: those of events, and rates of some of them."""
    return watch.count + watch.rates


def room_for(size: int, rows: int, functions: int) -> int:
    """Return how many numbers the room for a step has."""
    return (rows + 3) * size + 6 * functions + 2


def lay_out(integration: Integration) -> None:
    """Divide the room for a step."""
    step = integration.step
    watch = step.watch
    n = step.size
    functions = functions_of(watch)
    step.k = integration.work
    step.new = step.k[step.rows * n :]
    step.at = step.new[n:]
    step.slope = step.at[n:]
    watch.values = step.slope[n:]
    watch.samples = watch.values[functions:]
    step.clock = watch.samples[5 * functions :]


def note_failure(step: TimeStep, status: int) -> None:
    """Note what a function returned, if it could not do its work."""
    if status < 0:
        step.failed = status
