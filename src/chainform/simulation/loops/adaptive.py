"""Runge-Kutta with step control, events and output at given times, as one procedure.

Between two steps nothing returns to Python. The procedure comes back at the end, at an event, and
after a number of steps, so that the caller can show progress or stop.
"""

from __future__ import annotations

from math import fabs

from chainform.runtime.procedures import Floats, Ints, Number, Numbers, fmax, fmin
from chainform.simulation.loops.events import first_event, mark_found, pass_values
from chainform.simulation.loops.looking import clock_at, note_failure
from chainform.simulation.loops.output import deliver, hand_over, settle
from chainform.simulation.loops.places import (
    ACCEPTED,
    BREAK,
    BREAKS,
    CALLS,
    END,
    EPSILON,
    EVENT,
    EVENTS,
    FAILED,
    HOLD,
    LARGEST,
    LIMIT,
    LOST,
    NO_VALUE,
    PAUSED,
    REACHED,
    ROWS,
    SIZE,
    START,
    STEP,
    TICK,
    TIME,
    TOO_SMALL,
)
from chainform.simulation.loops.runge_kutta import rhs, trial
from chainform.simulation.loops.step_control import (
    AGAIN,
    TAKEN,
    after_failure,
    end_of,
    first_step,
    judged,
)

NEARLY = 1.0000001
"""A rest of the interval shorter than this many steps is taken in one."""


def sample(t: Floats, y: Floats, p: Floats, into: Floats) -> None:
    """Stand for the forces that are held from one sample to the next."""


def next_stop(control: Numbers, counts: Ints, breaks: Numbers) -> Number:
    """Return the time that no step may go beyond: the end, a jump, the next sample."""
    stop = control[END]
    if counts[BREAK] < counts[BREAKS]:
        stop = fmin(stop, breaks[counts[BREAK]])
    if control[HOLD] > 0.0:
        stop = fmin(stop, control[START] + counts[TICK] * control[HOLD])
    return stop


def arrive(
    control: Numbers,
    counts: Ints,
    y: Floats,
    p: Floats,
    clock: Floats,
    times: Numbers,
    out: Floats,
    breaks: Numbers,
) -> None:
    """Pass jumps, take the sample that is due now, and put the present state out, if asked for.

    What is put out has the efforts that act from now on.
    """
    clock[0] = control[TIME]
    while counts[BREAK] < counts[BREAKS] and breaks[counts[BREAK]] <= control[TIME]:
        counts[BREAK] += 1
    if control[HOLD] > 0.0 and control[START] + counts[TICK] * control[HOLD] <= control[TIME]:
        sample(clock, y, p, p)
        counts[TICK] += 1
    hand_over(counts, control[TIME], y, p, times, out)


def begin(control: Numbers, counts: Ints, y: Floats, p: Floats, k: Floats, clock: Floats) -> int:
    """Compute the first stage of a step; below zero where that fails."""
    clock[0] = control[TIME]
    counts[CALLS] += 1
    return rhs(clock, y, p, k)


def step_to(control: Numbers, stop: Number) -> Number:
    """Return the length of the next step, which does not go beyond a time."""
    h = fmin(control[STEP], control[LARGEST])
    if control[TIME] + NEARLY * h >= stop:
        h = stop - control[TIME]
    return h


def is_end_at(control: Numbers, stop: Number) -> int:
    """Tell whether a time is the end of the motion."""
    if stop == control[END]:
        return 1
    return 0


def reason_of(part: Number) -> int:
    """Return why a step ends after a part of it, as `first_event` has it."""
    if part < 0.0:
        return NO_VALUE
    if part <= 1.0:
        return EVENT
    return REACHED


def pass_time(control: Numbers, h: Number) -> None:
    """Let the time go on by h; what rounding loses comes back later (Kahan)."""
    more = h - control[LOST]
    after = control[TIME] + more
    control[LOST] = (after - control[TIME]) - more
    control[TIME] = after


def look_ahead(
    control: Numbers, counts: Ints, h: Number, latest: Number, p: Floats, work: Floats
) -> int:
    """Compute y' at the end of a step; if nothing comes between, the next one begins with it."""
    n = counts[SIZE]
    clock = work[clock_at(counts) :]
    more = h - control[LOST]
    clock[0] = fmin(control[TIME] + more, latest)
    counts[CALLS] += 1
    return rhs(clock, work[counts[ROWS] * n :], p, work[(counts[ROWS] + 2) * n :])


def first_stage(control: Numbers, counts: Ints, y: Floats, p: Floats, work: Floats) -> int:
    """Compute the first stage of the first step, and choose its length; below zero: a failure."""
    status = begin(control, counts, y, p, work, work[clock_at(counts) :])
    if status >= 0 and control[STEP] <= 0.0 and control[TIME] < control[END]:
        status = first_step(control, counts, y, p, work)
    if status >= 0:
        status = counts[FAILED]
    return status


