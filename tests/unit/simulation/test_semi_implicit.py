"""Semi-implicit Euler on joints with quaternions: what stays without forces, order, lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from chainform.mechanism import Mechanism
from chainform.simulation import Run, simulate, simulate_batch
from chainform.simulation.solvers.semi_implicit import CarriedBodies

STEP = 1e-3


def body(gravity: int = 0, **given: Any) -> Any:
    """Return the builder of a mechanism with one free body."""
    builder = Mechanism.builder("body", gravity=(0, 0, gravity))
    table: dict[str, Any] = {"mass": 2, "com": [0.1, -0.2, 0.05], "inertia": [0.01, 0.02, 0.027]}
    return builder.segment("body", parent="ground", joint="free", **{**table, **given})


def floating_arm(gravity: int = 0) -> Mechanism:
    """Return a free body with an arm, which has a ball joint at its end."""
    arm: dict[str, Any] = {"mass": 1, "com": [0.2, 0, 0.1], "inertia": [0.02, 0.01, 0.02]}
    with_arm = body(gravity).segment(
        "arm", parent="body", joint="revolute", axis="y", position=[0.3, 0, 0], **arm
    )
    return with_arm.segment(
        "hand", parent="arm", joint="spherical", position=[0.4, 0, 0], **arm
    ).build()


def stepped(mechanism: Mechanism, t: float, step: float = STEP, **given: Any) -> Run:
    times = np.linspace(0, t, 201)
    return simulate(mechanism, t=t, t_eval=times, method="semi_implicit", step=step, **given)


@pytest.mark.slow
def test_a_spinning_ball_without_forces_stays_as_fast_as_it_is() -> None:
    ball = body(mass=1, com=[0, 0, 0], inertia=[0.01, 0.01, 0.01]).build()
    run = stepped(ball, 1, qd0=[1, 0, 0, 0, 0, 50])
    speeds = np.linalg.norm(run.qd[:, :3], axis=1)
    np.testing.assert_allclose(speeds, 1, rtol=1e-12)
    np.testing.assert_allclose(run.q[:, :3], run.t[:, None] * [1, 0, 0], atol=1e-12)


def test_a_top_without_forces_has_no_drift_of_energy_or_momentum() -> None:
    run = stepped(body().build(), 10, qd0=[1, 0, 0, 3, 10, 4])
    # It turns by some 100 rad; explicit steps in body axes make the energy three times as large.
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-5)
    momentum = run.output("momentum")
    np.testing.assert_allclose(momentum[:, :3], momentum[:1, :3].repeat(201, 0), atol=1e-9)
    np.testing.assert_allclose(momentum[:, 3:], momentum[:1, 3:].repeat(201, 0), atol=5e-3)


def test_bodies_that_act_on_each_other_keep_their_linear_momentum() -> None:
    mechanism = floating_arm()
    run = stepped(
        mechanism,
        5,
        qd0=[1, 0, 0, 1, 2, 1, 3, 1, -1, 2],
        forces={"arm": "-0.5*arm + sin(3*t)"},
    )
    momentum = run.output("momentum")[:, :3]
    assert np.abs(momentum).max() > 3
    np.testing.assert_allclose(momentum, momentum[:1].repeat(201, 0), atol=1e-9)


def test_a_free_body_on_another_one() -> None:
    table: dict[str, Any] = {"mass": 1, "com": [0.1, 0, 0], "inertia": [0.01, 0.02, 0.03]}
    pair = body().segment("other", parent="body", joint="free", position=[1, 0, 0], **table)
    mechanism = pair.build()
    start: dict[str, Any] = {"qd0": [1, 0, 0, 3, 4, 5, 0.5, 0.2, 0.1, 1, 2, 3]}
    run = stepped(mechanism, 1, **start)
    momentum = run.output("momentum")[:, :3]
    np.testing.assert_allclose(momentum, momentum[:1].repeat(201, 0), atol=1e-10)
    # Each of them goes its way: what the other one does is nothing to it.
    alone = stepped(body().build(), 1, qd0=start["qd0"][:6])
    np.testing.assert_allclose(run.q[:, :7], alone.q, atol=1e-10)


@pytest.mark.parametrize("base", [False, True], ids=["at rest", "moving base"])
def test_order_1_for_a_floating_base(base: bool) -> None:
    builder = body(-10)
    if base:
        builder.base(position=["0.2*sin(3*t)", 0, 0], rpy=[0, "0.3*sin(2*t)", 0])
    ball: dict[str, Any] = {"mass": 0.5, "com": [0.2, 0, 0], "inertia": [0.01, 0.02, 0.025]}
    mechanism = builder.segment("ball", parent="body", joint="spherical", **ball).build()
    start: dict[str, Any] = {"qd0": [1, 0, 0, 1, 2, 1, 1, 2, -1]}
    exact = simulate(mechanism, t=1, t_eval=[1], rtol=1e-11, **start)
    ends = [stepped(mechanism, 1, step, **start) for step in (2e-3, 1e-3)]
    for name in ("q", "qd"):
        right = getattr(exact, name)[-1]
        coarse, fine = (np.abs(getattr(run, name)[-1] - right).max() for run in ends)
        assert np.log2(coarse / fine) == pytest.approx(1, abs=0.2)
        assert fine < 0.1


def test_a_fast_gyroscope_and_a_pendulum_keep_their_energy() -> None:
    builder = Mechanism.builder("gyroscope", gravity=(0, 0, -10))
    table: dict[str, Any] = {"mass": 1, "com": [0, 0, 0.1], "inertia": [0.003, 0.003, 0.005]}
    top = builder.segment("top", parent="ground", joint="spherical", **table).build()
    leaning = [np.sin(0.15), 0, 0, np.cos(0.15)]
    fast = stepped(top, 10, q0=leaning, qd0=[0.5, 0, 100])
    np.testing.assert_allclose(fast.energy, fast.energy[0], rtol=1e-4)
    swinging = stepped(top, 50, q0=leaning, qd0=[0.5, 0, 0])
    largest = swinging.kinetic_energy.max()
    np.testing.assert_allclose(swinging.energy, swinging.energy[0], atol=0.02 * largest)


@pytest.mark.slow
def test_lanes_give_what_single_motions_give() -> None:
    mechanism, count = floating_arm(-10), 5
    rates = np.random.default_rng(0).normal(size=(count, mechanism.nv))
    how: dict[str, Any] = {"t": 1, "t_eval": [0, 0.5, 1], "method": "semi_implicit", "step": STEP}
    batch = simulate_batch(mechanism, qd0=rates, **how)
    assert not batch.runs
    for i, qd0 in enumerate(rates):
        alone = simulate(mechanism, qd0=qd0, **how)
        np.testing.assert_allclose(batch.q[i], alone.q, atol=1e-11)
        np.testing.assert_allclose(batch.qd[i], alone.qd, atol=1e-11)


def test_free_parameters_are_those_of_the_equations() -> None:
    builder = Mechanism.builder("ball", gravity=(0, 0, 0)).parameter("d", 0.3).parameter("m", 1)
    builder.segment(
        "ball", parent="ground", joint="free", mass="m", com=["d", 0, 0], inertia=[0.1, 0.2, 0.3]
    )
    mechanism = builder.build()
    run = stepped(mechanism, 1, qd0=[1, 0, 0, 1, 2, 3], values={"d": 0.1, "m": 2})
    builder = Mechanism.builder("ball", gravity=(0, 0, 0))
    builder.segment(
        "ball", parent="ground", joint="free", mass=2, com=["0.1", 0, 0], inertia=[0.1, 0.2, 0.3]
    )
    other = stepped(builder.build(), 1, qd0=[1, 0, 0, 1, 2, 3])
    np.testing.assert_allclose(run.q, other.q, atol=1e-12)


@pytest.mark.slow
def test_a_free_body_held_by_a_loop() -> None:
    hung = body(-10).loop(
        "hook", "point", {"segment": "body", "point": [0, 0, 0.5]}, {"segment": "ground"}
    )
    start: dict[str, Any] = {"q0": [0, 0, -0.5, 0, 0, 0, 1], "qd0": [0.5, 0, 0, 0, 1, 10]}
    run = stepped(hung.build(), 1, **start)
    exact = simulate(hung.build(), t=1, t_eval=[1], rtol=1e-10, **start)
    np.testing.assert_allclose(run.q[-1], exact.q[-1], atol=1e-2)


def test_a_thin_rod_has_no_gyroscopic_moment_to_divide_by() -> None:
    rod = body(com=[0, 0, -1], inertia=[0.1, 0.1, 0]).build()
    assert not CarriedBodies(rod, 0).is_solid(())
    assert CarriedBodies(floating_arm(), 0).is_solid(())
    builder = Mechanism.builder("rod").parameter("J", 0)
    builder.segment("rod", joint="spherical", mass=1, inertia=[1, 1, "J"])
    assert not CarriedBodies(builder.build(), 0).is_solid(())
    assert CarriedBodies(builder.build(), 0).is_solid(("J",))
