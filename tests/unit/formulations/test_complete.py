"""The complete model: whatever the mechanism has, its drives are what inverse dynamics asks for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chainform as cf
from chainform.mechanism import MechanismBuilder
from chainform.pipeline import available_outputs

Array = NDArray[np.float64]
EXAMPLES = Path(__file__).parents[3] / "examples"

MOTOR: dict[str, object] = {
    "type": "dc_motor",
    "resistance": 0.5,
    "inductance": "0.001",
    "torque_constant": 0.1,
    "rotor_inertia": "0.0002",
    "gear_ratio": 50,
    "voltage_limit": 24,
}


def agrees_with_inverse_dynamics(
    mechanism: cf.Mechanism, seed: int = 0, given: dict[str, Any] | None = None, **options: Any
) -> dict[str, Array]:
    """Check P and x' against inverse dynamics at the accelerations found; return the values."""
    rng, given = np.random.default_rng(seed), given or {}
    n = mechanism.nv
    q, qd, tau = mechanism.neutral() + 0.3 * _small(mechanism, rng), *rng.normal(size=(2, n))
    x, u = rng.normal(size=len(mechanism.states)), 30 * rng.normal(size=len(mechanism.signals))
    first = 0
    for actuator in mechanism.actuators:
        # A motor of the library has q and qd in front.
        if actuator.position is not None:
            record = mechanism.rate_records[actuator.rate]
            coordinate = mechanism.segments[record.segment].coordinate
            assert coordinate is not None
            x[first], x[first + 1] = q[coordinate], qd[actuator.rate]
        first += actuator.order
    model = cf.derive(mechanism, ["complete_model", "drives", "complete_acceleration"], **options)
    values = model.evaluate(q=q, qd=qd, tau=tau, x=x, u=u, **given)
    qdd = values["complete_acceleration"]
    inverse = cf.derive(mechanism, ["inverse_dynamics"], **options)
    P = inverse.evaluate(q=q, qd=qd, qdd=qdd, **given)["inverse_dynamics"]
    assert np.allclose(values["drives"], P, rtol=1e-9, atol=1e-9)
    driven = {actuator.rate for actuator in mechanism.actuators}
    free = [i for i in range(n) if i not in driven]
    assert np.allclose(P[free], tau[free], rtol=1e-9, atol=1e-9)
    first = 0
    for k, actuator in enumerate(mechanism.actuators):
        own = slice(first, first + actuator.order)
        floats = {name: _floats(getattr(actuator, name)) for name in ("A", "b", "f", "e")}
        limit = np.inf if actuator.limit is None else float(_floats(actuator.limit))
        expected = floats["A"] @ x[own] + floats["b"] * np.clip(u[k], -limit, limit)
        expected += floats["f"] * P[actuator.rate] + floats["e"] * qd[actuator.rate]
        assert np.allclose(values["complete_model"][own], expected, rtol=1e-8, atol=1e-8)
        first += actuator.order
    return values


def _small(mechanism: cf.Mechanism, rng: np.random.Generator) -> Array:
    """Return a change of q that leaves quaternions alone."""
    change = rng.normal(size=mechanism.nq)
    for segment in mechanism.segments:
        if segment.joint.kind.has_quaternion and segment.coordinate is not None:
            last = segment.coordinate + segment.joint.kind.coordinates
            change[last - 4 : last] = 0
    return change


def _floats(numbers: Any) -> Array:
    return np.array(numbers, dtype=object).astype(float)


def arm(**joint: Any) -> MechanismBuilder:
    builder = cf.Mechanism.builder("arm")
    builder.segment("upper", joint="revolute", axis="y", mass=2, com=[0.2, 0, 0], **joint)
    builder.segment(
        "fore",
        parent="upper",
        joint="prismatic",
        axis="x",
        position=[0.4, 0, 0],
        mass=1,
        com=[0.1, 0, 0.05],
    )
    return builder


