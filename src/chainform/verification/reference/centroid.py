"""The mass centre of all moving bodies, and momentum, from the motion of each body."""

from __future__ import annotations

import numpy as np

from chainform.verification.reference.bodies import WIDTH, Array, shift, times
from chainform.verification.reference.dynamics import BodyState, UnsureError
from chainform.verification.reference.kinematics import BodySystem
from chainform.verification.reference.motions import position_rates

STEP = 1e-5
"""The step of central differences, rad or m."""
SINGULAR = 1e12
"""The condition of a mass matrix from which on its inverse is unsure."""


def moving(system: BodySystem) -> list[int]:
    """Return the bodies that are not fixed to the ground."""
    found: list[int] = []
    for i, body in enumerate(system.bodies):
        if body.parent in found or WIDTH[body.kind][1]:
            found.append(i)
    return found


def centres(state: BodyState) -> Array:
    """Return the mass centres of all bodies, world axes."""
    return np.array(state.motion.p) + state.offsets


def com(state: BodyState) -> Array | None:
    """Return the mass centre of all moving bodies."""
    numbers = moving(state.system)
    masses = np.array([state.system.bodies[i].mass for i in numbers])
    if masses.sum() == 0:
        return None
    return masses @ centres(state)[numbers] / masses.sum()


def com_velocity(state: BodyState) -> Array | None:
    """Return the velocity of the mass centre."""
    mass = _mass(state)
    return None if mass == 0 else momentum(state)[:3] / mass


def com_acceleration(state: BodyState, qdd: Array) -> Array | None:
    """Return the acceleration of the mass centre."""
    rate = momentum_rate(state, qdd)
    return None if rate is None else rate[:3] / _mass(state)


def com_jacobian(state: BodyState) -> Array | None:
    """Return the map from qd to the velocity of the mass centre, the base at rest."""
    found = momentum_matrix(state)
    return None if found is None else found[:3] / _mass(state)


def momentum(state: BodyState, about: Array | None = None) -> Array:
    """Return linear and angular momentum about a point, the origin unless given."""
    places, linear, angular = centres(state), np.zeros(3), np.zeros(3)
    for i in moving(state.system):
        body, R, w = state.system.bodies[i], state.motion.R[i], state.motion.w[i]
        p = body.mass * (state.motion.v[i] + times(w, state.offsets[i]))
        linear = linear + p
        arm = places[i] - (np.zeros(3) if about is None else about)
        angular = angular + times(arm, p) + R @ body.inertia @ R.T @ w
    return np.concatenate([linear, angular])


def centroidal_momentum(state: BodyState) -> Array | None:
    """Return the momentum about the mass centre."""
    centre = com(state)
    return None if centre is None else momentum(state, centre)


def momentum_matrix(state: BodyState) -> Array | None:
    """Return the map from qd to the momentum about the mass centre, the base at rest."""
    centre = com(state)
    if centre is None:
        return None
    places, total = centres(state), np.zeros((6, state.system.nv))
    for i in moving(state.system):
        body, R = state.system.bodies[i], state.motion.R[i]
        J = shift(state.offsets[i]) @ state.motion.J[6 * i : 6 * i + 6]
        total[:3] += body.mass * J[:3]
        total[3:] += R @ body.inertia @ R.T @ J[3:]
        arm = places[i] - centre
        total[3:] += np.array([times(arm, body.mass * column) for column in J[:3].T]).T
    return total


def momentum_matrix_rate(state: BodyState) -> Array | None:
    """Return how that matrix changes along the motion, by central differences."""
    system = state.system
    if system.table.get("base"):
        return None
    way = STEP * position_rates(system, state.q, state.qd)
    ends = [BodyState.of(system, state.q + s, state.qd, state.motion.t) for s in (way, -way)]
    ahead, behind = (momentum_matrix(end) for end in ends)
    return None if ahead is None or behind is None else (ahead - behind) / (2 * STEP)


def momentum_rate(state: BodyState, qdd: Array) -> Array | None:
    """Return the rate of the momentum about the mass centre."""
    centre = com(state)
    if centre is None:
        return None
    motion, places = state.motion.acceleration(qdd).reshape(-1, 6), centres(state)
    total = np.zeros(6)
    for i in moving(state.system):
        body, R, w = state.system.bodies[i], state.motion.R[i], state.motion.w[i]
        d, turn = state.offsets[i], motion[i, 3:]
        a = motion[i, :3] + times(turn, d) + times(w, times(w, d))
        inertia = R @ body.inertia @ R.T
        total[:3] += body.mass * a
        total[3:] += inertia @ turn + times(w, inertia @ w)
        total[3:] += times(places[i] - centre, body.mass * a)
    return total


def inverse_mass_matrix(state: BodyState) -> Array:
    """Return the inverse of H; unsure where H is nearly singular."""
    if np.linalg.cond(state.H) > SINGULAR:
        raise UnsureError("the mass matrix is nearly singular")
    return np.linalg.inv(state.H)


def _mass(state: BodyState) -> float:
    return sum(state.system.bodies[i].mass for i in moving(state.system))
