"""The tree as the recursive formulations see it: limbs, with frames that keep zeros zero.

A limb is a moving segment together with everything fixed to it. Its frame has its origin at
the joint, its joint axis along a coordinate axis, and wherever that is possible the same
directions as the frame of the limb before it when the coordinate is zero. Frames of a file
that are turned by quarter turns then cost nothing at all.

Inertia is taken about the frame origin, as M (mass), h (first moment) and S (second moment,
the integral of r r^T dm). `regroup` moves to the limb before what cannot be distinguished from
it: of a revolute limb the mass, the first and the second moment along the axis, of a
prismatic limb the second moments. The rest are base parameters, but for what a fixed base or
coupled joints make equal; mechanism/base_parameters.py has the exact set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from chainform.formulations.shared.kinematics import AXES, Kinematics
from chainform.formulations.shared.turns import FrameTurn, MatrixTurn, others
from chainform.graph import Scalar
from chainform.mechanism import GROUND, IDENTITY, ZERO_VECTOR, JointKind, Mechanism, Segment
from chainform.spatial import (
    Matrix,
    Vector,
    add,
    apply,
    column,
    dot,
    matrix,
    product,
    replaced,
    symmetric,
    transpose,
    unit,
)

HALF = Fraction(1, 2)

LONGEST = 1024
"""Bits of a number beyond which products of constants are not carried on.

Exact rotations that are not quarter turns make numbers longer with every joint they are multiplied
through. Laying frames parallel and moving parameters save operations; they are given up where the
numbers would become unwieldy.
"""


def _is_long(value: Scalar | Fraction | int) -> bool:
    number = value.number if isinstance(value, Scalar) else value
    exact = Fraction(number)
    return max(exact.numerator.bit_length(), exact.denominator.bit_length()) > LONGEST


@dataclass(frozen=True, slots=True)
class Column:
    """One freedom of a joint: a turn about, or a slide along, a limb axis.

    The joint moves by `ratio` times the rate of the coordinate; its sign is the sense.
    """

    rate: int
    turning: bool
    axis: int
    ratio: Fraction


@dataclass(frozen=True, slots=True)
class Limb:
    """One joint and the rigid piece it carries.

    `rotation` turns limb axes at zero coordinate into axes of the limb before, None when they
    coincide; `position` is the joint origin there. `frame` turns limb axes into axes of the
    segment as the file has them.
    """

    segment: int
    parent: int
    kind: JointKind
    columns: tuple[Column, ...]
    rotation: Matrix | None
    position: Vector
    frame: Matrix
    mass: Scalar
    moment: Vector
    second: Matrix

    @property
    def is_revolute(self) -> bool:
        """Whether the joint turns about one axis."""
        return self.kind == JointKind.REVOLUTE

    @property
    def axis(self) -> int:
        """The axis of a joint of one freedom; z for any other."""
        return self.columns[0].axis if len(self.columns) == 1 else 2

    def plus(self, mass: Scalar, moment: Vector, second: Matrix) -> Limb:
        """Return the limb with one more body on it."""
        return replace(
            self,
            mass=self.mass + mass,
            moment=add(self.moment, moment),
            second=matrix(lambda i, k: self.second[i][k] + second[i][k]),
        )


@dataclass(frozen=True, slots=True)
class SegmentPose:
    """Where a segment sits on its limb: the turn from its axes to the limb's, and its origin."""

    limb: int
    rotation: Matrix
    position: Vector


