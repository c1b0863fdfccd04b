"""Random states in fractions: angles with rational sines, quaternions of rational entries."""

from __future__ import annotations

import random
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from chainform.graph import Angle, Input
from chainform.mechanism import JointKind, Mechanism


def exact_state(mechanism: Mechanism, inputs: Iterable[Input], seed: int = 0) -> dict[str, Any]:
    """Return a value for every input, by its name; a parameter keeps the value it has.

    The coordinate of a revolute joint is an Angle, so that its sine and cosine are fractions; all
    else is a short fraction. The four entries of a quaternion have the length 1 exactly.
    """
    # Each value depends on the name alone, so that two graphs of one mechanism are at one state.
    values: dict[str, Any] = {}
    for given in inputs:
        values[given.name] = _value(given, random.Random(f"{seed} {given.name}"))
    rng = random.Random(seed)
    turning = {
        segment.coordinate
        for segment in mechanism.segments
        if segment.joint.kind == JointKind.REVOLUTE
    }
    turning |= {k for k, c in enumerate(mechanism.coordinate_records) if c.unit == "rad"}
    for segment in mechanism.segments:
        if segment.joint.kind.has_quaternion and segment.coordinate is not None:
            first = segment.coordinate + segment.joint.kind.coordinates - 4
            for place, entry in enumerate(unit_quaternion(rng), first + 1):
                values[f"q{place}"] = entry
    for coordinate in sorted(turning - {None}, key=lambda c: c or 0):
        assert coordinate is not None
        half = Fraction(rng.randint(-9, 9), rng.randint(1, 9))
        values[f"q{coordinate + 1}"] = Angle.from_tangent(half)
    return values


def _value(given: Input, rng: random.Random) -> Fraction:
    if given.default is not None:
        return given.default
    return Fraction(rng.randint(-20, 20), 10)


def unit_quaternion(rng: random.Random) -> tuple[Fraction, ...]:
    """Return x y z w of length 1: the square of a quaternion of integers, over its own length.

    For p = (v, w) the square is (2 w v, w^2 - v.v), and its length is that of p squared.
    """
    x, y, z, w = (rng.randint(-4, 4) for _ in range(4))
    w = w or 1
    square = x * x + y * y + z * z
    length = square + w * w
    return tuple(Fraction(e, length) for e in (2 * w * x, 2 * w * y, 2 * w * z, w * w - square))
