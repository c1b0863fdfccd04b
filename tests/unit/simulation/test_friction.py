"""Dry friction: sliding, coming to rest, sticking, breaking loose."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import RunError
from chainform.simulation import simulate
from unit.simulation.small_machines import BLOCK, machine

MASS, FRICTION = 2.0, 3.0
INCLINE = """
name = "incline"
gravity = [0, 0, -10]
[[segments]]
name = "block"
joint = {{ type = "prismatic", axis = [0.8, 0, 0.6], name = "slide" }}
friction = {{ coulomb = {coulomb} }}
mass = 2
"""
TWO = """
gravity = [0, 0, -10]
[[segments]]
name = "a"
joint = {{ type = "prismatic", axis = [0.8, 0, 0.6], name = "a" }}
friction = {{ coulomb = {friction} }}
mass = 2
[[segments]]
name = "b"
parent = "a"
joint = {{ type = "revolute", axis = "y", name = "b" }}
friction = {{ coulomb = {friction} }}
mass = 2
com = [0.1, 0, 0.2]
inertia = [0.1, 0.1, 0.1]
"""


def words(run: cf.Run) -> list[str]:
    return [event.name for event in run.events]


def test_a_block_slides_to_rest() -> None:
    run = simulate(machine(BLOCK), qd0=[3.0], t=4.0)
    stop = 3.0 / (FRICTION / MASS)
    assert words(run) == ["slide: sticks"]
    assert run.events[0].t == pytest.approx(stop, rel=1e-12)
    np.testing.assert_allclose(run.q[run.t >= stop], 3.0 * stop / 2, rtol=1e-10)
    assert run.losses[-1] == pytest.approx(MASS * 9 / 2)
    np.testing.assert_allclose(run.balance, MASS * 9 / 2, rtol=1e-10)
    assert run.friction_forces["slide"][[0, -1]] == pytest.approx([-FRICTION, 0], abs=1e-9)


def test_a_block_on_an_incline_goes_up_and_stays_or_comes_back() -> None:
    pull = MASS * 10 * 0.6  # along the incline
    for coulomb, stays in ((14.0, True), (8.0, False)):
        block = machine(INCLINE.format(coulomb=coulomb))
        run = simulate(block, qd0=[4.0], t=2.0)
        up = 4.0 / ((pull + coulomb) / MASS)
        top = 4.0 * up / 2
        down = 0.0 if stays else (pull - coulomb) / MASS * (2.0 - up) ** 2 / 2
        assert run.q[-1, 0] == pytest.approx(top - down, rel=1e-9)
        assert words(run) == (["slide: sticks"] if stays else [])
        np.testing.assert_allclose(run.balance, run.balance[0], rtol=1e-9)
        assert run.losses[-1] == pytest.approx(coulomb * (top + down), rel=1e-9)


def test_a_block_at_the_very_edge_of_sliding_stays() -> None:
    run = simulate(machine(INCLINE.format(coulomb=12)), t=1.0)
    assert words(run) == ["slide: sticks"]
    np.testing.assert_allclose(run.q, 0, atol=1e-12)
    assert run.friction_forces["slide"] == pytest.approx(np.full(201, 12.0))


def test_a_growing_force_breaks_a_block_loose() -> None:
    run = simulate(machine(BLOCK), t=2.0, forces={"slide": "2*t"}, friction={"slide": 3.5})
    assert words(run) == ["slide: sticks", "slide: slides"]
    loose = 3.5 / 2
    assert run.events[1].t == pytest.approx(loose, rel=1e-8)
    s = 2.0 - loose
    assert run.q[-1, 0] == pytest.approx((s**3 / 3 + 0.5 * s**2 / 2) / MASS, rel=1e-6)


def test_stick_and_slip_on_a_spring() -> None:
    """A block on a spring whose far end moves off: it sticks until the spring wins, then jumps."""
    text = BLOCK + '[[forces]]\njoint = "slide"\nlaw = "50*(0.1*t - slide)"\n'
    run = simulate(machine(text), t=6.0, friction={"slide": 5.0}, t_eval=np.linspace(0, 6, 1201))
    assert run.events[1].t == pytest.approx(1.0, rel=1e-8)
    # Seen from the far end: m u'' = -k u + f with u(0) = -static/k, u'(0) = -speed.
    w, speed, low = np.sqrt(50 / MASS), 0.1, (FRICTION - 5.0) / 50
    s = np.linspace(1e-6, 2.0, 2_000_001)
    rate = -low * w * np.sin(w * s) + speed * (1 - np.cos(w * s))
    again = float(s[np.argmax(rate < 0)])
    assert run.events[2].name == "slide: sticks"
    assert run.events[2].t == pytest.approx(1.0 + again, abs=2e-6)
    assert words(run)[:5] == [
        f"slide: {w}" for w in ("sticks", "slides", "sticks", "slides", "sticks")
    ]
    assert np.ptp(run.balance) < 1e-7


def test_two_joints_stick_and_slide_on_their_own() -> None:
    text = """
