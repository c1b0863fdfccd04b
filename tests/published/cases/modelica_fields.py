"""Fields of gravity of Modelica's examples, written as forces that depend on places."""

from __future__ import annotations

from functools import cache

import chainform as cf
from tests.published.cases.modelica import (
    EXAMPLES,
    FINE_CLAIM,
    Fields,
    case,
    hinges,
    moved,
    result,
    vector,
)


def planets(file: str, *starts: tuple[list[float], list[float]], spring: bool = False) -> cf.Run:
    """Return the motion of points of 1 kg around a centre with mu = 1 m^3/s^2."""
    builder = cf.Mechanism.builder(file, gravity=(0, 0, 0))
    names = [[f"{axis}{k}" for axis in "xyz"] for k in range(len(starts))]
    builder.coordinates(*({"name": name, "unit": "m"} for place in names for name in place))
    for k, place in enumerate(names):
        x, y, z = place
        square = f"({x}^2 + {y}^2 + {z}^2)"
        pull = [f"-{axis}/({square}*sqrt({square}))" for axis in place]
        builder.element(kind="point", name=f"planet{k}", mass=1, position=place)
        builder.element(kind="force", at=f"planet{k}", force=pull)
    if spring:
        builder.element(kind="elastic", stiffness=10, ends=["planet0", "planet1"])
    places = [x for place, _ in starts for x in place]
    return moved(builder.build(), file, q0=places, qd0=[v for _, rate in starts for v in rate])


@cache
def one_planet() -> cf.Run:
    return planets("point_gravity", ([0, 0.6, 0], [1, 0, 0]))


@cache
def two_planets() -> cf.Run:
    starts = ([0, 0.8, 0], [0.6, 0, 0]), ([0.3, 0.8, 0], [0.6, 0, 0])
    return planets("point_masses", *starts, spring=True)


@cache
def in_field() -> cf.Run:
    """The weight of 1000 kg follows the normal gravity of WGS 84 on the equator."""
    a, b, at_equator = 6378137.0, 6356752.3142, 9.7803253359
    flattening, turn, gm = 1 / 298.257223563, 7292115e-11, 3986004.418e8
    slope = 2 * (1 + flattening + turn**2 * a**2 * b / gm)
    builder = cf.Mechanism.builder("pendulum in a field", gravity=(0, 0, 0))
    hinge = {"name": "phi", "type": "revolute", "axis": "z", "friction": {"viscous": 0.1}}
    body: Fields = {"mass": 1000, "com": [10, 0, 0], "inertia": [0.001, 0.001, 0.001]}
    builder.segment("body", parent="ground", joint=hinge, position=[0, 20, 0], **body)
    builder.frame("centre", "body", [10, 0, 0])
    weight = f"-1000*{at_equator}*(1 - y(centre)/{a}*({slope} + 3*y(centre)/{a}))"
    builder.element(kind="force", at="centre", force=[0, weight, 0])
    return moved(builder.build(), "gravity_field", rtol=1e-11)


CASES = (
    case(
        "point_gravity",
        "Planet",
        f"{EXAMPLES}/Elementary/PointGravity",
        (
            "A body on an ellipse. The second one of the source passes so near the centre that the "
            "published numbers lose five parts in 10,000 of its energy; it is left out."
        ),
        result(
            "position, m",
            "point_gravity",
            vector("body1.frame_a.r_0"),
            lambda: one_planet().q,
            1e-3,
        ),
        result(
            "velocity, m/s", "point_gravity", vector("body1.v_0"), lambda: one_planet().qd, 1e-3
        ),
    ),
    case(
        "point_masses",
        "Two planets on a spring",
        f"{EXAMPLES}/Elementary/PointGravityWithPointMasses",
        "Two points around a centre, held together by a spring.",
        result(
            "positions, m",
            "point_masses",
            [*vector("body3.r_0"), *vector("body4.r_0")],
            lambda: two_planets().q,
            2e-3,
        ),
    ),
    case(
        "gravity_field",
        "Pendulum in the field of the earth",
        f"{EXAMPLES}/Elementary/UserDefinedGravityField",
        ("A pendulum of 10 m in the normal gravity of WGS 84, which changes with the height."),
        *hinges("gravity_field", in_field, {"phi": "rev"}, (5e-8, 1e-7), claim=FINE_CLAIM),
    ),
)
