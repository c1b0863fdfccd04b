"""Poses of all segments in double precision, for checks and drawings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from chainform.errors import ReadError
from chainform.expressions import symbols_of, value_of
from chainform.mechanism.mechanism import Mechanism
from chainform.mechanism.types import GROUND, JointKind, Number, Vector3

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
    """The geometry of a mechanism in doubles: what poses need and nothing else."""

    parents: tuple[int, ...]
    kinds: tuple[JointKind, ...]
    coordinates: tuple[int | None, ...]
    axes: Array
    positions: Array
    rotations: Array

    def poses(self, q: Sequence[float] | Array) -> Poses:
        """Return the frames of all segments for the coordinates q (rad, m)."""
        rotations = np.empty((len(self.parents), 3, 3))
        positions = np.empty((len(self.parents), 3))
        for i, parent in enumerate(self.parents):
            outer = np.eye(3) if parent == GROUND else rotations[parent]
            origin = np.zeros(3) if parent == GROUND else positions[parent]
            frame = outer @ self.rotations[i]
            positions[i] = origin + outer @ self.positions[i]
            coordinate = self.coordinates[i]
            if coordinate is not None and self.kinds[i] is JointKind.REVOLUTE:
                frame = frame @ rotation_about(self.axes[i], float(q[coordinate]))
            elif coordinate is not None:
                positions[i] += frame @ self.axes[i] * float(q[coordinate])
            rotations[i] = frame
        return Poses(rotations, positions)


def numeric_tree(mechanism: Mechanism, values: Mapping[str, Fraction] | None = None) -> NumericTree:
    """Return the geometry in doubles; `values` stand before the values of the parameters.

    A parameter without a value raises ReadError.
    """
    known = known_values(mechanism, values)
    segments = mechanism.segments
    count = len(segments)
    axes = [[float(entry) for entry in segment.joint.axis] for segment in segments]
    turns = [[[float(e) for e in row] for row in segment.rotation] for segment in segments]
    places = [float_vector(segment.position, known) for segment in segments]
    return NumericTree(
        tuple(segment.parent for segment in segments),
        tuple(segment.joint.kind for segment in segments),
        tuple(segment.coordinate for segment in segments),
        np.array(axes, dtype=float).reshape(count, 3),
        np.array(places, dtype=float).reshape(count, 3),
        np.array(turns, dtype=float).reshape(count, 3, 3),
    )


def poses_of(
    mechanism: Mechanism,
    q: Sequence[float] | Array,
    values: Mapping[str, Fraction] | None = None,
) -> Poses:
    """Return the frames of all segments, relative to the base, for the coordinates q (rad, m)."""
    return numeric_tree(mechanism, values).poses(q)


def known_values(
    mechanism: Mechanism, values: Mapping[str, Fraction] | None = None
) -> dict[str, Fraction]:
    """Return the values of the bound parameters, overlaid by `values`."""
    bound = {p.name: p.value for p in mechanism.parameters if p.value is not None}
    return {**bound, **(values or {})}


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
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * skew + (1.0 - np.cos(angle)) * (skew @ skew)
