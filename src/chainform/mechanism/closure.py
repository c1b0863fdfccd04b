"""Can the loops of a mechanism close at all?

Two impossibilities are certain and are errors: both ends on one rigid piece without coinciding, and
a side of the loop longer than all the others together. Otherwise a numeric search looks for a pose
that closes all loops; when it finds none, that is a warning, since a search proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise

import numpy as np

from chainform.errors import ReadError
from chainform.expressions import symbols_of
from chainform.mechanism.closing import CLOSED, NumericLoop, closed_pose, numeric_loops
from chainform.mechanism.mechanism import Mechanism
from chainform.mechanism.pose import Array, NumericTree, float_of, known_values, numeric_tree
from chainform.mechanism.types import JointKind, Loop, Note, Number

_LONGEST = 1e100
"""Numbers beyond this (m, rad, ratios) are not put into squares of doubles."""


def check_loops(mechanism: Mechanism) -> tuple[Note, ...]:
    """Return remarks on the loops; raise ReadError for one that certainly cannot close."""
    if not mechanism.loops:
        return ()
    known = known_values(mechanism)
    free = _free_names(mechanism, known)
    if free:
        text = f"not checked whether they close: the parameter {free[0]!r} has no value"
        return (Note("note", "loops", text),)
    if any(abs(size) > _LONGEST for size in _sizes(mechanism, known)):
        text = "not checked whether they close: lengths, offsets or ratios beyond 1e100"
        return (Note("note", "loops", text),)
    tree = numeric_tree(mechanism)
    notes: list[Note] = []
    for loop, numeric in zip(mechanism.loops, numeric_loops(mechanism, tree), strict=True):
        notes += _check_loop(mechanism, loop, numeric, tree)
    if not notes and closed_pose(mechanism) is None:
        text = "no pose was found in which the loops close; check lengths, points and rotations"
        notes.append(Note("warning", "loops", text))
    return tuple(notes)


def _entries(mechanism: Mechanism) -> Iterator[Number]:
    """Yield the numbers on which closure depends."""
    for segment in mechanism.segments:
        yield from (*segment.position, segment.ratio, segment.offset)
    for loop in mechanism.loops:
        yield from (*loop.closing.point, *loop.target.point)


def _free_names(mechanism: Mechanism, known: Mapping[str, Fraction]) -> list[str]:
    names: set[str] = set()
    for entry in _entries(mechanism):
        if not isinstance(entry, Fraction):
            names |= symbols_of(entry)
    return sorted(names - set(known))


def _sizes(mechanism: Mechanism, known: Mapping[str, Fraction]) -> Iterator[float]:
    return (float_of(entry, known) for entry in _entries(mechanism))


def _moving_on(mechanism: Mechanism, closing: int, target: int) -> tuple[list[int], list[int]]:
    """Return the moving segments on the two branches of a loop, from the tips inwards."""
    first, second = mechanism.path_to(closing), mechanism.path_to(target)
    common = sum(1 for a, b in zip(first, second, strict=False) if a == b)
    branches = [
        [k for k in reversed(path[common:]) if mechanism.segments[k].coordinate is not None]
        for path in (first, second)
    ]
    return branches[0], branches[1]


def _check_loop(
    mechanism: Mechanism, loop: Loop, numeric: NumericLoop, tree: NumericTree
) -> list[Note]:
    where = f"loop {loop.name!r}"
    outward, inward = _moving_on(mechanism, loop.closing.segment, loop.target.segment)
    poses = tree.poses(mechanism.neutral())
    if not outward and not inward:
        if np.max(np.abs(numeric.gap(poses))) > CLOSED:
            raise ReadError(
                "the loop cannot close: no joint lies between its ends, and they do not coincide",
                file=mechanism.file,
                element=where,
                remedy="correct the points, or attach the ends to other segments",
            )
        return [Note("warning", where, "no joint lies between its ends; it adds no condition")]
    kinds = {mechanism.segments[k].joint.kind for k in outward + inward}
    if kinds <= {JointKind.REVOLUTE, JointKind.SPHERICAL}:
        joints = [poses.positions[k] for k in outward + inward[::-1]]
        start, end = numeric.closing.position(poses), numeric.target.position(poses)
        _check_polygon([start, *joints, end], mechanism, where)
    return _idle_basics(mechanism, loop, set(outward + inward))


def _check_polygon(points: list[Array], mechanism: Mechanism, where: str) -> None:
    """Refuse a loop one side of which is longer than the others together.

    Neighbouring points lie on one rigid piece, so their distances are the same in every pose. The
    joints, revolute or spherical, may hold the sides back further, but they cannot make up for the
    length.
    """
    sides = [float(np.linalg.norm(b - a)) for a, b in pairwise(points)]
    longest, others = max(sides), sum(sides) - max(sides)
    # Sides that are nothing but rounding are as long as that of the points.
    if longest > others + CLOSED * max(float(np.linalg.norm(point)) for point in points):
        raise ReadError(
            f"the loop cannot close: one side is {longest:.6g} m long, all others together"
            f" {others:.6g} m",
            file=mechanism.file,
            element=where,
            remedy="correct the lengths along the loop and the points of its ends",
        )


def _idle_basics(mechanism: Mechanism, loop: Loop, moving: set[int]) -> list[Note]:
    moved = {mechanism.segments[k].coordinate for k in moving}
    names = [mechanism.coordinates[index] for index in loop.basic or () if index not in moved]
    text = "these basic coordinates do not move the loop: " + ", ".join(names)
    return [Note("warning", f"loop {loop.name!r}, basic", text)] if names else []
