"""Relaxation: poses yield to the forces that act on them, against loops and contacts.

symbol   meaning
b        balance without multipliers, in units: what acts is -b
J, r     rows that always hold, and what they leave open; G, g of contacts
h        step of a pose

    d = -b + J^T s + G^T l    with    J d = -r/h,    G d >= -g/h,    l >= 0

is the motion nearest to -b that loops and contacts allow. It comes to rest in equilibria that are
stable, of which Newton's method alone, from poses far away, finds few among many that are not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.equilibrium_solver import EquilibriumSystem
from chainform.analysis.static_equations import StaticStates

Array = NDArray[np.float64]

STEPS = 80
LONGEST = 0.3
"""The longest step, in rad or parts of the size."""
SWEEPS = 10
"""How often the multipliers are corrected one after the other, in each step."""
TINY = 1e-10
STILL = 1e-4
"""Motions below this are left to Newton's method."""


def relax(system: EquilibriumSystem, states: StaticStates) -> StaticStates:
    """Return poses after some steps of relaxation, with the multipliers that hold them there."""
    states, lengths = states.copy(), np.full((len(states), 1), LONGEST)
    nv, before = system.equations.sizes["q"], np.zeros((len(states), system.equations.sizes["q"]))
    for _ in range(STEPS):
        motion, forces = _motion(system, states, lengths)
        motion = np.where(np.isfinite(motion), motion, 0.0)
        if np.max(np.abs(motion), initial=0.0) < STILL:
            break
        # A motion that turns back has gone too far.
        turned = np.sum(motion * before, axis=1, keepdims=True) < 0
        lengths = np.where(turned, lengths / 2, np.minimum(1.2 * lengths, 4 * LONGEST))
        step = lengths * motion
        largest = np.max(np.abs(step), axis=1, keepdims=True, initial=1e-300)
        steps = np.zeros((len(states), len(system.columns)))
        steps[:, :nv] = step * np.minimum(1.0, LONGEST / largest)
        change = forces - states.sigma / system.columns[nv:]
        steps[:, nv:] = np.where(np.isfinite(change), change, 0.0)
        states, before = system.moved(states, steps), motion
    return states


def _motion(system: EquilibriumSystem, states: StaticStates, lengths: Array) -> tuple[Array, Array]:
    """Return the motions (m, nv) that loops and contacts allow, and the multipliers of these."""
    equations = system.equations
    parts, nv = equations.parts, equations.sizes["q"]
    loose = StaticStates(states.q, states.x, np.zeros_like(states.sigma), states.parameter)
    values = equations.values(loose) * system.rows
    pushes = equations.slopes(loose, ("sigma",))[:, parts["balance"]] * system.columns[nv:]
    b = values[:, parts["balance"]]
    J = -np.swapaxes(pushes, 1, 2) * system.rows[parts["balance"]]
    # The gradient of each row has the length 1, so that what it leaves open is a length.
    right = np.zeros((len(states), J.shape[1]))
    holonomic = np.append(equations.moving.holonomic, np.ones(_held(system), np.bool_))
    right[:, np.flatnonzero(holonomic)] = values[:, parts["rows"]]
    count = len(equations.contacts)
    right[:, right.shape[1] - count :] = values[:, parts["gaps"]]
    guess = states.sigma / system.columns[nv:]
    s = _multipliers(J, np.einsum("mij,mj->mi", J, b) - right / lengths, count, guess)
    return -b + np.einsum("mij,mi->mj", J, s), s


def _held(system: EquilibriumSystem) -> int:
    """Return how many coordinates are held."""
    return len(system.equations.rows) - len(system.equations.moving.holonomic)


def _multipliers(J: Array, right: Array, contacts: int, s: Array) -> Array:
    """Return s with J J^T s = right, those of contacts at least zero, from a guess.

    With contacts by sweeps over the rows (Gauss and Seidel, projected).
    """
    matrix, count = np.einsum("mik,mjk->mij", J, J), right.shape[1]
    diagonal = np.einsum("mii->mi", matrix)
    if not contacts:
        regular = matrix + TINY * np.eye(count)
        return np.asarray(np.linalg.solve(regular, right[..., None])[..., 0], np.float64)
    s = s.copy()
    for _ in range(SWEEPS):
        for k in range(count):
            left = right[:, k] - np.einsum("mj,mj->m", matrix[:, k], s)
            s[:, k] += np.where(diagonal[:, k] > TINY, left / (diagonal[:, k] + TINY), 0.0)
            if k >= count - contacts:
                s[:, k] = np.maximum(s[:, k], 0.0)
    return s
