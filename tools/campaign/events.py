"""Events of a motion: zeros of laws of coordinates and time on the dense output of its pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, cast

import numpy as np

from chainform.verification.reference.bodies import Array, Table
from chainform.verification.reference.dynamics import UnsureError
from chainform.verification.reference.expressions import law
from chainform.verification.reference.kinematics import BodySystem
from chainform.verification.reference.motions import Path

PLACES = 100
"""At so many places of a piece the sign is looked at."""
NEAR = 1e-4
"""Where a law turns back this near to zero, the number of its zeros is open."""
SLOWEST = 0.03
"""A law that goes through zero more slowly, 1/s, leaves the time open."""


def events_of(system: BodySystem, path: Path, event: Table) -> Iterator[tuple[float, Array, Array]]:
    """Yield time, q and qd of each event before the horizon."""
    nq, nv = system.nq, system.nv
    for begin, end, states in path.pieces:

        def value(t: float, states: Any = states) -> float:
            z = np.asarray(states(t))
            return law(event["law"], system.jets(z[:nq], z[nq : nq + nv], t)).value

        times = np.linspace(begin, end, PLACES)
        for t, sign in _zeros(times, np.array([value(t) for t in times]), value):
            if event.get("direction", "both") in ("both", "rising" if sign > 0 else "falling"):
                z = np.asarray(states(t))
                yield t, z[:nq], z[nq : nq + nv]


def _zeros(
    times: Array, values: Array, value: Callable[[float], float]
) -> Iterator[tuple[float, float]]:
    """Yield the zeros between places, and the sign of the law after each."""
    size = np.abs(values)
    lowest = (size[1:-1] <= size[:-2]) & (size[1:-1] <= size[2:]) & (size[1:-1] < NEAR)
    same = (np.sign(values[:-2]) == np.sign(values[1:-1])) & (
        np.sign(values[2:]) == np.sign(values[1:-1])
    )
    if np.any(lowest & same) or size[0] < 1e-7 or size[-1] < 1e-7:
        raise UnsureError("a law comes near zero and turns back, or is zero at an end")
    brentq: Callable[..., Any] = import_module("scipy.optimize").brentq
    for i in np.flatnonzero(np.sign(values[1:]) != np.sign(values[:-1])):
        if abs(values[i + 1] - values[i]) < SLOWEST * (times[i + 1] - times[i]):
            raise UnsureError("a law goes through zero slowly")
        t = cast("float", brentq(value, times[i], times[i + 1], xtol=1e-14))
        yield t, float(values[i + 1])
