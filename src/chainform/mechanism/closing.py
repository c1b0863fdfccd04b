"""The gaps of loops in double precision, and a pose in which all of them vanish."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from chainform.mechanism.mechanism import Mechanism
from chainform.mechanism.pose import (
    Array,
    NumericTree,
    Poses,
    float_vector,
    known_values,
    numeric_tree,
)
from chainform.mechanism.types import Attachment, JointKind

CLOSED = 1e-7
"""The greatest gap of a closed loop, relative to the size of the mechanism (rad for frames)."""

_STEPS = 60
_WORK = 20_000
"""Steps from one start, and the work (segments times starts times forty) a search may spend."""


@dataclass(frozen=True, slots=True)
class NumericEnd:
    """One end of a loop in doubles: a point and a rotation on a segment, and the joints before it.

    `path` holds the moving segments from the base to the end.
    """

    segment: int
    point: Array
    rotation: Array
    path: tuple[int, ...]

    def position(self, poses: Poses) -> Array:
        """Return the point in base axes (m)."""
        return poses.point(self.segment, self.point)

    def frame(self, poses: Poses) -> Array:
        """Return the rotation of the end to base axes."""
        return poses.rotation(self.segment) @ self.rotation


@dataclass(frozen=True, slots=True)
class NumericLoop:
    """A loop in doubles; `size` is the length by which its gap is measured (m)."""

    kind: Literal["point", "frame"]
    closing: NumericEnd
    target: NumericEnd
    size: float

    def gap(self, poses: Poses) -> Array:
        """Return what is missing for closure: relative distances, for a frame also angles."""
        distance = (self.closing.position(poses) - self.target.position(poses)) / self.size
        if self.kind == "point":
            return distance
        turn = self.closing.frame(poses) @ self.target.frame(poses).T
        return np.concatenate([distance, rotation_vector(turn)])

    def jacobian(self, tree: NumericTree, poses: Poses, count: int) -> Array:
        """Return the derivative of the gap along the rates, for a small gap of the angles."""
        result = np.zeros((6, count))
        for end, sign in ((self.closing, 1.0), (self.target, -1.0)):
            point = end.position(poses)
            for k in end.path:
                columns = _twists(tree, poses, k, point)
                columns[:3] /= self.size
                first = tree.rates[k] or 0
                result[:, first : first + columns.shape[1]] += sign * tree.ratios[k] * columns
        return result[:3] if self.kind == "point" else result


def _twists(tree: NumericTree, poses: Poses, k: int, point: Array) -> Array:
    """Return (6, rates): velocity of the point and angular velocity for each rate of joint k."""
    kind = tree.kinds[k]
    axes = poses.rotations[k] @ (np.eye(3) if kind.has_quaternion else tree.axes[k][:, None])
    slides = np.concatenate([axes, np.zeros_like(axes)])
    if kind is JointKind.PRISMATIC:
        return slides
    arms = np.cross(axes.T, point - poses.positions[k]).T
    turns = np.concatenate([arms, axes])
    return np.concatenate([slides, turns], axis=1) if kind is JointKind.FREE else turns


def numeric_loops(mechanism: Mechanism, tree: NumericTree) -> list[NumericLoop]:
    """Return the loops of the mechanism in doubles, at the values of its parameters."""
    known = known_values(mechanism)

    def end(attachment: Attachment) -> NumericEnd:
        path = mechanism.path_to(attachment.segment)
        moving = tuple(k for k in path if mechanism.segments[k].coordinate is not None)
        rotation = np.array([[float(entry) for entry in row] for row in attachment.rotation])
        point = float_vector(attachment.point, known)
        return NumericEnd(attachment.segment, point, rotation, moving)

    ends = [(end(loop.closing), end(loop.target)) for loop in mechanism.loops]
    lengths = [np.linalg.norm(tree.positions, axis=1).sum()]
    lengths += [np.linalg.norm(e.point) for pair in ends for e in pair]
    slides = [kind is JointKind.PRISMATIC for kind in tree.kinds]
    lengths.append(np.abs(tree.offsets[slides]).sum())
    size = float(sum(lengths)) or 1.0
    return [
        NumericLoop(loop.kind, closing, target, size)
        for loop, (closing, target) in zip(mechanism.loops, ends, strict=True)
    ]


def closed_pose(mechanism: Mechanism) -> Array | None:
    """Return coordinates q (rad, m) in which all loops close, None when the search finds none.

    The search starts from the zero pose and from seeded random ones, so it always gives the same
    answer. Quaternions have unit length in it.
    """
    neutral = mechanism.neutral()
    if not mechanism.loops:
        return neutral
    tree = numeric_tree(mechanism)
    loops = numeric_loops(mechanism, tree)
    random = np.random.default_rng(0)
    reach = _reach(mechanism, loops[0].size)
    starts = max(3, min(21, _WORK // (40 * len(tree.parents))))
    for number in range(starts):
        q = neutral if number == 0 else random.uniform(-reach, reach)
        # Lengths and ratios of very different size overflow; such a start leads nowhere.
        with np.errstate(over="ignore", invalid="ignore"):
            found = _closed_from(q, mechanism.nv, tree, loops)
        if found is not None:
            return found
    return None


def _reach(mechanism: Mechanism, size: float) -> Array:
    """Return how far each coordinate is searched: half a turn, the size of all, a quaternion."""
    reach: list[float] = []
    for place, record in enumerate(mechanism.coordinate_records):
        segment = mechanism.segments[record.segment]
        kind = segment.joint.kind
        slides = 3 if kind is JointKind.FREE else 0
        if kind is JointKind.REVOLUTE:
            reach.append(np.pi)
        elif kind.has_quaternion and place - (segment.coordinate or 0) >= slides:
            reach.append(1.0)
        else:
            reach.append(size)
    return np.array(reach)


def _closed_from(q: Array, nv: int, tree: NumericTree, loops: list[NumericLoop]) -> Array | None:
    """Take damped Gauss-Newton steps from q until the gaps vanish or no step helps any more."""
    damping = 1e-3
    poses = tree.poses(q)
    gap = np.concatenate([loop.gap(poses) for loop in loops])
    for _ in range(_STEPS):
        if np.max(np.abs(gap)) <= CLOSED:
            # A step of no length leaves the pose and gives quaternions their unit length.
            return tree.moved(q, np.zeros(nv))
        jacobian = np.concatenate([loop.jacobian(tree, poses, nv) for loop in loops])
        normal = jacobian.T @ jacobian + damping * np.eye(nv)
        if not (np.isfinite(normal).all() and np.isfinite(gap @ gap)):
            return None
        step = np.asarray(np.linalg.solve(normal, -jacobian.T @ gap), dtype=np.float64)
        trial = tree.moved(q, step)
        trial_poses = tree.poses(trial)
        trial_gap = np.concatenate([loop.gap(trial_poses) for loop in loops])
        if gap @ gap <= trial_gap @ trial_gap:
            damping *= 10
            if damping > 1e6:
                return None
            continue
        q, poses, gap = trial, trial_poses, trial_gap
        damping = max(damping / 10, 1e-12)
    return None


def rotation_vector(rotation: Array) -> Array:
    """Return axis times angle (rad) of a rotation."""
    skew = rotation - rotation.T
    sine_axis = np.array([skew[2, 1], skew[0, 2], skew[1, 0]]) / 2
    sine = float(np.linalg.norm(sine_axis))
    cosine = (float(np.trace(rotation)) - 1) / 2
    angle = float(np.arctan2(sine, cosine))
    if sine > 1e-8:
        return sine_axis * (angle / sine)
    if cosine > 0:
        return sine_axis
    # A half turn: the axis is the greatest column of R + 1.
    columns = rotation + np.eye(3)
    axis = columns[:, int(np.argmax(np.linalg.norm(columns, axis=0)))]
    return axis / np.linalg.norm(axis) * angle
