"""Wheels of Modelica's examples that roll without slipping."""

from __future__ import annotations

from functools import cache

import chainform as cf
from chainform.mechanism import MechanismBuilder
from tests.published.cases.modelica import (
    ACCURACY,
    CLAIM,
    EXAMPLES,
    Z_UP,
    case,
    moved,
    result,
    turned,
)
from tests.published.records import Array, Result, series


@cache
def wheel() -> cf.Run:
    """The chain leads from the point of contact over the lean to the axis of the wheel."""
    builder = cf.Mechanism.builder("rolling wheel", gravity=Z_UP)
    angles = ({"name": name, "unit": "rad"} for name in ("heading", "lean", "spin"))
    builder.coordinates({"name": "x", "unit": "m"}, {"name": "y", "unit": "m"}, *angles)
    chain = "S(x, y, 0), Rz(heading), Rx(lean), Sz(0.3), Ry(spin)"
    inertia = [0.12, 0.06, 0.12]
    builder.element(name="wheel", kind="body", chain=chain, mass=2, inertia=inertia)
    builder.constraint("nonholonomic", "der(x) - 0.3*der(spin)*cos(heading)")
    builder.constraint("nonholonomic", "der(y) - 0.3*der(spin)*sin(heading)")
    start = {"x": 0.2, "y": 0.2}
    return moved(builder.build(), "rolling_wheel", q0=start, qd0={"lean": 1, "spin": 5})


def published_rotation() -> Array:
    """Return the rotation of the wheel from its published angles about z, y and x."""
    columns = [f"wheel1.angles[{k}]" for k in (1, 2, 3)]
    z, y, x = series("modelica/rolling_wheel.csv", *columns)().T
    return turned(2, z) @ turned(1, y) @ turned(0, x)


def wheel_set(file: str) -> MechanismBuilder:
    """Return two wheels on an axle with a small load before it."""
    builder = cf.Mechanism.builder(file, gravity=Z_UP)
    angles = ({"name": name, "unit": "rad"} for name in ("phi", "theta1", "theta2"))
    builder.coordinates({"name": "x", "unit": "m"}, {"name": "y", "unit": "m"}, *angles)
    builder.element(name="axle", kind="frame", chain="S(x, y, 0.1), Rz(phi)")
    small, round_ = [0.001, 0.001, 0.001], [0.02, 0.01, 0.02]
    builder.element(name="load", kind="body", on="axle", chain="Sx(0.2)", mass=0.01, inertia=small)
    forward = "der(x)*cos(phi) + der(y)*sin(phi)"
    for k, side in ((1, 0.25), (2, -0.25)):
        chain = f"Sy({side}), Ry(theta{k})"
        builder.element(kind="body", on="axle", chain=chain, mass=0.5, inertia=round_)
        law = f"{forward} - ({side})*der(phi) - 0.1*der(theta{k})"
        builder.constraint("nonholonomic", law)
    return builder.constraint("nonholonomic", "der(y)*cos(phi) - der(x)*sin(phi)")


@cache
def driven() -> cf.Run:
    builder = wheel_set("driven wheels")
    builder.element(kind="force", force="-2*sin(2*pi*t)", along="theta1")
    builder.element(kind="force", force="-2*sin(2*pi*t + 1.5707963267949)", along="theta2")
    return moved(builder.build(), "driven_wheels", q0={"x": 0.1, "y": 0.1})


@cache
def pulled() -> cf.Run:
    builder = wheel_set("pulled wheels")
    force = ["min(1, max(0, 2 - t))", "2*min(1, max(0, t - 1))", 0]
    builder.element(kind="force", force=force, at="load")
    return moved(builder.build(), "pulled_wheels", q0={"x": 0.1, "y": 0.1})


CASES = (
    case(
        "rolling_wheel",
        "Rolling wheel",
        f"{EXAMPLES}/Elementary/RollingWheel",
        (
            "A wheel that begins to fall over. The angles of the source become singular with every "
            "turn; the rotation that they stand for is compared."
        ),
        result(
            "position of the centre, m",
            "rolling_wheel",
            ["wheel1.x", "wheel1.y"],
            lambda: wheel().output("pose(wheel)")[:, :2, 3],
            8e-4,
        ),
        Result(
            "rotation",
            published_rotation,
            lambda: wheel().output("pose(wheel)")[:, :3, :3],
            ACCURACY,
            CLAIM,
        ),
        draw=lambda file: wheel().picture(file=file, size=(480, 320), view=(-60, 25)),
    ),
    *(
        case(
            name,
            title,
            f"{EXAMPLES}/Elementary/{path}",
            note,
            result(
                "position, m",
                name,
                ["wheelSet.x", "wheelSet.y"],
                lambda run=run: run().q[:, :2],
                1e-5,
            ),
            result(
                "angles, rad",
                name,
                [f"wheelSet.{angle}" for angle in ("phi", "theta1", "theta2")],
                lambda run=run: run().q[:, 2:],
                1e-5,
            ),
            result(
                "rates of the wheels, rad/s",
                name,
                ["wheelSet.der_theta1", "wheelSet.der_theta2"],
                lambda run=run: run().qd[:, 3:],
                1e-5,
            ),
        )
        for name, title, path, note, run in (
            (
                "driven_wheels",
                "Driven wheel set",
                "RollingWheelSetDriving",
                "Two wheels on an axle, each with a torque of its own.",
                driven,
            ),
            (
                "pulled_wheels",
                "Pulled wheel set",
                "RollingWheelSetPulling",
                "The same wheels, pulled ahead of the axle, first forward, then sideways.",
                pulled,
            ),
        )
    ),
)
