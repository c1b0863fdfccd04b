"""Small motions under laws and controllers: A - B K, characteristic polynomials, motions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf

EXAMPLES = Path(__file__).parents[3] / "examples"


def pendulum() -> cf.Mechanism:
    """Return a pendulum that hangs at 0: 2 kg, 0.5 m to its mass centre, 0.5 kg m2 there."""
    builder = cf.Mechanism.builder("pendulum", gravity=(0, 0, "-9.81")).parameter("k", 40)
    body: dict[str, Any] = {"mass": 2, "com": [0, 0, "-0.5"], "inertia": [0, "0.5", 0]}
    return builder.segment("swing", axis="y", **body).build()


def driven() -> cf.Mechanism:
    return cf.read(EXAMPLES / "driven_arm.toml")


def test_a_pid_gives_the_polynomial_of_the_textbook() -> None:
    """I s^3 + kd s^2 + (m g l + kp) s + ki, with I = 1 and m g l = 9.81."""
    pid = {"swing": {"type": "pid", "kp": "k", "ki": 30, "kd": 7}}
    found = cf.linearise(pendulum(), controllers=pid)
    assert found.states == ("swing", "der(swing)", "integral(swing)")
    assert found.is_equilibrium
    assert np.poly(found.A) == pytest.approx([1, 7, 9.81 + 40, 30], rel=1e-12)
    other = cf.linearise(pendulum(), controllers=pid, values={"k": 3})
    assert np.poly(other.A) == pytest.approx([1, 7, 12.81, 30], rel=1e-12)


def test_integrals_hold_what_the_weight_asks_for() -> None:
    pid = {"hold": {"type": "pid", "joint": "swing", "kp": 40, "ki": 30, "kd": 7, "target": 0.3}}
    x = {"integral(hold)": 9.81 * np.sin(0.3) / 30}
    found = cf.linearise(pendulum(), q=[0.3], x=x, controllers=pid, outputs=["x", "drives"])
    assert found.is_equilibrium
    assert found.outputs == ("integral(hold)", "drive(swing)")
    assert found.values == pytest.approx([x["integral(hold)"], 9.81 * np.sin(0.3)])
    assert pytest.approx(np.array([[0, 0, 1], [-40, -7, 30]])) == found.C
    assert not cf.linearise(pendulum(), q=[0.3], controllers=pid).is_equilibrium


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("six_axis_arm", {"q": [0.3, -0.5, 0.8, 0.2, -0.4, 0.6], "qd": [0.1, -0.2, 0.3, 0, 1, 1]}),
        ("four_bar", {"q": {"crank": 0.4}, "qd": {"crank": 2.0}}),
        ("knife_edge", {"qd": [0.7, 0, 0.2]}),
    ],
)
def test_state_feedback_closes_the_loop(name: str, state: dict[str, Any]) -> None:
    """About its own state the feedback changes A to A - B K C, with all of q and qd in C."""
    mechanism = cf.read(EXAMPLES / f"{name}.toml")
    n = mechanism.nv
    K = np.random.default_rng(3).uniform(0, 5, (n, 2 * n)).round(3)
    state = {**state, "tau": np.linspace(-1, 1, n)}
    start = cf.linearise(mechanism, **state, inputs=["tau"], outputs=["q", "qd"])
    at = np.concatenate([start.point["q"], start.point["qd"]])
    feedback = {"type": "state_feedback", "K": K.tolist(), "x_ref": at.tolist()}
    closed = cf.linearise(mechanism, **state, inputs=["tau"], controllers={"all": feedback})
    wanted = start.A - start.B @ K @ start.C
    assert closed.states == start.states
    assert np.abs(closed.A - wanted).max() < 1e-10 * np.abs(wanted).max()
    assert pytest.approx(start.B) == closed.B


def test_laws_of_signals_reach_the_joints_through_actuators() -> None:
    """A motor whose signal is -r dw has the poles of A - b r c."""
    arm = driven()
    signal = arm.signals[0]
    joint = arm.rates[arm.actuators[0].rate]
    plain = cf.linearise(arm, inputs=[signal], outputs=[f"der({joint})"])
    fed = cf.linearise(arm, signals={signal: f"-3*der({joint})"})
    wanted = plain.A - 3 * plain.B @ plain.C
    assert np.abs(fed.A - wanted).max() < 1e-12 * np.abs(wanted).max()


def test_laws_of_forces_are_those_of_the_file() -> None:
    law = {"swing": "-3*swing - der(swing)/8 + sin(t)"}
    own = cf.linearise(pendulum(), forces=law, t=0.5)
    assert pytest.approx(cf.linearise(pendulum().with_forces(law), t=0.5).A) == own.A
    assert own.notes == ("the equations depend on time: they hold at t = 0.5 s",)


def test_small_deviations_follow_the_closed_loop() -> None:
    """exp(A t) against a simulation from a small displacement, with the integral as a state."""
    control = {"swing": {"type": "pid", "kp": 40, "ki": 90, "kd": 7}}
    found = cf.linearise(pendulum(), controllers=control)
    values, vectors = np.linalg.eig(found.A)
    ends = vectors @ (np.exp(values * 0.8) * np.linalg.solve(vectors, [1e-5, 0, 0]))
    run = cf.simulate(pendulum(), q0=[1e-5], t=0.8, t_eval=[0, 0.8], controllers=control)
    assert [run.q[-1, 0], run.qd[-1, 0]] == pytest.approx(ends[:2].real, rel=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"forces": {"swing": max}}, "a function of Python has no exact derivatives"),
        ({"forces": {"swong": "1"}}, "swong"),
        ({"controllers": {"swing": {"type": "pdd"}}}, "pdd"),
        ({"signals": {"swing": "1"}}, "the mechanism has none"),
        ({"controllers": {"swing": {"type": "pid", "kp": 1, "ki": 1}}, "x": {"y": 1}}, "y"),
    ],
)
def test_what_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(cf.Error, match=message):
        cf.linearise(pendulum(), **given)


@pytest.mark.parametrize(
    ("law", "slope", "is_noted"),
    [
        ("max(swing, 0) + min(swing, 0)", 1, True),
        ("min(3*swing, swing)", 2, True),
        ("max(0, 2*swing)", 1, True),
        ("abs(swing)", 0, True),
        ("max(swing - 0.1, 0)", 0, False),
    ],
)
def test_a_kink_has_the_mean_slope(law: str, slope: float, is_noted: bool) -> None:
    """Where both sides are alike, that is the slope."""
    found = cf.linearise(pendulum(), forces={"swing": f"-({law})"})
    assert found.A[1, 0] == pytest.approx(-9.81 - slope, rel=1e-14)
    assert bool(found.notes) == is_noted


def test_a_parameter_of_a_law_without_a_value_is_named() -> None:
    # Along a parameter it had the value of that one.
    builder = cf.Mechanism.builder("slider", gravity=(0, 0, 0)).parameter("k", 4).parameter("d")
    slider = builder.segment("x", joint="prismatic", axis="x", mass=1).build()
    forces = {"x": "-k*x - d*der(x)"}
    tasks: list[Callable[[], object]] = [
        lambda: cf.linearise(slider, forces=forces),
        lambda: cf.modes(slider, forces=forces),
        lambda: cf.frequency_response(slider, "x", outputs=["x"], forces=forces),
        lambda: cf.equilibria(slider, forces=forces),
        lambda: cf.root_locus(slider, "k", (1, 2), forces=forces),
        lambda: cf.equilibrium_path(slider, "k", (1, 2), forces=forces),
    ]
    for task in tasks:
        with pytest.raises(cf.Error, match="the parameter d has no value"):
            task()
    found = cf.root_locus(slider, "d", (0.5, 1), forces=forces)
    assert found["pole_real"][0] == pytest.approx([-0.25, -0.25])
