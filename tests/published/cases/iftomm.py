"""A benchmark of the IFToMM library, with a solution that was submitted to it."""

from __future__ import annotations

from functools import cache

import numpy as np

import chainform as cf
from tests.published.records import Case, Result, Source, series

SOURCE = Source(
    name="IFToMM: library of computational benchmark problems, in the data of Exudyn",
    repository="github.com/jgerstmayr/EXUDYN",
    commit="657f9c6392c48831530f98e18cbccb81a9097953",
    licence="EXUDYN General License 1.0, the text of BSD-3-Clause",
    parameters="the same repository at commit `e44aca1b4f`",
)
FOLDER = "docs/verification/Slidercrank3DiftommBenchmark"


@cache
def slider_crank() -> cf.Run:
    """A crank drives a slider across it; the rod is on a ball there and on a cross here."""
    builder = cf.Mechanism.builder("spatial slider crank", gravity=(0, 0, "-9.81"))
    builder.segment(
        "crank",
        parent="ground",
        joint={"name": "theta", "type": "revolute", "axis": "x"},
        position=[0, "0.1", "0.12"],
        mass="0.12",
        com=[0, 0, "0.04"],
        inertia=["0.0001", "0.0001", "0.00001"],
    )
    slide = {"name": "s", "type": "prismatic", "axis": "x"}
    builder.segment("slider", parent="ground", joint=slide, mass=2, inertia=["0.0001"] * 3)
    cross = {"name": "cross", "type": "revolute", "axis": "x"}
    builder.segment("cross", parent="slider", joint=cross)
    # 0.0004 kg m² along the rod, which lies in the direction (2, -1, -2) at first, 0.004 across.
    along = np.array([2, -1, -2]) / 3
    inertia = 0.004 * np.eye(3) - 0.0036 * np.outer(along, along)
    entries = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
    builder.segment(
        "rod",
        parent="cross",
        joint={"name": "rod", "type": "revolute", "axis": [0, -2, 1]},
        mass="0.5",
        com=["-0.1", "0.05", "0.1"],
        inertia={name: float(inertia[place]) for name, place in entries.items()},
    )
    end = {"segment": "rod", "point": ["-0.2", "0.1", "0.2"]}
    builder.loop("ball", "spherical", end, {"segment": "crank", "point": [0, 0, "0.08"]})
    # The rates of the rod are those that keep the ball closed while the crank turns at 6 rad/s.
    rates = {"theta": 6, "s": 0.24, "cross": 1.92, "rod": 0.48 * np.sqrt(5)}
    times = series("iftomm/slider_crank.csv", "t")()[:, 0]
    start = [0, 0.2, 0, 0]
    return cf.simulate(builder.build(), t=5, t_eval=times, q0=start, qd0=rates, rtol=1e-11)


CASES = (
    Case(
        name="iftomm_slider_crank",
        title="Spatial slider crank",
        source=SOURCE,
        path=f"{FOLDER}/Spatial_rigid_slider-crank_mechanism_Gonzalez.txt",
        model="main/pythonDev/TestModels/sliderCrank3Dbenchmark.py",
        note="A crank drives a slider that moves across it, by a rod on a ball and a cross, and "
        "turns more than eight times. Other solutions in the same folder differ from this one, "
        "that of González, by a hundred times more.",
        results=(
            Result(
                quantity="place of the slider, m",
                published=series("iftomm/slider_crank.csv", "s"),
                ours=lambda: slider_crank().q[:, 1:2],
                accuracy=1e-4,
                claim="not stated; it begins too slowly by 6.5e-5 of its speed, which alone makes "
                "1e-4 m in 5 s",
                is_absolute=True,
            ),
        ),
        picture="png",
        draw=lambda file: slider_crank().picture(file, size=(480, 400)),
    ),
)
