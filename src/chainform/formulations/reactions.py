"""Reactions in the joints: what the parent exerts on the child, whatever the method.

A reaction is a force, then a moment about the origin of the frame of the child; it is the whole of
what the joint transmits, the drive along the axis included. It comes from the equilibrium of
everything beyond the joint, with inertia, weight, external wrenches, reactions of loops and springs
between points. For another frame of the child the moment is about the origin of that frame.
"""

from __future__ import annotations

from functools import cached_property

from chainform.errors import DeriveError
from chainform.formulations.equilibrium import Equilibrium
from chainform.formulations.loads import all_loads
from chainform.formulations.options import Options
from chainform.formulations.skeleton import Skeleton
from chainform.formulations.world import RATES, World
from chainform.graph import Scalar
from chainform.mechanism import GROUND, Frame, Mechanism
from chainform.spatial import apply_transposed


class Reactions:
    """The reactions of one mechanism."""

    def __init__(self, skeleton: Skeleton, options: Options) -> None:
        self.skeleton = skeleton
        self.options = options

    @cached_property
    def equilibrium(self) -> Equilibrium:
        """The equilibrium under all that acts on the bodies."""
        world = World(self.skeleton, ("gravity", *RATES))
        return Equilibrium(world, all_loads(world, self.options))

    def of(self, frame: Frame, axes: str) -> list[Scalar]:
        """Return what the joint of the segment of a frame transmits: force, then moment.

        The moment is about the origin of the frame. `axes`: "local" for those of the frame,
        "world", or "mixed" for the force in world axes and the moment in those of the frame.
        """
        if frame == Frame(frame.name, frame.segment):
            force, moment = self.equilibrium.reaction(frame.segment)
        else:
            force, moment = self.equilibrium.about(frame)
        if axes != "world":
            rotation = self.equilibrium.world.frame_rotation(frame)
            moment = apply_transposed(rotation, moment)
            if axes == "local":
                force = apply_transposed(rotation, force)
        return [*force, *moment]


def frame_of_joint(mechanism: Mechanism, name: str) -> Frame:
    """Return the frame that a reaction is asked for: by its name, a segment's or a joint's."""
    parts = (*mechanism.frames, *mechanism.segments)
    joints = [segment.joint.name for segment in mechanism.segments]
    if name in joints and name not in {part.name for part in parts}:
        return Frame(name, joints.index(name))
    frame = mechanism.frame(name)
    if frame.segment == GROUND:
        raise DeriveError(
            f"{name!r} is fixed to the ground, which no joint carries",
            file=mechanism.file,
            element=f"reaction({name})",
            remedy="name a segment, a joint or a frame on a segment",
        )
    return frame
