"""The whole robot of Modelica's examples: an arm of six axes, each with its drive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import radians
from pathlib import Path
from typing import Any

import numpy as np

import chainform as cf
from chainform.mechanism import MechanismBuilder
from tests.published.cases import modelica_drives as drives
from tests.published.cases.modelica import (
    EXAMPLES,
    Fields,
    case,
    coordinates_of,
    moved,
    rates_of,
    result,
)
from tests.published.cases.modelica_drives import Axis, modes, twists

FROM, TO = (-60, 20, 90, 0, -110, 0), (60, -70, -35, 45, 110, 45)
"""Angles at the start and at the end, degrees."""
FASTEST, STRONGEST = (3, 1.5, 5, 3.1, 3.1, 4.1), (15, 15, 15, 60, 60, 60)
"""Bounds of rates (rad/s) and accelerations (rad/s²), which the slowest axis sets for all."""
STICK = {"q4": 26.7, "q5": 39.6, "q6": 16.8}
"""Where friction holds more at rest than it does while a joint slides, N m."""
JOINTS = [f"q{k}" for k in range(1, 7)]
SMALL = [0.001, 0.001, 0.001]


def paths() -> list[drives.Path]:
    """Return the motions of all axes, which begin and end together."""
    turns = np.radians(np.subtract(TO, FROM))
    slowest, weakest = max(abs(turns / FASTEST)), max(abs(turns / STRONGEST))
    ends = zip(FROM, TO, strict=True)
    return [drives.Path(radians(a), radians(b), weakest / slowest, slowest) for a, b in ends]


def arm(motors: Sequence[Axis]) -> MechanismBuilder:
    """Return the arm with the rotors of the axes that have rigid gears."""
    builder = cf.Mechanism.builder("robot of six axes", gravity=(0, "-9.81", 0))
    second = {"xx": 2.58, "yy": 0.64, "zz": 2.73, "xy": -0.46}
    third = {"xx": 0.279, "yy": 0.245, "zz": 0.413, "xy": -0.07}
    rows: list[tuple[str, list[float], Fields]] = [
        ("y", [0, 0.351, 0], {"mass": 1, "inertia": [0.001, 1.16, 0.001]}),
        ("x", [0, 0.324, 0.3], {"mass": 56.5, "com": [0.172, 0.205, 0], "inertia": second}),
        ("x", [0, 0.65, 0], {"mass": 26.4, "com": [0.064, -0.034, 0], "inertia": third}),
        ("y", [0, 0.414, -0.155], {"mass": 28.7, "inertia": [1.67, 0.081, 1.67]}),
        ("x", [0, 0.186, 0], {"mass": 5.2, "inertia": [1.25, 0.81, 1.53]}),
        ("y", [0, 0.125, 0], {"mass": 0.5, "com": [0.05, 0.05, 0.05], "inertia": SMALL}),
    ]
    parent = "ground"
    for name, drive, (axis, place, body) in zip(JOINTS, motors, rows, strict=True):
        joint: dict[str, Any] = {"name": name, "type": "revolute", "axis": axis}
        if drive.gear is None:
            coulomb, viscous = drive.friction
            joint["friction"] = {"coulomb": coulomb, "viscous": viscous}
            joint |= {"rotor_inertia": drive.rotor, "gear_ratio": drive.ratio}
        builder.segment(f"on {name}", parent=parent, joint=joint, position=place, **body)
        parent = f"on {name}"
    load: Fields = {"mass": 15, "com": [0.1, 0.25, 0.1], "inertia": SMALL}
    return builder.segment("load", parent=parent, joint="fixed", **load)


@cache
def axes() -> tuple[Axis, ...]:
    """Return the drives, with the currents that hold the arm at the start."""
    large, bearing = (1.1616, 0.0013), (0.4, 0.13 / 160)
    rows = (
        (-105, *large, 4590, 0.6, bearing, (43, 0.005)),
        (210, *large, 5500, 0.6, (0.5, 0.1 / 130), (8, 0.01)),
        (60, *large, 5500, 0.6, (0.7, 0.2 / 130), (58, 0.04)),
        (-99, 0.2365, 1.6e-4, 6250, 0.55, (21.8, 9.8), None),
        (79.2, 0.2608, 1.8e-4, 6250, 0.55, (30.1, 0.03), None),
        (-99, 0.0842, 4.3e-5, 7400, 0.27, (10.9, 3.92), None),
    )
    chosen = zip(JOINTS, paths(), rows, strict=True)
    motors = [Axis(joint, path, *row) for joint, path, row in chosen]
    model = cf.derive(arm(motors).build(), ["gravity"])
    weight = model.evaluate(q=np.radians(FROM))["gravity"]
    loads = zip(motors, weight, strict=True)
    return tuple(replace(a, current=w / (a.ratio * a.torque_constant)) for a, w in loads)


@cache
def robot() -> cf.Run:
    builder = arm(axes())
    for axis in axes():
        axis.attach(builder)
    start = {name: value for axis in axes() for name, value in axis.start().items()}
    currents = {f"charge_{axis.joint}": axis.current for axis in axes()}
    return moved(builder.build(), "robot", q0=start, qd0=currents, friction=STICK)


def draw(file: Path) -> None:
    """Write a picture of the arm alone along the motion that was found."""
    run = robot()
    motion = {
        name: {"t": run.t, "values": run.q[:, k], "smoothing": 0} for k, name in enumerate(JOINTS)
    }
    alone = cf.simulate(arm(axes()).build(), motion=motion, t=run.t[-1], q0=run.q[0, :6])
    alone.picture(file=file, size=(480, 360), view=(-60, 20))


def columns(text: str, numbers: Sequence[int] = (1, 2, 3, 4, 5, 6)) -> list[str]:
    """Return the columns of some axes."""
    return [text.format(k) for k in numbers]


CASES = (
    case(
        "robot",
        "Robot of six axes with its drives",
        f"{EXAMPLES}/Systems/RobotR3/FullRobot",
        (
            "An arm moves 15 kg from pose to pose. Six drives as the one above, three of them with "
            "elastic gears; all six bearings stick and slide again and again. The currents at the "
            "start are those that hold the weight."
        ),
        result(
            "angles, rad",
            "robot",
            columns("mechanics.r{}.phi"),
            lambda: coordinates_of(robot(), JOINTS),
            5e-8,
        ),
        result(
            "rates, rad/s",
            "robot",
            columns("mechanics.r{}.w", (1, 3, 4, 5, 6)),
            lambda: rates_of(robot(), ["q1", "q3", "q4", "q5", "q6"]),
            1e-6,
        ),
        result(
            "twists of the elastic gears, rad",
            "robot",
            columns("axis{}.gear.spring.phi_rel", (1, 2, 3)),
            lambda: twists(robot(), axes()[:3]),
            1e-6,
        ),
        result(
            "currents, A",
            "robot",
            columns("axis{}.motor.La.i"),
            lambda: rates_of(robot(), [f"charge_{name}" for name in JOINTS]),
            5e-6,
        ),
        modes(robot, "robot", columns("axis{}"), axes),
        is_slow=True,
        draw=draw,
    ),
)
