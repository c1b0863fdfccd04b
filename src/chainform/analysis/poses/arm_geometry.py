"""Three joints that bring a point where it shall be: all solutions, with turning or sliding joints.

symbol    meaning
h, o      direction and a point of the axis of a joint (world axes, zero pose)
y, w      the point after joint 3 moved it; w = y - o2, both functions of q3 (Series)
R2        the rotation by joint 2;  P the target

What joint 1 does leaves two numbers of a point alone: for a turning one its height along the axis
and its distance from a point of the axis, for a sliding one two coordinates across it. With those
of P there are two equations for q2 and q3. On the feet of the common perpendicular of both axes
they are

    d . R2 w = (P1^2 - d^2 - w^2) / 2,    h1 . R2 w = h1 . P1        P1 = P - o1, d = o2 - o1

two components of R2 w at right angles, across h2. Their squares add up to those of w, which leaves
an equation of q3 alone, of degree four in e^(i q3) or in q3 (Pieper 1968).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.poses.axis_angles import (
    Series,
    angle_between,
    angles_to_plane,
    dot,
    turned_by,
)

Array = NDArray[np.float64]
SAME = 1e-12
"""Directions and distances (parts of the size) below this are zero."""


@dataclass(frozen=True, eq=False)
class ArmAxis:
    """The axis of a joint in the zero pose: unit direction, a point (m), and whether it turns."""

    h: Array
    o: Array
    turns: bool

    def moved(self, amount: Array, points: Array) -> Array:
        """Return points (n, 3) after the joint moved by amounts (n,)."""
        if not self.turns:
            return points + amount[:, np.newaxis] * self.h
        return self.o + turned_by(self.h, amount, points - self.o)

    def reversed(self) -> ArmAxis:
        """Return the joint that undoes this one."""
        return ArmAxis(-self.h, self.o, self.turns)


def is_parallel(a: ArmAxis, b: ArmAxis) -> bool:
    """Tell whether two axes have one direction, up to the sign."""
    return bool(np.linalg.norm(np.cross(a.h, b.h)) < SAME)


def common_point(axes: Sequence[ArmAxis], size: float) -> Array | None:
    """Return the point where axes meet, or None."""
    rows = np.concatenate([np.eye(3) - np.outer(axis.h, axis.h) for axis in axes])
    right = np.concatenate([(np.eye(3) - np.outer(axis.h, axis.h)) @ axis.o for axis in axes])
    point, _, rank, _ = np.linalg.lstsq(rows, right, rcond=SAME)
    off = np.max(np.abs(rows @ point - right))
    return np.asarray(point, dtype=np.float64) if rank == 3 and off < SAME * size else None


def feet(a: ArmAxis, b: ArmAxis) -> tuple[Array, Array]:
    """Return the ends of the common perpendicular of two axes."""
    across = np.cross(a.h, b.h)
    square = across @ across
    if square < SAME**2:
        return a.o + a.h * (a.h @ (b.o - a.o)), b.o
    way = b.o - a.o
    first = np.cross(way, b.h) @ across / square
    second = np.cross(way, a.h) @ across / square
    return a.o + first * a.h, b.o + second * b.h


def points_reached(axes: Sequence[ArmAxis], point: Array, target: Array) -> Array:
    """Return coordinates (k, n, 3) of three joints that bring a point (3,) to targets (n, 3).

    Candidates with nan are none; others may be wrong, too, where the target is out of reach.
    """
    first, second, third = axes
    y = _moved_series(third, point)
    cases = {
        (True, True): _turn_turn,
        (False, True): _slide_turn,
        (True, False): _turn_slide,
        (False, False): _slide_slide,
    }
    found = list[Array]()
    for q3, q2 in cases[first.turns, second.turns](first, second, y, target):
        placed = third.moved(q3, np.broadcast_to(point, target.shape))
        x = second.moved(q2, placed)
        q1 = dot(target - x, first.h)
        if first.turns:
            q1 = angle_between(first.h, x - first.o, target - first.o)
        found.append(np.stack([q1, q2, q3], axis=1))
    return np.stack(found)


def _moved_series(axis: ArmAxis, point: Array) -> list[Series]:
    """Return a point that a joint moves, each component a function of the joint."""
    if not axis.turns:
        rows = np.stack([point, axis.h], axis=1)
        return [Series(row[np.newaxis].astype(np.complex128), False) for row in rows]
    w = point - axis.o
    along = axis.h * (axis.h @ w)
    across, side = w - along, np.cross(axis.h, w)
    rows = np.stack([(across + 1j * side) / 2, axis.o + along, (across - 1j * side) / 2], axis=1)
    return [Series(row[np.newaxis], True) for row in rows]


def _dot(y: Sequence[Series], w: Array) -> Series:
    return y[0] * w[0] + y[1] * w[1] + y[2] * w[2]


def _square(y: Sequence[Series]) -> Series:
    return y[0] * y[0] + y[1] * y[1] + y[2] * y[2]


def _from(y: Sequence[Series], o: Array) -> list[Series]:
    return [part - o[k] for k, part in enumerate(y)]


def _at(y: Sequence[Series], q3: Array) -> Array:
    """Return vectors (n, 3) at values of the joint (n,)."""
    return np.stack([part.at(q3) for part in y], axis=1)


Pairs = Iterator[tuple[Array, Array]]
"""Candidates of q3 and q2, each (n,)."""


def _turn_turn(first: ArmAxis, second: ArmAxis, y: Sequence[Series], target: Array) -> Pairs:
    o1, o2 = feet(first, second)
    d, h1, h2 = o2 - o1, first.h, second.h
    goal = target - o1
    w = _from(y, o2)
    along, square = _dot(w, h2), _square(w)
    # Each is a component of R2 w: on d (times its length), and on h1 across h2 (times the sine).
    on_d = (square * -1.0 + (dot(goal, goal) - d @ d)) * 0.5
    on_h = along * -(h1 @ h2) + goal @ h1
    across = h1 - (h1 @ h2) * h2
    yield from _two_components(second, w, (d, on_d), (across, on_h), square - along * along)


def _slide_turn(first: ArmAxis, second: ArmAxis, y: Sequence[Series], target: Array) -> Pairs:
    h1, h2 = first.h, second.h
    goal, w = target - second.o, _from(y, second.o)
    along, square = _dot(w, h2), _square(w)
    if is_parallel(first, second):
        aside = goal - (goal @ h2)[:, np.newaxis] * h2
        for q3 in (square - along * along - dot(aside, aside)).roots():
            yield q3, angle_between(h2, _at(w, q3), goal)
        return
    e1 = np.cross(h1, h2)
    e2 = np.cross(h1, e1)
    across = e2 - (e2 @ h2) * h2
    on_1 = along * 0.0 + goal @ e1
    on_2 = along * -(e2 @ h2) + goal @ e2
    yield from _two_components(second, w, (e1, on_1), (across, on_2), square - along * along)


def _two_components(
    second: ArmAxis,
    w: Sequence[Series],
    one: tuple[Array, Series],
    two: tuple[Array, Series],
    across: Series,
) -> Pairs:
    """Yield q3 and q2 where R2 w has two components, times the lengths of vectors across h2.

    A vector of no length leaves an equation of q3 alone, and two angles q2 for each q3.
    """
    lengths = [float(np.linalg.norm(vector)) for vector, _ in (one, two)]
    size = max(lengths)
    for k, (zero, given) in enumerate(((one, two), (two, one))):
        if lengths[k] < SAME * max(1.0, size):
            for q3 in zero[1].roots():
                for q2 in angles_to_plane(second.h, _at(w, q3), given[0], given[1].at(q3)):
                    yield q3, q2
            return
    parts = [part * (1 / length) for (_, part), length in zip((one, two), lengths, strict=True)]
    for q3 in (parts[0] * parts[0] + parts[1] * parts[1] - across).roots():
        place = sum(
            part.at(q3)[:, np.newaxis] * vector / length
            for part, (vector, _), length in zip(parts, (one, two), lengths, strict=True)
        )
        yield q3, angle_between(second.h, _at(w, q3), np.asarray(place))


def _turn_slide(first: ArmAxis, second: ArmAxis, y: Sequence[Series], target: Array) -> Pairs:
    goal, u = target - first.o, _from(y, first.o)
    height, tilt = _dot(u, first.h) * -1.0 + goal @ first.h, float(first.h @ second.h)
    along, square = _dot(u, second.h), _square(u) - dot(goal, goal)
    if abs(tilt) > SAME:
        q2 = height * (1 / tilt)
        for q3 in (square + along * q2 * 2.0 + q2 * q2).roots():
            yield q3, q2.at(q3)
        return
    for q3 in height.roots():
        middle, rest = along.at(q3), square.at(q3)
        with np.errstate(invalid="ignore"):
            half = np.sqrt(middle**2 - rest)
        yield q3, half - middle
        yield q3, -half - middle


def _slide_slide(first: ArmAxis, second: ArmAxis, y: Sequence[Series], target: Array) -> Pairs:
    across = np.cross(first.h, second.h)
    for q3 in (_dot(y, across) - target @ across).roots():
        rest = target - _at(y, q3)
        yield q3, dot(np.cross(first.h, rest), across) / (across @ across)
