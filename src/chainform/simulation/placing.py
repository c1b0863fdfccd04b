"""A state that somebody chose in the midst of a motion, put where it belongs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.machines.machine import Machine
from chainform.simulation.machines.troubles import UnsolvedError

Array = NDArray[np.float64]

CLOSED = 1e-8
"""How well loops and constraints are closed in the end (m, rad)."""


def placed(machine: Machine, t: float, y: Array, p: Array) -> Array | None:
    """Return a state with unit quaternions and closed loops; None where there is none near it.

    What stops and contacts do there is left to who decides what holds.
    """
    sorts, mask = machine.equations.sorts, machine.layout.part(p, "mask")
    held = mask.copy()
    mask[sorts.always :] = 0.0
    try:
        found = machine.settled(t, y, p)
        is_closed = np.isfinite(found).all() and _is_closed(machine, t, found, p)
    except UnsolvedError:
        return None
    finally:
        mask[:] = held
    return found if is_closed else None


def _is_closed(machine: Machine, t: float, y: Array, p: Array) -> bool:
    rows, always = machine.equations.rows, machine.equations.sorts.always
    if not always:
        return True
    residuals = machine.terms(t, y, p)[-2 * rows :][:always]
    return bool(np.abs(residuals).max() < CLOSED)
