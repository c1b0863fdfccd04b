"""Poses of all segments in double precision, for checks and drawings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from chainform.errors import ReadError, RunError
from chainform.expressions import symbols_of, value_of
from chainform.mechanism.data import MechanismData
from chainform.mechanism.records import GROUND, JointKind, Number, Vector3
from chainform.spatial import quaternion_product, skew

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Poses:
    """The frames of all segments: `rotations` (n, 3, 3) to base axes, `positions` (n, 3) in m.

    Both are relative to the base frame (the ground), not to the world.
    """

    rotations: Array
    positions: Array

    def point(self, segment: int, local: Array) -> Array:
        """Return a point of a segment (body axes, m) in base axes; the ground is its own frame."""
        if segment == GROUND:
            return local
        return self.positions[segment] + self.rotations[segment] @ local

    def rotation(self, segment: int) -> Array:
        """Return the rotation from the axes of a segment to base axes."""
        return np.eye(3) if segment == GROUND else self.rotations[segment]


@dataclass(frozen=True, slots=True)
class NumericTree:
    """The geometry of a mechanism in doubles: what poses need and nothing else.

    `coordinates` and `rates` are first indices into q and qd; a joint moves by its ratio times the
    coordinate plus its offset.
    """

    parents: tuple[int, ...]
    kinds: tuple[JointKind, ...]
    coordinates: tuple[int | None, ...]
    rates: tuple[int | None, ...]
    ratios: Array
    offsets: Array
    axes: Array
    positions: Array
    rotations: Array

    def poses(self, q: Sequence[float] | Array) -> Poses:
        """Return the frames of all segments for the coordinates q (rad, m).

        Quaternions are divided by their length.
        """
        rotations = np.empty((len(self.parents), 3, 3))
        positions = np.empty((len(self.parents), 3))
        for i, parent in enumerate(self.parents):
            outer = np.eye(3) if parent == GROUND else rotations[parent]
            origin = np.zeros(3) if parent == GROUND else positions[parent]
            frame = outer @ self.rotations[i]
            turn, shift = self.motion(i, q)
            positions[i] = origin + outer @ self.positions[i] + frame @ shift
            rotations[i] = frame @ turn
        return Poses(rotations, positions)

    def motion(self, i: int, q: Sequence[float] | Array) -> tuple[Array, Array]:
        """Return how joint i turns and shifts its body from the zero pose, in axes at zero."""
        first, kind = self.coordinates[i], self.kinds[i]
        if first is None:
            return np.eye(3), np.zeros(3)
        if kind.has_quaternion:
            entries = np.array(q[first : first + kind.coordinates], dtype=float)
            shift = entries[:3] if kind is JointKind.FREE else np.zeros(3)
            return rotation_of_quaternion(entries[-4:]), shift
        amount = float(self.ratios[i]) * float(q[first]) + float(self.offsets[i])
        if kind is JointKind.REVOLUTE:
            return rotation_about(self.axes[i], amount), np.zeros(3)
        return np.eye(3), self.axes[i] * amount

    def moved(self, q: Array, step: Array) -> Array:
        """Return q after a step of the rates: for a quaternion a turn about body axes."""
        result = q.copy()
        for first, rate, kind in zip(self.coordinates, self.rates, self.kinds, strict=True):
            if first is None or rate is None:
                continue
            if not kind.has_quaternion:
                result[first] = q[first] + step[rate]
                continue
            last, end = first + kind.coordinates, rate + kind.rates
            if kind is JointKind.FREE:
                turn = rotation_of_quaternion(q[last - 4 : last])
                result[first : first + 3] += turn @ step[rate : rate + 3]
            result[last - 4 : last] = turned(q[last - 4 : last], step[end - 3 : end])
        return result


def numeric_tree(
    mechanism: MechanismData, values: Mapping[str, Fraction] | None = None
) -> NumericTree:
    """Return the geometry in doubles; `values` stand before the values of the parameters.

    A parameter without a value raises ReadError.
    """
    known = known_values(mechanism, values)
    segments = mechanism.segments
    count = len(segments)
    axes = [[float(entry) for entry in segment.joint.axis] for segment in segments]
    turns = [[[float(e) for e in row] for row in segment.rotation] for segment in segments]
    positions = [float_vector(segment.position, known) for segment in segments]
    return NumericTree(
        tuple(segment.parent for segment in segments),
        tuple(segment.joint.kind for segment in segments),
        tuple(segment.coordinate for segment in segments),
        tuple(segment.rate for segment in segments),
        np.array([float(segment.ratio) for segment in segments]),
        np.array([float_of(segment.offset, known) for segment in segments]),
        np.array(axes, dtype=float).reshape(count, 3),
        np.array(positions, dtype=float).reshape(count, 3),
        np.array(turns, dtype=float).reshape(count, 3, 3),
    )


def poses_of(
    mechanism: MechanismData,
    q: Sequence[float] | Array,
    values: Mapping[str, Fraction] | None = None,
) -> Poses:
    """Return the frames of all segments, relative to the base, for the coordinates q (rad, m)."""
    if len(q) != mechanism.nq:
        raise RunError(
            f"q has {len(q)} entries, the mechanism has {mechanism.nq} coordinates",
            file=mechanism.file,
            element="q",
            remedy="the order is " + ", ".join(mechanism.coordinates),
        )
    return numeric_tree(mechanism, values).poses(q)


def known_values(
    mechanism: MechanismData, values: Mapping[str, Fraction] | None = None
) -> dict[str, Fraction]:
    """Return the values of the bound parameters, overlaid by `values`."""
    bound = {p.name: p.value for p in mechanism.parameters if p.value is not None}
    return {**bound, **(values or {})}


def with_unit_quaternions(mechanism: MechanismData, q: Array) -> Array:
    """Return a copy of q, or of a batch (..., nq), with quaternions of length one; zeros stay."""
    result = np.array(q, dtype=np.float64)
    for part in mechanism.quaternions:
        length = np.linalg.norm(result[..., part], axis=-1, keepdims=True)
        result[..., part] /= np.where(length > 0, length, 1.0)
    return result


def float_of(value: Number, known: Mapping[str, Fraction]) -> float:
    """Return `value` as a double; a parameter without a value raises ReadError."""
    if isinstance(value, Fraction):
        return float(value)
    free = sorted(symbols_of(value) - set(known))
    if free:
        raise ReadError(
            f"the parameter {free[0]!r} has no value", element=free[0], remedy="give it a value"
        )
    return float(value_of(value, known))


def float_vector(vector: Vector3, known: Mapping[str, Fraction]) -> Array:
    """Return a vector in doubles."""
    return np.array([float_of(entry, known) for entry in vector])


def rotation_about(axis: Array, angle: float) -> Array:
    """Return the rotation by `angle` (rad) about a unit vector, by Rodrigues' formula."""
    x, y, z = (float(entry) for entry in axis)
    turn = np.array(skew((x, y, z), 0.0))
    return np.eye(3) + np.sin(angle) * turn + (1.0 - np.cos(angle)) * (turn @ turn)


