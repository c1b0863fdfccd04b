"""Whether the loops of a mechanism can close, and a pose in which they do.

Two impossibilities are certain and are errors: both ends on one rigid piece without coinciding, and
a side of the loop longer than all the others together. Otherwise a numeric search looks for a pose
that closes all loops; when it finds none, that is a warning, since a search proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from chainform.errors import ReadError
from chainform.expressions import symbols_of
from chainform.mechanism.data import MechanismData
from chainform.mechanism.joints import plane_of
from chainform.mechanism.pose import (
    Array,
    NumericTree,
    Poses,
    float_of,
    float_vector,
    known_values,
    numeric_tree,
)
from chainform.mechanism.records import (
    IDENTITY,
    Attachment,
    JointKind,
    Loop,
    LoopRows,
    Note,
    Number,
)

CLOSED = 1e-7
"""The greatest gap of a closed loop, relative to the size of the mechanism (rad for frames)."""
_STEPS = 60
_WORK = 20_000
"""Steps from one start, and the work (segments times starts times forty) a search may spend."""


@dataclass(frozen=True, slots=True)
class NumericEnd:
    """One end of a loop in doubles: a point and a rotation on a segment, and the joints before it.

    `path` holds the moving segments from the base to the end, `triad` in its columns u, v and n of
    `LoopRows`, in the axes of the end.
    """

    segment: int
    point: Array
    rotation: Array
    path: tuple[int, ...]
    triad: Array

    def position(self, poses: Poses) -> Array:
        """Return the point in base axes (m)."""
        return poses.point(self.segment, self.point)

    def frame(self, poses: Poses) -> Array:
        """Return the rotation of the end to base axes."""
        return poses.rotation(self.segment) @ self.rotation


@dataclass(frozen=True, slots=True)
class NumericLoop:
    """A loop in doubles; `size` is the length by which its gap is measured (m)."""

    rows: LoopRows
    closing: NumericEnd
    target: NumericEnd
    size: float
    length: float

    def gap(self, poses: Poses) -> Array:
        """Return what is missing for closure: relative distances, then angles."""
        apart, directions = self._apart(poses), self._directions(poses, self.rows.linear)
        distance = directions @ apart / self.size
        if self.length:
            distance = (distance - self.length / self.size) / 2
        if not self.rows.angular:
            return distance
        return np.concatenate([distance, self._turn(poses)])

    def _turn(self, poses: Poses) -> Array:
        """Return the angles between the ends, about the directions of the rows."""
        a, b = self.closing.frame(poses), self.target.frame(poses)
        if self.rows.angular == ("x", "y", "z"):
            return rotation_vector(a @ b.T)
        n_a, n_b = a @ self.closing.triad[:, 2], b @ self.target.triad[:, 2]
        if self.rows.angular == ("cross",):
            return np.array([n_a @ n_b])
        turned = self._directions(poses, self.rows.angular) @ np.cross(n_b, n_a)
        sine, cosine = float(np.linalg.norm(turned)), float(n_a @ n_b)
        if sine > 1e-8:
            return turned * (float(np.arctan2(sine, cosine)) / sine)
        return turned if cosine > 0 else np.array([np.pi, 0.0])

    def _apart(self, poses: Poses) -> Array:
        return self.closing.position(poses) - self.target.position(poses)

    def _directions(self, poses: Poses, names: tuple[str, ...]) -> Array:
        """Return some directions of the rows in base axes, (names, 3)."""
        match names:
            case ("x", *_):
                return np.eye(3)
            case ("line",):
                return self._apart(poses)[None] / self.length
            case ("cross",):
                first, second = (
                    e.frame(poses) @ e.triad[:, 2] for e in (self.closing, self.target)
                )
                return np.cross(first, second)[None]
            case _:
                triad = (self.target.frame(poses) @ self.target.triad).T
                return triad[["uvn".index(name) for name in names]]

    def jacobian(self, tree: NumericTree, poses: Poses, count: int) -> Array:
        """Return the derivative of the gap along the rates, for a small gap of the angles."""
        result = np.zeros((6, count))
        for end, sign in ((self.closing, 1.0), (self.target, -1.0)):
            # Directions that turn with the target act on it where the closing point is.
            at = self.closing if self.rows.turns_with_target else end
            point = at.position(poses)
            for k in end.path:
                columns = _twists(tree, poses, k, point)
                columns[:3] /= self.size
                first = tree.rates[k] or 0
                result[:, first : first + columns.shape[1]] += sign * tree.ratios[k] * columns
        linear = self._directions(poses, self.rows.linear) @ result[:3]
        if not self.rows.angular:
            return linear
        return np.concatenate([linear, self._directions(poses, self.rows.angular) @ result[3:]])


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


def numeric_loops(mechanism: MechanismData, tree: NumericTree) -> list[NumericLoop]:
    """Return the loops of the mechanism in doubles, at the values of its parameters."""
    known = known_values(mechanism)

    def end(attachment: Attachment) -> NumericEnd:
        path = mechanism.path_to(attachment.segment)
        moving = tuple(k for k in path if mechanism.segments[k].coordinate is not None)
        rotation = np.array([[float(entry) for entry in row] for row in attachment.rotation])
        point = float_vector(attachment.point, known)
        axis = attachment.axis or IDENTITY[2]
        triad = np.array([*plane_of(axis), axis], dtype=np.float64).T
        return NumericEnd(attachment.segment, point, rotation, moving, triad)

    ends = [(end(loop.closing), end(loop.target)) for loop in mechanism.loops]
    own = [_length(loop, known) for loop in mechanism.loops]
    lengths = [*own, np.linalg.norm(tree.positions, axis=1).sum()]
    lengths += [np.linalg.norm(e.point) for pair in ends for e in pair]
    slides = [kind is JointKind.PRISMATIC for kind in tree.kinds]
    lengths.append(np.abs(tree.offsets[slides]).sum())
    size = float(sum(lengths)) or 1.0
    return [
        NumericLoop(loop.rows, closing, target, size, length)
        for loop, (closing, target), length in zip(mechanism.loops, ends, own, strict=True)
    ]


def _length(loop: Loop, known: Mapping[str, Fraction]) -> float:
    """Return the length of a loop (m), 0 where it has none; parameters may have other values."""
    length = 0.0 if loop.length is None else float_of(loop.length, known)
    if loop.length is not None and not length > 0:
        remedy = "give parameters values with which it is"
        where = f"loop {loop.name!r}, length"
        raise ReadError(f"the length {length:.6g} m is not positive", element=where, remedy=remedy)
    return length


def closed_pose(mechanism: MechanismData) -> Array | None:
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
            pose = _closed_from(q, mechanism.nv, tree, loops)
        if pose is not None:
            return pose
    return None


def _reach(mechanism: MechanismData, size: float) -> Array:
    """Return how far each coordinate is searched: half a turn, the size of all, a quaternion."""
    reach: list[float] = []
    for index, record in enumerate(mechanism.coordinate_records):
        segment = mechanism.segments[record.segment]
        kind = segment.joint.kind
        slides = 3 if kind is JointKind.FREE else 0
        if kind is JointKind.REVOLUTE:
            reach.append(np.pi)
        elif kind.has_quaternion and index - (segment.coordinate or 0) >= slides:
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


# --- checks of loops ------------------------------------------------------------------------


_LONGEST = 1e100
"""Numbers beyond this (m, rad, ratios) are not put into squares of doubles."""


def check_loops(mechanism: MechanismData) -> tuple[Note, ...]:
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


def _entries(mechanism: MechanismData) -> Iterator[Number]:
    """Yield the numbers on which closure depends."""
    for segment in mechanism.segments:
        yield from (*segment.position, segment.ratio, segment.offset)
    for loop in mechanism.loops:
        yield from loop.numbers


def _free_names(mechanism: MechanismData, known: Mapping[str, Fraction]) -> list[str]:
    names: set[str] = set()
    for entry in _entries(mechanism):
        if not isinstance(entry, Fraction):
            names |= symbols_of(entry)
    return sorted(names - set(known))


def _sizes(mechanism: MechanismData, known: Mapping[str, Fraction]) -> Iterator[float]:
    return (float_of(entry, known) for entry in _entries(mechanism))


def _moving_on(mechanism: MechanismData, closing: int, target: int) -> tuple[list[int], list[int]]:
    """Return the moving segments on the two branches of a loop, from the tips inwards."""
    first, second = mechanism.path_to(closing), mechanism.path_to(target)
    common = sum(1 for a, b in zip(first, second, strict=False) if a == b)
    branches = [
        [k for k in reversed(path[common:]) if mechanism.segments[k].coordinate is not None]
        for path in (first, second)
    ]
    return branches[0], branches[1]


def _check_loop(
    mechanism: MechanismData, loop: Loop, numeric: NumericLoop, tree: NumericTree
) -> list[Note]:
    where = f"loop {loop.name!r}"
    outward, inward = _moving_on(mechanism, loop.closing.segment, loop.target.segment)
    poses = tree.poses(mechanism.neutral())
    if not outward and not inward:
        if np.max(np.abs(numeric.gap(poses))) > CLOSED:
            raise ReadError(
                "the loop cannot close: no joint lies between its ends, and they do not fit",
                file=mechanism.file,
                element=where,
                remedy="correct the points, or attach the ends to other segments",
            )
        return [Note("warning", where, "no joint lies between its ends; it adds no condition")]
    kinds = {mechanism.segments[k].joint.kind for k in outward + inward}
    slides = numeric.rows.turns_with_target
    if not slides and kinds <= {JointKind.REVOLUTE, JointKind.SPHERICAL}:
        joints = [poses.positions[k] for k in outward + inward[::-1]]
        start, end = numeric.closing.position(poses), numeric.target.position(poses)
        _check_polygon([start, *joints, end], numeric.length, mechanism, where)
    return _idle_basics(mechanism, loop, set(outward + inward))


def _check_polygon(
    points: list[Array], length: float, mechanism: MechanismData, where: str
) -> None:
    """Refuse a loop one side of which is longer than the others together.

    Neighbouring points lie on one rigid piece, so their distances are the same in every pose, and
    `length` is that of the first and the last point. The
    joints, revolute or spherical, may hold the sides back further, but they cannot make up for the
    length.
    """
    sides = [length, *(float(np.linalg.norm(b - a)) for a, b in pairwise(points))]
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


def _idle_basics(mechanism: MechanismData, loop: Loop, moving: set[int]) -> list[Note]:
    moving_coordinates = {mechanism.segments[k].coordinate for k in moving}
    names = [
        mechanism.coordinates[index]
        for index in loop.basic or ()
        if index not in moving_coordinates
    ]
    text = "these basic coordinates do not move the loop: " + ", ".join(names)
    return [Note("warning", f"loop {loop.name!r}, basic", text)] if names else []
