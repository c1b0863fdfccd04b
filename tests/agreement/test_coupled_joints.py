"""Joints that share a coordinate: every quantity is that of the free mechanism, projected."""

from __future__ import annotations

import numpy as np
import pytest

import chainform as cf
from chainform.formulations import FORMULATIONS
from zoo import OFFSET, coupled


@pytest.mark.parametrize("seed", range(100, 1000, 120))
def test_coupled_joints_are_a_projection(seed: int) -> None:
    free, tied, G = coupled(seed)
    n = tied.nv
    rng = np.random.default_rng(seed)
    u, ud, udd = rng.uniform(-1, 1, (3, n))
    shift = np.zeros(free.nv)
    shift[-1] = float(OFFSET)
    tip = tied.segments[-1].name
    frames = [f"jacobian({tip})", f"acceleration({tip})", "kinetic_energy", "potential_energy"]
    outputs = ["mass_matrix", "coriolis", "coriolis_matrix", "gravity", "inverse_dynamics"]
    whole = cf.derive(free, [*outputs, *frames]).evaluate(q=G @ u + shift, qd=G @ ud, qdd=G @ udd)
    close = pytest.approx
    for formulation, method in FORMULATIONS.items():
        asked = [o for o in outputs if o in method.outputs]
        if formulation == "articulated_body":
            with pytest.raises(cf.Error, match="share a coordinate"):
                cf.derive(tied, ["forward_dynamics"], formulation=formulation)
            continue
        got = cf.derive(tied, [*asked, *frames], formulation=formulation).evaluate(
            q=u, qd=ud, qdd=udd
        )
        expected = {
            "mass_matrix": G.T @ whole["mass_matrix"] @ G,
            "coriolis": np.einsum("ia,ikl,kb,lc->abc", G, whole["coriolis"], G, G),
            "coriolis_matrix": G.T @ whole["coriolis_matrix"] @ G,
            "gravity": G.T @ whole["gravity"],
            "inverse_dynamics": G.T @ whole["inverse_dynamics"],
            frames[0]: whole[frames[0]] @ G,
            **{name: whole[name] for name in frames[1:]},
        }
        for name in (*asked, *frames):
            assert got[name] == close(expected[name], rel=1e-9, abs=1e-9), (formulation, name)


@pytest.mark.parametrize("seed", range(100, 400, 60))
def test_forward_dynamics_of_coupled_joints(seed: int) -> None:
    _, tied, _ = coupled(seed)
    rng = np.random.default_rng(seed)
    q, qd, tau = rng.uniform(-1, 1, (3, tied.nv))
    values = cf.derive(tied, ["mass_matrix", "bias"]).evaluate(q=q, qd=qd)
    if np.linalg.cond(values["mass_matrix"]) > 1e9:
        with pytest.raises(cf.Error, match="singular"):
            cf.derive(tied, ["forward_dynamics"])
        return
    qdd = cf.derive(tied, ["forward_dynamics"]).evaluate(q=q, qd=qd, tau=tau)["forward_dynamics"]
    np.testing.assert_allclose(values["mass_matrix"] @ qdd + values["bias"], tau, atol=1e-8)
