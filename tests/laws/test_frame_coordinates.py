"""Motions under laws that name positions of frames, against closed forms and multipliers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.readers import read_text

SIZE: dict[str, Any] = {"mass": 2, "com": [0.5, 0, 0], "inertia": [0.1, 0.2, 0.2]}


def arm(law: str, **base: Any) -> cf.Mechanism:
    """Return an arm of three links in the plane of x and z, whose tip obeys a law."""
    builder = cf.Mechanism.builder("arm")
    for number, name in enumerate(("upper", "fore", "hand")):
        parent = ("ground", "upper", "fore")[number]
        builder.segment(name, parent=parent, axis="y", position=[min(number, 1), 0, 0], **SIZE)
    builder.frame("tip", "hand", [1, 0, 0]).constraint("holonomic", law)
    return (builder.base(**base) if base else builder).build()


def test_a_tip_on_a_plane_has_the_acceleration_of_multipliers() -> None:
    """H qdd + h = J^T l and J qdd + J' qd = 0, with J the third row of the Jacobian of the tip."""
    held = arm("z(tip) - 0.4")
    names = ["constrained_dynamics", "multipliers", "mass_matrix", "inverse_dynamics"]
    names += ["jacobian(tip)", "jacobian_rate(tip)"]
    rng = np.random.default_rng(4)
    q, qd, zero = rng.normal(size=3), rng.normal(size=3), np.zeros(3)
    value = cf.derive(held, names).evaluate(q=q, qd=qd, qdd=zero, tau=zero)
    J, rate = value["jacobian(tip)"][2:3], value["jacobian_rate(tip)"][2:3]
    system = np.block([[value["mass_matrix"], -J.T], [J, np.zeros((1, 1))]])
    right = np.concatenate([-value["inverse_dynamics"], -rate @ qd])
    expected = np.linalg.solve(system, right)
    found = np.concatenate([value["constrained_dynamics"], value["multipliers"]])
    assert found == pytest.approx(expected, rel=1e-9)


def test_a_tip_on_a_plane_is_a_loop_through_a_guide() -> None:
    """The same motion with the plane as a slider of next to no mass, closed by a loop."""
    end, start = 0.6, [-0.8, 1.1, 0.3]
    angles = np.cumsum(start)
    x, z = float(np.cos(angles).sum()), -float(np.sin(angles).sum())
    held = cf.simulate(arm(f"z(tip) - ({z!r})"), q0=start, t=end, rtol=1e-9, atol=1e-10)
    builder = cf.Mechanism.builder("guided")
    for number, name in enumerate(("upper", "fore", "hand")):
        parent = ("ground", "upper", "fore")[number]
        builder.segment(name, parent=parent, axis="y", position=[min(number, 1), 0, 0], **SIZE)
    builder.segment(
        "guide", parent="ground", joint="prismatic", axis="x", position=[0, 0, z], mass=1e-9
    )
    builder.loop("pin", "point", {"segment": "hand", "point": [1, 0, 0]}, {"segment": "guide"})
    guided = cf.simulate(builder.build(), q0=[*start, x], t=end, rtol=1e-9, atol=1e-10)
    assert held.q[-1] == pytest.approx(guided.q[-1][:3], abs=1e-5)
    assert abs(held.q[-1] - start).max() > 0.1


def test_a_tip_that_is_moved_up_and_down_takes_work() -> None:
    """A law that moves with time: the tip follows it, and energy less work is constant."""
    run = cf.simulate(arm("z(tip) + 1 - 0.1*sin(3*t)"), q0=[0.9, -0.4, -0.1], t=1.0, rtol=1e-9)
    angles = np.cumsum(run.q, axis=1)
    height = -np.sin(angles).sum(axis=1)
    assert height == pytest.approx(0.1 * np.sin(3 * run.t) - 1, abs=1e-7)
    assert run.energy_balance is not None
    work = run.energy_balance[:, 0]
    assert np.ptp(run.energy - work) < 1e-6 * np.ptp(work)
    assert np.ptp(work) > 0.1


def test_a_tip_above_a_base_that_rises() -> None:
    """The plane is that of the world: on a base that rises by t^2 the arm sinks against it."""
    run = cf.simulate(
        arm("z(tip) + 1", position=[0, 0, "t^2/4"]), q0=[0.9, -0.4, -0.1], t=1.0, rtol=1e-9
    )
    height = -np.sin(np.cumsum(run.q, axis=1)).sum(axis=1)
    assert height + run.t**2 / 4 == pytest.approx(-1, abs=1e-7)


