"""Positions, velocities and accelerations of limbs in world axes.

symbol   meaning                                                        frame
e        direction of a joint freedom                                   world
P        origin of a limb's frame                                       world
w, v     angular velocity of a limb, velocity of its origin             world
b, a     angular acceleration of a limb, acceleration of its origin     world

The ground is the base body and moves as it is prescribed (see base.py). `rates` names the motions
that are not taken as zero: "base", "qd", "qdd"; with "gravity" among them, accelerations are less
that of free fall, so that they stand for inertia and weight together.

Limbs of a run of parallel joints share the axes of its root, so that the rotation of each costs
one sine and cosine of a sum of angles.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

from chainform.formulations.shared.axes import Axes, run_members
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.tree import Column, Skeleton
from chainform.graph import Builder
from chainform.mechanism import GROUND, Attachment, Frame, Mechanism
from chainform.spatial import Matrix, Vector, add, apply, cross, product, scale, subtract, unit

Columns: TypeAlias = dict[int, tuple[Vector, Vector]]
"""Linear and angular velocity of a point, world axes, for unit rate of each freedom."""

RATES = ("base", "qd", "qdd")


class World:
    """What is known of a mechanism in world axes; each part built at its first use."""

    def __init__(self, skeleton: Skeleton, rates: Sequence[str] = RATES) -> None:
        self.skeleton = skeleton
        self.builder = skeleton.builder
        self.limbs = skeleton.limbs
        self.axes = Axes(skeleton, frozenset(run_members(skeleton)))
        self.base = skeleton.kinematics.base
        self.rates = rates
        field = skeleton.mechanism.gravity
        self.gravity = skeleton.kinematics.vector(field) if "gravity" in rates else None
        zero = self.builder.number(0)
        self.none: Vector = (zero, zero, zero)
        self.described_rotation = cache(self._described_rotation)
        self.rotation = cache(self._rotation)
        self.origin = cache(self._origin)
        self.arm = cache(self._arm)
        self.angular_velocity = cache(self._angular_velocity)
        self.velocity = cache(self._velocity)
        self.angular_acceleration = cache(self._angular_acceleration)
        self.acceleration = cache(self._acceleration)

    # --- positions ----------------------------------------------------------------------

    def _mapped(self, m: Matrix, change: str, k: int) -> Matrix:
        """Return M R: each row of M, seen from the turned axes."""
        into = getattr(self.axes, change)
        return (into(k, m[0]), into(k, m[1]), into(k, m[2]))

    def _reach_rotation(self, k: int) -> Matrix:
        """Return the rotation to the world from the axes in which `reach` of limb k is given."""
        parent = self.limbs[k].parent
        if parent == GROUND:
            return self.base.rotation
        return self._mapped(self.described_rotation(parent), "outward", k)

    def _described_rotation(self, k: int) -> Matrix:
        """Return the rotation to the world from the axes in which limb k is described."""
        return self._mapped(self._reach_rotation(k), "through", k)

    def _rotation(self, k: int) -> Matrix:
        """Return the rotation of limb k, its own axes to world axes."""
        if k == GROUND:
            return self.base.rotation
        m, turn = self.described_rotation(k), self.axes.own_turn(k)
        return m if turn is None else (turn.into(m[0]), turn.into(m[1]), turn.into(m[2]))

    def _origin(self, k: int) -> Vector:
        """Return the origin of limb k."""
        if k == GROUND:
            return self.base.position
        return self.builder.keep_vector(add(self.origin(self.limbs[k].parent), self.arm(k)))

    def _arm(self, k: int) -> Vector:
        """Return the vector to the origin of limb k from that of the limb before."""
        return self.builder.keep_vector(apply(self._reach_rotation(k), self.axes.reach(k)))

    def direction(self, k: int, column: Column) -> Vector:
        """Return a freedom of the joint of limb k as a vector, times its ratio."""
        e = unit(column.axis, self.builder.number(column.ratio), self.builder.number(0))
        return self.builder.keep_vector(apply(self.described_rotation(k), e))

    def path(self, k: int) -> list[int]:
        """Return the limbs from the base to limb k."""
        path: list[int] = []
        while k != GROUND:
            path.append(k)
            k = self.limbs[k].parent
        return path[::-1]

    # --- velocities ---------------------------------------------------------------------

    def _of_base(self, motion: str) -> Vector:
        """Return a velocity or acceleration of the base."""
        return getattr(self.base, motion) if "base" in self.rates else self.none

    def _own(self, k: int, group: str, *, turning: bool) -> Vector:
        total = self.none
        if group not in self.rates:
            return total
        for column in self.limbs[k].columns:
            if column.turning == turning:
                rate = self.skeleton.kinematics.q(column.rate, group)
                total = add(total, scale(rate, self.direction(k, column)))
        return total

    def _angular_velocity(self, k: int) -> Vector:
        if k == GROUND:
            return self._of_base("angular_velocity")
        before = self.angular_velocity(self.limbs[k].parent)
        return self.builder.keep_vector(add(before, self._own(k, "qd", turning=True)))

    def _velocity(self, k: int) -> Vector:
        if k == GROUND:
            return self._of_base("velocity")
        parent = self.limbs[k].parent
        carried = add(self.velocity(parent), cross(self.angular_velocity(parent), self.arm(k)))
        return self.builder.keep_vector(add(carried, self._own(k, "qd", turning=False)))

    # --- accelerations ------------------------------------------------------------------

    def _angular_acceleration(self, k: int) -> Vector:
        if k == GROUND:
            return self._of_base("angular_acceleration")
        parent = self.limbs[k].parent
        own = self._own(k, "qdd", turning=True)
        # The direction of a freedom turns with the limb before it; with a quaternion joint it
        # turns with the limb itself, which makes no difference to the sum.
        swing = cross(self.angular_velocity(parent), self._own(k, "qd", turning=True))
        return self.builder.keep_vector(add(self.angular_acceleration(parent), add(own, swing)))

    def _acceleration(self, k: int) -> Vector:
        if k == GROUND:
            start = self._of_base("acceleration")
            return (
                self.builder.keep_vector(subtract(start, self.gravity)) if self.gravity else start
            )
        parent, arm = self.limbs[k].parent, self.arm(k)
        w = self.angular_velocity(parent)
        carried = add(
            self.acceleration(parent),
            add(
                cross(self.angular_acceleration(parent), arm),
                cross(w, self.builder.keep_vector(cross(w, arm))),
            ),
        )
        slide = self.builder.keep_vector(self._own(k, "qd", turning=False))
        # 2 w x slide for a joint whose direction turns with the limb before; a free joint has
        # its directions in its own axes, which adds its own angular velocity once.
        spin = add(w, self.angular_velocity(k))
        drift = add(self._own(k, "qdd", turning=False), cross(spin, slide))
        return self.builder.keep_vector(add(carried, drift))

    # --- frames -------------------------------------------------------------------------

    def limb_of(self, frame: Frame) -> int:
        """Return the limb a frame is fixed to, all limbs before it being known."""
        limb = self.skeleton.poses[frame.segment].limb
        # From the base outward, so that no recursion gets deep.
        for k in self.path(limb):
            self.origin(k)
        return limb

    def follow(self, k: int) -> int:
        """Find velocities and accelerations from the base outward to limb k, and return k."""
        for limb in self.path(k):
            self.angular_velocity(limb)
            self.velocity(limb)
            self.angular_acceleration(limb)
            self.acceleration(limb)
        return k

    def frame_rotation(self, frame: Frame) -> Matrix:
        """Return the axes of a frame in the world."""
        pose = self.skeleton.poses[frame.segment]
        local = product(pose.rotation, frame.rotation)
        return self.builder.keep_matrix(product(self.rotation(self.limb_of(frame)), local))

    def frame_arm(self, frame: Frame) -> Vector:
        """Return the vector from the origin of its limb to a frame, in world axes."""
        pose = self.skeleton.poses[frame.segment]
        point = self.skeleton.kinematics.vector(frame.point)
        local = self.builder.keep_vector(add(pose.position, apply(pose.rotation, point)))
        return self.builder.keep_vector(apply(self.rotation(self.limb_of(frame)), local))

    def frame_origin(self, frame: Frame) -> Vector:
        """Return the origin of a frame."""
        return self.builder.keep_vector(
            add(self.origin(self.limb_of(frame)), self.frame_arm(frame))
        )

    def frame_velocity(self, frame: Frame) -> tuple[Vector, Vector]:
        """Return the velocity of the origin of a frame and its angular velocity."""
        k, arm = self.limb_of(frame), self.frame_arm(frame)
        for limb in self.path(k):
            self.angular_velocity(limb)
            self.velocity(limb)
        w = self.angular_velocity(k)
        return self.builder.keep_vector(add(self.velocity(k), cross(w, arm))), w

    def frame_acceleration(self, frame: Frame) -> tuple[Vector, Vector]:
        """Return the acceleration of the origin of a frame and its angular acceleration."""
        k, arm, keep = self.limb_of(frame), self.frame_arm(frame), self.builder.keep_vector
        for limb in self.path(k):
            self.angular_velocity(limb)
            self.angular_acceleration(limb)
            self.acceleration(limb)
        w, eps = self.angular_velocity(k), self.angular_acceleration(k)
        swing = add(cross(eps, arm), cross(w, keep(cross(w, arm))))
        return keep(add(self.acceleration(k), swing)), eps

    def column(self, k: int, column: Column, point: Vector) -> tuple[Vector, Vector]:
        """Return linear and angular velocity of a point for unit rate of a freedom of limb k."""
        e = self.direction(k, column)
        if not column.turning:
            return e, self.none
        arm = self.builder.keep_vector(subtract(point, self.origin(k)))
        return self.builder.keep_vector(cross(e, arm)), e

    def column_rate(
        self, k: int, column: Column, point: Vector, velocity: Vector
    ) -> tuple[Vector, Vector]:
        """Return the time derivative of `column`, for a point that moves with `velocity`."""
        e = self.direction(k, column)
        swing = self.builder.keep_vector(cross(self.angular_velocity(k), e))
        if not column.turning:
            return swing, self.none
        arm = self.builder.keep_vector(subtract(point, self.origin(k)))
        relative = self.builder.keep_vector(subtract(velocity, self.velocity(k)))
        return self.builder.keep_vector(add(cross(swing, arm), cross(e, relative))), swing


class WorldColumns:
    """Velocities of points in world axes, for any joints."""

    def __init__(self, builder: Builder, mechanism: Mechanism) -> None:
        self.world = World(Skeleton(Kinematics(mechanism, builder)))

    def of_attachment(self, name: str, end: Attachment) -> Columns:
        """Return the columns of a point that a loop or a spring holds."""
        return self.of_frame(Frame(name, end.segment, end.point, end.rotation))

    def of_frame(self, frame: Frame) -> Columns:
        """Return the columns of the origin of a frame."""
        world = self.world
        point, columns = world.frame_origin(frame), Columns()
        for k in world.path(world.limb_of(frame)):
            for column in world.limbs[k].columns:
                before = columns.get(column.rate, (world.none, world.none))
                linear, angular = world.column(k, column, point)
                columns[column.rate] = (add(before[0], linear), add(before[1], angular))
        return columns

    def place_of(self, end: Attachment) -> Vector:
        """Return the position of a point that a loop or a spring holds."""
        return self.world.frame_origin(Frame("", end.segment, end.point, end.rotation))
