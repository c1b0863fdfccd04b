"""Semi-implicit Euler, the usual method of physics engines, as a procedure.

    qd(t + h) = qd + h qdd(t, q, qd)
    q(t + h)  = q + h dq/dt(q, qd(t + h))

One evaluation a step, of order 1. Vibrations do not grow as with Euler's explicit method: where the
inertia does not change with the pose it is symplectic.
"""

from __future__ import annotations

from chainform.runtime.procedures import Floats, Ints, Number, Numbers, fmin
from chainform.simulation.loops.places import COORDINATES, SIZE

ROWS = 2
"""The first stage, and the rates of the coordinates."""


def moved(t: Floats, y: Floats, p: Floats, out: Floats) -> None:
    """Stand for the rates of the coordinates, given q and qd."""


def semi_implicit_step(
    t: Number,
    h: Number,
    latest: Number,
    y: Floats,
    p: Floats,
    k: Floats,
    new: Floats,
    clock: Floats,
    tableau: Numbers,  # noqa: ARG001, as all steps have it
    counts: Ints,
) -> int:
    """Make one step of length h from y into `new`; the first stage is there already."""
    nq = counts[COORDINATES]
    for e in range(nq):
        new[e] = y[e]
    for e in range(nq, counts[SIZE]):
        new[e] = y[e] + h * k[e]
    faster = k[counts[SIZE] :]
    clock[0] = fmin(t + h, latest)
    moved(clock, new, p, faster)
    for e in range(nq):
        new[e] = y[e] + h * faster[e]
    return 0
