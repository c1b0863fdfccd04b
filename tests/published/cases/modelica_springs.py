"""Springs and dampers of Modelica's examples, in joints, along lines and on free bodies."""

from __future__ import annotations

from functools import cache

import numpy as np

import chainform as cf
from tests.published.cases.modelica import (
    EXAMPLES,
    Y_UP,
    Fields,
    box,
    case,
    curves,
    hinges,
    moved,
    result,
    vector,
)

BALL: Fields = {"mass": 1, "inertia": [0.001, 0.001, 0.001]}
"""A body with the inertia that Modelica gives where nothing is said."""


def line(x: float, segment: str, point: tuple[float, ...] = (0, 0, 0)) -> Fields:
    """Return the ends of a spring, from a point on the x axis of the world to one of a body."""
    ends = [{"segment": "ground", "point": [x, 0, 0]}, {"segment": segment, "point": point}]
    return {"ends": ends}


def quaternion(angle: float) -> list[float]:
    """Return the quaternion x y z w of turns by one angle about the moving axes x, y and z."""
    s, c = np.sin(angle / 2), np.cos(angle / 2)
    more, less = s * c * (c + s), s * c * (c - s)
    return [more, less, more, c**3 - s**3]


@cache
def free_body() -> cf.Run:
    builder = cf.Mechanism.builder("free body on two springs", gravity=Y_UP)
    body: Fields = {"mass": 1, "com": [0.2, 0, 0], "inertia": [1, 1, 1]}
    builder.segment("body", parent="ground", joint="free", **body)
    builder.spring(**line(0, "body"), stiffness=20)
    builder.spring(**line(0.8, "body", (0.4, 0, 0)), stiffness=20)
    start = [0.2, -0.5, 0.1, *quaternion(0.174532925199433)]
    return moved(builder.build(), "free_body", q0=start)


@cache
def spring_and_damper() -> cf.Run:
    builder = cf.Mechanism.builder("two bodies on springs", gravity=Y_UP)
    body: Fields = {"mass": 1, "com": [0, -0.2, 0], "inertia": [0.1, 0.1, 0.1]}
    builder.segment("swinging", parent="ground", joint="free", **body)
    slide = {"name": "s", "type": "prismatic", "axis": "-y"}
    builder.segment("hanging", parent="ground", joint=slide, position=[0.9, 0, 0], **BALL)
    builder.spring(**line(0.3, "swinging"), stiffness=30, rest=0.1, damping=2)
    builder.spring(**line(0.9, "hanging"), stiffness=30, rest=0.1)
    start = [0.3, -0.2, 0, 0, 0, 0, 1, 0.1]
    rates = [0, 0, 0, 0, 0, 0.03490658503988659, 0]
    return moved(builder.build(), "spring_damper", q0=start, qd0=rates)


@cache
def two_masses() -> cf.Run:
    builder = cf.Mechanism.builder("a spring in a joint and one along a line", gravity=Y_UP)
    for name, x in (("s1", 0.3), ("s2", 0.6)):
        slide = {"name": name, "type": "prismatic", "axis": "-y"}
        builder.segment(f"on {name}", parent="ground", joint=slide, position=[x, 0, 0], **BALL)
    builder.spring(joint="s1", stiffness=30, rest=0.1)
    builder.spring(**line(0.6, "on s2"), stiffness=30, rest=0.1)
    return moved(builder.build(), "spring_mass", q0={"s1": 0.1, "s2": 0.1})


@cache
def heavy_spring() -> cf.Run:
    builder = cf.Mechanism.builder("spring with a mass", gravity=Y_UP)
    builder.coordinates({"name": "y", "unit": "m"})
    builder.element(kind="point", mass=1, position=[0, "y", 0], name="ball")
    builder.element(kind="point", mass=0.5, position=[0, "y/2", 0])
    builder.element(kind="elastic", stiffness=40, rest=0.2, ends=["ground", "ball"])
    return moved(builder.build(), "heavy_spring", q0={"y": -0.3})


@cache
def spring_pendulum() -> cf.Run:
    builder = cf.Mechanism.builder("pendulum on a spring", gravity=Y_UP)
    hinge = {"name": "phi", "type": "revolute", "axis": "z"}
    builder.segment("guide", parent="ground", joint=hinge, position=[0.3, 0, 0])
    slide = {"name": "s", "type": "prismatic", "axis": "x"}
    builder.segment("ball", parent="guide", joint=slide, mass=1, inertia=[1, 1, 1])
    builder.spring(**line(0.3, "ball"), stiffness=20, rest=0.2, damping=1)
    return moved(builder.build(), "spring_pendulum", q0={"phi": 0, "s": 0.5})


