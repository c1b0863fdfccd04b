"""A rod under springs, dampers and a drive, as ADAMS computed it."""

from __future__ import annotations

import numpy as np

import chainform as cf
from chainform.mechanism import MechanismBuilder
from tests.published.cases.adams import Tables, Vector, case, motion_of, rod_on, with_reaction
from tests.published.records import Array

THIN_X = ("0.04", "0.1", "0.1")
HINGE = {"name": "pin", "type": "revolute", "axis": "z"}
LENGTH = 2.0
"""Of all springs without force, m."""


def on_a_hinge() -> MechanismBuilder:
    """Return a rod that lies level on a pin along y."""
    return rod_on(HINGE, THIN_X, (2, 0, 0), rpy=("-pi/2", 0, 0))


def on_a_spring() -> MechanismBuilder:
    """Return a free body on a spring of 100 N/m with a damper of 5 N s/m."""
    mechanism = rod_on({"type": "free"}, THIN_X, position=(0, 2, 0)).frame("eye", "rod")
    ends = [{"segment": "rod"}, {"segment": "ground"}]
    return mechanism.spring(ends=ends, stiffness=100, damping=5, rest=LENGTH)


def on_a_stiffening_spring(
    ground: Vector, place: Vector, rpy: Vector, eye: Vector
) -> MechanismBuilder:
    """Return a free rod with a force 50 d + 10 |d| d + 5 d' in its eye, towards the ground."""
    joint = {"type": "free", "euler": "zyx"}
    mechanism = rod_on(joint, THIN_X, position=place, rpy=rpy).frame("eye", "rod", eye)
    line = [f"({axis}(eye) - {at})" for axis, at in zip("xyz", ground, strict=True)]
    distance = f"sqrt({' + '.join(f'{part}^2' for part in line)})"
    moving = [f"{part}*der({axis}(eye))" for axis, part in zip("xyz", line, strict=True)]
    stretch, rate = f"({distance} - 2)", f"({' + '.join(moving)})/{distance}"
    pull = f"(50*{stretch} + 10*abs({stretch})*{stretch} + 5*{rate})"
    force = [f"-{pull}*{part}/{distance}" for part in line]
    return mechanism.element(kind="force", force=force, at="eye")


def stretched(run: cf.Run, ground: Vector) -> tuple[Array, Array, Array]:
    """Return the direction of the spring, its stretch and its rate, from the motion of the eye."""
    line = run.output("pose(eye)")[:, :3, 3] - np.array(ground, float)
    length = np.linalg.norm(line, axis=1, keepdims=True)
    rate = (line * run.output("velocity(eye)")[:, :3]).sum(axis=1, keepdims=True) / length
    return line / length, length - LENGTH, rate


def linear(run: cf.Run) -> Tables:
    """Return the motion, and the force of the spring on the ground."""
    direction, stretch, rate = stretched(run, (0, 0, 0))
    return motion_of(run) | {"Rforce": direction * (100 * stretch + 5 * rate)}


def stiffening(run: cf.Run, ground: Vector) -> Tables:
    """Return the motion, and the force of the spring on the ground."""
    direction, stretch, rate = stretched(run, ground)
    pull = 50 * stretch + 10 * np.abs(stretch) * stretch + 5 * rate
    return motion_of(run) | {"Rforce": direction * pull}


def driven(run: cf.Run) -> Tables:
    """Return the motion and the reaction, what the drive exerts along the slide apart from it."""
    tables = with_reaction(run)
    axis = np.array([np.sqrt(0.5), 0, np.sqrt(0.5)])
    drive = run.motion_forces["slide"][:, np.newaxis] * axis
    slide = tables["Rforce"] + drive
    return tables | {"RforceA": drive, "RforceP": slide, "RtorqueP": tables["Rtorque"]}


CASES = (
    case(
        "joint_spring",
        ("rotspring_force", "RotSpring_Case01"),
        lambda: on_a_hinge().spring(joint="pin", stiffness=200, damping=10),
        {"Pos": 1e-3, "Vel Avel": 5e-4, "Acc Aacc": 5e-3, "Rforce": 5e-3, "Rtorque": 1e-2},
        "A rod sinks on a pin with a spring and a damper, 200 N m/rad and 10 N m s/rad.",
    ),
    case(
        "joint_spring_nonlinear",
        ("rotspring_force", "RotSpring_Case02"),
        lambda: on_a_hinge().force("pin", "-(50 + 10*abs(pin))*pin - 10*der(pin)"),
        {"Pos": 1e-3, "Vel Avel": 5e-4, "Acc Aacc": 5e-3, "Rforce": 5e-3, "Rtorque": 1e-2},
        "The same with a spring that stiffens, as a force in the joint.",
    ),
    case(
        "spring",
        ("transpring_force", "TranSpring_Case02"),
        on_a_spring,
        {"Pos": 1e-3, "Vel": 3e-4, "Acc": 2e-2, "Rforce": 5e-3},
        "A body falls on a spring and a damper between two points, level at first.",
        linear,
    ),
    case(
        "spring_stiffening",
        ("transpringcb_force", "TranSpringCB_Case03"),
        lambda: on_a_stiffening_spring((1, 2, 3), (-1, 4, 3), (0, 0, 0), (2, 0, 0)),
        {"Pos": 1e-4, "Vel Avel": 5e-4, "Acc Aacc": 1e-3, "Rforce": 5e-3},
        "A rod falls on a spring that stiffens, square to it at first; the force is a law.",
        lambda run: stiffening(run, (1, 2, 3)),
    ),
    case(
        "spring_in_line",
        ("transpringcb_force", "TranSpringCB_Case04"),
        lambda: on_a_stiffening_spring((0, 0, 0), (0, 4, 0), (0, 0, "-pi/2"), (2, 0, 0)),
        {"Pos": 1e-4, "Vel Avel": 5e-4, "Acc Aacc": 5e-2, "Rforce": 5e-3},
        "The same with the rod in line with the spring.",
        lambda run: stiffening(run, (0, 0, 0)),
    ),
    case(
        "actuator",
        ("lin_actuator", "LinActuator_Case02"),
        lambda: rod_on(
            {"name": "slide", "type": "prismatic", "axis": "z"}, (1, 1, 1), rpy=(0, "pi/4", 0)
        ),
        {"Pos": 2e-3, "Vel": 1e-3, "RforceP": 3e-1, "RtorqueP": 5e-3, "RforceA": 5e-1},
        "A body is driven up a slope of 45° at 0.5 m/s.",
        driven,
        motion={"slide": "t/2"},
    ),
)
