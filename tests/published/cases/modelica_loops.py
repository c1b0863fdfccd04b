"""Closed loops of Modelica's examples: four-bar linkages in space and in the plane."""

from __future__ import annotations

from functools import cache

import chainform as cf
from chainform.mechanism import MechanismBuilder
from tests.published.cases.modelica import EXAMPLES, TESTS, Y_UP, box, case, cylinder, hinges, moved

START = {"j1": 5.235987755982989}
"""The crank turns by 300 degrees per second at first, rad/s."""


def crank_and_slider(name: str, x: float = 1.2) -> MechanismBuilder:
    """Return two bodies of the spatial linkages: one turns about x, one slides along it."""
    builder = cf.Mechanism.builder(name, gravity=Y_UP)
    crank, slider = cylinder([0, 0.5, 0.1], 0.05), cylinder([0, 0.2, 0], 0.05)
    builder.segment(
        "crank", parent="ground", joint={"name": "j1", "type": "revolute"}, axis="x", **crank
    )
    slide = {"name": "j2", "type": "prismatic", "axis": "x"}
    return builder.segment("slider", parent="ground", joint=slide, position=[x, 0, 0], **slider)


@cache
def spatial() -> cf.Run:
    builder = crank_and_slider("spatial four-bar linkage")
    builder.segment("cross", parent="slider", axis="y", position=[0, 0.2, 0])
    builder.segment("coupler", parent="cross", axis="z", **cylinder([-1, 0.3, 0.1], 0.05))
    end = {"segment": "coupler", "point": [-1, 0.3, 0.1]}
    builder.loop("ball", "point", end, {"segment": "crank", "point": [0, 0.5, 0.1]})
    return moved(builder.build(), "fourbar_spatial", q0={"j1": 0, "j2": -0.2}, qd0=START)


def joined(builder: MechanismBuilder) -> cf.Mechanism:
    """Return crank and slider with a rod between two balls."""
    ends = {"segment": "slider", "point": [0, 0.2, 0]}, {"segment": "crank", "point": [0, 0.5, 0.1]}
    return builder.loop("rod", "distance", *ends, length="sqrt(1.1)").build()


@cache
def with_rod() -> cf.Run:
    linkage = joined(crank_and_slider("four-bar linkage with a rod"))
    return moved(linkage, "fourbar_rod", q0={"j1": 0, "j2": -0.2}, qd0=START)


@cache
def with_heavy_rod() -> cf.Run:
    """The mass of the rod is a point of an element model, half way between the balls."""
    builder = crank_and_slider("four-bar linkage with a heavy rod", 1.0)
    builder.frame("left", "crank", [0, 0.5, 0.1]).frame("right", "slider", [0, 0.2, 0])
    middle = [f"({axis}(left) + {axis}(right))/2" for axis in "xyz"]
    builder.element(kind="point", mass=1, position=middle)
    return moved(joined(builder), "fourbar_heavy_rod", q0={"j1": 0, "j2": 0}, qd0=START)


@cache
def planar() -> cf.Run:
    long, left, right = [0.1, 1.1, 0], [-0.15, 1, 0], [0.65, 0.1, 0]
    builder = cf.Mechanism.builder("planar four-bar linkage", gravity=Y_UP)
    hinge = {"name": "crank", "type": "revolute", "axis": "z", "friction": {"viscous": 0.1}}
    builder.segment("first", parent="ground", joint=hinge, **box([0.4, 0, 0], 0.05))
    builder.segment("second", parent="first", axis="z", position=[0.4, 0, 0], **box(long, 0.05))
    builder.segment("fourth", parent="ground", axis="z", position=left, **box(right, 0.05))
    end = {"segment": "second", "point": long}
    builder.loop("pin", "point", end, {"segment": "fourth", "point": right})
    return moved(builder.build(), "fourbar_planar", q0={"crank": 0}, qd0={"crank": 0})


CASES = (
    case(
        "fourbar_spatial",
        "Spatial four-bar linkage",
        f"{EXAMPLES}/Loops/Fourbar1",
        "Six hinges and a slide. Our loop closes by a ball, which stands for three hinges.",
        *hinges("fourbar_spatial", spatial, {"j1": "j1"}, (1e-4, 1e-3)),
        draw=lambda file: spatial().picture(file=file, size=(480, 320), view=(-60, 20)),
    ),
    case(
        "fourbar_rod",
        "Spatial four-bar linkage with a rod without mass",
        f"{EXAMPLES}/Loops/Fourbar2",
        "A rod between two balls in place of the coupler, for us a loop that keeps a distance.",
        *hinges("fourbar_rod", with_rod, {"j1": "j1"}, (1e-4, 1e-3)),
    ),
    case(
        "fourbar_heavy_rod",
        "Spatial four-bar linkage with a heavy rod",
        f"{TESTS}/FourbarVariants/SphericalSpherical",
        "The rod has its mass in the middle, for us a point at the mean of two places.",
        *hinges("fourbar_heavy_rod", with_heavy_rod, {"j1": "j1"}, (1e-4, 8e-4)),
    ),
    case(
        "fourbar_planar",
        "Planar four-bar linkage",
        f"{EXAMPLES}/Loops/PlanarFourbar",
        "Four steel bars with a damper in the crank; one equation of the pin is redundant.",
        *hinges("fourbar_planar", planar, {"crank": "revolute1"}, (1e-3, 1e-3)),
        draw=lambda file: planar().picture(file=file, size=(480, 320)),
    ),
)
