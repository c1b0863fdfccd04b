"""Laws of closed mechanisms on random trees: loops take no power, and hold what they hold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import chainform as cf
from chainform.mechanism import GROUND, Attachment, Loop
from chainform.mechanism.pose import poses_of
from chainform.simulation import simulate
from chainform.simulation.equations.assembly import mobility
from chainform.simulation.equations.loop_constraints import ConstraintResiduals
from zoo import random_tree


def closed_tree(seed: int) -> tuple[cf.Mechanism, np.ndarray]:
    """Return a random tree whose last body is held in a point of the world, and a closed pose."""
    tree, rng = random_tree(seed), np.random.default_rng(seed)
    q = rng.uniform(-1, 1, tree.nq)
    last = len(tree.segments) - 1
    local = rng.uniform(-0.5, 0.5, 3)
    place = poses_of(tree, q).point(last, local)
    a, b = ([Fraction(float(x)) for x in point] for point in (local, place))
    ends = Attachment(last, (a[0], a[1], a[2])), Attachment(GROUND, (b[0], b[1], b[2]))
    return replace(tree, loops=(Loop("held", "point", *ends),)), q


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 6])
def test_loops_take_no_power_and_stay_closed(seed: int) -> None:
    mechanism, q = closed_tree(seed)
    rng = np.random.default_rng(seed + 100)
    forces = {name: f"{rng.normal():.3f}*cos({k + 2}*t)" for k, name in enumerate(mechanism.rates)}
    qd = rng.uniform(-1, 1, mechanism.nv)
    run = simulate(mechanism, q0=q, qd0=qd, t=0.2, t_eval=np.linspace(0, 0.2, 11), forces=forces)
    gaps = ConstraintResiduals(mechanism)
    assert max(np.abs(gaps.at(pose)).max() for pose in run.q) < 1e-12
    J = np.array([gaps.slopes(pose) for pose in run.q])
    assert np.abs(np.einsum("mij,mj->mi", J, run.qd)).max() < 1e-10
    scale = max(1.0, float(np.abs(run.energy).max()))
    assert np.ptp(run.balance) < 1e-7 * scale
    model = cf.derive(mechanism, ["inverse_dynamics"])
    back = model.evaluate(q=run.q, qd=run.qd, qdd=run.qdd, sigma=run.sigma)["inverse_dynamics"]
    assert np.abs(back - run.tau).max() < 1e-8 * max(1.0, float(np.abs(run.sigma).max()))
    found = mobility(mechanism, q)
    assert found.freedoms == mechanism.nv - np.linalg.matrix_rank(J[0], tol=1e-9)
