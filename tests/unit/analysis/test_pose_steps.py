"""The compiled step of a search, against the same formula in numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import chainform as cf
import zoo
from chainform.analysis.poses.pose_equations import Rows, pose_equations
from chainform.analysis.poses.pose_steps import compiled_step, packed
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
        damping = 0.05 * min(at.r[k] @ at.r[k], 10.0) + 1e-14
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


@pytest.mark.parametrize("arm", [1.0, 0.06, 0.001])
def test_a_frame_that_flies_far_against_its_size_is_reached(arm: float) -> None:
    builder = cf.Mechanism.builder("drone").segment("body", joint="free", mass=1)
    drone = builder.frame("eye", "body", [0, -arm, 0]).build()
    q = np.random.default_rng(3).normal(size=(40, 7))
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1, keepdims=True)
    goals = cf.derive(drone, ["pose(eye)"]).evaluate(q=q)["pose(eye)"]
    assert cf.inverse_kinematics(drone, {"eye": goals}, starts=1)["reached"].all()


def test_what_the_nearest_pose_reaches_is_reached() -> None:
    """One start fails at some targets that the search for the nearest pose reaches."""
    arm = zoo.reference("puma560")
    q = np.random.default_rng(1).uniform(-2, 2, (60, 6))
    goals = cf.derive(arm, ["pose(body6)"]).evaluate(q=q)["pose(body6)"]
    goals[50:, :3, 3] += 3.0
    found = cf.inverse_kinematics(arm, {"body6": goals}, starts=1)
    is_there = (found["position_error"] < 1e-9) & (found["rotation_error"] < 1e-9)
    assert np.array_equal(found["reached"] == 1, is_there)
    assert found.facts["reached"] == is_there.sum()
    assert 0 < is_there.sum() <= 50


def test_targets_without_times_are_those_of_a_base_at_zero() -> None:
    builder = cf.Mechanism.builder("cart").base(position=["0.1*t", 0, 0])
    cart = builder.segment("slide", joint="prismatic", axis="x", mass=1).build()
    found = cf.inverse_kinematics(cart, {"slide": [[0.3, 0, 0], [0.4, 0, 0], [0.5, 0, 0]]})
    assert np.abs(found["q"][:, 0] - [0.3, 0.4, 0.5]).max() < 1e-12


def test_a_rod_between_two_cranks_keeps_its_length() -> None:
    builder = cf.Mechanism.builder("cranks").segment("a", parent="ground", axis="z", mass=1)
    builder.segment("b", parent="ground", axis="z", position=[1, 0, 0], mass=1)
    builder.frame("tip", "b", [0.5, 0, 0])
    ends = [{"segment": name, "point": [0.5, 0, 0]} for name in ("a", "b")]
    rod = builder.loop("rod", "distance", *ends, length=0.9).build()
    goal = [1 + 0.5 * np.cos(1.2), 0.5 * np.sin(1.2), 0]
    found = cf.inverse_kinematics(rod, {"tip": goal}, q0=[1.1, 1.1])
    a, b = found["q"][0]
    assert found["reached"].all()
    assert abs(b - 1.2) < 1e-10
    assert (
        abs(np.hypot(1 + 0.5 * (np.cos(b) - np.cos(a)), 0.5 * (np.sin(b) - np.sin(a))) - 0.9) < 1e-9
    )
    reach = cf.workspace(rod, "tip", count=20)
    assert len(reach) > 0
