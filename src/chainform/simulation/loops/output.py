"""States at the times that were asked for, as procedures."""

from __future__ import annotations

from math import fabs

from chainform.runtime.procedures import Floats, Ints, Number, Numbers
from chainform.simulation.loops.places import (
    EPSILON,
    NEXT,
    SIZE,
    TAIL,
    TAIL_AT,
    TIMES,
)
from chainform.simulation.loops.runge_kutta import trial


def settle(t: Floats, y: Floats, p: Floats, into: Floats) -> int:
    """Stand for what keeps a state where it belongs: unit quaternions, closed loops."""
    raise NotImplementedError


def deliver(
    counts: Ints,
    tableau: Numbers,
    t: Number,
    after: Number,
    latest: Number,
    y: Floats,
    p: Floats,
    k: Floats,
    at: Floats,
    clock: Floats,
    times: Numbers,
    out: Floats,
) -> int:
    """Write the states at all output times before the end `after` of a step that was accepted.

    They come from a shorter step of the same method from the same start, as accurate as the method
    itself. Behind each come numbers of p that stay the same over a step, such as efforts that are
    held. What is returned is below zero where one of them failed.
    """
    n = counts[SIZE]
    # What differs from the end by rounding only is at the end.
    before = after - 4.0 * EPSILON * fabs(after)
    while counts[NEXT] < counts[TIMES] and times[counts[NEXT]] < before:
        row = out[counts[NEXT] * (n + counts[TAIL]) :]
        status = trial(t, times[counts[NEXT]] - t, latest, y, p, k, at, clock, tableau, counts)
        if status < 0:
            return status
        clock[0] = times[counts[NEXT]]
        status = settle(clock, at, p, row)
        if status < 0:
            return status
        put_tail(counts, p, row)
    return 0


def hand_over(counts: Ints, now: Number, y: Floats, p: Floats, times: Numbers, out: Floats) -> None:
    """Write the present state at all output times up to now."""
    n = counts[SIZE]
    while counts[NEXT] < counts[TIMES] and times[counts[NEXT]] <= now:
        row = out[counts[NEXT] * (n + counts[TAIL]) :]
        for e in range(n):
            row[e] = y[e]
        put_tail(counts, p, row)


def put_tail(counts: Ints, p: Floats, row: Floats) -> None:
    """Write what goes out behind a state, and go to the next output time."""
    for e in range(counts[TAIL]):
        row[counts[SIZE] + e] = p[counts[TAIL_AT] + e]
    counts[NEXT] += 1
