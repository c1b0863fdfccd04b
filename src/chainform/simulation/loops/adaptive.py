"""Runge-Kutta with step control, events and output at given times, as one procedure.

Between two steps nothing returns to Python. The procedure comes back at the end, at an event, and
after a number of steps, so that the caller can show progress or stop.
"""

from __future__ import annotations

from math import fabs, sqrt

from chainform.runtime.procedures import Floats, Ints, Number, Numbers, fmax, fmin
from chainform.simulation.loops.events import deliver, events, first_event, settle
from chainform.simulation.loops.places import (
    ACCEPTED,
    ARMED,
    ARMED_AT,
    ATOL,
    BOOKS,
    BREAK,
    BREAKS,
    CALLS,
    END,
    EPSILON,
    EVENT,
    EVENTS,
    EXPONENT,
    FIXED,
    FOUND,
    HOLD,
    LARGEST,
    LIMIT,
    LOST,
    NOT_FINITE,
    NOT_SOLVED,
    PAUSED,
    REACHED,
    REJECTED,
    ROWS,
    RTOL,
    SIZE,
    STAGES,
    START,
    STEP,
    TICK,
    TIME,
    TOO_SMALL,
    TURNING,
    TWICE,
)
from chainform.simulation.loops.runge_kutta import HUGE, error_of, rhs, trial

SAFETY = 0.8
"""Steps are chosen a little short: it costs less than to repeat many that were too long."""
LEAST = 0.2
MOST = 10.0
BARELY = 1e-300
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


def begin(
    control: Numbers, counts: Ints, y: Floats, p: Floats, k: Floats, clock: Floats, breaks: Numbers
) -> None:
    """Take samples and pass jumps that are due now, and compute the first stage of a step."""
    clock[0] = control[TIME]
    while counts[BREAK] < counts[BREAKS] and breaks[counts[BREAK]] <= control[TIME]:
        counts[BREAK] += 1
    if control[HOLD] > 0.0 and control[START] + counts[TICK] * control[HOLD] <= control[TIME]:
        sample(clock, y, p, p)
        counts[TICK] += 1
    rhs(clock, y, p, k)
    counts[CALLS] += 1


def factor_of(error: Number, exponent: Number) -> Number:
    """Return by how much the next step may be longer, or must be shorter."""
    if error <= 0.0:
        return MOST
    return fmin(MOST, fmax(LEAST, SAFETY * pow(error, exponent)))


def pass_time(control: Numbers, h: Number) -> None:
    """Let the time go on by h; what rounding loses comes back later (Kahan)."""
    more = h - control[LOST]
    after = control[TIME] + more
    control[LOST] = (after - control[TIME]) - more
    control[TIME] = after


def first_step(
    control: Numbers,
    counts: Ints,
    y: Floats,
    p: Floats,
    k: Floats,
    new: Floats,
    rate: Floats,
    clock: Floats,
) -> None:
    """Choose the first step: so short that a step of Euler's method changes the rates little.

    After Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.4.
    """
    n = counts[SIZE]
    few = n - counts[BOOKS]
    near = measure_of(y, y, y, control[RTOL], control[ATOL], 0.0, few)
    fast = measure_of(k, y, y, control[RTOL], control[ATOL], 0.0, few)
    h = 1e-6
    if near > 1e-5 and fast > 1e-5:
        # A state that is nearly zero by rounding says nothing about how long a step may be.
        h = fmax(0.01 * near / fast, 1e-9 * (control[END] - control[TIME]))
    h = fmin(h, control[END] - control[TIME])
    for e in range(n):
        new[e] = y[e] + h * k[e]
    clock[0] = control[TIME] + h
    rhs(clock, new, p, rate)
    counts[CALLS] += 1
    bent = measure_of(rate, y, k, control[RTOL], control[ATOL], 1.0, few) / h
    most = fmax(fast, bent)
    longer = fmax(1e-6, 1e-3 * h)
    if most > 1e-15:
        exponent: Number = -control[EXPONENT]
        longer = pow(0.01 / most, exponent)
    control[STEP] = fmin(fmin(100.0 * h, longer), control[LARGEST])
    # Whatever is called with efforts of Python must see the present time last.
    clock[0] = control[TIME]
    rhs(clock, y, p, k)


def measure_of(
    x: Floats, y: Floats, before: Floats, rtol: float, atol: float, minus: float, n: int
) -> float:
    """Return the root mean square of x - minus * before, against what is tolerated at y."""
    total = 0.0
    for e in range(n):
        part = (x[e] - minus * before[e]) / (atol + rtol * fabs(y[e]))
        total += part * part
    return sqrt(total / n)


