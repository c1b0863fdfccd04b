"""A rod that falls on each kind of joint, as ADAMS computed it."""

from __future__ import annotations

from typing import Any

import numpy as np

import chainform as cf
from chainform.mechanism import MechanismBuilder
from tests.published.cases.adams import Tables, Vector, builder, case, motion_of, rod_on

THIN_X = ("0.04", "0.1", "0.1")
THIN_Y = ("0.1", "0.04", "0.1")
THIN_Z = ("0.1", "0.1", "0.04")
INCLINED: dict[str, Any] = {"position": (1, 2, 3), "rpy": ("-pi/4", 0, 0)}
"""A joint at (1, 2, 3), turned about x."""


def on_the_diagonal() -> MechanismBuilder:
    """Return the rod on a cross, along x = y, turned by the Euler angles -45°, 90°, 45° (zxz)."""
    half = ("1/2", "-1/2", 0, "sqrt(1/2)")
    joint = {"type": "universal", "axes": ["x", "y"]}
    return rod_on(joint, THIN_Z, (0, 0, -2), quaternion=half)


def on_a_thread(ground: Vector, place: Vector, rpy: Vector, eye: Vector) -> MechanismBuilder:
    """Return a free rod whose eye is 2 m from a point of the ground."""
    mechanism = rod_on({"type": "free"}, THIN_X, position=place, rpy=rpy).frame("eye", "rod", eye)
    closing = {"segment": "rod", "point": eye}
    target = {"segment": "ground", "point": ground}
    return mechanism.loop("thread", "distance", closing, target, length=2)


def pulled(run: cf.Run, ground: Vector) -> Tables:
    """Return the motion, and the force of the thread on the ground."""
    line = run.output("pose(eye)")[:, :3, 3] - np.array(ground, float)
    return motion_of(run) | {"Rforce": -run.sigma * line / 2}


def on_a_link(axis: Vector, position: Vector) -> MechanismBuilder:
    """Return a rod on a ball at the end of a link without mass, which turns on the ground."""
    turn = {"name": "turn", "type": "revolute", "axis": axis}
    mechanism = builder().segment("link", parent="ground", joint=turn, position=position)
    ball = {"name": "ball", "type": "spherical"}
    shape: dict[str, Any] = {"mass": 1, "com": (0, 2, 0), "inertia": THIN_Y}
    mechanism.segment("rod", parent="link", joint=ball, position=(2, 0, 0), **shape)
    return mechanism.frame("center", "rod", (0, 2, 0))


def link_forces(run: cf.Run) -> Tables:
    """Return the motion, and what the link exerts on the ground and on the rod."""
    link, rod = run.output("reaction(link,world)"), run.output("reaction(rod,world)")
    return motion_of(run) | {
        "Rforce_Body1": -link[:, :3],
        "Rtorque_Body1": -link[:, 3:],
        "Rforce_Body2": rod[:, :3],
    }


CASES = (
    case(
        "revolute",
        ("revolute_joint", "Revolute_Case02"),
        lambda: rod_on({"type": "revolute", "axis": "z"}, THIN_X, (2, 0, 0), **INCLINED),
        {"Pos": 1e-3, "Vel Avel": 1e-5, "Acc Aacc": 1e-2, "Rforce": 1e-2, "Rtorque": 1e-2},
        "A rod falls on a pin whose axis is inclined by 45°.",
    ),
    case(
        "spherical",
        ("spherical_joint", "Spherical_Case02"),
        lambda: rod_on({"type": "spherical"}, THIN_X, (2, 0, 0), **INCLINED),
        {"Pos": 2e-3, "Vel Avel": 1e-3, "Acc Aacc": 2e-2, "Rforce": 2e-2},
        "A rod falls on a ball.",
    ),
    case(
        "universal",
        ("universal_joint", "Universal_Case03"),
        on_the_diagonal,
        {"Pos": 2e-3, "Vel Avel": 2e-3, "Acc Aacc": 2e-2, "Rforce": 2e-2},
        "A rod along the diagonal falls on a cross. Chrono's test leaves this model out; the "
        "accuracies are those of the other two.",
        is_drawn=True,
    ),
    case(
        "prismatic",
        ("prismatic_joint", "Prismatic_Case02"),
        lambda: rod_on({"type": "prismatic", "axis": "z"}, THIN_X, (2, 0, 0), **INCLINED),
        {"Pos": 1e-2, "Vel": 1e-4, "Acc": 2e-2, "Rforce": 2e-2, "Rtorque": 1e-1},
        "A rod slides down a slope of 45°.",
    ),
    case(
        "cylindrical",
        ("cylindrical_joint", "Cylindrical_Case03"),
        lambda: rod_on({"type": "cylindrical", "axis": "z"}, THIN_X, (2, 0, 0), **INCLINED),
        {"Pos": 1e-2, "Vel Avel": 1e-4, "Acc Aacc": 2e-2, "Rforce": 2e-2, "Rtorque": 5e-1},
        "A rod slides along an axis that is inclined by 45°, and swings about it.",
    ),
    case(
        "thread",
        ("distance_constraint", "Distance_Case03"),
        lambda: on_a_thread((0, 0, 0), (0, 4, 0), (0, 0, "-pi/2"), (2, 0, 0)),
        {"Pos": 1e-3, "Vel Avel": 1e-4, "Acc Aacc": 2e-2, "Rforce": 2e-2},
        "A rod falls, one of its ends at a fixed distance from the ground.",
        lambda run: pulled(run, (0, 0, 0)),
    ),
    case(
        "thread_aside",
        ("distance_constraint", "Distance_Case02"),
        lambda: on_a_thread((1, 2, 3), (-1, 4, 3), (0, 0, 0), (2, 0, 0)),
        {"Pos": 1e-3, "Vel Avel": 2e-3, "Acc Aacc": 2.0, "Rforce": 1e-1},
        "The same with the rod square to the thread; it whirls, with accelerations of 2700 m/s².",
        lambda run: pulled(run, (1, 2, 3)),
    ),
    case(
        "link",
        ("revsph_constraint", "RevSpherical_Case01"),
        lambda: on_a_link((0, 0, 1), (0, 0, 0)),
        {
            "Pos": 1e-4,
            "Vel Avel": 1e-4,
            "Acc Aacc": 1e-1,
            "Rforce_Body1": 5e-1,
            "Rtorque_Body1": 5e-1,
            "Rforce_Body2": 5e-1,
        },
        "A rod falls on a ball at the end of a link without mass, which turns on a pin.",
        link_forces,
        is_drawn=True,
    ),
    case(
        "link_inclined",
        ("revsph_constraint", "RevSpherical_Case02"),
        lambda: on_a_link((0, 1, 1), (1, 2, 3)),
        {"Pos": 1e-4, "Acc Aacc": 1e-1, "Rforce_Body1": 5e-1, "Rtorque_Body1": 5e-1},
        "The same with a pin that is inclined by 45°.",
        link_forces,
    ),
)
