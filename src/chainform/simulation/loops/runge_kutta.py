"""One step of an explicit Runge-Kutta method, and the estimate of its error, as procedures.

A tableau of s stages comes as one array: c, the rows of a, b, the weights of the error, and those
of a second error. The stages k stand one after the other, each as long as the state.
"""

from __future__ import annotations

from math import fabs, sqrt

from chainform.runtime.procedures import Floats, Number, Numbers, fmax, fmin
from chainform.simulation.loops.integration import StepControl, TimeStep

HUGE = 1e300


def rhs(t: Floats, y: Floats, p: Floats, rate: Floats) -> int:
    """Stand for the equations of motion, which are compiled from a graph; below zero: a failure."""
    raise NotImplementedError


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
