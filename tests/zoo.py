"""Mechanisms for the tests: the reference cases, and random trees."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import chainform as cf
from chainform.graph import Angle
from chainform.mechanism import Attachment, Friction, Segment, Spring

DATA = Path(__file__).parent / "data" / "reference"

REFERENCE = (
    "rackovic_2_1",
    "rackovic_4_1",
    "manipulator_5dof",
    "puma560",
    "stanford_toolbox",
    "stanford_arm",
    "seven_axis",
    "seven_axis_general",
    "sliding_links_3",
    "humanoid_30",
)
"""Reference cases with a mechanism block; paper and origin stand in each file."""


@cache
def reference_data(name: str) -> dict[str, Any]:
    """Return a reference case as plain data."""
    return json.loads((DATA / f"{name}.json").read_text())


@cache
def reference(name: str) -> cf.Mechanism:
    """Return the mechanism of a reference case, read by the native reader."""
    return cf.read(DATA / f"{name}.json")


def rational(rng: random.Random, low: int = -20, high: int = 20, scale: int = 10) -> Fraction:
    """Return a random short decimal between low/scale and high/scale."""
    return Fraction(rng.randint(low, high), scale)


def unit_axis(rng: random.Random) -> tuple[Fraction, ...]:
    """Return an exactly unit axis: a coordinate axis, or an inclined one with rational entries."""
    if rng.random() < 0.5:
        sign = rng.choice((-1, 1))
        place = rng.randrange(3)
        return tuple(Fraction(sign if i == place else 0) for i in range(3))
    return tuple(row[2] for row in rotation(rng))


def rotation(rng: random.Random) -> list[list[Fraction]]:
    """Return an exactly orthogonal rational rotation, from a quaternion of small integers."""
    while True:
        a, b, c, d = (rng.randint(-3, 3) for _ in range(4))
        n = a * a + b * b + c * c + d * d
        if n:
            break
    entries = [
        [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
        [2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)],
        [2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d],
    ]
    return [[Fraction(x, n) for x in row] for row in entries]


def inertia(rng: random.Random) -> list[list[Fraction]]:
    """Return the tensor of point masses, so that it is always one a body can have."""
    tensor = [[Fraction(0)] * 3 for _ in range(3)]
    for _ in range(4):
        p = [rational(rng, -5, 5) for _ in range(3)]
        square = sum(x * x for x in p)
        for i in range(3):
            for j in range(3):
                tensor[i][j] += (square if i == j else 0) - p[i] * p[j]
    return tensor


@cache
def random_tree(seed: int, *, quaternions: bool = False) -> cf.Mechanism:
    """Return a random tree: mixed joints, inclined axes and gravity, full inertia tensors."""
    rng = random.Random(seed)
    n = rng.randint(1, 7)
    gravity = [rational(rng, -100, 100) for _ in range(3)]
    builder = cf.Mechanism.builder(f"tree{seed}", gravity=gravity)
    kinds = ["revolute", "revolute", "prismatic", "fixed"]
    if quaternions:
        kinds = ["free", "spherical", *kinds]
    for number in range(1, n + 1):
        kind = rng.choice(kinds) if number < n else rng.choice(kinds[:-1])
        parent = "ground" if number == 1 else rng.choice([*_names(number), "ground"][-3:])
        massless = number < n and rng.random() < 0.15
        builder.segment(
            f"s{number}",
            parent=parent,
            joint=kind,
            axis=None if kind in ("free", "spherical") else unit_axis(rng),
            position=[rational(rng) for _ in range(3)],
            rotation=rotation(rng),
            mass=0 if massless else rational(rng, 1, 30),
            com=[rational(rng, -5, 5) for _ in range(3)],
            inertia=[[0] * 3] * 3 if massless else inertia(rng),
        )
    return builder.build()


OFFSET = Fraction(1, 5)


def coupled(seed: int, offset: Fraction = OFFSET) -> tuple[cf.Mechanism, cf.Mechanism, np.ndarray]:
    """Return a tree, the same with its last joint driven by its first, and the projection."""
    free = next(m for s in range(50) if (m := random_tree(seed + s)).nv >= 3)
    n = free.nv
    ratio = Fraction(-3, 2) if seed % 2 else Fraction(2)
    follower = free.coordinate_records[-1].segment
    segments = list(free.segments)
    segments[follower] = replace(
        segments[follower], coordinate=0, rate=0, ratio=ratio, offset=offset
    )
    records = free.coordinate_records[:-1]
    tied = replace(free, segments=tuple(segments), coordinate_records=records, rate_records=records)
    projection = np.vstack([np.eye(n - 1), np.zeros(n - 1)])
    projection[-1, 0] = float(ratio)
    return free, tied, projection


def loaded_tree(seed: int) -> cf.Mechanism:
    """Return a random tree with friction, rotors, springs and forces, all of them rational.

    Springs work in sliding joints and, with rest length zero, between points of bodies; laws are
    polynomials of time, of rates and of the coordinates that are no angles.
    """
    tree = random_tree(seed)
    rng = random.Random(seed + 1)
    sliding = [i for i, s in enumerate(tree.segments) if s.joint.kind == "prismatic"]
    springs = (
        [Spring("own", Fraction(7), Fraction(1, 3), Fraction(2), sliding[0])] if sliding else []
    )
    ends = [Attachment(rng.randrange(-1, len(tree.segments)), _point(rng)) for _ in range(4)]
    for k in range(2):
        pair = (ends[2 * k], ends[2 * k + 1])
        springs.append(Spring(f"tie{k}", Fraction(5 + k), Fraction(0), Fraction(k, 3), None, pair))
    loaded = replace(
        tree,
        segments=tuple(_with_drive(segment, rng) for segment in tree.segments),
        springs=tuple(springs),
    )
    law = "2*t^2 - 3*qd1" + "".join(f" + {tree.segments[i].joint.name}*t" for i in sliding[:1])
    pieces = [{"until": "1/2", "law": law}, {"until": 2, "law": "t - step(qd1)"}, {"law": 1}]
    late = {"from": "0.3", "law": "4 - t", "name": "late"}
    return loaded.with_forces({"qd1": pieces}).with_forces({f"qd{tree.nv}": late})


def _point(rng: random.Random) -> tuple[Fraction, Fraction, Fraction]:
    return (rational(rng), rational(rng), rational(rng))


def _with_drive(segment: Segment, rng: random.Random) -> Segment:
    if segment.rate is None:
        return segment
    friction = Friction(rational(rng, 0, 9), rational(rng, 0, 9))
    joint = replace(
        segment.joint,
        friction=friction,
        rotor_inertia=rational(rng, 0, 9, 1000),
        gear_ratio=rational(rng, 10, 90, 1),
    )
    return replace(segment, joint=joint)


def _names(number: int) -> list[str]:
    return [f"s{k}" for k in range(1, number)]


def exact_state(mechanism: cf.Mechanism, seed: int) -> dict[str, Any]:
    """Return random exact inputs: angles with rational sines, fractions for the rest."""
    rng = random.Random(seed)
    values: dict[str, Any] = {}
    for i, record in enumerate(mechanism.coordinate_records, start=1):
        turning = record.unit == "rad" or (
            mechanism.segments and mechanism.segments[record.segment].joint.kind == "revolute"
        )
        t = Fraction(rng.randint(-9, 9), rng.randint(1, 9))
        values[f"q{i}"] = Angle.from_tangent(t) if turning else t
        values[f"qd{i}"] = rational(rng)
        values[f"qdd{i}"] = rational(rng)
    return values