def test_a_pull_towards_a_plane_swings() -> None:
    """A slider along (3, 4, 0)/5 with the force -k (x - 1) = -k 3/5 s: w^2 = 3/5 k / m."""
    builder = cf.Mechanism.builder("slider", gravity=(0, 0, 0))
    builder.segment("block", joint="prismatic", axis=["3/5", "4/5", 0], position=[1, 0, 0], mass=2)
    pulled = builder.force("block", "-5*(x(block) - 1)").build()
    run = cf.simulate(pulled, q0=[0.3], t=4.0, rtol=1e-10, atol=1e-12)
    expected = 0.3 * np.cos(np.sqrt(5 * 0.6 / 2) * run.t)
    assert run.q[:, 0] == pytest.approx(expected, abs=1e-8)
    A = cf.linearise(pulled, q=[0.0]).A
    assert pytest.approx(np.array([[0, 1], [-5 * 0.6 / 2, 0]])) == A


def test_a_ball_that_turns_while_it_falls_meets_the_ground() -> None:
    """A free body with a quaternion: the event is that of its centre, whatever it turns."""
    builder = cf.Mechanism.builder("ball", gravity=(0, 0, -10))
    builder.segment("ball", joint="free", mass=1, inertia=[1, 2, 3]).frame(
        "rim", "ball", [0.1, 0, 0]
    )
    start = [0, 0, 5, 0, 0, 0, 1]
    events = {
        "ground": {"law": "z(ball)", "stop": True},
        "rim level": "z(rim) - z(ball)",
        "speed": "der(z(ball)) + 5",
    }
    run = cf.simulate(
        builder.build(), q0=start, qd0=[0, 0, 0, 0, 4, 0], t=3.0, events=events, rtol=1e-10
    )
    times = {name: [e.t for e in run.events if e.name == name] for name in events}
    assert times["ground"] == pytest.approx([1.0], abs=1e-9)
    assert times["speed"] == pytest.approx([0.5], abs=1e-9)
    # About its second axis the body turns evenly by 4 rad/s: the rim is level at a half turn.
    assert times["rim level"][-1] == pytest.approx(np.pi / 4, abs=1e-8)


def test_a_ball_that_bounces_on_a_unilateral_law() -> None:
    """z(ball) - 0.1 >= 0 with restitution 1/2: the second bounce comes after the first by t1."""
    builder = cf.Mechanism.builder("ball", gravity=(0, 0, -10))
    builder.segment("post", joint="prismatic", axis="z", position=[0, 0, 1], mass=1)
    builder.frame("ball", "post", [0, 0, -1])
    builder.constraint("unilateral", "z(ball) - 0.1", name="floor", restitution=0.5)
    run = cf.simulate(builder.build(), q0=[5.1], t=2.4)
    times = [event.t for event in run.events]
    assert times[:2] == pytest.approx([1.0, 2.0], abs=1e-6)


def test_a_knife_edge_by_the_velocity_of_its_frame() -> None:
    """The blade of examples/knife_edge.toml, written with der(x(skate)): the same equations."""
    text = Path("examples/knife_edge.toml").read_text(encoding="utf-8")
    changed = text.replace("der(x)", "der(x(skate))").replace("der(y)", "der(y(skate))")
    assert changed.count("skate)") == 4
    names = ["constrained_dynamics", "multipliers", "constraint_jacobian", "constraint_rate"]
    names += ["quasi_velocities", "quasi_mass_matrix", "quasi_bias", "quasi_matrix"]
    rng = np.random.default_rng(8)
    q, qd, tau = rng.normal(size=(3, 20, 3))
    expected, found = (
        cf.derive(read_text(one, "toml"), names).evaluate(q=q, qd=qd, tau=tau)
        for one in (text, changed)
    )
    for name in names:
        assert found[name] == pytest.approx(expected[name], rel=1e-12, abs=1e-12), name


def test_a_corner_of_time_in_a_law_on_a_frame_is_refused() -> None:
    with pytest.raises(cf.Error, match=r"its rate jumps at t = 0\.5"):
        cf.simulate(arm("z(tip) + 1 - 0.1*abs(t - 0.5)"), q0=[0.9, -0.4, -0.1], t=1.0)
