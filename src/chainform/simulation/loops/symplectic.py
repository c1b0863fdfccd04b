"""Gauss's implicit Runge-Kutta methods in canonical variables, as procedures.

With the momenta p = H(q) qd the motion is

    q' = v,    p' = w(t, q, v) = dL/dq + tau,    where v = H(q)^-1 p

and a collocation method at Gauss's points keeps the symplectic form: the energy of a conservative
motion does not drift. The stages are found by fixed-point iteration, until rounding errors are all
that is left: an iteration cut short would itself be a drift.

With n rates and s stages, in `k` stand the rate at y (2n), v and w of each stage (2n s), the
momenta at y (n), the state of a stage and its w (3n), and H (n n).
"""

from __future__ import annotations

from math import fabs

from chainform.runtime.procedures import Floats, Number, fmax, fmin
from chainform.simulation.loops.integration import NO_NUMBER, NO_SOLUTION, UNRESISTED, TimeStep
from chainform.simulation.loops.linear import NOTHING, backward, cholesky, forward

ROUNDS = 100
"""The most iterations."""
ROUNDING = 1e-12
"""Changes below this may be rounding errors: they need not shrink further."""
CLOSE = 1e-9
"""What changes must be below in the end."""


def inertia(t: Floats, y: Floats, p: Floats, out: Floats) -> None:
    """Stand for H(q), row by row, which is compiled from a graph."""


def push(t: Floats, y: Floats, p: Floats, out: Floats) -> None:
    """Stand for w(t, q, v): what changes the momenta."""


def momenta_of(clock: Floats, y: Floats, p: Floats, H: Floats, out: Floats, n: int) -> None:
    """Set out = H(q) qd."""
    inertia(clock, y, p, H)
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += H[i * n + j] * y[n + j]
        out[i] = total


def rates_of(clock: Floats, y: Floats, p: Floats, H: Floats, n: int) -> int:
    """Replace the momenta, which stand in y behind q, by the rates; return 0, or a failure."""
    inertia(clock, y, p, H)
    failed = cholesky(H, n, NOTHING)
    if failed < 0:
        return NO_NUMBER
    if failed > 0:
        return UNRESISTED - (failed - 1)
    forward(H, y[n:], n)
    backward(H, y[n:], n)
    return 0


def sweep(step: TimeStep, h: Number) -> float:
    """Compute v and w of all stages anew; return the change, or a failure.

    The change is the largest one of a coordinate or a momentum, relative to the largest of them.
    """
    n = step.rates
    s = step.stages
    y = step.y
    p = step.p
    t = step.t
    latest = step.latest
    clock = step.clock
    tableau = step.tableau
    stages = step.k[2 * n :]
    momenta = stages[2 * n * s :]
    at = momenta[n:]
    H = at[3 * n :]
    moved = 0.0
    pushed = 0.0
    far = 1e-300
    strong = 1e-300
    for i in range(s):
        for e in range(n):
            at[e] = 0.0
            at[n + e] = 0.0
        for j in range(s):
            weight = tableau[s + i * s + j]
            stage = stages[j * 2 * n :]
            for e in range(2 * n):
                at[e] += weight * stage[e]
        for e in range(n):
            at[e] = y[e] + h * at[e]
            at[n + e] = momenta[e] + h * at[n + e]
        clock[0] = fmin(t + tableau[i] * h, latest)
        status = rates_of(clock, at, p, H, n)
        if status < 0:
            return float(status)
        stage = stages[i * 2 * n :]
        push(clock, at, p, at[2 * n :])
        for e in range(n):
            moved = fmax(moved, fabs(h * (at[n + e] - stage[e])))
            pushed = fmax(pushed, fabs(h * (at[2 * n + e] - stage[n + e])))
            far = fmax(far, fabs(y[e]) + fabs(h * at[n + e]))
            strong = fmax(strong, fabs(momenta[e]) + fabs(h * at[2 * n + e]))
            stage[e] = at[n + e]
            stage[n + e] = at[2 * n + e]
    return fmax(moved / far, pushed / strong)


def failure_of(status: int, rounds: int) -> int:
    """Return why a step failed: what is no number later on was driven there by the iteration."""
    if rounds > 1 and status == NO_NUMBER:
        return NO_SOLUTION
    return status


def symplectic_step(step: TimeStep, h: Number, new: Floats) -> int:
    """Make a step of length h from the start of a step into `new`; return how often it evaluated.

    Or `NO_SOLUTION` where the iteration does not converge, or another failure.

    The stages begin on the parabola that the rate at y gives, with w as at y.
    """
    n = step.rates
    s = step.stages
    y = step.y
    p = step.p
    k = step.k
    latest = step.latest
    clock = step.clock
    tableau = step.tableau
    stages = k[2 * n :]
    momenta = stages[2 * n * s :]
    at = momenta[n:]
    H = at[3 * n :]
    clock[0] = fmin(step.t, latest)
    momenta_of(clock, y, p, H, momenta, n)
    push(clock, y, p, at)
    for i in range(s):
        stage = stages[i * 2 * n :]
        for e in range(n):
            stage[e] = y[n + e] + tableau[i] * h * k[n + e]
            stage[n + e] = at[e]
    before = 1e300
    rounds = 0
    while rounds < ROUNDS:
        change = sweep(step, h)
        rounds += 1
        if change < 0.0:
            return failure_of(int(change), rounds)
        if not change >= 0.0:
            return NO_SOLUTION
        if change == 0.0 or (change >= before and change < ROUNDING):
            break
        before = change
    if rounds == ROUNDS and not before < CLOSE:
        return NO_SOLUTION
    weights = tableau[s + s * s :]
    for e in range(n):
        moved = 0.0
        pushed = 0.0
        for i in range(s):
            moved += weights[i] * stages[i * 2 * n + e]
            pushed += weights[i] * stages[i * 2 * n + n + e]
        new[e] = y[e] + h * moved
        new[n + e] = momenta[e] + h * pushed
    clock[0] = fmin(step.t + h, latest)
    status = rates_of(clock, new, p, H, n)
    if status < 0:
        return status
    return (rounds + 1) * s
