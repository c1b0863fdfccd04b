"""Forces and moments on the bodies besides inertia and weight, in world axes.

    wrench     on a frame, given as an input
    sigma      reaction of a loop: on the closing body, and the opposite on the other one
    spring     between two points: a pull on both ends, along the line between them

Each acts on a segment at a point of it. What acts in a joint, such as friction, a drive or the
spring of a joint, is no load: it is part of what the joint transmits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chainform.formulations.options import Options
from chainform.formulations.passive import spring_pulls
from chainform.formulations.world import World
from chainform.mechanism import Attachment, Frame
from chainform.spatial import Vector, scale


@dataclass(frozen=True, slots=True)
class Load:
    """A force through the origin of a frame on its segment, and a moment; world axes."""

    frame: Frame
    force: Vector
    moment: Vector


def wrench_loads(world: World, options: Options) -> Iterator[Load]:
    """Yield the external wrenches on chosen frames."""
    for place, name in enumerate(options.wrenches):
        frame = world.skeleton.mechanism.frame(name)
        force = _inputs(world, "wrench", 6 * place)
        yield Load(frame, force, _inputs(world, "wrench", 6 * place + 3))


def loop_loads(world: World) -> Iterator[Load]:
    """Yield the reactions of closed loops on both bodies of each."""
    row = 0
    for loop in world.skeleton.mechanism.loops:
        is_frame = loop.kind == "frame"
        force = _inputs(world, "sigma", row)
        moment = _inputs(world, "sigma", row + 3) if is_frame else world.none
        yield Load(_frame(loop.closing), force, moment)
        yield Load(_frame(loop.target), scale(-1, force), scale(-1, moment))
        row += 6 if is_frame else 3


def spring_loads(world: World, options: Options) -> Iterator[Load]:
    """Yield the pulls of springs and dampers between two points."""
    for end, pull in spring_pulls(world.builder, world.skeleton.mechanism, options):
        yield Load(_frame(end), pull, world.none)


def all_loads(world: World, options: Options) -> list[Load]:
    """Return everything that acts on the bodies from outside or from other bodies."""
    return [*wrench_loads(world, options), *loop_loads(world), *spring_loads(world, options)]


def _inputs(world: World, group: str, first: int) -> Vector:
    x, y, z = (world.builder.input(f"{group}{i + 1}", group, i) for i in range(first, first + 3))
    return (x, y, z)


def _frame(end: Attachment) -> Frame:
    return Frame("", end.segment, end.point, end.rotation)
