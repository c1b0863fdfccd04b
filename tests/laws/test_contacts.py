"""A box with eight corners tumbles on the ground: nothing sinks in, pulls, or adds energy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import chainform as cf

CORNERS = {f"c{i}": list(p) for i, p in enumerate(product((-0.5, 0.5), (-0.3, 0.3), (-0.2, 0.2)))}


def box() -> cf.Mechanism:
    builder = cf.Mechanism.builder("box", gravity=(0, 0, -10))
    inertia = ["0.0867", "0.1933", "0.2267"]
    joint = {"name": "box", "type": "free"}
    return builder.segment("box", parent="ground", joint=joint, mass=2, inertia=inertia).build()


@pytest.mark.parametrize(
    ("seed", "friction", "restitution"),
    [(1, 0.0, 0.3), (15, 1.0, 0.6), (37, 0.2, 0.0), (2, 0.6, 0.3)],
)
def test_a_tumbling_box(seed: int, friction: float, restitution: float) -> None:
    random = np.random.default_rng(seed)
    turn = random.normal(size=4)
    ground = {"points": CORNERS, "friction": friction, "restitution": restitution}
    run = cf.simulate(
        box(),
        q0=[0, 0, 1.2, *(turn / np.linalg.norm(turn))],
        qd0=[*random.normal(size=3), *(2 * random.normal(size=3))],
        t=3.0,
        contacts={"box": ground},
    )
    poses = cf.derive(box(), ["pose(box)"], reduce="none").evaluate(q=run.q)["pose(box)"]
    points = np.array([[*corner, 1] for corner in CORNERS.values()])
    assert (poses[:, 2] @ points.T).min() > -2e-9
    assert np.ptp(run.balance) < 1e-8 * np.abs(run.energy).max()
    assert np.all(np.diff(run.losses) > -1e-9)
    assert min(force.min() for force in run.contact_forces.values()) > -1e-6
    for load in run.contact_loads.values():
        across = np.hypot(load[:, 0], load[:, 1])
        np.testing.assert_array_less(across, friction * load[:, 2] * (1 + 1e-4) + 1e-6)
    if friction:
        assert np.abs(run.qd[-1]).max() < 1e-6
        weight = sum(float(force[-1]) for force in run.contact_forces.values())
        assert weight == pytest.approx(20.0)
