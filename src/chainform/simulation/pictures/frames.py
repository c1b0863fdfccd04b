"""Where all frames of a mechanism are, for many times at once, in world axes.

symbol   meaning
R, p     rotation, axes of a frame to world axes, and origin
R0, p0   the same of the base (the ground), which may be a law of time
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from graphlib import TopologicalSorter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chainform.errors import RunError
from chainform.mechanism import GROUND, JointKind, Mechanism, Rotation
from chainform.mechanism.elements import Fixed, InertialElement, Shift, Turn
from chainform.mechanism.numbering import GROUND_NAME
from chainform.mechanism.pose import NumericTree, float_vector, known_values, numeric_tree
from chainform.simulation.law_values import LawValues

Array = NDArray[np.float64]


class Track(NamedTuple):
    """Frames at many times: rotations (..., n, 3, 3) to world axes, positions (..., n, 3) in m."""

    rotations: Array
    positions: Array


def poses(mechanism: Mechanism, q: ArrayLike, t: ArrayLike | None = None) -> Track:
    """Return the frames of all segments for coordinates q (..., nq), in world axes.

    `t` (...) are the times, needed where the base moves by a law of time.
    """
    rows = np.asarray(q, dtype=np.float64)
    if rows.ndim == 0 or rows.shape[-1] != mechanism.nq:
        raise RunError(
            f"q has the shape {rows.shape}, the mechanism has {mechanism.nq} coordinates",
            file=mechanism.file,
            element="q",
            remedy="the order is " + ", ".join(mechanism.coordinates),
        )
    lead = rows.shape[:-1]
    flat = rows.reshape(-1, mechanism.nq)
    times = None if t is None else np.broadcast_to(np.asarray(t, dtype=np.float64), lead).ravel()
    track = segment_track(mechanism, LawValues(mechanism, flat, times))
    count = len(mechanism.segments)
    return Track(
        track.rotations.reshape(*lead, count, 3, 3), track.positions.reshape(*lead, count, 3)
    )


def segment_track(mechanism: Mechanism, laws: LawValues) -> Track:
    """Return the frames of all segments, (m, n, ...)."""
    tree, base = numeric_tree(mechanism), base_track(mechanism, laws)
    shape = (len(laws.q), len(tree.parents))
    rotations, positions = np.empty((*shape, 3, 3)), np.empty((*shape, 3))
    for i, parent in enumerate(tree.parents):
        outer = base.rotations if parent == GROUND else rotations[:, parent]
        origin = base.positions if parent == GROUND else positions[:, parent]
        frame = outer @ tree.rotations[i]
        turn, shift = _motion(tree, i, laws.q)
        positions[:, i] = origin + outer @ tree.positions[i] + _apply(frame, shift)
        rotations[:, i] = frame @ turn
    return Track(rotations, positions)


def base_track(mechanism: Mechanism, laws: LawValues) -> Track:
    """Return the frame of the base, (m, 3, 3) and (m, 3)."""
    base = mechanism.base
    if base.rpy is not None:
        x, y, z = (turn_about(np.eye(3)[k], laws.value(a)) for k, a in enumerate(base.rpy))
        return Track(z @ y @ x, laws.vector(base.position))
    if base.quaternion is not None:
        quaternion = np.stack([laws.value(entry) for entry in base.quaternion], axis=-1)
        return Track(turn_of_quaternion(quaternion), laws.vector(base.position))
    return Track(np.tile(_floats(base.rotation), (len(laws.q), 1, 1)), laws.vector(base.position))


def _motion(tree: NumericTree, i: int, q: Array) -> tuple[Array, Array]:
    """Return how joint i turns (m, 3, 3) and shifts (m, 3) its body, in axes at zero."""
    first, kind = tree.coordinates[i], tree.kinds[i]
    still, turned = np.zeros((len(q), 3)), np.tile(np.eye(3), (len(q), 1, 1))
    if first is None:
        return turned, still
    if kind.has_quaternion:
        entries = q[:, first : first + kind.coordinates]
        shift = entries[:, :3] if kind is JointKind.FREE else still
        return turn_of_quaternion(entries[:, -4:]), shift
    amount = tree.ratios[i] * q[:, first] + tree.offsets[i]
    if kind is JointKind.REVOLUTE:
        return turn_about(tree.axes[i], amount), still
    return turned, amount[:, None] * tree.axes[i]


def turn_about(axis: Array, angles: Array) -> Array:
    """Return the rotations by angles (m,) about a unit vector, (m, 3, 3)."""
    skew = np.cross(np.eye(3), axis)
    sines, cosines = np.sin(angles)[:, None, None], np.cos(angles)[:, None, None]
    return np.eye(3) + sines * skew + (1.0 - cosines) * (skew @ skew)


def turn_of_quaternion(quaternions: Array) -> Array:
    """Return the rotations of quaternions (m, 4), x y z w, of any length but zero."""
    length = np.linalg.norm(quaternions, axis=-1, keepdims=True)
    if not (length > 0).all():
        raise RunError(
            "a quaternion in q has no length",
            element="q",
            remedy="begin with mechanism.neutral(), where it is 0 0 0 1",
        )
    unit = quaternions / length
    skew = np.cross(np.eye(3), unit[:, None, :3])
    return np.eye(3) + 2.0 * unit[:, 3, None, None] * skew + 2.0 * (skew @ skew)


def _apply(rotations: Array, vectors: Array) -> Array:
    return np.einsum("mij,mj->mi", rotations, vectors)


@dataclass
class Joints:
    """The moving turns of a chain: for each the place in the table of frames and its axis."""

    frames: list[int] = field(default_factory=list[int])
    axes: list[Array] = field(default_factory=list[Array])


class Frames:
    """All frames of a mechanism at all times: the ground, the segments, then those of elements.

    The frame of segment i has the place i + 1, so that GROUND has the place 0. `joints` holds, for
    each frame of an element, the frames in its chain that turn.
    """

    def __init__(self, mechanism: Mechanism, q: Array, t: Array) -> None:
        self.mechanism = mechanism
        self.laws = LawValues(mechanism, q, t)
        base, segments = base_track(mechanism, self.laws), segment_track(mechanism, self.laws)
        self.names = [GROUND_NAME, *(segment.name for segment in mechanism.segments)]
        self._rotations = [base.rotations, *np.moveaxis(segments.rotations, 1, 0)]
        self._positions = [base.positions, *np.moveaxis(segments.positions, 1, 0)]
        self.joints: dict[str, Joints] = {}
        self._add_elements()

    @property
    def track(self) -> Track:
        """The frames in the order of `names`, (m, n, ...)."""
        return Track(np.stack(self._rotations, axis=1), np.stack(self._positions, axis=1))

    def place(self, name: str) -> tuple[int, Array, Array]:
        """Return a named frame as its place here, and its origin and axes there."""
        if name in self.names:
            return self.names.index(name), np.zeros(3), np.eye(3)
        frame = self.mechanism.frame(name)
        return frame.segment + 1, float_vector(frame.point, self._known), _floats(frame.rotation)

    @property
    def _known(self) -> Mapping[str, Fraction]:
        return known_values(self.mechanism)

    def add(self, name: str, rotations: Array, positions: Array) -> int:
        """Add a frame and return its place."""
        self.names.append(name)
        self._rotations.append(rotations)
        self._positions.append(positions)
        return len(self.names) - 1

    def _add_elements(self) -> None:
        own = {e.name: e for e in self.mechanism.elements if isinstance(e, InertialElement)}
        needs = {name: [e.on] if e.on in own else [] for name, e in own.items()}
        for name in TopologicalSorter(needs).static_order():
            self._add_chain(own[name])

    def _add_chain(self, element: InertialElement) -> None:
        frame, point, axes = self.place(element.on)
        rotations = self._rotations[frame] @ axes
        positions = self._positions[frame] + self._rotations[frame] @ point
        joints = self.joints.setdefault(element.name, Joints())
        for step in element.chain:
            match step:
                case Shift(vector):
                    positions = positions + _apply(rotations, self.laws.vector(vector))
                case Fixed(rotation):
                    rotations = rotations @ _floats(rotation)
                case Turn(axis, angle):
                    direction = np.array([float(entry) for entry in axis])
                    rotations = rotations @ turn_about(direction, self.laws.value(angle))
                    if self.laws.depends(angle):
                        joints.frames.append(self.add("", rotations, positions))
                        joints.axes.append(direction)
        self.add(element.name, rotations, positions)


def _floats(rotation: Rotation) -> Array:
    return np.array([[float(entry) for entry in row] for row in rotation])