class Skeleton:
    """The limbs of a mechanism, parents first."""

    def __init__(self, kinematics: Kinematics) -> None:
        self.kinematics = kinematics
        self.builder = kinematics.builder
        self.limbs: list[Limb] = []
        self.poses: dict[int, SegmentPose] = {GROUND: SegmentPose(GROUND, IDENTITY, self._zeros())}
        for j, segment in enumerate(kinematics.mechanism.segments):
            self._locate(j, segment)
        for j, segment in enumerate(kinematics.mechanism.segments):
            self._load(self.poses[j], segment)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism the limbs come from."""
        return self.kinematics.mechanism

    def _zeros(self) -> Vector:
        zero = self.builder.number(0)
        return (zero, zero, zero)

    def children(self, limb: int) -> list[int]:
        """Return the limbs carried by a limb."""
        return [k for k, other in enumerate(self.limbs) if other.parent == limb]

    # --- frames -------------------------------------------------------------------------

    def _locate(self, j: int, segment: Segment) -> None:
        before = self.poses[segment.parent]
        turn = product(before.rotation, segment.rotation)
        offset = self.kinematics.vector(segment.position)
        position = add(before.position, apply(before.rotation, offset))
        if segment.coordinate is None:
            self.poses[j] = SegmentPose(before.limb, turn, position)
            return
        frame, rotation = _frame(turn, segment)
        self.limbs.append(
            Limb(
                segment=j,
                parent=before.limb,
                kind=segment.joint.kind,
                columns=_columns(segment, frame),
                rotation=rotation,
                position=self._named_vector(f"d_{j + 1}", position),
                frame=frame,
                mass=self.builder.number(0),
                moment=self._zeros(),
                second=(self._zeros(), self._zeros(), self._zeros()),
            )
        )
        self.poses[j] = SegmentPose(len(self.limbs) - 1, transpose(frame), self._zeros())

    def _named_vector(self, label: str, v: Vector) -> Vector:
        name = self.builder.name
        return (name(f"{label}_x", v[0]), name(f"{label}_y", v[1]), name(f"{label}_z", v[2]))

    # --- joints -------------------------------------------------------------------------

    def displacement(self, limb: Limb) -> Scalar:
        """Return how far a joint of one freedom has moved about or along its limb axis."""
        segment = self.mechanism.segments[limb.segment]
        sense = 1 if limb.columns[0].ratio * segment.ratio > 0 else -1
        return sense * self.kinematics.displacement(segment)

    def turns(self, limb: Limb) -> list[FrameTurn]:
        """Return the turns from the axes of the limb before to the axes before a turning joint.

        For a joint with a quaternion they include its own turn.
        """
        turns: list[FrameTurn] = []
        if limb.rotation is not None:
            turns.append(MatrixTurn(self.builder, limb.rotation))
        if limb.kind in (JointKind.SPHERICAL, JointKind.FREE):
            segment = self.mechanism.segments[limb.segment]
            turns.append(MatrixTurn(self.builder, self.kinematics.quaternion(segment)))
        return turns

    def reach(self, limb: Limb) -> Vector:
        """Return the vector to the limb's origin, in the axes of the limb before."""
        zero = self.builder.number(0)
        if limb.kind == JointKind.PRISMATIC:
            slide = unit(limb.axis, self.displacement(limb), zero)
        elif limb.kind == JointKind.FREE:
            first = self.mechanism.segments[limb.segment].coordinate or 0
            q = self.kinematics.q
            slide = (q(first), q(first + 1), q(first + 2))
        else:
            return limb.position
        if limb.rotation is not None:
            slide = MatrixTurn(self.builder, limb.rotation).back(slide)
        return self.builder.keep_vector(add(limb.position, slide))

    # --- inertia ------------------------------------------------------------------------

    def _load(self, pose: SegmentPose, segment: Segment) -> None:
        """Add a body to its limb."""
        if pose.limb != GROUND and not segment.body.is_massless:
            self._increase(pose.limb, *self.inertia_of(pose, segment))

    def inertia_of(self, pose: SegmentPose, segment: Segment) -> tuple[Scalar, Vector, Matrix]:
        """Return M, h and S of one body about the origin of its limb, in the axes of the limb."""
        number = self.kinematics.number
        mass = number(segment.body.mass)
        rows = [self.kinematics.vector(row) for row in segment.body.inertia]
        tensor = _turned(pose.rotation, (rows[0], rows[1], rows[2]))
        com = add(pose.position, apply(pose.rotation, self.kinematics.vector(segment.body.com)))
        half_trace = (rows[0][0] + rows[1][1] + rows[2][2]) * HALF
        second = symmetric(
            lambda i, k: (half_trace if i == k else 0) - tensor[i][k] + mass * com[i] * com[k]
        )
        first: Vector = (mass * com[0], mass * com[1], mass * com[2])
        if segment.body.moment != ZERO_VECTOR:
            h, p = apply(pose.rotation, self.kinematics.vector(segment.body.moment)), pose.position
            first = add(first, h)
            own = second
            second = symmetric(lambda i, k: own[i][k] + h[i] * p[k] + p[i] * h[k])
        return mass, first, second

    def _increase(self, limb: int, mass: Scalar, moment: Vector, second: Matrix) -> None:
        self.limbs[limb] = self.limbs[limb].plus(mass, moment, second)

    def regroup(self) -> None:
        """Move to each limb's parent what has the same effect there: the base parameters stay."""
        for k in reversed(range(len(self.limbs))):
            limb = self.limbs[k]
            if limb.is_revolute:
                self._move_axial(k, limb)
            elif limb.kind == JointKind.PRISMATIC:
                self._move_second(k, limb)
            elif limb.kind == JointKind.SPHERICAL:
                self._move_mass(k, limb)
            self.limbs[k] = self._named(self.limbs[k])

    def _move_axial(self, k: int, limb: Limb) -> None:
        """Move the masses on the joint axis: they do not move when the joint turns."""
        zero, a = self.builder.number(0), limb.axis
        mass, moment, second = limb.mass, limb.moment[a], limb.second[a][a]
        e, p = _direction(limb), limb.position
        first = tuple(moment * e[i] + mass * p[i] for i in range(3))
        moved = symmetric(
            lambda i, l: (
                second * (e[i] * e[l]) + moment * (p[i] * e[l] + e[i] * p[l]) + mass * (p[i] * p[l])
            )
        )
        if limb.parent != GROUND and any(_is_long(x) for row in (first, *moved) for x in row):
            return
        self.limbs[k] = replace(
            limb,
            mass=zero,
            moment=replaced(limb.moment, a, zero),
            second=matrix(lambda i, l: limb.second[i][l] if (i, l) != (a, a) else zero),
        )
        if limb.parent == GROUND:
            # Where the base itself turns, the axis is not fixed, and each of the two counts.
            if not self.mechanism.base.is_turning:
                self._join_across(k, a)
        else:
            self._increase(limb.parent, mass, (first[0], first[1], first[2]), moved)

    def _join_across(self, k: int, axis: int) -> None:
        """Put together the two moments across a fixed axis: only their sum resists turning."""
        limb = self.limbs[k]
        x, y = others(axis)
        both = limb.second[x][x] + limb.second[y][y]
        zero = self.builder.number(0)
        entries = {(x, x): both, (y, y): zero}
        second = matrix(lambda i, l: entries.get((i, l), limb.second[i][l]))
        self.limbs[k] = replace(limb, second=second)

    def _move_second(self, k: int, limb: Limb) -> None:
        """Move the second moments: a prismatic joint does not turn what it carries."""
        zeros = self._zeros()
        turned = limb.second if limb.rotation is None else _turned(limb.rotation, limb.second)
        if limb.parent != GROUND and any(_is_long(x) for row in turned for x in row):
            return
        self.limbs[k] = replace(limb, second=(zeros, zeros, zeros))
        if limb.parent != GROUND:
            none = self.builder.number(0)
            self._increase(limb.parent, none, zeros, turned)

    def _move_mass(self, k: int, limb: Limb) -> None:
        """Move the mass: put at the centre of a spherical joint, it does not feel its turning."""
        mass, p = limb.mass, limb.position
        self.limbs[k] = replace(limb, mass=self.builder.number(0))
        if limb.parent != GROUND:
            moment: Vector = (mass * p[0], mass * p[1], mass * p[2])
            second = symmetric(lambda i, l: mass * (p[i] * p[l]))
            self._increase(limb.parent, mass, moment, second)

    def _named(self, limb: Limb) -> Limb:
        """Give the inertia of a limb names: M_2, h_2_x, S_2_xy."""
        j, name = limb.segment + 1, self.builder.name
        return replace(
            limb,
            mass=name(f"M_{j}", limb.mass),
            moment=self._named_vector(f"h_{j}", limb.moment),
            second=symmetric(lambda i, k: name(f"S_{j}_{AXES[i]}{AXES[k]}", limb.second[i][k])),
        )


