"""The compiled step of a search, against the same formula in numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import chainform as cf
import zoo
from chainform.analysis.pose_equations import Rows, pose_equations
from chainform.analysis.pose_steps import compiled_step, packed
from unit.analysis.arms import SHOULDERS, chain, planar


@pytest.mark.parametrize(
    ("make", "rows"),
    [
        (lambda: planar(2), (("tip", (0, 1)),)),
        (lambda: zoo.reference("puma560"), (("body6", (0, 1, 2, 3, 4, 5)),)),
        (lambda: zoo.reference("seven_axis"), (("body7", (0, 1, 2, 3, 4, 5)),)),
        (lambda: chain(SHOULDERS["stanford"]), (("tip", (0, 1, 2, 3, 4, 5)), ("j2", (3, 4, 5)))),
    ],
)
def test_a_step_is_that_of_levenberg_and_marquardt(
    make: Callable[[], cf.Mechanism], rows: Rows
) -> None:
    mechanism = make()
    equations, n = pose_equations(mechanism, rows, ()), mechanism.nv
    random = np.random.default_rng(0)
    q, goals = random.uniform(-2, 2, (50, n)), equations.goals_at(random.uniform(-2, 2, (50, n)))
    stuck = random.uniform(size=(50, n, 2)) < 0.2
    r, step = compiled_step(equations)(
        q=q, x=packed(goals), weights=stuck.reshape(50, -1).astype(float), t=goals.t[:, None]
    )
    at = equations.at(q, goals)
    assert np.abs(r - at.r).max() < 1e-9
    for k in range(50):
        push = at.J[k].T @ at.r[k]
        held = (stuck[k, :, 0] & (push < 0)) | (stuck[k, :, 1] & (push > 0))
        J = np.where(held, 0, at.J[k])
        damping = 0.05 * at.r[k] @ at.r[k] + 1e-14
        expected = np.linalg.solve(J.T @ J + damping * np.eye(n), J.T @ at.r[k])
        assert np.abs(step[k] - expected).max() < 1e-9


def test_the_residual_vanishes_at_the_target_and_is_exact_near_it() -> None:
    arm = zoo.reference("puma560")
    equations = pose_equations(arm, (("body6", (0, 1, 2, 3, 4, 5)),), ())
    q = np.random.default_rng(1).uniform(-2, 2, (20, 6))
    goals = equations.goals_at(q)
    still = {"x": packed(goals), "weights": np.zeros((20, 12)), "t": goals.t[:, None]}
    r, _ = compiled_step(equations)(q=q, **still)
    assert np.abs(r).max() < 1e-15
    near = q + 1e-6 * np.random.default_rng(2).uniform(-1, 1, q.shape)
    _, step = compiled_step(equations)(q=near, **still)
    assert np.abs(near + step - q).max() < 1e-10
