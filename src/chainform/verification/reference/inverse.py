"""Forces that a motion needs: W = S x + J^T s, solved on the null space of the rows J."""

from __future__ import annotations

import numpy as np

from chainform.verification.reference.bodies import Array
from chainform.verification.reference.dynamics import BodyState, UnsureError, inverse, ranks


def needed(state: BodyState, qdd: Array, S: Array) -> tuple[Array, Array]:
    """Return the forces x of least squares, then of least norm, and the multipliers s."""
    W, J = state.effort(qdd), state.rows.J
    rank, vectors = ranks(J)
    N = vectors[rank:].T
    inner = N.T @ S
    ranks(inner)
    if len(inner) and np.abs(inner).max() < 1e-6:
        raise UnsureError("the forces do nearly nothing")
    x = inverse(inner) @ N.T @ W
    return x, inverse(J).T @ (W - S @ x)


def by_drives(state: BodyState, qdd: Array, every: int) -> tuple[Array, Array]:
    """Return drives of every first, second ... rate, zero for the others, and multipliers."""
    S = np.eye(state.system.nv)[:, ::every]
    x, s = needed(state, qdd, S)
    return S @ x, s


def at_point(state: BodyState, segment: str) -> Array:
    """Return what forces along x, y, z at the origin of a segment do on the coordinates."""
    number = state.system.number_of(segment)
    return state.motion.J[6 * number : 6 * number + 3].T