def _columns(segment: Segment, frame: Matrix) -> tuple[Column, ...]:
    """Return the freedoms of a joint in limb axes."""
    assert segment.rate is not None
    if segment.joint.kind in (JointKind.SPHERICAL, JointKind.FREE):
        kinds = [False] * (segment.joint.kind.rates - 3) + [True] * 3
        return tuple(
            Column(segment.rate + k, turning, k % 3, Fraction(1)) for k, turning in enumerate(kinds)
        )
    direction = apply(transpose(frame), segment.joint.axis)
    axis = max(range(3), key=lambda i: abs(direction[i]))
    turning = segment.joint.kind == JointKind.REVOLUTE
    return (Column(segment.rate, turning, axis, direction[axis] * segment.ratio),)


def _frame(turn: Matrix, segment: Segment) -> tuple[Matrix, Matrix | None]:
    """Return the limb frame in segment axes, and its turn against the limb before (None: none).

    `turn` takes segment axes at zero coordinate to the axes of the limb before. If the joint
    axis is a coordinate axis there, the frames are laid parallel; else the limb keeps the
    axes of the segment, or turns them so that its own z axis is the joint axis.
    """
    if segment.joint.kind in (JointKind.SPHERICAL, JointKind.FREE):
        # Rates are given in the axes of the body, so these are the axes of the limb.
        return IDENTITY, None if turn == IDENTITY else turn
    is_short = not any(_is_long(entry) for row in turn for entry in row)
    if is_short and _is_coordinate_axis(apply(turn, segment.joint.axis)):
        return transpose(turn), None
    if _is_coordinate_axis(segment.joint.axis):
        return IDENTITY, turn
    frame = _turn_to(segment.joint.axis)
    return frame, product(turn, frame)


def _is_coordinate_axis(direction: Vector) -> bool:
    return sum(component != 0 for component in direction) == 1


def _turn_to(axis: Vector) -> Matrix:
    """Return a rational rotation whose z axis is the given unit vector (not along -z)."""
    x, y, z = axis
    scale = 1 / (1 + z)
    return (
        (1 - x * x * scale, -x * y * scale, x),
        (-x * y * scale, 1 - y * y * scale, y),
        (-x, -y, z),
    )


def _direction(limb: Limb) -> Vector:
    """Return the coordinate axis of the joint in the axes of the limb before."""
    if limb.rotation is None:
        return unit(limb.axis, 1, 0)
    return column(limb.rotation, limb.axis)


def _turned(rotation: Matrix, tensor: Matrix) -> Matrix:
    """Return R T R^T."""
    rows = product(rotation, tensor)
    return symmetric(lambda i, k: dot(rows[i], rotation[k]))
