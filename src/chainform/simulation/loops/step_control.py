"""How long steps are, and which of them are taken, as procedures."""

from __future__ import annotations

from math import fabs, sqrt

from chainform.runtime.procedures import Floats, Ints, Number, Numbers, fmax, fmin
from chainform.simulation.loops.places import (
    ATOL,
    BOOKS,
    CALLS,
    END,
    EPSILON,
    EXPONENT,
    FIXED,
    LARGEST,
    NOT_FINITE,
    REJECTED,
    RTOL,
    SIZE,
    STAGES,
    STEP,
    TIME,
    TWICE,
)
from chainform.simulation.loops.runge_kutta import HUGE, error_of, rhs

SAFETY = 0.8
"""Steps are chosen a little short: it costs less than to repeat many that were too long."""
LEAST = 0.2
MOST = 10.0
TAKEN, AGAIN = -1, -2
"""What becomes of a step that was tried."""


def factor_of(error: Number, exponent: Number) -> Number:
    """Return by how much the next step may be longer, or must be shorter."""
    if error <= 0.0:
        return MOST
    return fmin(MOST, fmax(LEAST, SAFETY * pow(error, exponent)))


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


def judged(
    control: Numbers,
    counts: Ints,
    tableau: Numbers,
    t: Number,
    h: Number,
    is_last: int,
    y: Floats,
    k: Floats,
    new: Floats,
    at: Floats,
) -> int:
    """Tell whether a step is taken, or must be made again, or why the motion ends there."""
    n = counts[SIZE]
    if counts[FIXED] == 1:
        if is_finite(new, n) == 0:
            return NOT_FINITE
        return TAKEN
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
        counts[STAGES],
        counts[TWICE],
        counts[BOOKS],
    )
    if not error < HUGE and h <= 1e3 * EPSILON * fmax(fabs(t), 1e-10):
        return NOT_FINITE
    if is_accepted(control, counts, error, h, is_last) == 0:
        return AGAIN
    return TAKEN
