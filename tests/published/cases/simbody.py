"""Reactions in joints that SD/FAST computed, from the tests of Simbody."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import chainform as cf
from tests.published.records import Array, Case, Result, Source, series

SOURCE = Source(
    name="SD/FAST: reactions in joints, in the tests of Simbody",
    repository="github.com/simbody/simbody",
    commit="f312d0dda0a99c24523a5322299e284eb3511778",
    licence="Apache-2.0",
)
PATH = "Simbody/tests/TestMobilizerReactionForces.cpp"
CLAIM = "of each force and moment, in the test of the source"
BLOCK = {"xx": "0.1", "yy": "0.1", "zz": "0.1", "xy": "0.01", "xz": "0.01", "yz": "0.01"}
State = tuple[list[float], list[float]]


def chain() -> cf.Mechanism:
    """Return four blocks: on a slide along x, a pin about z, a ball, and a pin about z."""
    builder = cf.Mechanism.builder("chain", gravity=(0, "-9.8", 0))
    slide = {"name": "slide", "type": "prismatic", "axis": "x"}
    builder.segment("block1", parent="ground", joint=slide, mass=10, inertia=BLOCK)
    above = [0, "0.4", 0]
    joints = (
        ("block2", {"name": "pin2", "type": "revolute", "axis": "z"}, ["0.1", "0.1", 0], 20),
        ("block3", {"name": "ball", "type": "spherical"}, above, 20),
        ("block4", {"name": "pin4", "type": "revolute", "axis": "z"}, above, 30),
    )
    for i, (name, joint, position, mass) in enumerate(joints):
        builder.segment(
            name,
            parent=f"block{i + 1}",
            joint=joint,
            position=position,
            mass=mass,
            com=[0, "0.2", 0],
            inertia=BLOCK,
        )
    return builder.build()


def leg() -> cf.Mechanism:
    """Return a thigh on a pin and a shank that slides across it, as in a knee."""
    builder = cf.Mechanism.builder("leg", gravity=(0, "-9.8065", 0))
    builder.segment(
        "thigh",
        parent="ground",
        joint={"name": "hip", "type": "revolute", "axis": "z"},
        position=[0, "-0.07", "0.0935"],
        mass="8.806",
        com=["-0.002", "-0.1715", 0],
        inertia=["0.1268", "0.0332", "0.1337"],
    )
    builder.segment(
        "shank",
        parent="thigh",
        joint={"name": "knee", "type": "prismatic", "axis": "x"},
        position=["0.0033 - 0.002", "-0.2294 - 0.1715", 0],
        mass="3.51",
        com=[0, "-0.1862", 0],
        inertia=["0.0477", "0.0048", "0.0484"],
    )
    return builder.build()


def ring() -> cf.Mechanism:
    """Return five blocks on balls: one carries two chains of two, whose ends a thin rod joins."""
    builder = cf.Mechanism.builder("ring", gravity=(0, "-9.8", 0))
    builder.segment("block1", parent="ground", joint={"type": "spherical"}, mass=10, inertia=BLOCK)
    below = [0, "-0.4", 0]
    places = (
        ("block2", "block1", [0, "-0.1", "0.2"], 20),
        ("block3", "block1", [0, "-0.1", "-0.2"], 20),
        ("block4", "block2", below, 30),
        ("block5", "block3", below, 30),
    )
    for name, parent, position, mass in places:
        builder.segment(
            name,
            parent=parent,
            joint={"type": "spherical"},
            position=position,
            mass=mass,
            com=[0, "-0.2", 0],
            inertia=BLOCK,
        )
    ends = [{"segment": name, "point": [0, "-0.2", 0]} for name in ("block4", "block5")]
    return builder.loop("rod", "distance", *ends, length="0.15").build()


def turned(z: float, x: float, y: float) -> list[float]:
    """Return the quaternion, x y z w, of a turn about z, then x, then y of the body."""
    halves = np.array([z, x, y]) / 2
    (cz, cx, cy), (sz, sx, sy) = np.cos(halves), np.sin(halves)
    return [
        float(number)
        for number in (
            cz * sx * cy - sz * cx * sy,
            cz * cx * sy + sz * sx * cy,
            sz * cx * cy + cz * sx * sy,
            cz * cx * cy - sz * sx * sy,
        )
    ]


def reactions(mechanism: cf.Mechanism, states: list[State]) -> Array:
    """Return moment and force on each body in its axes, where its joint is, state after state."""
    system = cf.Problem.of(mechanism, t=1e-3, t_eval=[0]).compile()
    found = [system.run(q0=q, qd0=qd).reactions[0] for q, qd in states]
    return np.roll(np.vstack(found), 3, axis=1)


def chain_states() -> list[State]:
    """At rest, turned, and moving."""
    still, upright = [0.0] * 6, [0, 0, *turned(0, 0, 0), 0]
    return [
        (upright, still),
        ([1, 0.5, *turned(0.2, -0.1, 2), -0.5], still),
        (upright, [0, 1, 3, 4, 2, 5]),
    ]


def ring_states() -> list[State]:
    """Hanging, and turned; the angles of the balls are about z, x and y."""
    tilts = (0, 0.189000969332574, -0.189000969332574, 0.0628990902570866, -0.0628990902570866)
    angles = (
        (1, 1, 1),
        (0.433843, 0.647441, 0.500057),
        (0.066156, -0.117266, -0.047605),
        (0.000997, 0.055206, 0),
        (1.008746, 0.951972, 1),
    )
    hanging = [number for tilt in tilts for number in turned(0, tilt, 0)]
    return [
        (hanging, [0.0] * 15),
        ([number for triple in angles for number in turned(*triple)], [0.0] * 15),
    ]


def case(
    name: str,
    mechanism: Callable[[], cf.Mechanism],
    states: Callable[[], list[State]],
    quantity: str,
    note: str,
) -> Case:
    """Return the case of a mechanism; each moment and force is compared by its own size."""
    read = series(f"simbody/{name}.csv", "mx", "my", "mz", "fx", "fy", "fz")

    def sizes() -> Array:
        vectors = read().reshape(-1, 3)
        return np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)

    return Case(
        name=f"simbody_{name}",
        title=name.capitalize(),
        source=SOURCE,
        path=PATH,
        note=note,
        results=(
            Result(
                quantity=quantity,
                published=lambda: read().reshape(-1, 3) / sizes(),
                ours=lambda: reactions(mechanism(), states()).reshape(-1, 3) / sizes(),
                accuracy=1e-5,
                claim=CLAIM,
                is_absolute=True,
            ),
        ),
    )


CASES = (
    case(
        "chain",
        chain,
        chain_states,
        "reactions at rest, turned and moving",
        "Four blocks on a slide, a pin, a ball and a pin.",
    ),
    case(
        "leg",
        leg,
        lambda: [([0, 0], [0, 0]), ([-np.pi / 2, 0.1], [0, 0])],
        "reactions stretched and bent",
        "A thigh on a pin, and a shank that slides across it.",
    ),
    case(
        "ring",
        ring,
        ring_states,
        "reactions hanging and turned",
        "Five blocks on balls; a thin rod closes the two chains that the first one carries.",
    ),
)
