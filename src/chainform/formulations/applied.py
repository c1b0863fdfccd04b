"""Forces from outside: reactions of closed loops, and wrenches on chosen frames.

A wrench is a force and a moment about the origin of its frame, world axes, acting on the body that
carries the frame. Virtual work gives its share of the equations, - J^T wrench.
"""

from __future__ import annotations

from chainform.formulations.closure import Closure, Columns
from chainform.formulations.kinematics import Kinematics
from chainform.formulations.options import Options
from chainform.formulations.skeleton import Skeleton
from chainform.formulations.world import World
from chainform.graph import Builder, Scalar
from chainform.mechanism import Attachment, Frame, Mechanism
from chainform.spatial import add, dot


class WorldColumns:
    """Velocities of points in world axes, for any joints."""

    def __init__(self, builder: Builder, mechanism: Mechanism) -> None:
        self.world = World(Skeleton(Kinematics(mechanism, builder)))

    def of_attachment(self, name: str, end: Attachment) -> Columns:
        """Return the columns of a point that a loop holds."""
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


def world_closure(builder: Builder, mechanism: Mechanism) -> Closure:
    """Return the closure equations from positions in world axes."""
    columns = WorldColumns(builder, mechanism)
    return Closure(builder, mechanism, columns.of_attachment)


def outer_forces(
    builder: Builder, mechanism: Mechanism, options: Options, closure: Closure | None = None
) -> dict[int, Scalar]:
    """Return what reactions and wrenches add to inverse dynamics, by rate."""
    totals: dict[int, Scalar] = {}
    if mechanism.loops:
        loops = closure or world_closure(builder, mechanism)
        totals = loops.forces(options.closure)
    if options.wrenches:
        columns = WorldColumns(builder, mechanism)
        for place, name in enumerate(options.wrenches):
            frame = mechanism.frame(name)
            force, moment = _wrench(builder, 6 * place), _wrench(builder, 6 * place + 3)
            for rate, (linear, angular) in columns.of_frame(frame).items():
                share = dot(linear, force) + dot(angular, moment)
                totals[rate] = totals.get(rate, builder.number(0)) - share
    return totals


def _wrench(builder: Builder, first: int) -> tuple[Scalar, Scalar, Scalar]:
    x, y, z = (builder.input(f"wrench{first + k + 1}", "wrench", first + k) for k in range(3))
    return (x, y, z)
