"""Velocities of points in world axes, for unit rates of the freedoms."""

from __future__ import annotations

from chainform.formulations.closure import Columns
from chainform.formulations.kinematics import Kinematics
from chainform.formulations.skeleton import Skeleton
from chainform.formulations.world import World
from chainform.graph import Builder
from chainform.mechanism import Attachment, Frame, Mechanism
from chainform.spatial import Vector, add


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