def put_state(counts: Ints, now: Number, y: Floats, p: Floats, work: Floats) -> int:
    """Put the state at the end of a step where it belongs; below zero: a failure on the way."""
    clock = work[clock_at(counts) :]
    clock[0] = now
    status = settle(clock, work[counts[ROWS] * counts[SIZE] :], p, y)
    if status >= 0:
        status = counts[FAILED]
    return status


def attempted(
    control: Numbers,
    counts: Ints,
    tableau: Numbers,
    t: Number,
    h: Number,
    latest: Number,
    is_last: int,
    y: Floats,
    p: Floats,
    work: Floats,
) -> int:
    """Make a step; tell whether it is taken, or must be made again, or why the motion ends."""
    new = work[counts[ROWS] * counts[SIZE] :]
    clock = work[clock_at(counts) :]
    calls = trial(t, h, latest, y, p, work, new, clock, tableau, counts)
    if calls < 0:
        return after_failure(control, counts, calls, t, h)
    counts[CALLS] += calls
    return judged(control, counts, tableau, t, h, is_last, y, p, work)


def is_same(y: Floats, other: Floats, n: int) -> int:
    """Tell whether two states are the same to the last bit."""
    for e in range(n):
        if y[e] != other[e]:
            return 0
    return 1


def copy(given: Floats, into: Floats, n: int) -> None:
    """Take a state over."""
    for e in range(n):
        into[e] = given[e]


def integrate(
    control: Numbers,
    counts: Ints,
    tableau: Numbers,
    y: Floats,
    p: Floats,
    work: Floats,
    times: Numbers,
    out: Floats,
    marks: Floats,
    breaks: Numbers,
) -> int:
    """Integrate from control[TIME] to control[END]; return why it ended.

    `work` has room for all that is computed in a step, as looking.py has it.
    """
    n = counts[SIZE]
    rows = counts[ROWS]
    new = work[rows * n :]
    at = work[(rows + 1) * n :]
    clock = work[clock_at(counts) :]
    done = 0
    arrive(control, counts, y, p, clock, times, out, breaks)
    status = first_stage(control, counts, y, p, work)
    if status < 0:
        return end_of(counts, status)
    while control[TIME] < control[END]:
        if done >= counts[LIMIT]:
            return PAUSED
        done += 1
        t = control[TIME]
        stop = next_stop(control, counts, breaks)
        latest = stop - 4.0 * EPSILON * fmax(fabs(stop), 1e-300)
        h = step_to(control, stop)
        is_last = 0
        if h >= stop - t:
            is_last = 1
        if h <= 16.0 * EPSILON * fabs(t) and is_last == 0:
            return TOO_SMALL
        before = counts[CALLS]
        verdict = attempted(control, counts, tableau, t, h, latest, is_last, y, p, work)
        calls = counts[CALLS] - before
        part: Number = 2.0
        if verdict == TAKEN and counts[EVENTS] > 0:
            note_failure(counts, look_ahead(control, counts, h, latest, p, work))
            is_end = is_last * is_end_at(control, stop)
            part = first_event(counts, tableau, t, h, latest, y, p, work, marks, calls, is_end)
            if counts[FAILED] < 0:
                verdict = after_failure(control, counts, counts[FAILED], t, h)
        if verdict == AGAIN:
            continue
        if verdict != TAKEN:
            return verdict
        reason = reason_of(part)
        if part < 0.0:
            part = -1.0 - part
        if part < 1.0:
            is_last = 0
            h = part * h
            note_failure(counts, trial(t, h, latest, y, p, work, new, clock, tableau, counts))
        pass_time(control, h)
        if is_last == 1:
            control[TIME] = stop
            control[LOST] = 0.0
        if reason == EVENT:
            mark_found(counts, control[TIME], new, p, work, marks)
        status = deliver(
            counts, tableau, t, control[TIME], latest, y, p, work, at, clock, times, out
        )
        if status >= 0:
            status = put_state(counts, control[TIME], y, p, work)
        if status < 0:
            return end_of(counts, status)
        arrive(control, counts, y, p, clock, times, out, breaks)
        counts[ACCEPTED] += 1
        if reason != REACHED:
            return reason
        pass_values(counts, marks)
        if counts[EVENTS] > 0 and is_last == 0 and is_same(y, new, n) == 1:
            copy(work[(rows + 2) * n :], work, n)
        else:
            status = begin(control, counts, y, p, work, clock)
        if status < 0:
            return end_of(counts, status)
    return REACHED