def test_friction_springs_rotors_forces_and_wrenches_act() -> None:
    builder = arm(friction={"viscous": 0.3, "coulomb": 0.2}, rotor_inertia="0.0001", gear_ratio=20)
    builder.actuator("motor", "upper", **MOTOR)
    builder.spring_table({"joint": "fore", "stiffness": 50, "rest": 0.1, "damping": 2})
    builder.force("fore", "3*t + upper")
    mechanism = builder.build()
    given = {"t": 0.7, "wrench": [1, 2, 3, 4, 5, 6]}
    with_all = agrees_with_inverse_dynamics(mechanism, given=given, wrenches=["fore"])
    out: dict[str, Any] = {
        "without": ["friction", "springs", "rotors", "forces"],
        "wrenches": ["fore"],
    }
    without = agrees_with_inverse_dynamics(mechanism, given={"wrench": given["wrench"]}, **out)
    assert not np.allclose(with_all["complete_model"], without["complete_model"])


def test_a_motor_in_one_joint_only() -> None:
    mechanism = arm().actuator("motor", "upper", **MOTOR).build()
    model = cf.derive(mechanism, ["complete_model"])
    needed = {given.group for v, given in model.graph.inputs.items() if _is_used(model, v)}
    assert needed == {"q", "qd", "tau", "x", "u"}
    agrees_with_inverse_dynamics(mechanism)


def _is_used(model: cf.Model, v: int) -> bool:
    graph = model.graph
    return bool(graph.cone(graph.output_variables(graph.outputs))[v])


def test_a_wheel_on_a_free_body() -> None:
    """q and qd have other places than the motor's coordinate alone would give them."""
    builder = cf.Mechanism.builder("satellite")
    builder.segment("hull", joint="free", mass=10, inertia=[1, 2, 3])
    builder.segment("wheel", parent="hull", axis="z", mass=1, com=[0.1, 0, 0], inertia=[1, 1, 2])
    builder.actuator("motor", "wheel", **MOTOR)
    agrees_with_inverse_dynamics(builder.build())


def test_a_joint_that_others_follow() -> None:
    builder = cf.Mechanism.builder("gripper")
    builder.segment("palm", joint="prismatic", axis="z", mass=1)
    builder.segment("left", parent="palm", joint="prismatic", axis="y", mass=0.2)
    mimic = {"joint": "left", "ratio": -2}
    builder.segment("right", parent="palm", joint="prismatic", axis="y", mass=0.3, mimic=mimic)
    builder.actuator("motor", "left", **MOTOR)
    agrees_with_inverse_dynamics(builder.build())


def test_closed_loops_with_given_reactions() -> None:
    motors = arm().actuator("motor", "upper", **MOTOR).build().actuators
    linkage = replace(cf.read(EXAMPLES / "four_bar.toml"), actuators=motors)
    agrees_with_inverse_dynamics(linkage, given={"sigma": [3, 2, 1]})


def test_a_base_that_moves() -> None:
    builder = arm().actuator("motor", "upper", **MOTOR)
    builder.base({"velocity": [1, 0, 0], "acceleration": [0, 2, 3], "angular_velocity": [0, 1, 0]})
    moving = agrees_with_inverse_dynamics(builder.build())
    still = agrees_with_inverse_dynamics(arm().actuator("motor", "upper", **MOTOR).build())
    assert not np.allclose(moving["complete_model"], still["complete_model"])


def test_ideal_torques_leave_forward_dynamics() -> None:
    builder = arm(limits={"effort": 5}).actuator("a", "upper", type="torque")
    mechanism = builder.actuator("b", "fore", type="torque").build()
    outputs = ["complete_model", "complete_acceleration", "drives", "complete_input"]
    state: dict[str, Any] = {"q": [0.3, 0.1], "qd": [0.4, -0.5]}
    values = cf.derive(mechanism, outputs).evaluate(**state, x=[], u=[9, 9])
    assert values["drives"].tolist() == [5, 9]
    assert values["complete_model"].shape == (0,)
    assert values["complete_input"].shape == (0, 2)
    forward = cf.derive(mechanism, ["forward_dynamics"]).evaluate(**state, tau=[5, 9])
    assert np.allclose(values["complete_acceleration"], forward["forward_dynamics"])


