"""External forces and moments on frames: inverse and forward dynamics."""

from __future__ import annotations

import numpy as np
import pytest

import chainform as cf
from pinocchio_oracle import Oracle
from zoo import random_tree


@pytest.mark.parametrize("seed", range(3000, 3012))
def test_wrenches_enter_by_virtual_work(seed: int) -> None:
    mechanism = random_tree(seed, quaternions=seed % 2 == 0)
    oracle = Oracle(mechanism)
    rng = np.random.default_rng(seed)
    q = oracle.random_q(seed)
    qd, qdd = rng.uniform(-1, 1, (2, mechanism.nv))
    named = [mechanism.segments[0].name, mechanism.segments[-1].name]
    mechanism = mechanism.with_frame("tool", named[-1], ["0.1", "-0.2", "0.3"])
    frames = [named[0], "tool"]
    wrench = rng.uniform(-5, 5, 12)
    outputs = ["inverse_dynamics", *(f"jacobian({frame})" for frame in frames)]
    loaded = cf.derive(mechanism, outputs, wrenches=frames)
    got = loaded.evaluate(q=q, qd=qd, qdd=qdd, wrench=wrench)
    free = oracle.inverse_dynamics(q, qd, qdd)
    expected = free - sum(
        got[f"jacobian({frame})"].T @ wrench[6 * k : 6 * k + 6] for k, frame in enumerate(frames)
    )
    np.testing.assert_allclose(got["inverse_dynamics"], expected, atol=1e-9)
    if np.linalg.cond(oracle.mass_matrix(q)) < 1e9:
        for formulation in ("articulated_body", "composite_body"):
            model = cf.derive(
                mechanism, ["forward_dynamics"], formulation=formulation, wrenches=frames
            )
            found = model.evaluate(q=q, qd=qd, tau=got["inverse_dynamics"], wrench=wrench)
            np.testing.assert_allclose(found["forward_dynamics"], qdd, rtol=1e-6, atol=1e-6)


def test_a_wrench_needs_its_six_components() -> None:
    mechanism = random_tree(3001)
    name = mechanism.segments[-1].name
    model = cf.derive(mechanism, ["inverse_dynamics"], wrenches=[name])
    zero = np.zeros(mechanism.nv)
    with pytest.raises(cf.Error, match="its last dimension must be 6"):
        model.evaluate(q=zero, qd=zero, qdd=zero, wrench=[1, 2, 3])
    with pytest.raises(cf.Error, match="wrench is needed"):
        model.evaluate(q=zero, qd=zero, qdd=zero)


def test_an_unknown_frame_is_named() -> None:
    with pytest.raises(cf.Error, match="no frame or segment named 'tol'"):
        cf.derive(random_tree(3001), ["inverse_dynamics"], wrenches=["tol"])
