"""Nothing is counted that does not compute what Pinocchio computes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import chainform as cf
from chainform.mechanism import parametrise
from pinocchio_oracle import Oracle, pin

LARGEST_DEVIATION = 1e-10

Array = NDArray[np.float64]


def verify(model: cf.Model, states: int = 3, seed: int = 0) -> float:
    """Return the largest deviation of a model from Pinocchio, relative to the largest entry.

    Ends the program if it is too large. Free parameters have their default values.
    """
    oracle = Oracle(parametrise(model.mechanism, "numeric"))
    rng = np.random.default_rng(seed)
    worst = 0.0
    for state in range(states):
        q = oracle.random_q(seed + state)
        qd, qdd, tau = rng.uniform(-1, 1, (3, model.mechanism.nv))
        found = model.evaluate(q=q, qd=qd, qdd=qdd, tau=tau)
        for name, value in found.items():
            expected = expected_value(oracle, name, q, qd, qdd, tau)
            scale = max(float(np.abs(expected).max()), 1e-3)
            worst = max(worst, float(np.abs(value - expected).max()) / scale)
    if not worst <= LARGEST_DEVIATION:
        raise SystemExit(f"{model} deviates from Pinocchio by {worst:.0e}")
    return worst


def expected_value(
    oracle: Oracle, quantity: str, q: Array, qd: Array, qdd: Array, tau: Array
) -> Array:
    """Return what Pinocchio computes at a state, all of it in our order."""
    match quantity:
        case "mass_matrix":
            return oracle.mass_matrix(q)
        case "coriolis":
            return oracle.coriolis(q)
        case "gravity":
            return oracle.gravity(q)
        case "inverse_dynamics":
            return oracle.inverse_dynamics(q, qd, qdd)
        case "coriolis_matrix":
            return oracle.coriolis_matrix(q, qd)
        case "forward_dynamics":
            states = (oracle.q(q), oracle.v(qd), oracle.v(tau))
            return np.array(pin.aba(oracle.model, oracle.data, *states))[oracle.v_order]
        case _:
            raise SystemExit(f"there is nothing to compare {quantity} with")