def is_finite(y: Floats, n: int) -> int:
    """Tell whether all entries are numbers of a size that can be computed with."""
    for e in range(n):
        if not fabs(y[e]) < HUGE:
            return 0
    return 1


def is_accepted(control: Numbers, counts: Ints, error: Number, h: Number, is_last: int) -> int:
    """Tell whether a step is accepted, and choose the next one, or the next trial."""
    if not error < HUGE:
        # Something is not finite: a much shorter step may avoid it.
        control[STEP] = 0.1 * h
        counts[REJECTED] += 1
        return 0
    factor = factor_of(error, control[EXPONENT])
    if error > 1.0:
        control[STEP] = h * fmin(1.0, factor)
        counts[REJECTED] += 1
        return 0
    # A step that was cut short says nothing against the step before it.
    if is_last == 0 or factor * h > control[STEP]:
        control[STEP] = factor * h
    return 1


def mark_events(
    control: Numbers,
    counts: Ints,
    y: Floats,
    p: Floats,
    clock: Floats,
    values: Floats,
    marks: Floats,
) -> None:
    """Note the values of the event functions at the present state.

    A function that ends a state of affairs is not at its end while that lasts: whether it begins
    just above zero or just below is a matter of rounding.
    """
    clock[0] = control[TIME]
    events(clock, y, p, values)
    for i in range(counts[EVENTS] + counts[TURNING]):
        marks[3 * i + 1] = values[i]
    for i in range(counts[ARMED_AT], counts[ARMED_AT] + counts[ARMED]):
        marks[3 * i + 1] = fmax(values[i], BARELY)


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

    `work` has room for the stages, two states, the values of events, and the time.
    """
    n = counts[SIZE]
    s = counts[STAGES]
    rows = counts[ROWS]
    k = work
    new = work[rows * n :]
    at = work[(rows + 1) * n :]
    values = work[(rows + 2) * n :]
    clock = work[(rows + 2) * n + counts[EVENTS] + counts[TURNING] :]
    done = 0
    begin(control, counts, y, p, k, clock, breaks)
    if control[STEP] <= 0.0 and control[TIME] < control[END]:
        first_step(control, counts, y, p, k, new, at, clock)
    while control[TIME] < control[END]:
        if done >= counts[LIMIT]:
            return PAUSED
        done += 1
        t = control[TIME]
        stop = next_stop(control, counts, breaks)
        latest = stop - 4.0 * EPSILON * fmax(fabs(stop), 1e-300)
        h = fmin(control[STEP], control[LARGEST])
        is_last = 0
        if t + NEARLY * h >= stop:
            h = stop - t
            is_last = 1
        if h <= 16.0 * EPSILON * fabs(t) and is_last == 0:
            return TOO_SMALL
        calls = trial(t, h, latest, y, p, k, new, clock, tableau, counts)
        if calls < 0:
            return NOT_SOLVED
        counts[CALLS] += calls
        if counts[FIXED] == 1:
            if is_finite(new, n) == 0:
                return NOT_FINITE
        else:
            error: Number = error_of(
                h,
                k,
                y,
                new,
                at,
                tableau,
                control[RTOL],
                control[ATOL],
                n,
                s,
                counts[TWICE],
                counts[BOOKS],
            )
            if not error < HUGE and h <= 1e3 * EPSILON * fmax(fabs(t), 1e-10):
                return NOT_FINITE
            if is_accepted(control, counts, error, h, is_last) == 0:
                continue
        part: Number = 2.0
        if counts[EVENTS] > 0:
            part = first_event(
                counts, tableau, t, h, latest, y, p, k, new, at, clock, values, marks
            )
        if part <= 1.0:
            is_last = 0
            h = part * h
            trial(t, h, latest, y, p, k, new, clock, tableau, counts)
        pass_time(control, h)
        if is_last == 1:
            control[TIME] = stop
            control[LOST] = 0.0
        deliver(counts, tableau, t, control[TIME], latest, y, new, p, k, at, clock, times, out)
        clock[0] = control[TIME]
        settle(clock, new, p, y)
        counts[ACCEPTED] += 1
        if part <= 1.0:
            # The others are where the motion was stopped; this one has its zero behind it.
            mark_events(control, counts, y, p, clock, values, marks)
            marks[3 * counts[FOUND] + 1] = marks[3 * counts[FOUND] + 2]
            return EVENT
        for i in range(counts[EVENTS] + counts[TURNING]):
            marks[3 * i + 1] = marks[3 * i + 2]
        begin(control, counts, y, p, k, clock, breaks)
    return REACHED
