"""Stops, friction and dampers in random chains: limits are kept, and energy is accounted for."""

from __future__ import annotations

import numpy as np
import pytest

import chainform as cf


def chain(seed: int) -> cf.Mechanism:
    """Return a random chain of three joints with limits, friction and a spring."""
    random = np.random.default_rng(seed)
    builder = cf.Mechanism.builder(f"chain {seed}", gravity=(0, 0, "-9.81"))
    parent = "ground"
    for k in range(3):
        kind = str(random.choice(["revolute", "prismatic"]))
        friction = {"viscous": 0.05, "coulomb": 0.2 if random.random() < 0.5 else 0}
        joint = {"name": f"j{k}", "type": kind, "friction": friction}
        builder.segment(
            f"s{k}",
            parent=parent,
            joint={**joint, "limits": {"lower": "-0.3", "upper": "0.4"}},
            axis=[int(v) for v in np.eye(3, dtype=int)[random.integers(3)]],
            position=[round(float(v), 2) for v in random.uniform(-0.5, 0.5, 3)],
            mass=round(float(random.uniform(0.5, 2)), 2),
            com=[round(float(v), 2) for v in random.uniform(-0.3, 0.3, 3)],
            inertia=[0.05, 0.06, 0.07],
        )
        parent = f"s{k}"
    builder.spring_table({"joint": "j1", "stiffness": 20, "damping": 0.1})
    return builder.build()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_limits_are_kept_and_energy_is_accounted_for(seed: int) -> None:
    run = cf.simulate(
        chain(seed),
        qd0=[1.0, -2.0, 1.5],
        t=1.0,
        stops={"j*": 0.6, "j2": {"stiffness": 1e4, "damping": 0.2}},
        forces={"j0": "2*sin(5*t)", "j1": "t - 0.5"},
        rtol=1e-10,
    )
    assert any("impact" in event.name for event in run.events)
    assert run.q[:, :2].min() > -0.3 - 1e-10
    assert run.q[:, :2].max() < 0.4 + 1e-10
    size = np.abs(run.kinetic_energy).max() + np.abs(run.losses).max()
    assert np.ptp(run.balance) < 1e-7 * size
    assert np.all(np.diff(run.losses) > -1e-9 * size)
    for name, force in run.contact_forces.items():
        assert force.min() > -1e-6, name
    for force in run.friction_forces.values():
        assert np.abs(force).max() < 0.2 * (1 + 1e-7)
