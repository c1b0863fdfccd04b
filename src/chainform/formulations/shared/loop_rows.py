"""Closed loops as rows of constraints, with those of the file behind them.

With the points a and b, the rotations A and B from their frames to the world, the axes n_c and n_t
of both ends in world axes, and u, v, n_t a right-handed triad fixed to the target, the rows are

    x y z    a - b
    u v n    u . (a - b), v . (a - b), n_t . (a - b)
    line     (|a - b|^2 - d^2) / (2 d)
    turn x y z    B (A^T B - B^T A)_vee / 2, the axis of the turn from B to A
    turn u v      u . (n_t x n_c), v . (n_t x n_c)
    turn cross    n_c . n_t

At a closed loop the rate of a row is a relative velocity of the closing body along a direction, or
an angular velocity about one, so that the multipliers are forces on it at a and moments, as `sigma`
is. Directions that turn with the target push it where they push the closing body, at a.
"""

from __future__ import annotations

from dataclasses import dataclass

from chainform.formulations.shared.constraints import ConstraintLaws, ConstraintRow
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.tree import Skeleton
from chainform.formulations.shared.world import World
from chainform.graph import Builder, Scalar
from chainform.mechanism import IDENTITY, ZERO, Attachment, Axis, Frame, Loop, Mechanism, plane_of
from chainform.spatial import Matrix, Vector, apply, cross, dot, product, scale, subtract, transpose


def rows_of(builder: Builder, mechanism: Mechanism) -> list[ConstraintRow]:
    """Return the rows that always hold: loops first, then the constraints of the file."""
    laws = ConstraintLaws(builder, mechanism)
    rows: list[ConstraintRow] = []
    if mechanism.loops:
        world = World(Skeleton(Kinematics(mechanism, builder)))
        for loop in mechanism.loops:
            moving = _moving(mechanism, loop)
            residuals = LoopGeometry(world, loop).residuals()
            rows += [laws.holonomic(value, moving) for value in residuals]
    return [*rows, *laws.bilateral]


def _moving(mechanism: Mechanism, loop: Loop) -> frozenset[int]:
    """Return the coordinates that move the ends of a loop against each other.

    Joints that carry both ends turn what is left between them, which is nothing where the loop is
    closed. In the stages of a step it would be taken for a motion.
    """
    closing, target = (set(mechanism.path_to(end.segment)) for end in (loop.closing, loop.target))
    moving = [mechanism.segments[i] for i in closing ^ target]
    return frozenset(
        segment.coordinate + k
        for segment in moving
        if segment.coordinate is not None
        for k in range(segment.joint.kind.coordinates)
    )


def turn_cosines(builder: Builder, mechanism: Mechanism) -> list[Scalar]:
    """Return the cosines of the turns between the ends of loops that have a sense.

    Residuals of directions vanish at half a turn, too, where it is -1.
    """
    loops = [loop for loop in mechanism.loops if loop.rows.has_sense]
    if not loops:
        return []
    world = World(Skeleton(Kinematics(mechanism, builder)))
    return [LoopGeometry(world, loop).turn_cosine() for loop in loops]


@dataclass(frozen=True, slots=True)
class RowWrench:
    """Force and moment on the closing body at a; `back` is the moment of the opposite about b."""

    force: Vector
    moment: Vector
    back: Vector


@dataclass(frozen=True, slots=True)
class LoopGeometry:
    """The ends of a loop in world axes: directions of its rows, and what must be zero."""

    world: World
    loop: Loop

    def wrenches(self) -> list[RowWrench]:
        """Return what a multiplier of 1 puts on the bodies, for each row."""
        rows, none, keep = self.loop.rows, self.world.none, self.world.builder.keep_vector
        wrenches: list[RowWrench] = []
        for force in map(self._direction, rows.linear):
            back = keep(cross(self._apart(), force)) if rows.turns_with_target else none
            wrenches.append(RowWrench(force, none, back))
        turns = map(self._direction, rows.angular)
        return [*wrenches, *(RowWrench(none, moment, moment) for moment in turns)]

    def residuals(self) -> list[Scalar]:
        """Return what must be zero for the loop to be closed."""
        apart, rows = self._apart(), self.loop.rows
        if rows.linear == ("x", "y", "z"):
            position = list(apart)
        elif rows.linear == ("line",):
            length = self._length()
            position = [(dot(apart, apart) / length - length) / 2]
        else:
            position = [dot(self._direction(name), apart) for name in rows.linear]
        match rows.angular:
            case ("x", "y", "z"):
                return [*position, *self._turned()]
            case ("u", "v"):
                axis, u, v = self._axis(self.loop.closing), *map(self._direction, rows.angular)
                return [*position, -dot(v, axis), dot(u, axis)]
            case ("cross",):
                return [*position, dot(self._axis(self.loop.closing), self._axis(self.loop.target))]
            case _:
                return position

    def turn_cosine(self) -> Scalar:
        """Return the cosine of the turn between the frames, or of that between the axes."""
        if self.loop.rows.angular == ("u", "v"):
            return dot(self._axis(self.loop.closing), self._axis(self.loop.target))
        relative = self._relative()
        return (relative[0][0] + relative[1][1] + relative[2][2] - 1) / 2

    def _direction(self, name: str) -> Vector:
        if name in "xyz":
            return self.world.skeleton.kinematics.vector(IDENTITY["xyz".index(name)])
        closing, target = self.loop.closing, self.loop.target
        keep = self.world.builder.keep_vector
        if name == "line":
            return keep(scale(1 / self._length(), self._apart()))
        if name == "cross":
            return keep(cross(self._axis(closing), self._axis(target)))
        axis = target.axis or IDENTITY[2]
        return self._vector(
            target, {"n": axis, **dict(zip("uv", plane_of(axis), strict=True))}[name]
        )

    def _apart(self) -> Vector:
        """Return a - b."""
        a, b = (self.world.frame_origin(frame_at(e)) for e in (self.loop.closing, self.loop.target))
        return self.world.builder.keep_vector(subtract(a, b))

    def _length(self) -> Scalar:
        return self.world.skeleton.kinematics.number(self.loop.length or ZERO)

    def _axis(self, end: Attachment) -> Vector:
        return self._vector(end, end.axis or IDENTITY[2])

    def _vector(self, end: Attachment, vector: Axis) -> Vector:
        own = self.world.skeleton.kinematics.vector(vector)
        return self.world.builder.keep_vector(apply(self._rotation(end), own))

    def _turned(self) -> Vector:
        relative, keep = self._relative(), self.world.builder.keep_vector
        turned: Vector = (
            (relative[2][1] - relative[1][2]) / 2,
            (relative[0][2] - relative[2][0]) / 2,
            (relative[1][0] - relative[0][1]) / 2,
        )
        return keep(apply(self._rotation(self.loop.target), keep(turned)))

    def _relative(self) -> Matrix:
        """Return B^T A."""
        return product(
            transpose(self._rotation(self.loop.target)), self._rotation(self.loop.closing)
        )

    def _rotation(self, end: Attachment) -> Matrix:
        return self.world.frame_rotation(frame_at(end))


def frame_at(end: Attachment) -> Frame:
    """Return the frame at an end of a loop or spring."""
    return Frame("", end.segment, end.point, end.rotation)
