"""Controllers: closed forms, exact tracking, sampling, limits, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import expm

import chainform as cf
from chainform.errors import RunError
from chainform.simulation import simulate

pytestmark = pytest.mark.any_processor

Array = NDArray[np.float64]

TIMES = np.linspace(0, 2, 41)


def cart(**further: Any) -> cf.Mechanism:
    """A mass of 2 kg on a slide."""
    builder = cf.Mechanism.builder("cart", gravity=(0, 0, 0))
    builder.segment("cart", joint="prismatic", axis="x", mass=2, **further)
    return builder.build()


def arm() -> cf.Mechanism:
    return replace(cf.read("examples/driven_arm.toml"), actuators=())


PATH: dict[str, Any] = {"waist": "0.5*sin(2*t)", "shoulder": "0.3*t^2", "elbow": "-0.4*cos(t)"}


def path(t: Array) -> Array:
    return np.stack([0.5 * np.sin(2 * t), 0.3 * t**2, -0.4 * np.cos(t)], axis=1)


# --- one joint ----------------------------------------------------------------------------------


def test_pd_makes_a_damped_oscillator() -> None:
    control = {"cart": {"type": "pd", "kp": 50, "kd": 8, "target": 0.3}}
    run = simulate(cart(), q0=[1.0], t=2.0, t_eval=TIMES, controllers=control, rtol=1e-11)
    A = np.array([[0, 1], [-25, -4]])
    exact = np.array([0.3 + (expm(A * t) @ [0.7, 0.0])[0] for t in TIMES])
    assert np.abs(run.q[:, 0] - exact).max() < 1e-9
    assert run.tau[0, 0] == pytest.approx(50 * (0.3 - 1.0))


def test_pd_knows_the_rate_of_its_target() -> None:
    """With feedforward of the acceleration and the right start there is no error at all."""
    control = {
        "hand": {
            "type": "pd",
            "joint": "cart",
            "kp": 50,
            "kd": 8,
            "target": "sin(3*t)",
            "feedforward": "-18*sin(3*t)",
        }
    }
    run = simulate(
        cart(), qd0=[3.0], t=2.0, t_eval=TIMES, controllers=control, method="dopri853", rtol=1e-12
    )
    assert np.abs(run.q[:, 0] - np.sin(3 * TIMES)).max() < 1e-10


def test_pid_removes_a_lasting_error() -> None:
    control = {"cart": {"type": "pid", "kp": 50, "kd": 20, "ki": 40, "target": 0.5}}
    options: dict[str, Any] = {"t": 2.0, "t_eval": TIMES, "forces": {"cart": 7}, "rtol": 1e-11}
    run = simulate(cart(), controllers=control, **options)
    A = np.array([[0, 1, 0], [-25, -10, 20], [-1, 0, 0]])
    # x = (q - 0.5, qd, integral - what balances the force of 7 N)
    exact = np.array([(expm(A * t) @ [-0.5, 0, 7 / 40])[0] + 0.5 for t in TIMES])
    assert np.abs(run.q[:, 0] - exact).max() < 1e-9
    assert run.extra_states is not None
    assert run.extra_states.shape == (41, 1)
    longer = simulate(cart(), controllers=control, t=20.0, forces={"cart": 7})
    assert longer.q[-1, 0] == pytest.approx(0.5, abs=1e-6)


def test_a_limit_bounds_the_effort() -> None:
    limited = cart(limits={"effort": 5})
    for limit in (True, 5, "5"):
        control = {"cart": {"type": "pd", "kp": 400, "kd": 10, "target": 1, "limit": limit}}
        run = simulate(limited, t=0.3, t_eval=[0, 0.1, 0.2, 0.3], controllers=control)
        assert run.tau[0, 0] == pytest.approx(5)
        assert run.q[1:, 0] == pytest.approx(2.5 * run.t[1:] ** 2 / 2, abs=1e-9)
    weak = {"cart": {"type": "pd", "kp": 3, "kd": 10, "target": 1, "limit": 5}}
    assert simulate(limited, t=0.1, controllers=weak).tau[0, 0] == pytest.approx(3)


def test_a_sampled_controller_is_a_discrete_one() -> None:
    control = {"cart": {"type": "pd", "kp": 50, "kd": 8}}
    times = np.linspace(0, 2, 21)
    run = simulate(cart(), q0=[1.0], t=2.0, t_eval=times, controllers=control, hold=0.05)
    # Between samples the acceleration is constant.
    h, state, found = 0.05, np.array([1.0, 0.0]), [1.0]
    for step in range(1, 41):
        a = -(50 * state[0] + 8 * state[1]) / 2
        state = np.array([state[0] + h * state[1] + h * h * a / 2, state[1] + h * a])
        if step % 2 == 0:
            found.append(state[0])
    assert np.abs(run.q[:, 0] - found).max() < 1e-12


# --- all joints ---------------------------------------------------------------------------------


def test_computed_torque_tracks_exactly() -> None:
    control = {"arm": {"type": "computed_torque", "kp": 100, "kd": 20, "targets": PATH}}
    options: dict[str, Any] = {"t": 2.0, "t_eval": TIMES, "controllers": control}
    run = simulate(arm(), q0=path(np.zeros(1))[0], qd0=[1.0, 0, 0], **options)
    assert np.abs(run.q - path(TIMES)).max() < 1e-9
    # An error at the start fades as that of the double integrator, (1 + 10 t) exp(-10 t).
    away = simulate(arm(), q0=path(np.zeros(1))[0] + [0.2, -0.1, 0.3], qd0=[1.0, 0, 0], **options)
    fading = ((1 + 10 * TIMES) * np.exp(-10 * TIMES))[:, None] * [0.2, -0.1, 0.3]
    assert np.abs(away.q - path(TIMES) - fading).max() < 1e-8


def test_computed_torque_of_another_model_leaves_an_error() -> None:
    start = path(np.zeros(1))[0]
    table = {"type": "computed_torque", "kp": 100, "kd": 20, "targets": PATH}
    options: dict[str, Any] = {"q0": start, "qd0": [1.0, 0, 0], "t": 1.0}
    light = simulate(arm(), controllers={"arm": {**table, "values": {"m_3": 1}}}, **options)
    assert np.abs(light.q - path(light.t)).max() > 1e-3
    other = arm().with_payload("forearm", mass=1)
    loaded = simulate(arm(), controllers={"arm": {**table, "model": other}}, **options)
    assert np.abs(loaded.q - path(loaded.t)).max() > 1e-3
    # The same mass, said otherwise.
    right = simulate(arm(), controllers={"arm": {**table, "values": {"m_3": "1.5"}}}, **options)
    assert np.abs(right.q - path(right.t)).max() < 1e-9


def test_computed_torque_finds_the_signals_of_motors() -> None:
    """Motors without an inductance, one with a rotor of its own, and one that gives a torque."""
    source = arm()
    builder = cf.Mechanism.builder("drives")
    for name in source.rates:
        builder.segment(name, parent="ground", axis="z")
    motor = {"type": "dc_motor", "resistance": "0.3", "torque_constant": "0.03", "gear_ratio": 80}
    builder.actuator("a", "waist", **motor, rotor_inertia="1e-5", efficiency="0.8")
    builder.actuator("b", "shoulder", **motor)
    builder.actuator("c", "elbow", type="torque")
    driven = replace(source, actuators=builder.build().actuators)
    control = {"arm": {"type": "computed_torque", "kp": 100, "kd": 20, "targets": PATH}}
    run = simulate(
        driven,
        q0=path(np.zeros(1))[0],
        qd0=[1.0, 0, 0],
        t=2.0,
        t_eval=TIMES,
        controllers=control,
    )
    assert np.abs(run.q - path(TIMES)).max() < 1e-9
    assert run.u is not None
    assert np.abs(run.u[:, 2] - run.drives[:, 2]).max() < 1e-9


def test_state_feedback_is_a_linear_system() -> None:
    K = np.array([[50, 8]])
    control = {"lqr": {"type": "state_feedback", "K": K, "x_ref": [0.3, 0], "u_ref": [0]}}
    run = simulate(cart(), q0=[1.0], t=2.0, t_eval=TIMES, controllers=control, rtol=1e-11)
    A = np.array([[0, 1], [-25, -4]])
    exact = np.array([0.3 + (expm(A * t) @ [0.7, 0.0])[0] for t in TIMES])
    assert np.abs(run.q[:, 0] - exact).max() < 1e-9


def test_state_feedback_follows_coordinates_and_their_rates() -> None:
    gains = np.hstack([400 * np.eye(3), 40 * np.eye(3)])
    by_joint = {"type": "state_feedback", "K": gains, "q_ref": PATH, "u_ref": {"elbow": 2}}
    rates = ["cos(2*t)", "0.6*t", "0.4*sin(t)"]
    by_state = {
        "type": "state_feedback",
        "K": gains.tolist(),
        "x_ref": [*PATH.values(), *rates],
        "u_ref": [0, 0, "2"],
    }
    pd = {
        name: {
            "type": "pd",
            "kp": 400,
            "kd": 40,
            "target": law,
            "feedforward": 2 * (name == "elbow"),
        }
        for name, law in PATH.items()
    }
    runs = [
        simulate(arm(), t=1.0, controllers=table)
        for table in ({"a": by_joint}, {"b": by_state}, pd)
    ]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-9
    assert np.abs(runs[0].q - runs[2].q).max() < 1e-9


def test_state_feedback_uses_the_states_of_actuators() -> None:
    """The current of a motor is fed back: against the linear system, by its exponential."""
    builder = cf.Mechanism.builder("wheel", gravity=(0, 0, 0))
    builder.segment("wheel", axis="z", mass=1, inertia=[0, 0, "0.5"])
    builder.actuator(
        "motor",
        "wheel",
        type="dc_motor",
        resistance=1,
        inductance="0.5",
        torque_constant=2,
        rotor_inertia="0.5",
    )
    control = {"lqr": {"type": "state_feedback", "K": [[9, 4, 0.7]]}}
    run = simulate(builder.build(), q0=[1.0], t=2.0, t_eval=TIMES, controllers=control, rtol=1e-11)
    A = np.array([[0, 1, 0], [0, 0, 2], [-18, -12, -3.4]])
    exact = np.array([expm(A * t) @ [1.0, 0, 0] for t in TIMES])
    assert np.abs(run.x - exact).max() < 1e-8


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "message", "element"),
    [
        ({"waist": 5}, "expected a table, got a number", "controller 'waist'"),
        ({"waist": {"kp": 5}}, "expected a text, got nothing", "controller 'waist', type"),
        ({"waist": {"type": "lqr"}}, "there is no controller 'lqr'", "controller 'waist', type"),
        ({"waist": {"type": "pd"}}, "'kp' is missing", "controller 'waist', kp"),
        ({"wrist": {"type": "pd", "kp": 1}}, "no rate named 'wrist'", "controller 'wrist', joint"),
        ({"waist": {"type": "pd", "kp": 1, "ki": 1}}, "unknown field 'ki'", "controller 'waist'"),
        (
            {"waist": {"type": "pd", "kp": 1, "target": "elbow"}},
            "is a coordinate and cannot stand here",
            "controller 'waist', target",
        ),
        (
            {"waist": {"type": "pd", "kp": 1, "limit": True}},
            "has no limit of its effort",
            "controller 'waist', limit",
        ),
        (
            {"waist": {"type": "pd", "kp": 1, "limit": 0}},
            "not positive",
            "controller 'waist', limit",
        ),
        (
            {"a": {"type": "computed_torque", "kp": 1, "kd": 1, "targets": {"waist": 0}}},
            "no target for shoulder, elbow",
            "controller 'a', targets",
        ),
        (
            {"a": {"type": "computed_torque", "kp": [1], "kd": 1, "targets": PATH}},
            "expected 3 entries, got 1",
            "controller 'a', kp",
        ),
        (
            {
                "a": {
                    "type": "computed_torque",
                    "kp": 1,
                    "kd": 1,
                    "targets": PATH,
                    "model": "examples/six_axis_arm.toml",
                }
            },
            "the model has other joints",
            "controller 'a', model",
        ),
        (
            {"a": {"type": "state_feedback", "K": [[1, 2]]}},
            "K has 2 columns and needs 6",
            "controller 'a', K",
        ),
        (
            {"a": {"type": "state_feedback", "K": [[1] * 6]}},
            "K has 1 rows, and there are 3 joints",
            "controller 'a', joints",
        ),
        (
            {"a": {"type": "state_feedback", "K": [[1] * 6], "joints": ["waist"], "x_ref": [1]}},
            "expected 6 entries, got 1",
            "controller 'a', x_ref",
        ),
    ],
)
def test_wrong_controllers_are_refused(table: dict[str, Any], message: str, element: str) -> None:
    with pytest.raises(RunError, match=message) as caught:
        simulate(arm(), t=0.1, controllers=table)
    assert caught.value.element == element


def test_controllers_are_a_table() -> None:
    with pytest.raises(RunError, match="controllers: expected a table"):
        simulate(arm(), t=0.1, controllers=[1])  # type: ignore[arg-type]


def test_an_inductance_has_no_computed_torque() -> None:
    control = {"arm": {"type": "computed_torque", "kp": 1, "kd": 1, "targets": PATH}}
    with pytest.raises(RunError, match="waist_motor follows its signal only after a while"):
        simulate("examples/driven_arm.toml", t=0.1, controllers=control)
    effort = {"waist": {"type": "pd", "kp": 1, "limit": True}}
    with pytest.raises(RunError, match="whose signal is no effort"):
        simulate("examples/driven_arm.toml", t=0.1, controllers=effort)


def test_quaternions_have_no_single_target() -> None:
    builder = cf.Mechanism.builder("ball")
    builder.segment("ball", joint="spherical", mass=1, inertia=[1, 1, 1])
    ball = builder.build()
    with pytest.raises(RunError, match="quaternion has no single target"):
        simulate(ball, t=0.1, controllers={"ball_wx": {"type": "pd", "kp": 1}})
    with pytest.raises(RunError, match="as many coordinates as rates"):
        simulate(ball, t=0.1, controllers={"a": {"type": "state_feedback", "K": [[1] * 6]}})
