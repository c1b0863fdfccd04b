"""Boxes and arms tumble on the ground: nothing sinks in, pulls, or adds energy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import chainform as cf

CORNERS = {f"c{i}": list(p) for i, p in enumerate(product((-0.5, 0.5), (-0.3, 0.3), (-0.2, 0.2)))}


def box() -> cf.Mechanism:
    builder = cf.Mechanism.builder("box", gravity=(0, 0, -10))
    inertia = ["0.0867", "0.1933", "0.2267"]
    joint = {"name": "box", "type": "free"}
    return builder.segment("box", parent="ground", joint=joint, mass=2, inertia=inertia).build()


@pytest.mark.slow
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


def arm(random: np.random.Generator, *, is_free: bool) -> cf.Mechanism:
    """A chain of joints of any kind, some of them with dry friction."""
    builder, parent = cf.Mechanism.builder("arm", gravity=(0, 0, -10)), "ground"
    body: dict[str, Any] = {
        "mass": 1,
        "com": ["0.2", "0.02", "0.01"],
        "inertia": ["0.02", "0.03", "0.025"],
    }
    for i in range(int(random.integers(2, 5))):
        joint: dict[str, Any] = {
            "name": f"j{i}",
            "type": "revolute" if random.random() < 0.8 else "prismatic",
        }
        if random.random() < 0.3:
            joint["friction"] = {"coulomb": "0.2", "viscous": "0.05"}
        axis = "xyz"[int(random.integers(3))]
        place: dict[str, Any] = {"position": ["0.4", 0, 0], "axis": axis}
        if i == 0:
            place = {} if is_free else {"axis": axis}
            joint = {"name": "base", "type": "free"} if is_free else joint
        builder.segment(f"s{i}", parent=parent, joint=joint, **body, **place)
        parent = f"s{i}"
    return builder.build()


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "until"), [(1, 1.5), (2, 1.5), (3, 1.5), (4, 0.7)])
def test_an_arm_on_the_ground(seed: int, until: float) -> None:
    """Several points of several bodies, of which some hold, some slide, and some just so."""
    random = np.random.default_rng(seed)
    is_free = seed % 2 == 0
    mechanism, friction = arm(random, is_free=is_free), float(random.choice([0.2, 0.5, 1.0]))
    ground = {"friction": friction, "restitution": 0.3 * (seed % 3 == 0), "point": [0, 0, -0.5]}
    contacts = {
        segment.name: {
            "points": {f"l{i}": ["0.4", "0.05", 0], f"r{i}": ["0.4", "-0.05", 0]},
            **ground,
        }
        for i, segment in enumerate(mechanism.segments)
    }
    shift = np.zeros(mechanism.nq) if is_free else 0.2 * random.normal(size=mechanism.nq)
    run = cf.simulate(
        mechanism,
        q0=np.array(mechanism.neutral()) + shift,
        qd0=random.normal(size=len(mechanism.rates)),
        t=until,
        contacts=contacts,
    )
    size = max(float(np.abs(run.energy).max()), float(run.kinetic_energy.max()), 1.0)
    assert np.ptp(run.balance) < 1e-6 * size
    assert np.all(np.diff(run.losses) > -1e-8)
    assert min(force.min() for force in run.contact_forces.values()) > -1e-5
    assert any(force.max() > 0 for force in run.contact_forces.values())
    for load in run.contact_loads.values():
        across = np.hypot(load[:, 0], load[:, 1])
        np.testing.assert_array_less(across, friction * load[:, 2] * (1 + 1e-4) + 1e-4)
