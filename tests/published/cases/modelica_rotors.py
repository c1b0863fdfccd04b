"""Gears and gyroscopes of Modelica's examples."""

from __future__ import annotations

from functools import cache

import numpy as np

import chainform as cf
from tests.published.cases.modelica import (
    EXAMPLES,
    FINE_CLAIM,
    STEEL,
    TESTS,
    Y_UP,
    Fields,
    Vector,
    case,
    coordinates_of,
    curves,
    cylinder,
    hinges,
    moved,
    rates_of,
    result,
    vector,
)
from tests.published.records import Array


@cache
def gyroscope(rotor: bool) -> cf.Run:
    """Return a wheel on a rod on a ball; with `rotor` its spin is that of a part without mass."""
    builder = cf.Mechanism.builder("gyroscope", gravity=Y_UP)
    rod, wheel = cylinder([0.25, 0, 0], 0.05), cylinder([0.2, 0, 0], 0.1)
    wheel["com"] = [0.0, 0.0, 0.0]
    place: Fields = {"position": [0.25, 0, 0], "rpy": [0, "pi/4", 0]}
    spin: Fields = {"name": "spin", "type": "revolute", "axis": "x"}
    builder.segment("rod", parent="ground", joint="spherical", **rod)
    if rotor:
        axial, across, _ = (wheel["inertia"][k][k] for k in range(3))
        body: Fields = {**wheel, "inertia": [0, across, across]}
        builder.segment("housing", parent="rod", joint="fixed", **place, **body)
        builder.segment("wheel", parent="rod", joint=spin, **place, inertia=[axial, 0, 0])
    else:
        builder.segment("wheel", parent="rod", joint=spin, **place, **wheel)
    return moved(builder.build(), "gyroscope", rtol=1e-12, qd0={"spin": 10})


def wheel_turn() -> Array:
    """Return the angular velocity of the wheel in its own axes, rad/s."""
    axes = gyroscope(False).output("pose(wheel)")[:, :3, :3]
    return np.einsum("mji,mj->mi", axes, gyroscope(False).output("velocity(wheel)")[:, 3:])


def cube(r: Vector, at: Vector = (0, 0, 0)) -> Fields:
    """Return a steel cube of 0.1 m whose edge begins at `at` and points along r."""
    mass, line = STEEL * 0.1**3, np.asarray(r, float)
    com = np.asarray(at, float) + line / np.linalg.norm(line) * 0.05
    return {"mass": mass, "com": com.tolist(), "inertia": [mass * 0.02 / 12] * 3}


@cache
def gear() -> cf.Run:
    builder = cf.Mechanism.builder("gear in a turning bearing", gravity=Y_UP)
    parent = "ground"
    for name, axis, part in (("r1", "x", {}), ("r2", "y", {}), ("r3", "z", cube([1, 1, 1]))):
        hinge = {"name": name, "type": "revolute", "axis": axis}
        builder.segment(f"on {name}", parent=parent, joint=hinge, **part)
        parent = f"on {name}"
    slow = {"name": "slow", "type": "revolute", "axis": "y"}
    builder.segment("slow shaft", parent=parent, joint=slow, **cube([1.1, 1.2, 1.3]))
    fast = {"type": "revolute", "axis": "x", "mimic": {"joint": "slow", "ratio": 10}}
    body = cube([0.11, 0.12, 0.13], [-0.11, -0.12, -0.13])
    builder.segment("fast_shaft", parent=parent, joint=fast, **body)
    for name, size, frequency in (("r1", 110, 5), ("r2", 120, 6), ("r3", 130, 7)):
        builder.force(name, f"{size}*sin(2*pi*{frequency}*t)")
    moment = [f"{140 + 10 * k}*sin(2*pi*{8 + k}*t)" for k in range(3)]
    builder.element(kind="moment", moment=moment, on="fast_shaft", axes="fast_shaft")
    return moved(builder.build(), "gear_space")


SHAFTS = {
    "r1": "revolute1",
    "r2": "revolute2",
    "r3": "revolute3",
    "slow": "gearConstraint.actuatedRevolute_b",
}
CASES = (
    case(
        "gyroscope",
        "Gyroscope",
        f"{EXAMPLES}/Rotational3DEffects/GyroscopicEffects",
        (
            "A wheel spins on a bent rod that hangs on a ball. The source has it twice, as a body "
            "and as a rotor in a housing; so have we."
        ),
        result(
            "angular velocity of the wheel, its axes, rad/s",
            "gyroscope",
            vector("bodyCylinder2.body.w_a"),
            wheel_turn,
            2e-5,
            FINE_CLAIM,
        ),
        result(
            "angular velocity of the rod, rad/s",
            "gyroscope",
            vector("bodyCylinder3.body.w_a"),
            lambda: gyroscope(True).qd[:, :3],
            2e-6,
            FINE_CLAIM,
        ),
        result(
            "angle of the wheel, rad",
            "gyroscope",
            ["revolute.phi"],
            lambda: coordinates_of(gyroscope(False), ["spin"]),
            1e-6,
            FINE_CLAIM,
        ),
        result(
            "rate of the rotor, rad/s",
            "gyroscope",
            ["rotor1D.w"],
            lambda: rates_of(gyroscope(True), ["spin"]),
            1e-6,
            FINE_CLAIM,
        ),
    ),
    case(
        "gear_space",
        "Gear in a turning bearing",
        f"{TESTS}/Parts/Rotor1D/GearConstraint3",
        (
            "Two shafts at a right angle with a gear of 10 : 1, in a bearing that turns about "
            "three axes. Compared for 0.24 s of 1: from then on the driven motion is chaotic."
        ),
        *hinges("gear_space", gear, SHAFTS, (1e-4, 8e-4)),
        draw=curves(gear, "gear_space", {"r1": "revolute1.phi", "slow": f"{SHAFTS['slow']}.phi"}),
    ),
)
