"""A step of an explicit Runge-Kutta method, its error, and the control of steps, as procedures.

A tableau of s stages comes as one array: c, the rows of a, b, the weights of the error, and those
of a second error. The stages k stand one after the other, each as long as the state.
"""

from __future__ import annotations

from math import fabs, sqrt

from chainform.runtime import Floats, Number, Numbers, fmax, fmin
from chainform.simulation.machine.records import (
    EPSILON,
    NO_MASS,
    NO_NUMBER,
    NO_SOLUTION,
    NOT_FINITE,
    NOT_SOLVED,
    UNRESISTED,
    Integration,
    StepControl,
    TimeStep,
    rhs,
)

HUGE = 1e300


def trial(step: TimeStep, h: Number, new: Floats) -> int:
    """Make a step of length h from the start of a step into `new`; the first stage is there.

    No stage looks at a time after the latest one, where forces may jump. Other methods than
    explicit Runge-Kutta put a procedure of their own in the place of this one. It returns how often
    the equations were evaluated, or what they returned where they failed.
    """
    n = step.size
    s = step.stages
    y = step.y
    p = step.p
    k = step.k
    t = step.t
    latest = step.latest
    clock = step.clock
    tableau = step.tableau
    for i in range(1, s):
        combine(h, y, k, new, tableau[s + i * s :], n, i)
        clock[0] = fmin(t + tableau[i] * h, latest)
        status = rhs(clock, new, p, k[i * n :])
        if status < 0:
            return status
    combine(h, y, k, new, tableau[s + s * s :], n, s)
    return s - 1


def combine(h: Number, y: Floats, k: Floats, new: Floats, weights: Numbers, n: int, s: int) -> None:
    """Set new = y + h sum w_i k_i over the first s stages."""
    weighted(k, weights, new, n, s)
    for e in range(n):
        new[e] = y[e] + h * new[e]


def weighted(k: Floats, weights: Numbers, total: Floats, n: int, s: int) -> None:
    """Set total = sum w_i k_i over the first s stages."""
    for e in range(n):
        total[e] = 0.0
    for i in range(s):
        weight = weights[i]
        if weight != 0.0:
            stage = k[i * n :]
            for e in range(n):
                total[e] += weight * stage[e]


def size_of(error: Floats, y: Floats, new: Floats, rtol: float, atol: float, n: int) -> float:
    """Return the largest square of an error against what is tolerated.

    The largest, not the mean: a small, fast part of a mechanism has few of the entries, and its
    errors count as much as those of the rest.
    """
    largest = 0.0
    for e in range(n):
        part = error[e] / (atol + rtol * fmax(fabs(y[e]), fabs(new[e])))
        square = part * part
        if not square <= largest:
            largest = square
            if not largest < HUGE:
                return largest
    return largest


def error_of(step: TimeStep, control: StepControl) -> float:
    """Return the estimated error of a step, but for what only adds up; 1 is just tolerated.

    With two estimates the better one is damped by the other (Hairer, Norsett, Wanner, II.10).
    """
    n = step.size
    s = step.stages
    few = n - control.sums
    y = step.y
    new = step.new
    at = step.at
    weighted(step.k, step.tableau[2 * s + s * s :], at, n, s)
    first = size_of(at, y, new, control.rtol, control.atol, few)
    if control.has_second == 0:
        return fabs(step.h) * sqrt(first)
    weighted(step.k, step.tableau[3 * s + s * s :], at, n, s)
    second = size_of(at, y, new, control.rtol, control.atol, few)
    below = first + 0.01 * second
    if below <= 0.0:
        return 0.0
    return fabs(step.h) * first / sqrt(below)


# --- control of steps -------------------------------------------------------------------------


SAFETY = 0.8
"""Steps are chosen a little short: it costs less than to repeat many that were too long."""
LEAST = 0.2
MOST = 10.0
SHORTEST = 1e3
"""A step of no more than so many rounding errors of the time avoids nothing."""
NEARLY = 1.0000001
"""A rest of the interval shorter than this many steps is taken in one."""
TAKEN, AGAIN = -1, -2
"""What becomes of a step that was tried."""


def next_stop(integration: Integration) -> Number:
    """Return the time that no step may go beyond: the end, a jump, the next sample."""
    stop = integration.end
    if integration.next_break < integration.break_count:
        stop = fmin(stop, integration.breaks[integration.next_break])
    if integration.hold > 0.0:
        stop = fmin(stop, integration.start + integration.ticks * integration.hold)
    return stop


def choose_step(integration: Integration) -> None:
    """Set where the next step begins, how long it is, and what it may not go beyond."""
    step = integration.step
    t = integration.time
    stop = next_stop(integration)
    h = fmin(integration.control.length, integration.control.longest)
    if t + NEARLY * h >= stop:
        h = stop - t
    step.is_last = 0
    if h >= stop - t:
        step.is_last = 1
    step.t = t
    step.h = h
    step.latest = stop - 4.0 * EPSILON * fmax(fabs(stop), 1e-300)
    integration.stop = stop


def factor_of(error: Number, exponent: Number) -> Number:
    """Return by how much the next step may be longer, or must be shorter."""
    if error <= 0.0:
        return MOST
    return fmin(MOST, fmax(LEAST, SAFETY * pow(error, exponent)))


