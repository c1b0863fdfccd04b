"""Contacts of frames and loops with the ground; stops in closed loops; redundant rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import chainform as cf
from chainform.simulation import simulate
from chainform.simulation.switching import Impact

from .machines import PENDULUM, TABLE, machine

EXAMPLES = Path(__file__).parents[3] / "examples"
LEGS = ["leg1", "leg2", "leg3", "leg4"]


def impacts(run: cf.Run) -> list[Impact]:
    return [happening for happening in run.happenings if isinstance(happening, Impact)]


def test_a_table_falls_on_four_legs_and_stands() -> None:
    run = simulate(machine(TABLE), q0={"top_tz": 0.7}, t=1.0, contacts=LEGS)
    assert impacts(run)[0].t == pytest.approx(0.2)
    assert np.abs(run.qd[-1]).max() < 1e-12
    np.testing.assert_allclose(run.q[-1], [0, 0, 0.5, 0, 0, 0], atol=1e-9)
    total = sum(run.contact_forces[leg] for leg in LEGS)
    assert total[-1] == pytest.approx(40.0)
    assert min(run.contact_forces[leg][-1] for leg in LEGS) >= 0
    assert run.losses[-1] == pytest.approx(8.0)


def test_a_table_that_leans_comes_down_leg_by_leg() -> None:
    run = simulate(
        machine(TABLE), q0={"top_tz": 0.9, "top_rx": 0.15, "top_ry": 0.1}, t=3.0, contacts=LEGS
    )
    first = impacts(run)[0]
    assert len(first.impulses) == 1
    assert np.abs(run.qd[-1]).max() < 1e-9
    assert run.q[-1, 2] == pytest.approx(0.5, abs=1e-8)
    np.testing.assert_allclose(run.q[-1, 3:], [run.q[-1, 3], 0, 0], atol=1e-8)
    assert np.ptp(run.balance) < 1e-7
    total = sum(run.contact_forces[leg] for leg in LEGS)
    assert total[-1] == pytest.approx(40.0)


def test_a_table_without_grip_keeps_its_way() -> None:
    slippery = {leg: {"friction": 0} for leg in LEGS}
    run = simulate(machine(TABLE), q0={"top_tz": 0.5}, qd0=[1, 0, 0, 0, 0, 0], t=1.0, contacts=slippery)
    assert run.q[-1, :3] == pytest.approx([1, 0, 0.5])
    grip = simulate(machine(TABLE), q0={"top_tz": 0.7}, qd0=[1, 0, 0, 0, 0, 0], t=1.0, contacts=LEGS)
    # It trips over its legs as soon as they touch.
    assert grip.qd[-1, 0] < 0.9
    assert np.ptp(grip.balance) < 1e-7


def test_a_slope_and_a_stiff_ground() -> None:
    ball = """
gravity = [0, 0, -10]
[[segments]]
name = "ball"
joint = { type = "free", euler = "zyx" }
mass = 1
inertia = [0.1, 0.1, 0.1]
"""
    slope = {"ball": {"normal": [-0.6, 0, 0.8], "friction": 0}}
    run = simulate(machine(ball), t=1.0, contacts=slope)
    # Down the slope with g sin a.
    assert run.q[-1, :3] == pytest.approx([-0.8 * 3, 0, -0.6 * 3], rel=1e-9)
    assert run.contact_forces["ball"][-1] == pytest.approx(8.0)
    soft = {"ball": {"point": [0, 0, -1], "stiffness": 1e5, "damping": 0.3}}
    run = simulate(machine(ball), t=4.0, contacts=soft, rtol=1e-11)
    assert run.q[-1, 2] == pytest.approx(-1, abs=0.02)
    assert np.ptp(run.balance) < 1e-7


def test_a_foot_that_cannot_slip_stops_a_pendulum() -> None:
    """The plane's rows depend on each other: one freedom is left to three of them."""
    text = PENDULUM + '[[frames]]\nname = "tip"\nsegment = "rod"\npoint = [0, 0, -1]\n'
    plane = {"tip": {"point": [0, 0, -0.9]}}
    run = simulate(machine(text), q0=[1.0], t=2.0, contacts=plane)
    at = -np.arccos(0.9) * -1
    assert run.q[-1] == pytest.approx([at], abs=1e-9)
    assert np.abs(run.qd[-1]) < 1e-9
    assert run.contact_forces["tip"][-1] > 0
    # The weight about the hinge is borne by the ground alone.
    assert run.contact_forces["tip"][-1] * np.sin(at) == pytest.approx(2 * 9.81 * 0.5 * np.sin(at))


def test_a_stop_in_a_closed_loop() -> None:
    linkage = cf.read(EXAMPLES / "four_bar.toml")
    name = linkage.coordinates[0]
    free = simulate(linkage, t=1.0)
    angle = free.q[:, 0]
    bound = float(angle[0] + 0.3 * (angle.max() - angle[0] or angle.min() - angle[0]))
    side = "upper" if bound > angle[0] else "lower"
    stops = {name: {side: bound, "restitution": 0.7}}
    run = simulate(linkage, t=1.0, stops=stops)
    hit = impacts(run)[0]
    assert hit.qd_after[0] == pytest.approx(-0.7 * hit.qd[0])
    jacobian = cf.derive(linkage, ["closure_jacobian"]).evaluate(q=hit.q)["closure_jacobian"]
    np.testing.assert_allclose(jacobian @ hit.qd_after, 0, atol=1e-9)
    assert np.ptp(run.balance) < 1e-7


@pytest.mark.parametrize(
    ("contacts", "word"),
    [
        (["leg5"], "no frame or segment"),
        ({"leg1": {"slips": 1}}, "unknown field"),
        ({"leg1": {"friction": 1, "stiffness": 3}}, "no friction"),
        ({"leg1": 3}, "a contact is a table"),
        (3, "contacts are names"),
        ({"leg1": {"normal": [0, 0, 0]}}, "no length"),
    ],
)
def test_mistakes_are_named(contacts: object, word: str) -> None:
    with pytest.raises(cf.Error, match=word):
        simulate(machine(TABLE), q0={"top_tz": 1}, t=0.1, contacts=contacts)