def test_a_lag_feels_its_signal_and_the_joint_its_effort() -> None:
    builder = arm().actuator("a", "upper", type="lag", time_constant=0.1, gain=3, limit=2)
    builder.actuator("b", "fore", type="lag", frequency=20, damping_ratio=0.5)
    x, u = np.array([4.0, 5, 6]), np.array([7.0, 8])
    model = cf.derive(builder.build(), ["complete_model", "drives"])
    values = model.evaluate(q=[0, 0], qd=[0, 0], x=x, u=u)
    assert values["drives"].tolist() == [4, 5]
    rising = 20**2 * (8 - 5) - 2 * 0.5 * 20 * 6
    assert np.allclose(values["complete_model"], [(3 * 2 - 4) / 0.1, 6, rising])


def test_signals_are_limited_on_both_sides() -> None:
    mechanism = arm().actuator("a", "upper", type="torque", limit=2).build()
    model = cf.derive(mechanism, ["drives"])
    u = np.array([-1e9, -2, -0.5, 0, 0.5, 2, 7])[:, None]
    drives = model.evaluate(q=[0, 0], qd=[0, 0], tau=[0, 0], x=np.zeros((7, 0)), u=u)["drives"]
    assert drives[:, 0].tolist() == [-2, -2, -0.5, 0, 0.5, 2, 2]


def test_compiled_functions_take_x_and_u() -> None:
    builder = arm().actuator("a", "upper", **MOTOR).actuator("b", "fore", **MOTOR)
    model = cf.derive(builder.build(), ["complete_model", "complete_input"])
    program: Any = model.compile()
    x, u = np.random.default_rng(3).normal(size=(5, 6)), np.ones((5, 2))
    values = model.evaluate(x=x, u=u)
    assert np.allclose(program.complete_model(x, u), values["complete_model"])
    assert np.allclose(program.complete_input(x), values["complete_input"])


def test_only_a_mechanism_with_actuators_has_a_complete_model() -> None:
    bare = arm().build()
    assert "complete_model" not in available_outputs(bare)
    assert "complete_model" in available_outputs(arm().actuator("a", "upper", **MOTOR).build())
    with pytest.raises(cf.Error, match="this one has none") as caught:
        cf.derive(bare, ["drives"])
    assert "[[actuators]]" in (caught.value.remedy or "")


def test_nothing_resists_without_a_rotor() -> None:
    """A massless joint can be driven if the motor has inertia, and not otherwise."""
    builder = cf.Mechanism.builder("massless")
    builder.segment("arm", joint="revolute", axis="z")
    driven = builder.actuator("motor", "arm", **MOTOR).build()
    agrees_with_inverse_dynamics(driven)
    builder = cf.Mechanism.builder("massless")
    builder.segment("arm", joint="revolute", axis="z")
    ideal = builder.actuator("motor", "arm", type="torque").build()
    with pytest.raises(cf.Error, match="nothing resists qd1"):
        cf.derive(ideal, ["complete_acceleration"])


def test_the_mass_matrix_keeps_its_names_beside_the_complete_model() -> None:
    mechanism = arm().actuator("a", "upper", **MOTOR).build()
    model = cf.derive(mechanism, ["complete_model", "mass_matrix"])
    values = model.evaluate(
        q=[0.3, 0.2], qd=[0, 0], tau=[0, 0], x=[9, 9, 9], u=[1], outputs=["H_1_1", "xd_1", "xd[2]"]
    )
    plain = cf.derive(mechanism, ["mass_matrix"]).evaluate(q=[0.3, 0.2])["mass_matrix"]
    assert np.allclose(values["H_1_1"], plain[0, 0])
    assert values["xd_1"] == 9
