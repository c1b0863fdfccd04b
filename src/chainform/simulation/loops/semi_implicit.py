"""Semi-implicit Euler, the usual method of physics engines, as a procedure.

    qd(t + h) = qd + h qdd(t, q, qd)
    q(t + h)  = q + h dq/dt(q, qd(t + h))

One evaluation a step, of order 1. Vibrations do not grow as with Euler's explicit method: where the
inertia does not change with the pose it is symplectic. What a step makes of joints with quaternions
is part of the kernel `stepped` (solvers/semi_implicit.py).
"""

from __future__ import annotations

from chainform.runtime.procedures import Floats, Number, fmin
from chainform.simulation.loops.integration import TimeStep

ROWS = 3
"""The first stage; accelerations, and the coordinates and rates after a step."""


def stepped(t: Floats, y: Floats, p: Floats, out: Floats) -> None:
    """Stand for q and qd after a step, given both before it.

    Behind the time stands the length of the step, and before the result stand the accelerations.
    """


def semi_implicit_step(step: TimeStep, h: Number, new: Floats) -> int:
    """Make a step of length h from the start of a step into `new`; the first stage is there."""
    nq = step.coordinates
    nv = step.rates
    size = step.size
    y = step.y
    k = step.k
    clock = step.clock
    accelerations = k[size:]
    for e in range(nv):
        accelerations[e] = k[nq + e]
    after = k[size + nv :]
    clock[0] = fmin(step.t + h, step.latest)
    clock[1] = h
    stepped(clock, y, step.p, after)
    for e in range(nq + nv):
        new[e] = after[e]
    for e in range(nq + nv, size):
        new[e] = y[e] + h * k[e]
    return 0