@cache
def masses_on_a_line() -> cf.Run:
    """The line runs from (0, -0.9) to the tip of the bar, its masses 0.2 m from its ends."""
    builder = cf.Mechanism.builder("damper with two masses", gravity=Y_UP)
    builder.coordinates("phi")
    bar = box([0.7, 0, 0], 0.035)
    moments = [bar["inertia"][k][k] for k in range(3)]
    builder.element(kind="body", chain="Sy(0.3), Rz(phi)", **{**bar, "inertia": moments})
    builder.define(u="0.7*cos(phi)", v="1.2 + 0.7*sin(phi)", l="sqrt(u^2 + v^2)")
    builder.element(kind="point", mass=1, position=["0.2*u/l", "0.2*v/l - 0.9", 0])
    builder.element(kind="point", mass=1, position=["u - 0.2*u/l", "v - 0.2*v/l - 0.9", 0])
    builder.element(kind="dissipative", damping=3, deformation="l")
    return moved(builder.build(), "line_masses")


CASES = (
    case(
        "free_body",
        "Free body on two springs",
        f"{EXAMPLES}/Elementary/FreeBody",
        "A body with the joint of a free one, hung in springs of length zero.",
        result(
            "position, m",
            "free_body",
            vector("body.body.frame_a.r_0"),
            lambda: free_body().q[:, :3],
            5e-4,
        ),
        result(
            "velocity, world axes, m/s",
            "free_body",
            vector("body.v_0"),
            lambda: free_body().output("velocity(body)")[:, :3],
            5e-4,
        ),
        result(
            "angular velocity, body axes, rad/s",
            "free_body",
            vector("body.body.w_a"),
            lambda: free_body().qd[:, 3:],
            1e-6,
        ),
        draw=curves(
            free_body,
            "free_body",
            {f"body_{axis}": f"body.body.frame_a.r_0[{k}]" for k, axis in enumerate("xyz", 1)},
        ),
    ),
    case(
        "spring_damper",
        "Bodies on springs",
        f"{EXAMPLES}/Elementary/SpringDamperSystem",
        "One swings freely on a spring with a damper, the other one slides.",
        result(
            "position of the swinging body, m",
            "spring_damper",
            vector("body1.frame_a.r_0"),
            lambda: spring_and_damper().q[:, :3],
            1e-5,
        ),
        result(
            "its angular velocity, rad/s",
            "spring_damper",
            vector("body1.w_a"),
            lambda: spring_and_damper().qd[:, 3:6],
            3e-4,
        ),
        *hinges("spring_damper", spring_and_damper, {"s": "p2"}, (2e-4, 2e-4), slide=True),
    ),
    case(
        "spring_mass",
        "Masses on springs",
        f"{EXAMPLES}/Elementary/SpringMassSystem",
        "The same spring in a joint and along a line.",
        *hinges("spring_mass", two_masses, {"s1": "p1", "s2": "p2"}, (2e-5, 2e-5), slide=True),
    ),
    case(
        "heavy_spring",
        "Spring with a mass",
        f"{EXAMPLES}/Elementary/SpringWithMass",
        "The mass of the spring, 0.5 kg, is a point of an element model half way along it.",
        result(
            "height, m",
            "heavy_spring",
            ["body.frame_a.r_0[2]"],
            lambda: heavy_spring().q,
            3e-4,
        ),
        result("speed, m/s", "heavy_spring", ["body.v_0[2]"], lambda: heavy_spring().qd, 5e-4),
    ),
    case(
        "spring_pendulum",
        "Pendulum on a spring",
        f"{EXAMPLES}/Elementary/PendulumWithSpringDamper",
        "A body slides in a guide that turns, held by a spring and a damper.",
        *hinges("spring_pendulum", spring_pendulum, {"phi": "revolute"}, (2e-5, 2e-5)),
        *hinges("spring_pendulum", spring_pendulum, {"s": "prismatic"}, (3e-5, 3e-5), slide=True),
    ),
    case(
        "line_masses",
        "Damper with two masses",
        f"{EXAMPLES}/Elementary/LineForceWithTwoMasses",
        (
            "Two masses on a telescope between a bar and the ground, for us two points of an "
            "element model whose places are laws of one angle."
        ),
        *hinges("line_masses", masses_on_a_line, {"phi": "revolute1"}, (1e-5, 1e-5)),
    ),
)
