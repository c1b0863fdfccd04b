"""Open chains of Modelica's examples, with hinges and balls, and forces in turned frames."""

from __future__ import annotations

from functools import cache

import numpy as np

import chainform as cf
from chainform.mechanism import MechanismBuilder
from tests.published.cases.modelica import (
    EXAMPLES,
    TESTS,
    Y_UP,
    box,
    case,
    cylinder,
    hinges,
    moved,
    result,
    vector,
)
from tests.published.records import Array


def two_bars() -> MechanismBuilder:
    """Return two steel bars on hinges, the upper one with a damper."""
    builder = cf.Mechanism.builder("double pendulum", gravity=Y_UP)
    bar = box([0.5, 0, 0], 0.06)
    first = {"name": "phi1", "type": "revolute", "axis": "z", "friction": {"viscous": 0.1}}
    builder.segment("upper", parent="ground", joint=first, **bar)
    second = {"name": "phi2", "type": "revolute", "axis": "z"}
    return builder.segment("lower", parent="upper", joint=second, position=[0.5, 0, 0], **bar)


@cache
def double_pendulum() -> cf.Run:
    return moved(two_bars().build(), "double_pendulum")


@cache
def from_tip() -> cf.Run:
    pendulum = two_bars().frame("tip", "lower", [0.5, 0, 0]).build()
    start = cf.inverse_kinematics(pendulum, {"tip": [0.7, 0.3, 0]}, q0=[0, np.pi / 2])
    return moved(pendulum, "tip_start", q0=start["q"][0])


@cache
def ball_chain() -> cf.Run:
    builder = cf.Mechanism.builder("double pendulum on balls", gravity=Y_UP)
    upper, lower = box([0.4, 0, -0.3], 0.06), box([0.3, -0.4, 0], 0.06)
    builder.segment("upper", parent="ground", joint="spherical", **upper)
    builder.segment("lower", parent="upper", joint="spherical", position=[0.4, 0, -0.3], **lower)
    rates = [0.05235987755982989, 0.03490658503988659, 0.0174532925199433, 0, 0, 0]
    return moved(builder.build(), "ball_chain", qd0=rates)


@cache
def pushed() -> cf.Run:
    builder = cf.Mechanism.builder("pushed bar", gravity=Y_UP)
    first = {"name": "phi1", "type": "revolute", "axis": "z"}
    builder.segment("cross", parent="ground", joint=first, position=[0, -0.5, 0])
    second = {"name": "phi2", "type": "revolute", "axis": "y"}
    builder.segment("bar", parent="cross", joint=second, **cylinder([1, 0, 0], 0.05))
    builder.frame("turned", "ground", rpy=[0, 0, "pi/6"]).frame("tip", "bar", [1, 0, 0])
    builder.element(kind="force", force=[0, 1000, 0], at="tip", axes="turned")
    builder.element(kind="moment", moment=[-100, 100, 0], on="tip", axes="turned")
    return moved(builder.build(), "force_and_torque")


@cache
def universal() -> cf.Run:
    builder = cf.Mechanism.builder("pendulum on a universal joint", gravity=Y_UP)
    body = {"mass": 1, "com": [0.5, 0, 0], "inertia": [0.001, 0.001, 0.001]}
    cross = {"name": "cross", "type": "universal", "axes": ["z", "y"]}
    builder.segment_table({"name": "body", "parent": "ground", "joint": cross, **body})
    return moved(builder.build(), "universal", q0=[np.pi / 2, np.pi / 4])


@cache
def measured() -> cf.Run:
    builder = cf.Mechanism.builder("pendulum with sensors", gravity=Y_UP)
    hinge = {"name": "phi", "type": "revolute", "axis": "z", "friction": {"viscous": 0.1}}
    builder.segment("bar", parent="ground", joint=hinge, **box([1, 0, 0], 0.05))
    return moved(builder.frame("tip", "bar", [1, 0, 0]).build(), "sensors")


