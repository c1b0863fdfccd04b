"""How long steps are, and which of them are taken, as procedures."""

from __future__ import annotations

from math import fabs, sqrt

from chainform.runtime.procedures import Floats, Ints, Number, Numbers, fmax, fmin
from chainform.simulation.loops.looking import clock_at
from chainform.simulation.loops.places import (
    ATOL,
    BOOKS,
    CALLS,
    END,
    EPSILON,
    EXPONENT,
    FAILED,
    FIXED,
    LARGEST,
    NO_MASS,
    NO_NUMBER,
    NO_SOLUTION,
    NOT_FINITE,
    NOT_SOLVED,
    PUTTING,
    REJECTED,
    ROWS,
    RTOL,
    SIZE,
    STAGES,
    STEP,
    TIME,
    TWICE,
    UNRESISTED,
)
from chainform.simulation.loops.runge_kutta import HUGE, error_of, rhs, size_of, weighted

SAFETY = 0.8
"""Steps are chosen a little short: it costs less than to repeat many that were too long."""
LEAST = 0.2
MOST = 10.0
SHORTEST = 1e3
"""A step of no more than so many rounding errors of the time avoids nothing."""
TAKEN, AGAIN = -1, -2
"""What becomes of a step that was tried."""


def factor_of(error: Number, exponent: Number) -> Number:
    """Return by how much the next step may be longer, or must be shorter."""
    if error <= 0.0:
        return MOST
    return fmin(MOST, fmax(LEAST, SAFETY * pow(error, exponent)))


def first_step(control: Numbers, counts: Ints, y: Floats, p: Floats, work: Floats) -> int:
    """Choose the first step: so short that a step of Euler's method changes the rates little.

    After Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.4. What is returned
    is below zero where the equations fail at the present state.
    """
    n = counts[SIZE]
    few = n - counts[BOOKS]
    k = work
    new = work[counts[ROWS] * n :]
    rate = work[(counts[ROWS] + 1) * n :]
    clock = work[clock_at(counts) :]
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
    status = rhs(clock, new, p, rate)
    counts[CALLS] += 1
    if status < 0:
        control[STEP] = h
        return 0
    bent = measure_of(rate, y, k, control[RTOL], control[ATOL], 1.0, few) / h
    most = fmax(fast, bent)
    longer = fmax(1e-6, 1e-3 * h)
    if most > 1e-15:
        exponent: Number = -control[EXPONENT]
        longer = pow(0.01 / most, exponent)
    control[STEP] = fmin(fmin(100.0 * h, longer), control[LARGEST])
    # Whatever is called with efforts of Python must see the present time last.
    clock[0] = control[TIME]
    return rhs(clock, y, p, k)


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


def end_of(counts: Ints, status: int) -> int:
    """Return why a motion ends where a function failed, and note what it returned."""
    counts[FAILED] = status
    if status <= UNRESISTED:
        return NO_MASS
    if status == NO_NUMBER:
        return NOT_FINITE
    return NOT_SOLVED


def after_failure(control: Numbers, counts: Ints, status: int, t: Number, h: Number) -> int:
    """Tell whether a step in which a function failed is made again, much shorter, or is the end."""
    is_short = 0
    if h <= SHORTEST * EPSILON * fmax(fabs(t), 1e-10):
        is_short = 1
    if counts[FIXED] == 1 or is_short == 1 or status == NO_SOLUTION:
        return end_of(counts, status)
    counts[FAILED] = 0
    control[STEP] = 0.1 * h
    counts[REJECTED] += 1
    return AGAIN


def lasting(t: Floats, y: Floats, p: Floats, change: Floats) -> int:
    """Stand for what takes from a small change of a state the part that does not last.

    That is the part which goes as soon as the state is put where it belongs.
    """
    raise NotImplementedError


def lasting_error(
    control: Numbers,
    counts: Ints,
    tableau: Numbers,
    h: Number,
    y: Floats,
    p: Floats,
    work: Floats,
) -> float:
    """Return the estimated error of a step that is left once its end is put where it belongs.

    What forces of constraints do in the step is not put right there, so that work counts here.
    """
    s = counts[STAGES]
    n = counts[SIZE]
    new = work[counts[ROWS] * n :]
    at = work[(counts[ROWS] + 1) * n :]
    clock = work[clock_at(counts) :]
    clock[0] = control[TIME] + h
    weighted(work, tableau[2 * s + s * s :], at, n, s)
    failed = lasting(clock, new, p, at)
    first = size_of(at, y, new, control[RTOL], control[ATOL], n)
    second = 0.0
    if counts[TWICE] == 1 and failed >= 0:
        weighted(work, tableau[3 * s + s * s :], at, n, s)
        failed = lasting(clock, new, p, at)
        second = size_of(at, y, new, control[RTOL], control[ATOL], n)
    if failed < 0:
        return HUGE
    below = first + 0.01 * second
    if below <= 0.0:
        return 0.0
    return fabs(h) * first / sqrt(below)


def judged(
    control: Numbers,
    counts: Ints,
    tableau: Numbers,
    t: Number,
    h: Number,
    is_last: int,
    y: Floats,
    p: Floats,
    work: Floats,
) -> int:
    """Tell whether a step is taken, or must be made again, or why the motion ends there.

    Under constraints a part of the error goes as soon as the state is put onto them. That part
    may be larger than the rest, up to the root of what is tolerated: its effect is of second order.
    """
    n = counts[SIZE]
    new = work[counts[ROWS] * n :]
    if counts[FIXED] == 1:
        if is_finite(new, n) == 0:
            return NOT_FINITE
        return TAKEN
    error: Number = error_of(
        h,
        work,
        y,
        new,
        work[(counts[ROWS] + 1) * n :],
        tableau,
        control[RTOL],
        control[ATOL],
        n,
        counts[STAGES],
        counts[TWICE],
        counts[BOOKS],
    )
    if error > 1.0 and error * error * control[RTOL] < 1.0 and counts[PUTTING] == 1:
        left: Number = lasting_error(control, counts, tableau, h, y, p, work)
        error = fmin(error, left)
    if not error < HUGE and h <= SHORTEST * EPSILON * fmax(fabs(t), 1e-10):
        return NOT_FINITE
    if is_accepted(control, counts, error, h, is_last) == 0:
        return AGAIN
    return TAKEN
