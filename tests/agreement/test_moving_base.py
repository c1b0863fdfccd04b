"""A base that moves as prescribed, against the same mechanism carried by a free joint: equal."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import chainform as cf
from bases import (
    all_exact_values,
    base_quaternion,
    base_state,
    carried,
    carried_state,
    exact_values,
    on_moving_base,
    state_of,
)
from chainform.formulations import FORMULATIONS, UNMOVED
from chainform.mechanism import BaseMotion, Body
from robots import UrdfOracle, example_robot
from zoo import random_tree, reference

TREES = range(500, 508)
ABLE = [name for name, method in FORMULATIONS.items() if method.moving_base]


def pair(seed: int) -> tuple[cf.Mechanism, cf.Mechanism, dict[str, Any], dict[str, Any]]:
    """Return a mechanism on a moving base, the same on a free joint, and the state of both."""
    mechanism = on_moving_base(random_tree(seed, quaternions=seed % 2 == 0), seed)
    state = state_of(mechanism, seed)
    below = base_state(mechanism.base, base_quaternion(seed))
    return mechanism, carried(mechanism), state, carried_state(state, below)


def without_bodies_on_the_base(whole: cf.Mechanism) -> cf.Mechanism:
    """Return a carried mechanism without the masses that are fixed to the carrier."""
    segments = list(whole.segments)
    for j, segment in enumerate(segments):
        if all(segments[i].coordinate is None for i in whole.path_to(j)[1:]):
            segments[j] = replace(segment, body=Body())
    return replace(whole, segments=tuple(segments))


@pytest.mark.slow
@pytest.mark.parametrize("seed", TREES)
def test_inverse_dynamics_and_bias(seed: int) -> None:
    mechanism, whole, state, beneath = pair(seed)
    tau = exact_values(whole, "inverse_dynamics", beneath, formulation="newton_euler")[6:]
    at_rest = beneath | {f"qdd{i + 7}": Fraction(0) for i in range(mechanism.nv)}
    bias = exact_values(whole, "inverse_dynamics", at_rest, formulation="newton_euler")[6:]
    expected = {"inverse_dynamics": tau, "bias": bias}
    for name in ABLE:
        outputs = [output for output in expected if output in FORMULATIONS[name].outputs]
        got = all_exact_values(mechanism, outputs, state, formulation=name) if outputs else {}
        for output in outputs:
            assert (got[output] == expected[output]).all(), (name, output)


@pytest.mark.parametrize("seed", TREES)
def test_forward_dynamics_undoes_inverse_dynamics(seed: int) -> None:
    mechanism, _, state, _ = pair(seed)
    tau = exact_values(mechanism, "inverse_dynamics", state, formulation="kinetostatic")
    given = state | {f"tau{i + 1}": value for i, value in enumerate(tau)}
    matrix = exact_values(mechanism, "mass_matrix", state)
    if np.linalg.matrix_rank(matrix.astype(float), tol=1e-9) < mechanism.nv:
        return
    for name in ABLE:
        if "forward_dynamics" in FORMULATIONS[name].outputs:
            qdd = exact_values(mechanism, "forward_dynamics", given, formulation=name)
            assert qdd.tolist() == [state[f"qdd{i + 1}"] for i in range(mechanism.nv)], name


@pytest.mark.parametrize("seed", TREES)
def test_motion_of_frames_energies_and_reactions(seed: int) -> None:
    mechanism, whole, state, beneath = pair(seed)
    tip = mechanism.segments[-1].name
    names = ("pose", "velocity", "acceleration")
    outputs = [f"{name}({tip},{axes})" for name in names for axes in ("world", "local")]
    outputs += ["kinetic_energy", "potential_energy", "momentum", "com"]
    rates = [f"jacobian_rate({tip},{axes})" for axes in ("world", "local")]
    got = all_exact_values(mechanism, [*outputs, "reactions", *rates], state)
    # What is fixed to the base belongs to it and has no share in energies.
    expected = all_exact_values(without_bodies_on_the_base(whole), outputs, beneath)
    for output in outputs:
        assert np.all(got[output] == expected[output]), output
    expected = all_exact_values(whole, ["reactions", *rates], beneath)
    assert (got["reactions"] == expected["reactions"][1:]).all()
    for output in rates:
        assert (got[output] == expected[output][:, 6:]).all(), output


def test_velocity_is_that_of_the_base_and_of_the_joints() -> None:
    mechanism = on_moving_base(random_tree(501), 501)
    state = state_of(mechanism, 3)
    tip = mechanism.segments[-1].name
    qd = [state[f"qd{i + 1}"] for i in range(mechanism.nv)]
    still = {name: Fraction(0) if name.startswith("qd") else x for name, x in state.items()}
    velocity, carrying = (exact_values(mechanism, f"velocity({tip})", s) for s in (state, still))
    jacobian = exact_values(mechanism, f"jacobian({tip})", state)
    assert (velocity == jacobian @ np.array(qd, dtype=object) + carrying).all()
    assert (exact_values(mechanism, "velocity(ground)", state)[:3] == mechanism.base.velocity).all()


@pytest.mark.parametrize("output", ["mass_matrix", "gravity", "coriolis_matrix", "coriolis"])
def test_what_the_motion_of_the_base_does_not_change(output: str) -> None:
    mechanism = on_moving_base(random_tree(503), 503)
    resting = replace(mechanism, base=BaseMotion(mechanism.base.position, mechanism.base.rotation))
    state = state_of(mechanism, 4)
    assert output in UNMOVED
    for name, method in FORMULATIONS.items():
        if output in method.outputs and name != "elements":
            got = exact_values(mechanism, output, state, formulation=name)
            assert (got == exact_values(resting, output, state)).all(), name


def test_a_base_that_only_slides_feels_like_gravity() -> None:
    """An acceleration of the base is gravity the other way round."""
    tree = random_tree(7)
    push = (Fraction(3), Fraction(-2), Fraction(1, 2))
    moved = replace(tree, base=BaseMotion(acceleration=push))
    gravity: Any = tuple(g - a for g, a in zip(tree.gravity, push, strict=True))  # pyright: ignore[reportOperatorIssue]
    heavier = replace(tree, gravity=gravity)
    state = state_of(tree, 7)
    for name in ("newton_euler", "kinetostatic"):
        got, expected = (
            exact_values(m, "inverse_dynamics", state, formulation=name) for m in (moved, heavier)
        )
        assert (got == expected).all()


def test_a_steady_turn_of_the_base_is_the_first_joint_of_a_longer_arm() -> None:
    arm = reference("rackovic_2_1")
    turning = replace(
        arm, base=BaseMotion(angular_velocity=(Fraction(0), Fraction(0), Fraction(2)))
    )
    state = state_of(arm, 1)
    got = exact_values(turning, "inverse_dynamics", state, formulation="auto")
    # The first axis is vertical, too: the rates of base and joint add up.
    faster = state | {"qd1": state["qd1"] + 2}
    assert (got == exact_values(arm, "inverse_dynamics", faster)).all()


@pytest.mark.parametrize("name", ["ur5_robot.urdf", "a1.urdf"])
@pytest.mark.parametrize("formulation", ["newton_euler", "kinetostatic"])
def test_robot_on_a_moving_base_against_pinocchio(name: str, formulation: str) -> None:
    path = example_robot(name)
    oracle = UrdfOracle(path, "floating")
    oracle.match(cf.read(path, base="floating", snap=0, mimic="free"))
    robot = on_moving_base(cf.read(path, base="fixed", snap=0, mimic="free"), 11)
    below = base_state(robot.base, base_quaternion(11))
    rng = np.random.default_rng(11)
    q, theirs = oracle.state(rng)
    free = oracle.mechanism.segments[0].coordinate
    assert free == 0
    theirs[:7] = np.array(below["q"], dtype=float)
    qd, qdd = rng.uniform(-1, 1, (2, oracle.mechanism.nv))
    qd[:6], qdd[:6] = (np.array(below[group], dtype=float) for group in ("qd", "qdd"))
    expected = oracle.rnea(theirs, qd, qdd)
    order = [oracle.mechanism.rates.index(rate) for rate in robot.rates]
    places = [oracle.mechanism.coordinates.index(c) for c in robot.coordinates]
    model = cf.derive(robot, ["inverse_dynamics"], formulation=formulation)
    got = model.evaluate(q=q[places], qd=qd[order], qdd=qdd[order])["inverse_dynamics"]
    scale = np.abs(expected[order]).max()
    np.testing.assert_allclose(got / scale, expected[order] / scale, rtol=0, atol=1e-9)


# --- laws of time and parameters ----------------------------------------------------------------


def swinging(**base: Any) -> cf.Mechanism:
    """Return a pendulum with two links, inclined axes and a base given by laws."""
    builder = cf.Mechanism.builder("swinging")
    builder.parameter("A").parameter("B", "1/3")
    builder.segment("one", axis="y", mass=2, com=["0.1", "0.2", "-0.5"], inertia=[1, 2, 3])
    builder.segment(
        "two", parent="one", axis="x", position=[0, "0.2", -1], mass=1, com=[0, 0, "-0.4"]
    )
    return builder.base(**base).build()


def frozen(**motion: Any) -> cf.Mechanism:
    """Return the same with the motion of one instant."""
    return replace(swinging(), base=BaseMotion(**motion))


STATE = {f"{group}{i}": Fraction(i + k, 7) for k, group in enumerate(("qd", "qdd")) for i in (1, 2)}


def floats(mechanism: cf.Mechanism, output: str, **more: Any) -> Any:
    model = cf.derive(mechanism, [output], formulation="auto")
    q = [0.3, -0.8]
    qd, qdd = ([float(STATE[f"{g}{i}"]) for i in (1, 2)] for g in ("qd", "qdd"))
    return model.evaluate(q=q, qd=qd, qdd=qdd, **more)[output]


def differences(place: Any, t: float, step: float = 1e-4) -> tuple[Any, Any]:
    """Return the first and second derivative by central differences."""
    before, now, after = (np.array(place(t + k * step)) for k in (-1, 0, 1))
    return (after - before) / (2 * step), (after - 2 * now + before) / step**2


@pytest.mark.parametrize("output", ["inverse_dynamics", "reactions", "acceleration(two)"])
def test_a_position_that_is_a_law_of_time(output: str) -> None:
    law = ["A*sin(3*t)", "t^3", "B*t*exp(-t)"]
    t, values = 0.7, {"A": 0.25}
    got = floats(swinging(position=law), output, t=t, values=values)

    def place(t: float) -> list[float]:
        return [0.25 * np.sin(3 * t), t**3, t * np.exp(-t) / 3]

    velocity, acceleration = differences(place, t)
    parts = {"position": place(t), "velocity": velocity, "acceleration": acceleration}
    exact: Any = {name: tuple(map(Fraction, map(float, v))) for name, v in parts.items()}
    np.testing.assert_allclose(got, floats(frozen(**exact), output), atol=1e-5)


@pytest.mark.parametrize("form", ["rpy", "quaternion"])
def test_an_orientation_that_is_a_law_of_time(form: str) -> None:
    """Rotation, angular velocity and acceleration agree with each other, by differences."""
    law = {"rpy": ["0.3*t", "A*sin(t)", "t^2"], "quaternion": ["t", "A*t^2", "1", "2 - t"]}[form]
    robot, t, step = swinging(**{form: law}), 0.4, 1e-4

    def ground(output: str, t: float) -> Any:
        return floats(robot, f"{output}(ground)", t=t, values={"A": 0.6})

    rotations = [ground("pose", t + k * step)[:3, :3] for k in (-1, 0, 1)]
    assert np.allclose(rotations[1].T @ rotations[1], np.eye(3), atol=1e-14)
    spin = (rotations[2] - rotations[0]) / (2 * step) @ rotations[1].T
    omega = ground("velocity", t)[3:]
    np.testing.assert_allclose(omega, [spin[2, 1], spin[0, 2], spin[1, 0]], atol=1e-6)
    slope = (ground("velocity", t + step) - ground("velocity", t - step))[3:] / (2 * step)
    np.testing.assert_allclose(ground("acceleration", t)[3:], slope, atol=1e-6)


@pytest.mark.parametrize("form", ["rpy", "quaternion"])
def test_an_orientation_of_parameters(form: str) -> None:
    """A free parameter in the orientation is that of the frozen base, for every value."""
    given = {"rpy": ["A", "B", "2*A"], "quaternion": ["A", "B", "0.5", "1"]}[form]
    for a in (0.2, -1.5):
        known = {"rpy": [a, "1/3", 2 * a], "quaternion": [a, "1/3", "0.5", "1"]}[form]
        got = floats(swinging(**{form: given}), "inverse_dynamics", values={"A": a})
        expected = floats(swinging(**{form: known}), "inverse_dynamics")
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_a_motion_of_parameters_changes_from_call_to_call() -> None:
    builder = cf.Mechanism.builder("lift")
    builder.parameter("a")
    builder.segment("arm", axis="y", mass=2, com=[1, 0, 0])
    lift = builder.base(acceleration=[0, 0, "a"]).build()
    model = cf.derive(lift, ["inverse_dynamics"])
    for a in (0.0, 2.0):
        tau = model.evaluate(q=[0], qd=[0], qdd=[0], values={"a": a})["inverse_dynamics"]
        assert tau == pytest.approx([-2 * (9.81 + a)])


def test_a_velocity_that_is_a_law_of_time() -> None:
    given = {"velocity": ["t^2", 0, 0], "angular_velocity": [0, "A*t", 0]}
    got = floats(swinging(**given), "acceleration(ground)", t=0.5, values={"A": 3})
    np.testing.assert_allclose(got, [1, 0, 0, 0, 3, 0])


def test_a_formulation_without_a_place_for_it_says_who_has_one() -> None:
    mechanism = on_moving_base(random_tree(505), 505)
    with pytest.raises(cf.Error, match="no place for a base that moves") as caught:
        cf.derive(mechanism, ["inverse_dynamics"], formulation="closed_form")
    assert caught.value.element == "base"
    assert 'formulation="newton_euler"' in (caught.value.remedy or "")
    for output in ("mass_matrix", "velocity(ground)", "reactions"):
        cf.derive(mechanism, [output], formulation="closed_form")


def test_random_quaternions_are_of_length_one() -> None:
    """Guard: the exact comparison needs it."""
    for seed in range(20):
        assert sum(x * x for x in base_quaternion(seed)) == 1
