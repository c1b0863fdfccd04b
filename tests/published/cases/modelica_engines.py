"""Combustion engines of Modelica's examples: one cylinder that turns freely, and six with gas."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import asin, cos, radians, sin, sqrt

import numpy as np

import chainform as cf
from tests.published.cases.modelica import (
    EXAMPLES,
    Y_UP,
    box,
    case,
    cylinder,
    hinges,
    moved,
    result,
    times_of,
)
from tests.published.records import Array

SHAFT = {"type": "revolute", "axis": "x", "rotor_inertia": 1, "gear_ratio": 1, "name": "crank"}
WEB, ROD = (0.02, 0.05, (1, 0, 0)), (0.02, 0.06, (1, 0, 0))
"""Width, height and the direction of the width of steel boxes, m."""
FINE = 20001
"""Times at which the torque of the six cylinders is taken, which jumps at the dead centres."""


@cache
def one_cylinder() -> cf.Run:
    builder = cf.Mechanism.builder("engine", gravity=Y_UP)
    builder.segment("shaft", parent="ground", joint=SHAFT, **cylinder([0.1, 0, 0], 0.05))
    for name, place, body in (
        ("first web", [0.1, 0, 0], box([0, 0.1, 0], *WEB)),
        ("crank pin", [0.1, 0.1, 0], cylinder([0.1, 0, 0], 0.03)),
        ("second web", [0.2, 0.1, 0], box([0, -0.1, 0], *WEB)),
    ):
        builder.segment(name, parent="shaft", joint="fixed", position=place, **body)
    slide = {"name": "s", "type": "prismatic", "axis": "-y"}
    piston = cylinder([0, -0.1, 0], 0.1)
    builder.segment("piston", parent="ground", joint=slide, position=[0.15, 0.45, 0], **piston)
    rod = box([0, -0.2, 0], *ROD)
    builder.segment("rod", parent="piston", axis="x", position=[0, -0.1, 0], **rod)
    end = {"segment": "rod", "point": [0, -0.2, 0]}
    builder.loop("pin", "point", end, {"segment": "shaft", "point": [0.15, 0.1, 0]})
    start = {"crank": 0, "s": 0.05}
    return moved(builder.build(), "engine", q0=start, qd0={"crank": 10})


def quartic(coefficients: Sequence[float], x: str) -> str:
    """Return the text of a polynomial of degree 4, the highest power first."""
    text = "0"
    for coefficient in coefficients:
        text = f"({text})*{x} + ({coefficient})"
    return f"({text})"


def gas(s: str) -> str:
    """Return the law of the force of the gas on a piston, N: other pressures up than down."""
    x = f"(1 - {s}/0.22)"
    rising = (177.4132, -287.2189, 151.8252, -24.9973, 2.4)
    ignited = (2836360, -10569296, 14761814, -9158505, 2129670)
    falling = (145.930, -131.707, 17.3438, 17.9272, 2.4)
    expanding = (-3929704, 14748765, -20747000, 12964477, -3036495)
    up = f"step(0.986061 - {x})*{quartic(rising, x)} + step({x} - 0.986061)*{quartic(ignited, x)}"
    down = f"step({x} - 0.933)*{quartic(expanding, x)} + step(0.933 - {x})*{quartic(falling, x)}"
    both = f"(1 - step(der({s})))*({up}) + step(der({s}))*({down})"
    return f"1e5*pi*0.1^2/4*({both})"


@cache
def six_cylinders() -> cf.Run:
    builder = cf.Mechanism.builder("V6", gravity=Y_UP)
    builder.segment("bearing", parent="ground", joint=SHAFT)
    start: dict[str, float] = {"crank": 0}
    cranks, banks = (-30, 90, 210, 210, 90, -30), (-30, 30, -30, 30, -30, 30)
    journal = cylinder([0.11, 0, 0], 0.05, 0.12, (-0.01, 0, 0))
    pin = cylinder([0.11, 0, 0], 0.03, 0.12, (-0.01, 0, 0))
    for k, (crank, bank) in enumerate(zip(cranks, banks, strict=True), 1):
        place, turn = [0.2 * (k - 1), 0, 0], [f"{crank}*pi/180", 0, 0]
        builder.segment(
            f"shaft{k}", parent="bearing", joint="fixed", position=place, rpy=turn, **journal
        )
        for name, at, body in (
            (f"web{k}", [0.1, 0, 0], box([0, 0.1, 0], *WEB)),
            (f"pin{k}", [0.1, 0.1, 0], pin),
            (f"end{k}", [0.2, 0.1, 0], box([0, -0.1, 0], *WEB)),
        ):
            builder.segment(name, parent=f"shaft{k}", joint="fixed", position=at, **body)
        place, turn = [0.2 * (k - 1) + 0.15, 0, 0], [f"{bank}*pi/180", 0, 0]
        builder.segment(f"bank{k}", parent="ground", joint="fixed", position=place, rpy=turn)
        slide = {"name": f"s{k}", "type": "prismatic", "axis": "-y"}
        piston = cylinder([0, -0.1, 0], 0.1)
        builder.segment(
            f"piston{k}", parent=f"bank{k}", joint=slide, position=[0, 0.42, 0], **piston
        )
        hinge, rod = {"name": f"r{k}", "type": "revolute", "axis": "x"}, box([0, -0.22, 0], *ROD)
        builder.segment(f"rod{k}", parent=f"piston{k}", joint=hinge, position=[0, -0.1, 0], **rod)
        end = {"segment": f"rod{k}", "point": [0, -0.2, 0]}
        builder.loop(f"loop{k}", "point", end, {"segment": f"shaft{k}", "point": [0.15, 0.1, 0]})
        angle = radians(crank - bank)
        start[f"s{k}"] = 0.32 - 0.1 * cos(angle) - sqrt(0.04 - (0.1 * sin(angle)) ** 2)
        start[f"r{k}"] = -asin(0.5 * sin(angle))
        builder.force(f"s{k}", gas(f"s{k}"))
    builder.force("crank", "-100*(der(crank)/200)^2")
    times = np.union1d(times_of("engine_v6"), np.linspace(0, 1.01, FINE))
    engine = builder.build()
    return cf.simulate(engine, t=1.01, t_eval=times, rtol=1e-10, q0=start, qd0={"crank": 10})


def at_published_times(values: Array) -> Array:
    """Return the rows of the six cylinders that were published, as columns."""
    rows = np.searchsorted(six_cylinders().t, times_of("engine_v6"))
    return values[rows].reshape(len(rows), -1)


def filtered_torque() -> Array:
    """Return both states of the filter behind the torque of the shaft, N m.

    The load of 1 kg m^2 takes the torque. The filter is two lags in a row, which begin at rest;
    between two times its input is a straight line, for which the solution is exact.
    """
    run = six_cylinders()
    found = run.qdd[:, 0] + 100 * (run.qd[:, 0] / 200) ** 2
    corner = 2 * np.pi * 5 / sqrt(sqrt(2) - 1)
    columns: list[Array] = []
    for _ in range(2):
        given, found = found, np.full(len(found), found[0])
        for k, step in enumerate(np.diff(run.t)):
            slope, decay = (given[k + 1] - given[k]) / step, np.exp(-corner * step)
            lag = slope / corner
            found[k + 1] = given[k + 1] - lag + (found[k] - given[k] + lag) * decay
        columns.append(found)
    return at_published_times(np.transpose(columns))


CASES = (
    case(
        "engine",
        "Engine of one cylinder",
        f"{EXAMPLES}/Loops/Engine1a",
        "Crank, rod and piston turn freely with a flywheel, from 10 rad/s.",
        *hinges("engine", one_cylinder, {"crank": "inertia"}, (1e-5, 8e-5)),
        draw=lambda file: one_cylinder().picture(file=file, size=(480, 320), view=(-55, 15)),
    ),
    case(
        "engine_v6",
        "V6 engine",
        f"{EXAMPLES}/Loops/EngineV6",
        (
            "Six closed loops. The law of the gas jumps at the dead centres, up to 564 rad/s; the "
            "torque behind the shaft is filtered as in the source."
        ),
        result(
            "angle of the load, rad",
            "engine_v6",
            ["load.phi"],
            lambda: at_published_times(six_cylinders().q[:, 0]),
            3e-4,
        ),
        result(
            "rate of the load, rad/s",
            "engine_v6",
            ["load.w"],
            lambda: at_published_times(six_cylinders().qd[:, 0]),
            6e-4,
        ),
        result(
            "filtered torque, N m",
            "engine_v6",
            ["filter.x[1]", "filter.x[2]"],
            filtered_torque,
            2e-3,
        ),
        is_slow=True,
        draw=lambda file: six_cylinders().picture(file=file, size=(480, 320), ghosts=0),
    ),
)
