"""Test models of Exudyn whose results are said to be exact to so many digits."""

from __future__ import annotations

from functools import cache

import numpy as np

import chainform as cf
from tests.published.records import Array, Case, Result, Source, series

SOURCE = Source(
    name="Exudyn: test models",
    repository="github.com/jgerstmayr/EXUDYN",
    commit="e44aca1b4fe3e5f4d820ff407fb3fd30b6581c1c",
    licence="EXUDYN General License 1.0, the text of BSD-3-Clause",
)
MODELS = "main/pythonDev/TestModels"
SUM = -1.309383960216414
"""Of the five angles of the tree after 1 s, rad."""


@cache
def tree() -> cf.Run:
    """Five bars of 20 kg on skew hinges fall for 1 s."""
    builder = cf.Mechanism.builder("tree", gravity=(0, -10, 0))
    turns = ((0, 0), (1, 1), (1, 1), (0, 1), (1, 1))
    for i, (x, y) in enumerate(turns):
        builder.segment(
            f"bar{i + 1}",
            parent=f"bar{i}" if i else "ground",
            joint={"name": f"hinge{i + 1}", "type": "revolute", "axis": "z"},
            rotation=turned(x * np.pi / 2, y * np.pi / 4),
            position=[2 if i else 0, 0, 0],
            mass=20,
            com=[1, 0, 0],
            inertia=["20*0.02/12", "20*4.01/12", "20*4.01/12"],
        )
    return cf.simulate(builder.build(), t=1, rtol=1e-11)


def turned(x: float, y: float) -> list[list[float]]:
    """Return the rotation about x, then about y of the body."""
    (cx, cy), (sx, sy) = np.cos([x, y]), np.sin([x, y])
    rows = [[cy, 0, sy], [sx * sy, cx, -sx * cy], [-cx * sy, sx, cx * cy]]
    return [[float(number) for number in row] for row in rows]


@cache
def slider_crank() -> cf.Run:
    """A slider crank without weight, sped up by a moment of 0.1 N m for 3 s."""
    builder = cf.Mechanism.builder("slider crank", gravity=(0, 0, 0))
    builder.segment(
        "crank",
        parent="ground",
        joint={"name": "theta", "type": "revolute", "axis": "z"},
        mass="0.2",
        com=["0.05", 0, 0],
        inertia=[0, 0, "0.2*0.1^2/12"],
    )
    builder.segment(
        "rod",
        parent="crank",
        joint={"name": "rod", "type": "revolute", "axis": "z"},
        position=["0.1", 0, 0],
        mass="0.2",
        com=["0.15", 0, 0],
        inertia=[0, 0, "0.2*0.3^2/12"],
    )
    pin = {"name": "pin", "type": "revolute", "axis": "z"}
    builder.segment("slider", parent="rod", joint=pin, position=["0.3", 0, 0], mass="0.4")
    ends = [{"segment": name, "axis": "x"} for name in ("slider", "ground")]
    builder.loop("guide", "prismatic", *ends).force("theta", "0.1")
    times = series("exudyn/slider_crank.csv", "t")()[:, 0]
    return cf.simulate(builder.build(), t=3, t_eval=times, rtol=1e-11)


def sum_of_angles() -> Array:
    """Return the one number that is published of the tree."""
    return tree().q[-1].sum(keepdims=True)


CASES = (
    Case(
        name="exudyn_tree",
        title="Bars on skew hinges",
        source=SOURCE,
        path=f"{MODELS}/kinematicTreeTest.py",
        note="Five bars fall on hinges that are turned against each other.",
        results=(
            Result(
                quantity="sum of the angles after 1 s, rad",
                published=lambda: np.array([SUM]),
                ours=sum_of_angles,
                accuracy=1e-8,
                claim="eight digits, as the source says",
            ),
        ),
        picture="png",
        draw=lambda file: tree().picture(file, size=(480, 400)),
    ),
    Case(
        name="exudyn_slider_crank",
        title="Slider crank that speeds up",
        source=SOURCE,
        path=f"{MODELS}/slidercrankRefSolM0.1_tol1e-6.txt",
        model=f"{MODELS}/sliderCrankFloatingTest.py",
        note="A crank with rod and slider turns ever faster under a constant moment; the source "
        "integrated Lagrange's equations with ode45.",
        results=(
            Result(
                quantity="angle of the crank, rad",
                published=series("exudyn/slider_crank.csv", "theta"),
                ours=lambda: slider_crank().q[:, :1],
                accuracy=1e-4,
                claim="1e-6 in each of some 800 steps, which add up",
            ),
        ),
        picture="svg",
        draw=lambda file: slider_crank().plot(["theta", "energy"], file),
    ),
)