gravity = [0, 0, 0]
[[segments]]
name = "carriage"
joint = { type = "prismatic", axis = "x", name = "x" }
friction = { coulomb = 2, viscous = 0.5 }
mass = 3
[[segments]]
name = "arm"
parent = "carriage"
joint = { type = "revolute", axis = "z", name = "turn" }
friction = { coulomb = 0.5 }
mass = 1
com = [0.5, 0, 0]
inertia = [0.01, 0.02, 0.02]
"""
    run = simulate(machine(text), qd0=[0.0, 6.0], t=6.0)
    assert {"x: sticks", "turn: sticks"} <= {*words(run)}
    assert np.abs(run.qd[-1]).max() < 1e-12
    assert np.ptp(run.balance) < 1e-8
    assert run.losses[-1] == pytest.approx(run.energy[0])
    forces = run.friction_forces
    assert np.abs(forces["x"]).max() <= 2 + 1e-8
    assert np.abs(forces["turn"]).max() <= 0.5 + 1e-8


def test_friction_can_be_left_out() -> None:
    run = simulate(machine(BLOCK), qd0=[3.0], t=1.0, without=["friction"])
    assert run.qd[-1] == pytest.approx([3.0])


def test_an_impact_wakes_a_joint_that_sticks() -> None:
    text = """
gravity = [0, 0, 0]
[[segments]]
name = "a"
joint = { type = "prismatic", axis = "x", name = "a" }
mass = 1
[[segments]]
name = "b"
parent = "ground"
joint = { type = "prismatic", axis = "x", name = "b" }
friction = { coulomb = 3 }
mass = 1
[[constraints]]
name = "gap"
kind = "unilateral"
law = "b - a"
restitution = 1
"""
    run = simulate(machine(text), q0=[-1, 0], qd0=[2, 0], t=3.0)
    assert words(run) == ["b: sticks", "gap: impact", "b: slides", "b: sticks"]
    assert run.q[-1] == pytest.approx([0, 2 / 3], abs=1e-9)
    assert run.losses[-1] == pytest.approx(2.0)


def test_mistakes_are_named() -> None:
    with pytest.raises(RunError, match="at least as much"):
        simulate(machine(BLOCK), t=1.0, friction={"slide": 2.0})
    with pytest.raises(RunError, match="no Coulomb friction"):
        simulate(machine(INCLINE.format(coulomb=0)), t=1.0, friction={"slide": 2.0})
    with pytest.raises(cf.Error, match="no rate"):
        simulate(machine(BLOCK), t=1.0, friction={"slid": 2.0})


@pytest.mark.parametrize("bound", [-1, np.inf, np.nan, 10**400, None, "12", [12], True, 1j])
def test_a_bound_is_a_finite_number(bound: Any) -> None:
    with pytest.raises(RunError, match=r"number|at least as much") as caught:
        simulate(machine(BLOCK), t=1.0, friction={"slide": bound})
    assert caught.value.element == "friction 'slide'"
    assert caught.value.remedy


@pytest.mark.parametrize("bound", [np.float32(12), np.int64(12), Fraction(12)])
def test_a_bound_may_be_any_real_number(bound: Any) -> None:
    assert simulate(machine(BLOCK), t=0.1, friction={"slide": bound}).q[-1, 0] == 0


@pytest.mark.slow
def test_what_has_no_numbers_is_refused_without_a_foreign_error() -> None:
    """Neither LinAlgError nor a warning of numpy, which tests take for an error."""
    with pytest.raises(cf.Error):
        simulate(machine(BLOCK), t=1.0, values={"m_1": 0})
    two = TWO.format(friction=3)
    with pytest.raises(RunError, match="no finite value") as caught:
        simulate(machine(two), t=1.0, forces={"a": "20/t"})
    assert caught.value.element == "forces"
    with pytest.raises(RunError):
        simulate(machine(two), t=1.0, forces={"a": "1e300"}, qd0=[-4, 0])


@pytest.mark.parametrize("method", ["verner65", "rk4", "semi_implicit"])
@pytest.mark.parametrize("change", ["same", "still", "back"])
def test_an_event_that_changes_what_sticks(method: str, change: str) -> None:
    """At rest the law of the event is zero as well; each of the two happens once."""
    factor = {"same": 1, "still": 0, "back": -1}[change]

    def changed(_t: float, q: Any, qd: Any) -> Any:
        return q, factor * qd

    options: dict[str, Any] = {} if method == "verner65" else {"step": 0.01}
    events: dict[str, Any] = {"rest": {"law": "der(slide)", "change": changed}}
    run = simulate(machine(BLOCK), qd0=[3.0], t=3, events=events, method=method, **options)
    assert "slide: sticks" in words(run)
    assert run.qd[-1, 0] == 0
    assert run.q[-1, 0] == pytest.approx(3, abs=0.05)


def test_a_bound_that_is_given_twice_is_refused() -> None:
    with pytest.raises(RunError, match="slide is given twice"):
        simulate(machine(BLOCK), friction={"slide": 3.5, "qd1": 4.0})