def unit_quaternion(quaternion: Array) -> Array:
    """Return the quaternion divided by its length."""
    length = float(np.linalg.norm(quaternion))
    if not 0.0 < length < np.inf:
        raise RunError(
            "a quaternion in q has no length",
            element="q",
            remedy="begin with mechanism.neutral(), where it is 0 0 0 1",
        )
    return quaternion / length


def rotation_of_quaternion(quaternion: Array) -> Array:
    """Return the rotation of a quaternion (x, y, z, w) of any length but zero."""
    x, y, z, w = (float(entry) for entry in unit_quaternion(quaternion))
    turn = np.array(skew((x, y, z), 0.0))
    return np.eye(3) + 2.0 * w * turn + 2.0 * (turn @ turn)


def turned(quaternion: Array, turn: Array) -> Array:
    """Return the unit quaternion after a turn, axis times angle (rad) in body axes."""
    angle = float(np.linalg.norm(turn))
    # sin(angle/2)/angle, which sinc gives without dividing by a small angle.
    x, y, z = (float(entry) for entry in turn * (np.sinc(angle / (2.0 * np.pi)) / 2.0))
    w = float(np.cos(angle / 2.0))
    a, b, c, d = (float(entry) for entry in unit_quaternion(quaternion))
    return unit_quaternion(np.array(quaternion_product((a, b, c, d), (x, y, z, w))))
