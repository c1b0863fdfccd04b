"""Closed linkages: plane ones whose motion is known, and a platform on six legs."""

from __future__ import annotations

from functools import cache
from math import asin, cos, pi, sin
from typing import Any

from scipy.integrate import solve_ivp

import chainform as cf

CRANK, ROD = 0.3, 0.8
"""Lengths of the slider-crank (m)."""


@cache
def slider_crank(drive: str = "") -> cf.Mechanism:
    """A crank about z, a rod, and a slider along x; gravity along -y; a law may drive it."""
    builder = cf.Mechanism.builder("slider-crank", gravity=(0, "-9.81", 0))
    builder.segment("crank", axis="z", mass=2, com=[CRANK / 2, 0, 0], inertia=[0, "0.015", "0.015"])
    builder.segment(
        "rod",
        parent="crank",
        axis="z",
        position=[CRANK, 0, 0],
        mass=1,
        com=[ROD / 2, 0, 0],
        inertia=[0, "0.05", "0.05"],
    )
    builder.segment("slider", parent="ground", joint="prismatic", axis="x", mass=3)
    builder.loop(
        "pin",
        kind="point",
        closing={"segment": "rod", "point": [ROD, 0, 0]},
        target={"segment": "slider"},
    )
    if drive:
        builder.constraint("holonomic", drive)
    return builder.build()


@cache
def parallelogram(long: float = 1.0) -> cf.Mechanism:
    """Two cranks of 0.4 m that a coupler keeps parallel; the ground is `long` m, and so is it."""
    builder = cf.Mechanism.builder("parallelogram", gravity=(0, 0, 0))
    sizes: dict[str, Any] = {"mass": 1, "inertia": [0, "0.02", "0.02"]}
    builder.segment("a", axis="z", com=["0.2", 0, 0], **sizes)
    builder.segment("b", parent="a", axis="z", position=["0.4", 0, 0], com=["0.5", 0, 0], **sizes)
    builder.segment(
        "c", parent="ground", axis="z", position=[long, 0, 0], com=["0.2", 0, 0], **sizes
    )
    builder.loop(
        "pin",
        kind="point",
        closing={"segment": "b", "point": [long, 0, 0]},
        target={"segment": "c", "point": ["0.4", 0, 0]},
    )
    return builder.build()


CRANK_MASS, CRANK_INERTIA = 1.0, 0.02
"""Of every crank and coupler of a ladder (kg, kg m^2 about its centre)."""


@cache
def ladder(count: int) -> cf.Mechanism:
    """Parallelograms side by side: cranks of 0.4 m, 1 m apart, and couplers; gravity along -y."""
    builder = cf.Mechanism.builder("ladder", gravity=(0, "-9.81", 0))
    sizes: dict[str, Any] = {"mass": 1, "inertia": [0, "0.02", "0.02"]}
    for i in range(count + 1):
        builder.segment(
            f"c{i}", parent="ground", axis="z", position=[i, 0, 0], com=["0.2", 0, 0], **sizes
        )
    for i in range(count):
        builder.segment(
            f"k{i}", parent=f"c{i}", axis="z", position=["0.4", 0, 0], com=["0.5", 0, 0], **sizes
        )
        ends = (
            {"segment": f"k{i}", "point": [1, 0, 0]},
            {"segment": f"c{i + 1}", "point": ["0.4", 0, 0]},
        )
        builder.loop(f"L{i}", "point", *ends)
    return builder.build()


def ladder_state(count: int, value: float) -> list[float]:
    """Return coordinates or rates with all cranks alike, and couplers that do not turn."""
    return [value] * (count + 1) + [-value] * count


def ladder_angle(count: int, angle: float, rate: float, t: float) -> float:
    """Return the angle of all cranks after a time: those of one pendulum, by its own equation."""
    inertia = (count + 1) * (CRANK_INERTIA + CRANK_MASS * 0.2**2) + count * CRANK_MASS * 0.4**2
    weight = 9.81 * CRANK_MASS * ((count + 1) * 0.2 + count * 0.4)

    def rates(_t: float, y: Any) -> list[float]:
        return [y[1], -weight / inertia * cos(y[0])]

    found = solve_ivp(rates, (0, t), [angle, rate], method="DOP853", rtol=1e-13, atol=1e-14)
    return float(found.y[0, -1])


@cache
def chain_of_four() -> cf.Mechanism:
    """A plane four-bar as one chain of four hinges whose last body is held to the ground whole."""
    builder = cf.Mechanism.builder("chain", gravity=(0, "-9.81", 0))
    lengths = (0.2, 0.5, 0.4, 0.1)
    parent, before = "ground", 0.0
    for name, length in zip(("a", "b", "c", "d"), lengths, strict=True):
        builder.segment(
            name,
            parent=parent,
            axis="z",
            position=[before, 0, 0],
            mass=1,
            com=[length / 2, 0, 0],
            inertia=["0.001", "0.02", "0.02"],
        )
        parent, before = name, length
    builder.loop(
        "whole",
        kind="frame",
        closing={"segment": "d"},
        target={"segment": "ground", "point": ["0.6", 0, 0]},
    )
    return builder.build()