def acceleration_in_bar() -> Array:
    """Return the acceleration of the tip in the axes of the bar, m/s^2."""
    axes = measured().output("pose(tip)")[:, :3, :3]
    return np.einsum("mji,mj->mi", axes, measured().output("acceleration(tip)")[:, :3])


CASES = (
    case(
        "double_pendulum",
        "Double pendulum",
        f"{EXAMPLES}/Elementary/DoublePendulum",
        "Two steel bars on hinges, the upper one with a damper, fall from the level.",
        *hinges(
            "double_pendulum",
            double_pendulum,
            {"phi1": "revolute1", "phi2": "revolute2"},
            (4e-5, 4e-5),
        ),
        draw=lambda file: double_pendulum().picture(file=file, size=(480, 320)),
    ),
    case(
        "tip_start",
        "Double pendulum from a given tip",
        f"{EXAMPLES}/Elementary/DoublePendulumInitTip",
        (
            "The tip is given at the start, and inverse kinematics finds the angles. Compared for "
            "3.5 s of 5: the motion is chaotic, and the error of the source grows a "
            "hundredfold after that."
        ),
        *hinges("tip_start", from_tip, {"phi1": "revolute1", "phi2": "revolute2"}, (1e-3, 2e-3)),
    ),
    case(
        "ball_chain",
        "Double pendulum on balls",
        f"{TESTS}/SphericalDoublePendulum",
        "Two bars on spherical joints, whose quaternions are compared as well.",
        result(
            "quaternions",
            "ball_chain",
            [f"Spherical{k}.Q[{i}]" for k in (3, 4) for i in (1, 2, 3, 4)],
            lambda: ball_chain().q,
            3e-5,
        ),
        result(
            "relative angular velocities, rad/s",
            "ball_chain",
            [*vector("Spherical3.w_rel"), *vector("Spherical4.w_rel")],
            lambda: ball_chain().qd,
            5e-5,
        ),
        draw=lambda file: ball_chain().picture(file=file, size=(480, 320), view=(-60, 20)),
    ),
    case(
        "force_and_torque",
        "Force and torque in turned axes",
        f"{EXAMPLES}/Elementary/ForceAndTorque",
        "1000 N and 140 N m at the tip of a bar, in the axes of a third frame.",
        *hinges(
            "force_and_torque",
            pushed,
            {"phi1": "revolute1", "phi2": "revolute2"},
            (3e-5, 1e-4),
        ),
    ),
    case(
        "universal",
        "Pendulum on a universal joint",
        f"{TESTS}/Joints/Universal",
        "It falls from above, turned by 45 degrees.",
        result(
            "angles, rad",
            "universal",
            ["universal.phi_a", "universal.phi_b"],
            lambda: universal().q,
            3e-6,
        ),
        result(
            "rates, rad/s",
            "universal",
            ["universal.w_a", "universal.w_b"],
            lambda: universal().qd,
            1e-5,
        ),
    ),
    case(
        "sensors",
        "Sensors on a pendulum",
        f"{TESTS}/Sensors/AbsoluteSensor",
        "What sensors at the tip of a damped pendulum measure.",
        result(
            "velocity, m/s",
            "sensors",
            vector("sensor_world1.v"),
            lambda: measured().output("velocity(tip)")[:, :3],
            1e-4,
        ),
        result(
            "acceleration, world axes, m/s²",
            "sensors",
            vector("sensor_world1.a"),
            lambda: measured().output("acceleration(tip)")[:, :3],
            1e-4,
        ),
        result(
            "acceleration, body axes, m/s²",
            "sensors",
            vector("sensor_frame_a1.a"),
            acceleration_in_bar,
            1e-4,
        ),
        result(
            "angular acceleration, rad/s²",
            "sensors",
            vector("sensor_world1.z"),
            lambda: measured().output("acceleration(tip)")[:, 3:],
            1e-4,
        ),
    ),
)
