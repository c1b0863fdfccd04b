"""Forces of contacts along a motion, and what joints carry beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf

pytestmark = pytest.mark.any_processor

G = 10.0
CORNERS = [[x, y, -0.1] for x in (-0.2, 0.2) for y in (-0.3, 0.3)]


def box() -> cf.Mechanism:
    builder = cf.Mechanism.builder("box", gravity=(0, 0, -10))
    joint = {"name": "box", "type": "free"}
    inertia = ["0.05", "0.04", "0.06"]
    return builder.segment("box", parent="ground", joint=joint, mass=2, inertia=inertia).build()


def bar() -> cf.Mechanism:
    """A bar of 2 kg from its hinge to its tip at x = 1, level."""
    builder = cf.Mechanism.builder("bar", gravity=(0, 0, -10))
    joint = {"name": "hinge", "type": "revolute", "axis": "y"}
    builder.segment("bar", joint=joint, mass=2, com=[0.5, 0, 0], inertia=[0, "0.1", "0.1"])
    return builder.build().with_frame("tip", "bar", (1, 0, 0))


GROUNDS: list[dict[str, Any]] = [
    {"friction": 0.6, "restitution": 0.3},
    {"friction": 0},
    {"stiffness": 2e4, "damping": 0.5},
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ground", "form"), [*zip(GROUNDS, ("npz", "csv", "parquet"), strict=True)]
)
def test_a_free_joint_carries_nothing(ground: dict[str, Any], form: str, tmp_path: Path) -> None:
    """All that moves the box is its weight and the ground, which a file keeps, too."""
    start: dict[str, Any] = {"q0": [0, 0, 0.4, 0.3, 0.2, 0.1, 0.927], "qd0": [0.5, 0, 0, 1, 2, 0]}
    run = cf.simulate(box(), t=0.8, contacts={"box": {"points": CORNERS, **ground}}, **start)
    # The weight of 20 N, on four corners at most.
    assert max(np.abs(load).max() for load in run.contact_loads.values()) > 4.9
    assert np.abs(run.reactions).max() < 1e-10
    assert np.abs(run.output("inverse_dynamics")).max() < 1e-10
    run.save(tmp_path / f"box.{form}")
    again = cf.Run.load(tmp_path / f"box.{form}")
    assert np.abs(again.reactions).max() < 1e-10
    for name, load in run.contact_loads.items():
        assert np.array_equal(again.contact_loads[name], load)
        assert np.array_equal(again.contact_forces[name], run.contact_forces[name])


@pytest.mark.parametrize("ground", [{"friction": 0}, {}, {"stiffness": 1e9, "damping": 1e3}])
def test_a_bar_lies_on_its_hinge_and_its_tip(ground: dict[str, Any]) -> None:
    run = cf.simulate(bar(), t=0.1, contacts={"tip": ground}, rtol=1e-7)
    assert run.contact_loads["tip"][-1] == pytest.approx([0, 0, G], abs=1e-2)
    assert run.reactions[-1, 0] == pytest.approx([0, 0, G, 0, 0, 0], abs=1e-2)


def test_accelerations_know_stiff_stops() -> None:
    stops = {"hinge": {"lower": -1, "upper": 0, "stiffness": 500}}
    run = cf.simulate(bar(), t=0.5, stops=stops, t_eval=np.linspace(0, 0.5, 5001))
    push = run.contact_forces["hinge upper"]
    inertia = 0.1 + 2 * 0.5**2
    assert push.max() > 15
    assert run.qdd[:, 0] == pytest.approx((G * np.cos(run.q[:, 0]) - push) / inertia, abs=1e-9)
    steps = np.gradient(run.qd[:, 0], run.t)[2:-2]
    assert np.abs(steps - run.qdd[2:-2, 0]).max() < 1e-2


def test_contacts_tell_when_they_slide_and_stick() -> None:
    """Friction of 0.4 takes 4 m/s^2 from 2 m/s along an axis of the plane."""
    ground = {"points": CORNERS, "friction": 0.4}
    start: dict[str, Any] = {"q0": [0, 0, 0.1, 0, 0, 0, 1], "qd0": [2, 0, 0, 0, 0, 0]}
    run = cf.simulate(box(), t=1, contacts={"box": ground}, **start)
    said = {event.name: event.t for event in run.events}
    sticks = [t for name, t in said.items() if name.endswith(": sticks")]
    assert sticks == pytest.approx([0.5] * len(sticks), abs=1e-9)
    assert sticks
    assert run.q[-1, 0] == pytest.approx(0.5)
    total = sum(run.contact_loads.values())
    assert isinstance(total, np.ndarray)
    assert total[10] == pytest.approx([-0.4 * 20, 0, 20])
    assert total[-1] == pytest.approx([0, 0, 20], abs=1e-9)
