"""Numbers from CAD, set to the round values they were meant to be.

A file says 1.5708 where a quarter turn was meant, and -4.9e-17 where nothing was. Taken literally,
both fill the equations with terms that mean nothing. Within tolerances that the user can change or
turn off, such numbers are set to the round value, and every change stands in the report.

    angles      within `angle` (rad) of a multiple of pi/12, quarter turns among them
    entries     below `entry` of the greatest in their vector or tensor become zero; so does a
                vector that as a whole is below `entry` of the greatest length of the mechanism

Angles become rotations that are exactly orthogonal and rational, within 1e-15 of the angles. Each
of the three turns is made on its own, so that the zeros of a turn about a coordinate axis stay.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from random import Random
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chainform.mechanism import (
    ZERO,
    Axis,
    JointKind,
    Mechanism,
    Poses,
    Rotation,
    float_vector,
    known_values,
    poses_of,
    with_unit_quaternions,
)
from chainform.spatial import roll_pitch_yaw

Array = NDArray[np.float64]

PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494459230781640628620900")
"""Pi to 80 digits."""

STEPS_PER_TURN = 24
"""Angles are snapped to multiples of this part of a full turn: 15 degrees."""

DIGITS = 120
"""Binary digits with which sines and cosines are computed."""

TURN_TOLERANCE = Fraction(1, 10**16)
"""How near the tangent of half an angle is met; three turns then stay within 1e-15."""


@dataclass(frozen=True, slots=True)
class Tolerances:
    """How near to a round value a number must be: `angle` in rad, `entry` relative; 0: never."""

    angle: Fraction = Fraction(1, 10**5)
    entry: Fraction = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True)
class Snap:
    """One number that was set: where, and by how much (rad for an angle, else its own unit)."""

    kind: Literal["angle", "entry"]
    where: str
    change: Fraction


@dataclass(slots=True)
class Snapper:
    """Sets numbers to the round values they are near to, and keeps what it did in `snaps`.

    `length` is the greatest length of the mechanism (m): what is tiny against it is nothing at all.
    """

    tolerances: Tolerances = Tolerances()
    length: Fraction = ZERO
    snaps: list[Snap] = field(default_factory=list[Snap])

    def angles(self, angles: Axis, where: str) -> Rotation:
        """Return Rz(yaw) Ry(pitch) Rx(roll) of roll, pitch, yaw (rad), each snapped."""
        roll, pitch, yaw = (self.angle(angle, where) for angle in angles)
        return rotation_of_turns(roll, pitch, yaw)

    def angle(self, angle: Fraction, where: str) -> Fraction:
        """Return the multiple of pi/12 near to the angle (rad), or the angle itself."""
        step = 2 * PI / STEPS_PER_TURN
        near = round(angle / step) * step
        change = abs(near - angle)
        if change == 0 or change > self.tolerances.angle:
            return angle
        # What differs in the sixteenth digit only is the round value, written as a double can.
        if change > TURN_TOLERANCE * max(1, abs(angle)) * 10:
            self.snaps.append(Snap("angle", where, change))
        return near

    def vector(self, vector: Axis, where: str) -> Axis:
        """Return a vector of lengths without entries that are nothing against the others."""
        greatest = max(map(abs, vector))
        scale = self.length if greatest < self.tolerances.entry * self.length else greatest
        return self._entries(vector, scale, where)

    def direction(self, vector: Axis, where: str) -> Axis:
        """Return a direction of any length without entries that are nothing against others."""
        return self._entries(vector, max(map(abs, vector)), where)

    def tensor(self, tensor: Rotation, where: str) -> Rotation:
        """Return a tensor without entries that are nothing against the greatest."""
        scale = max(abs(entry) for row in tensor for entry in row)
        a, b, c = (self._entries(row, scale, where) for row in tensor)
        return (a, b, c)

    def _entries(self, entries: Axis, scale: Fraction, where: str) -> Axis:
        x, y, z = (self._entry(entry, scale, where) for entry in entries)
        return (x, y, z)

    def _entry(self, entry: Fraction, scale: Fraction, where: str) -> Fraction:
        if entry == 0 or abs(entry) >= self.tolerances.entry * scale:
            return entry
        self.snaps.append(Snap("entry", where, abs(entry)))
        return ZERO


@lru_cache(maxsize=4096)
def rotation_of_turns(roll: Fraction, pitch: Fraction, yaw: Fraction) -> Rotation:
    """Return Rz(yaw) Ry(pitch) Rx(roll), exactly orthogonal, within 1e-15 of the angles (rad)."""
    return roll_pitch_yaw(*(cosine_and_sine(angle) for angle in (roll, pitch, yaw)))


@lru_cache(maxsize=4096)
def cosine_and_sine(angle: Fraction) -> tuple[Fraction, Fraction]:
    """Return a rational cosine and sine of the angle (rad) whose squares sum to one.

    Whole quarter turns are taken out exactly. With t the tangent of half the rest, the cosine is
    (1 - t^2)/(1 + t^2) and the sine 2t/(1 + t^2), for any rational t; the shortest within
    `TURN_TOLERANCE` is taken.
    """
    quarters = round(angle / (PI / 2))
    t = _shortest_near(_tangent((angle - quarters * PI / 2) / 2), TURN_TOLERANCE)
    cosine, sine = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    for _ in range(quarters % 4):
        cosine, sine = -sine, cosine
    return cosine, sine


def _tangent(x: Fraction) -> Fraction:
    """Return the tangent of an angle within pi/8 to some thirty digits, by the power series.

    Sine and cosine are summed in integers, as multiples of 2^-DIGITS.
    """
    step = round(x * (1 << DIGITS))
    term, sums, order = 1 << DIGITS, [0, 0], 0
    while term:
        sums[order % 2] += -term if order % 4 in (2, 3) else term
        order += 1
        term = ((term * step) >> DIGITS) // order
        term += term < 0  # towards zero, where floor division would stay at -1
    return Fraction(sums[1], sums[0])


def _shortest_near(value: Fraction, tolerance: Fraction) -> Fraction:
    """Return the first continued fraction of the number that comes within the tolerance."""
    (above, below), (last_above, last_below) = (1, 0), (0, 1)
    rest = value
    while True:
        whole = rest.numerator // rest.denominator
        above, last_above = whole * above + last_above, above
        below, last_below = whole * below + last_below, below
        near = Fraction(above, below)
        if abs(near - value) <= tolerance:
            return near
        rest = 1 / (rest - whole)


@dataclass(frozen=True, slots=True)
class Effect:
    """What snapping did to a mechanism: the largest changes at a few random states.

    `position` (m) is of joints and mass centres, `orientation` (rad) of bodies, both in base axes;
    `inertia` is the change of an entry relative to the greatest of its body.
    """

    position: float
    orientation: float
    inertia: float


def effect_of(snapped: Mechanism, literal: Mechanism, states: int = 4) -> Effect:
    """Return how far a mechanism lies from its twin that was read without snapping."""
    position = orientation = 0.0
    source = Random(0)
    for _ in range(states):
        q = _random_coordinates(snapped, source)
        here, there = poses_of(snapped, q), poses_of(literal, q)
        shifts = (
            here.positions - there.positions,
            _centres(snapped, here) - _centres(literal, there),
        )
        position = max(position, *(_greatest(np.linalg.norm(shift, axis=1)) for shift in shifts))
        gaps = np.linalg.norm(here.rotations - there.rotations, axis=(1, 2)) / np.sqrt(8.0)
        orientation = max(orientation, _greatest(2 * np.arcsin(np.minimum(gaps, 1.0))))
    pairs = zip(_inertias(snapped), _inertias(literal), strict=True)
    inertia = max((_greatest(a - b) / (_greatest(a) or 1.0) for a, b in pairs), default=0.0)
    return Effect(position, orientation, inertia)


def _random_coordinates(mechanism: Mechanism, source: Random) -> Array:
    """Return values for q: turns within a half turn, slides within 1 m, unit quaternions."""
    q = [source.uniform(-1, 1) for _ in range(mechanism.nq)]
    for segment in mechanism.segments:
        first, kind = segment.coordinate, segment.joint.kind
        if first is None:
            continue
        if kind is JointKind.REVOLUTE:
            q[first] = source.uniform(-float(PI), float(PI))
    return with_unit_quaternions(mechanism, np.array(q))


def _centres(mechanism: Mechanism, poses: Poses) -> Array:
    known = known_values(mechanism)
    centres = [
        poses.point(index, float_vector(segment.body.com, known))
        for index, segment in enumerate(mechanism.segments)
    ]
    return np.array(centres)


def _inertias(mechanism: Mechanism) -> Array:
    known = known_values(mechanism)
    tensors = [[float_vector(row, known) for row in s.body.inertia] for s in mechanism.segments]
    return np.array(tensors)


def _greatest(array: Array) -> float:
    return float(np.max(np.abs(array), initial=0.0))
