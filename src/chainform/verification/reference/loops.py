"""The rows of loops, by the kind of joint that closes them.

A direction e that turns with a body has e' = w x e, and without qdd e'' = b x e + w x e', b being
the angular acceleration without qdd. So a law e . r = 0 or e . m = 0 is differentiated twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from chainform.verification.reference.bodies import Array, Table, axial, cross, direction, times

RowWrench: TypeAlias = tuple[Array, Array, str]
"""Force and moment on the closing body, and the end where the opposite acts on the target."""


@dataclass(frozen=True)
class Rows:
    """Rows of loops and constraints: J qdd = right; `value` and `rate` say how far they are off."""

    J: Array
    right: Array
    value: Array
    rate: Array

    def part(self, first: int, after: int) -> Rows:
        """Return some of the rows."""
        which = slice(first, after)
        return Rows(self.J[which], self.right[which], self.value[which], self.rate[which])


class LoopEnd(NamedTuple):
    """Jacobian, acceleration without qdd, place, velocity, axes, angular velocity of an end."""

    J: Array
    a: Array
    p: Array
    v: Array
    R: Array
    w: Array

    def motion(self, e: Array) -> tuple[Array, Array]:
        """Return the first two derivatives of a direction that turns with the end."""
        rate = times(self.w, e)
        return rate, times(self.a[3:], e) + times(self.w, rate)


def stacked(parts: list[Rows], width: int) -> Rows:
    """Return rows below one another."""
    if not parts:
        none = np.zeros(0)
        return Rows(np.zeros((0, width)), none, none, none)
    fields = ("J", "right", "value", "rate")
    return Rows(*(np.concatenate([getattr(part, name) for part in parts]) for name in fields))


def loop_rows(loop: Table, closing: LoopEnd, target: LoopEnd, length: float) -> Rows:
    """Return the rows of a loop."""
    whole = Rows(
        closing.J - target.J,
        target.a - closing.a,
        np.concatenate([closing.p - target.p, axial(closing.R @ target.R.T)]),
        np.concatenate([closing.v - target.v, closing.w - target.w]),
    )
    place, turns = whole.part(0, 3), whole.part(3, 6)
    match loop["kind"]:
        case "point" | "spherical":
            return place
        case "frame":
            return whole
        case "distance":
            return _distance(place, length)
        case kind:
            n, m = _axes(loop, closing, target)
            u, v = _across(loop, target)
            # u . (n x m) = - v . m and v . (n x m) = u . m
            axes = [_between(turns, closing, target, (-v, m), u)]
            axes.append(_between(turns, closing, target, (u, m), v))
            slides = [_slide(place, target, e) for e in (u, v, n)]
            pin = _between(turns, closing, target, (n, m), times(m, n))
            parts = {
                "revolute": [place, *axes],
                "universal": [place, pin],
                "prismatic": [*slides[:2], turns],
                "cylindrical": [*slides[:2], *axes],
                "planar": [slides[2], *axes],
            }
            return stacked(parts[kind], closing.J.shape[1])


def _axes(loop: Table, closing: LoopEnd, target: LoopEnd) -> tuple[Array, Array]:
    """Return the axes on the target and on the closing body."""
    m = closing.R @ direction(loop["closing"]["axis"])
    return target.R @ direction(loop["target"]["axis"]), m


def _across(loop: Table, target: LoopEnd) -> tuple[Array, Array]:
    u, v = across(direction(loop["target"]["axis"]))
    return target.R @ u, target.R @ v


def across(axis: Array) -> tuple[Array, Array]:
    """Return u and v of a unit axis n: u, v, n are the coordinate axes, in turn, turned least."""
    k = int(np.argmax(np.abs(axis)))
    near = np.copysign(1.0, axis[k]) * np.eye(3)[k]
    K = cross(times(near, axis))
    u = (np.eye(3) + K + K @ K / (1 + near @ axis)) @ np.eye(3)[(k + 1) % 3]
    return u, times(axis, u)


def _one(J: Array, right: Any, value: Any, rate: Any) -> Rows:
    return Rows(J[None], np.array([right]), np.array([value]), np.array([rate]))


def _distance(place: Rows, d: float) -> Rows:
    """Return (r . r - d^2) / (2 d) = 0."""
    r, v = place.value, place.rate
    right = (r @ place.right - v @ v) / d
    return _one(r @ place.J / d, right, (r @ r - d * d) / (2 * d), r @ v / d)


def _slide(place: Rows, target: LoopEnd, e: Array) -> Rows:
    """Return e . r = 0, with e on the target."""
    rate, bend = target.motion(e)
    r, v = place.value, place.rate
    J = e @ place.J + times(e, r) @ target.J[3:]
    right = e @ place.right - bend @ r - 2 * rate @ v
    return _one(J, right, e @ r, e @ v + rate @ r)


def _between(
    turns: Rows, closing: LoopEnd, target: LoopEnd, pair: tuple[Array, Array], about: Array
) -> Rows:
    """Return e . m = 0, with e on the target and m on the closing body.

    Its rate is the relative angular velocity about a direction, where the loop is closed.
    """
    e, m = pair
    (turned, bent), (swung, other) = target.motion(e), closing.motion(m)
    right = -(bent @ m + 2 * turned @ swung + e @ other)
    return _one(about @ turns.J, right, e @ m, turned @ m + e @ swung)


def loop_wrenches(loop: Table, closing: LoopEnd, target: LoopEnd, length: float) -> list[RowWrench]:
    """Return what a multiplier 1 of each row puts on the closing body.

    Where bodies slide on each other, the contact is at the closing point.
    """
    none = np.zeros(3)
    forces: list[RowWrench] = [(e, none, "target") for e in np.eye(3)]
    moments: list[RowWrench] = [(none, e, "target") for e in np.eye(3)]
    match loop["kind"]:
        case "point" | "spherical":
            return forces
        case "frame":
            return forces + moments
        case "distance":
            # As the row has it, in poses in which the loop is open too.
            return [((closing.p - target.p) / length, none, "target")]
        case kind:
            n, m = _axes(loop, closing, target)
            pair = _across(loop, target)
            slides: list[RowWrench] = [(e, none, "closing") for e in pair]
            turns: list[RowWrench] = [(none, e, "target") for e in pair]
            parts: dict[str, list[RowWrench]] = {
                "revolute": forces + turns,
                "universal": [*forces, (none, times(m, n), "target")],
                "prismatic": slides + moments,
                "cylindrical": slides + turns,
                "planar": [(n, none, "closing"), *turns],
            }
            return parts[kind]
