"""Semi-implicit Euler, the usual method of physics engines, as a procedure.

    qd(t + h) = qd + h qdd(t, q, qd)
    q(t + h)  = q + h dq/dt(q, qd(t + h))

One evaluation a step, of order 1. Vibrations do not grow as with Euler's explicit method: where the
inertia does not change with the pose it is symplectic. What a step makes of joints with quaternions
is part of the kernel `stepped` (solvers/semi_implicit.py).
"""

from __future__ import annotations

from chainform.runtime.procedures import Floats, Ints, Number, Numbers, fmin
from chainform.simulation.loops.places import COORDINATES, RATES, SIZE

ROWS = 3
"""The first stage; accelerations, and the coordinates and rates after a step."""


def stepped(t: Floats, y: Floats, p: Floats, out: Floats) -> None:
    """Stand for q and qd after a step, given both before it.

    Behind the time stands the length of the step, and before the result stand the accelerations.
    """


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
    nv = counts[RATES]
    accelerations = k[counts[SIZE] :]
    for e in range(nv):
        accelerations[e] = k[nq + e]
    after = k[counts[SIZE] + nv :]
    clock[0] = fmin(t + h, latest)
    clock[1] = h
    stepped(clock, y, p, after)
    for e in range(nq + nv):
        new[e] = after[e]
    for e in range(nq + nv, counts[SIZE]):
        new[e] = y[e] + h * k[e]
    return 0