def first_step(integration: Integration) -> int:
    """Choose the first step: so short that a step of Euler's method changes the rates little.

    After Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.4. What is returned
    is below zero where the equations fail at the present state.
    """
    step = integration.step
    control = integration.control
    rtol = control.rtol
    atol = control.atol
    few = step.size - control.sums
    y = step.y
    k = step.k
    left = integration.end - integration.time
    near = measure_of(y, y, y, rtol, atol, 0.0, few)
    fast = measure_of(k, y, y, rtol, atol, 0.0, few)
    h = 1e-6
    if near > 1e-5 and fast > 1e-5:
        # A state that is nearly zero by rounding says nothing about how long a step may be.
        h = fmax(0.01 * near / fast, 1e-9 * left)
    h = fmin(h, left)
    for e in range(step.size):
        step.new[e] = y[e] + h * k[e]
    step.clock[0] = integration.time + h
    status = rhs(step.clock, step.new, step.p, step.at)
    integration.calls += 1
    if status < 0:
        control.length = h
        return 0
    bent = measure_of(step.at, y, k, rtol, atol, 1.0, few) / h
    most = fmax(fast, bent)
    longer = fmax(1e-6, 1e-3 * h)
    if most > 1e-15:
        exponent: Number = -control.exponent
        longer = pow(0.01 / most, exponent)
    control.length = fmin(fmin(100.0 * h, longer), control.longest)
    # Whatever is called with efforts of Python must see the present time last.
    step.clock[0] = integration.time
    return rhs(step.clock, y, step.p, k)


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


def is_accepted(integration: Integration, error: Number) -> int:
    """Tell whether a step is accepted, and choose the next one, or the next trial."""
    control = integration.control
    h = integration.step.h
    if not error < HUGE:
        # Something is not finite: a much shorter step may avoid it.
        control.length = 0.1 * h
        integration.rejected += 1
        return 0
    factor = factor_of(error, control.exponent)
    if error > 1.0:
        control.length = h * fmin(1.0, factor)
        integration.rejected += 1
        return 0
    # A step that was cut short says nothing against the step before it.
    if integration.step.is_last == 0 or factor * h > control.length:
        control.length = factor * h
    return 1


def end_of(step: TimeStep, status: int) -> int:
    """Return why a motion ends where a function failed, and note what it returned."""
    step.failed = status
    if status <= UNRESISTED:
        return NO_MASS
    if status == NO_NUMBER:
        return NOT_FINITE
    return NOT_SOLVED


def is_shortest(step: TimeStep) -> int:
    """Tell whether a step is so short that a shorter one avoids nothing."""
    if step.h <= SHORTEST * EPSILON * fmax(fabs(step.t), 1e-10):
        return 1
    return 0


def after_failure(integration: Integration, status: int) -> int:
    """Tell whether a step in which a function failed is made again, much shorter, or is the end."""
    step = integration.step
    control = integration.control
    if control.is_fixed == 1 or is_shortest(step) == 1 or status == NO_SOLUTION:
        return end_of(step, status)
    step.failed = 0
    control.length = 0.1 * step.h
    integration.rejected += 1
    return AGAIN


def lasting(t: Floats, y: Floats, p: Floats, change: Floats) -> int:
    """Stand for what takes from a small change of a state the part that does not last.

    That is the part which goes as soon as the state is put where it belongs.
    """
    raise NotImplementedError


def lasting_error(integration: Integration) -> float:
    """Return the estimated error of a step that is left once its end is put where it belongs.

    What forces of constraints do in the step is not put right there, so that work counts here.
    """
    step = integration.step
    control = integration.control
    s = step.stages
    n = step.size
    h = step.h
    at = step.at
    step.clock[0] = integration.time + h
    weighted(step.k, step.tableau[2 * s + s * s :], at, n, s)
    failed = lasting(step.clock, step.new, step.p, at)
    first = size_of(at, step.y, step.new, control.rtol, control.atol, n)
    second = 0.0
    if control.has_second == 1 and failed >= 0:
        weighted(step.k, step.tableau[3 * s + s * s :], at, n, s)
        failed = lasting(step.clock, step.new, step.p, at)
        second = size_of(at, step.y, step.new, control.rtol, control.atol, n)
    if failed < 0:
        return HUGE
    below = first + 0.01 * second
    if below <= 0.0:
        return 0.0
    return fabs(h) * first / sqrt(below)


def judged(integration: Integration) -> int:
    """Tell whether a step is taken, or must be made again, or why the motion ends there.

    Under constraints a part of the error goes as soon as the state is put onto them. That part
    may be larger than the rest, up to the root of what is tolerated: its effect is of second order.
    """
    step = integration.step
    control = integration.control
    if control.is_fixed == 1:
        if is_finite(step.new, step.size) == 0:
            return NOT_FINITE
        return TAKEN
    error: Number = error_of(step, control)
    if error > 1.0 and error * error * control.rtol < 1.0 and control.is_projected == 1:
        left: Number = lasting_error(integration)
        error = fmin(error, left)
    if not error < HUGE and is_shortest(step) == 1:
        return NOT_FINITE
    if is_accepted(integration, error) == 0:
        return AGAIN
    return TAKEN