@cache
def stewart(leg_mass: float = 1.0) -> cf.Mechanism:
    """A platform on six legs, each with a universal joint below, a slide, and a ball above."""
    builder = cf.Mechanism.builder("stewart")
    builder.segment("platform", joint="free", mass=20, com=[0, 0, "0.05"], inertia=[1, 1, 2])
    base, top = (-10, 10, 110, 130, 230, 250), (-50, 50, 70, 170, 190, 290)
    for k, (below, above) in enumerate(zip(base, top, strict=True), 1):
        feet, balls = (
            [round(r * f(a * pi / 180), 6) for f in (cos, sin)]
            for r, a in ((1.0, below), (0.5, above))
        )
        builder.segment(
            f"lower{k}",
            parent="ground",
            joint="universal",
            axes=["x", "y"],
            position=[*feet, 0],
            mass=2 * leg_mass,
            com=[0, 0, "0.3"],
            inertia=[0.06 * leg_mass, 0.06 * leg_mass, 0.002 * leg_mass],
        )
        builder.segment(
            f"leg{k}",
            parent=f"lower{k}",
            joint="prismatic",
            axis="z",
            mass=leg_mass,
            com=[0, 0, "-0.2"],
            inertia=[0.02 * leg_mass, 0.02 * leg_mass, 0.001 * leg_mass],
        )
        builder.loop(
            f"ball{k}",
            kind="point",
            closing={"segment": f"leg{k}"},
            target={"segment": "platform", "point": [*balls, 0]},
        )
    return builder.build()


LEGS = tuple(f"leg{k}" for k in range(1, 7))


def rough_platform(height: float = 1.0) -> dict[str, float]:
    """Return a pose of the platform that is not quite closed."""
    return {"platform_z": height, **dict.fromkeys(LEGS, 1.1)}


@cache
def bennett() -> tuple[cf.Mechanism, float]:
    """Bennett's linkage of four bars that are not parallel, with the constant of its angles.

    Lengths and twists of opposite bars are equal, with a sin(beta) = b sin(alpha). Its angles obey
    tan(q1 / 2) tan(q2 / 2) = constant, q3 = -q1, q4 = -q2, and of six equations of the loop three
    are redundant, but only where it is closed.
    """
    alpha = 0.7
    beta = asin(0.6 * sin(alpha))
    builder = cf.Mechanism.builder("bennett", gravity=(0, 0, "-9.81"))
    parent, place = "ground", (0.0, 0.0)
    for name, length, twist in zip(
        "abcd", (1, 0.6, 1, 0.6), (alpha, beta, alpha, beta), strict=True
    ):
        builder.segment(
            name,
            parent=parent,
            axis="z",
            position=[place[0], 0, 0],
            rpy=[place[1], 0, 0],
            mass=1,
            com=[length / 2, 0, 0],
            inertia=["0.01", "0.02", "0.02"],
        )
        parent, place = name, (length, twist)
    builder.loop(
        "end",
        kind="frame",
        closing={"segment": "d", "point": [place[0], 0, 0], "rpy": [place[1], 0, 0]},
        target={"segment": "ground"},
    )
    return builder.build(), sin((beta + alpha) / 2) / sin((beta - alpha) / 2)


@cache
def carried_bar() -> cf.Mechanism:
    """A loop on a body that turns: a bar between two ball joints, which can only spin."""
    builder = cf.Mechanism.builder("carried bar", gravity=(0, 0, "-9.81"))
    body: dict[str, Any] = {"mass": 2, "inertia": ["0.3", "0.4", "0.5"]}
    euler = {"name": "base", "type": "spherical", "euler": "xyx"}
    builder.segment("base", joint=euler, com=["0.3", "0.1", 0], **body)
    builder.segment(
        "bar",
        parent="base",
        joint="spherical",
        position=["-0.4", "0.4", "0.6"],
        com=["0.1", 0, 0],
        **body,
    )
    builder.segment(
        "end",
        parent="bar",
        joint="spherical",
        position=["0.1", 0, "0.2"],
        com=[0, "0.1", "0.4"],
        **body,
    )
    builder.loop(
        "weld",
        kind="frame",
        closing={"segment": "end", "point": ["0.5", "0.3", "0.2"]},
        target={"segment": "base", "point": ["0.2", "0.7", "1"]},
    )
    return builder.build()
