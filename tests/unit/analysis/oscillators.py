"""Mechanisms whose small motions have closed forms."""

from __future__ import annotations

from typing import Any

import chainform as cf

G = 9.81


def spring_chain(count: int = 1, *, is_free: bool = False) -> cf.Mechanism:
    """Return masses of 2 kg in a row between springs of 3 N/m, the ends fixed or free."""
    builder = cf.Mechanism.builder("chain", gravity=(0, 0, 0))
    laws: dict[str, str] = {}
    for k in range(count):
        name = f"m{k}"
        builder.segment(name, parent="ground", joint="prismatic", axis="x", mass=2)
        before = [f"m{k - 1}"] if k else [] if is_free else ["0"]
        after = [f"m{k + 1}"] if k < count - 1 else [] if is_free else ["0"]
        laws[name] = " ".join(f"- 3*({name} - ({other}))" for other in (*before, *after))
    return builder.build().with_forces(laws)


def pendulums(count: int = 2) -> cf.Mechanism:
    """Return equal point masses one below the other, 0.5 m apart, on rods without mass."""
    builder = cf.Mechanism.builder("pendulums", gravity=(0, 0, -9.81))
    for k in range(count):
        place: dict[str, Any] = {"parent": f"p{k}", "position": [0, 0, -0.5]} if k else {}
        builder.segment(f"p{k + 1}", axis="y", mass=1.5, com=[0, 0, -0.5], **place)
    return builder.build()


def top(joint: str = "spherical") -> cf.Mechanism:
    """Return a top on its tip: A = 0.2, C = 0.05 kg m2 about it, m g l = 5.886 N m.

    `cardan` has turns about x and y, then the spin about its axis.
    """
    builder = cf.Mechanism.builder("top", gravity=(0, 0, -9.81)).parameter("m", 2)
    body: dict[str, Any] = {"mass": "m", "com": [0, 0, 0.3], "inertia": [0.02, 0.02, 0.05]}
    if joint == "spherical":
        return builder.segment("top", joint="spherical", **body).build()
    builder.segment("outer", axis="x").segment("inner", parent="outer", axis="y")
    return builder.segment("spin", parent="inner", axis="z", **body).build()


TOP = {"A": 0.2, "C": 0.05, "moment": 2 * G * 0.3}


def spherical_pendulum() -> cf.Mechanism:
    """Return a point mass at 0.5 m that turns about the vertical and swings from it."""
    builder = cf.Mechanism.builder("governor", gravity=(0, 0, -9.81)).parameter("damping", 0)
    builder.segment("turn", axis="z")
    builder.segment("swing", parent="turn", axis="y", mass=1, com=[0, 0, -0.5])
    return builder.build()


def parallelogram() -> cf.Mechanism:
    """Return two cranks that hang down, with a coupler between them."""
    builder = cf.Mechanism.builder("swing", gravity=(0, -9.81, 0))
    crank: dict[str, Any] = {"axis": "z", "mass": 1, "com": [0.2, 0, 0], "inertia": [0, 0, 0.02]}
    builder.segment("a", **crank)
    builder.segment("b", parent="a", axis="z", position=[0.4, 0, 0], mass=3, com=[0.5, 0, 0])
    builder.segment("c", parent="ground", position=[1, 0, 0], **crank)
    ends: Any = {"segment": "b", "point": [1, 0, 0]}, {"segment": "c", "point": [0.4, 0, 0]}
    return builder.loop("pin", "point", *ends).build()


def elastic_joint() -> cf.Mechanism:
    """Return a rotor of 0.3 kg m2 and an arm of 1.2 kg m2 with 80 N m/rad between them."""
    builder = cf.Mechanism.builder("elastic joint", gravity=(0, 0, 0))
    builder.segment("rotor", axis="z", mass=1, inertia=[0, 0, 0.3])
    builder.segment("arm", axis="z", parent="rotor", mass=1, inertia=[0, 0, 1.2])
    return builder.spring(joint="arm", stiffness=80).build()


def oscillator(damping: str = "2") -> cf.Mechanism:
    """Return 2 kg on a spring of 50 N/m with a damper."""
    builder = cf.Mechanism.builder("oscillator", gravity=(0, 0, 0)).parameter("k", 50)
    builder.parameter("d", damping).segment("x", joint="prismatic", axis="x", mass=2)
    return builder.build().with_forces({"x": "-k*x - d*der(x)"})
