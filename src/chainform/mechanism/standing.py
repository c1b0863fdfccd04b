"""Where a segment stands in the world when all coordinates are zero."""

from __future__ import annotations

import math
from fractions import Fraction

from chainform.mechanism.base import mapped_base
from chainform.mechanism.exact import exact_rotation
from chainform.mechanism.mechanism import Mechanism
from chainform.mechanism.numbers import product_of_ratio, sum_of
from chainform.mechanism.reader import Reader
from chainform.mechanism.types import (
    GROUND,
    ZERO,
    Axis,
    BaseMotion,
    JointKind,
    Number,
    Rotation,
    Vector3,
)
from chainform.spatial import product, rodrigues


def standing_base(mechanism: Mechanism, root: int, reader: Reader) -> BaseMotion:
    """Return the place of the segment `root` in the world at zero, as that of a base at rest.

    Turns are exact but for the offsets of coupled joints, which are as exact as those of a file.
    """
    base = mechanism.base
    if root == GROUND:
        return base
    if base.is_moving:
        remedy = "take the part from the ground, or from a mechanism whose base is at rest"
        raise reader.error("the base moves, and so would the root", "subtree, root", remedy)
    turn = BaseMotion(rotation=base.rotation, rpy=base.rpy, quaternion=base.quaternion)
    known = mapped_base(
        turn, lambda number: reader.fraction(reader.given(number, "base, rotation"))
    )
    frame, origin = known.rotation, base.position
    for index in mechanism.path_to(root):
        segment = mechanism.segments[index]
        joint, offset = segment.joint, segment.offset
        origin = _moved(origin, frame, segment.position)
        frame = product(frame, segment.rotation)
        if joint.kind is JointKind.REVOLUTE and offset != ZERO:
            frame = product(frame, _turn(joint.axis, offset, segment.name, reader))
        elif joint.kind is JointKind.PRISMATIC:
            x, y, z = (product_of_ratio(offset, entry) for entry in joint.axis)
            origin = _moved(origin, frame, (x, y, z))
    return BaseMotion(origin, frame)


def _moved(origin: Vector3, frame: Rotation, vector: Vector3) -> Vector3:
    """Return origin + frame vector."""
    x, y, z = (_sum(start, row, vector) for start, row in zip(origin, frame, strict=True))
    return (x, y, z)


def _sum(start: Number, row: Axis, vector: Vector3) -> Number:
    total = start
    for factor, entry in zip(row, vector, strict=True):
        total = sum_of(total, product_of_ratio(entry, factor))
    return total


def _turn(axis: Axis, offset: Number, name: str, reader: Reader) -> Rotation:
    """Return the rotation by a known offset (rad) about a unit axis, by Rodrigues' formula."""
    where = f"segment {name!r}, mimic offset"
    angle = float(reader.fraction(reader.given(offset, where)))
    turn = rodrigues(axis, Fraction(math.cos(angle)), Fraction(math.sin(angle)))
    rotation, remark = exact_rotation(turn)
    if remark is not None:
        reader.note(where, remark)
    return rotation
