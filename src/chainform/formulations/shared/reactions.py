"""Reactions in the joints: what the parent exerts on the child, whatever the method.

A reaction is a force, then a moment about the origin of the frame of the child; it is the whole of
what the joint transmits, the drive along the axis included. It comes from the equilibrium of
everything beyond the joint, with inertia, weight, external wrenches, reactions of loops and springs
between points. For another frame of the child the moment is about the origin of that frame.

symbol   meaning                                                                       frame
f, n     force and moment that the parent of a segment exerts, the moment about the    limb's
         origin of the limb
M, h, S  inertia of all bodies beyond the joint on the same limb, about its origin      limb's

The motion is that of newton_euler_recursion.py, but with the inertia of the bodies as it is: moving
a parameter to the limb before does not change a drive, yet it changes the reaction.

Loads are forces and moments on the bodies besides inertia and weight, in world axes:

    wrench     on a frame, given as an input
    sigma      reaction of a loop: on the closing body, and the opposite on the other one, where
               the directions of the loop turn with it also at the closing point
    spring     between two points: a pull on both ends, along the line between them

Each acts on a segment at a point of it. What acts in a joint, such as friction, a drive or the
spring of a joint, is no load: it is part of what the joint transmits. So is the force of a
constraint of one joint, or of several as in a gear. A constraint of the position of a frame, or
one in which the ratio of joints changes as in a linkage, acts somewhere else: reactions that would
have to know where are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count

from chainform.errors import DeriveError
from chainform.formulations.shared.constraints import ConstraintLaws
from chainform.formulations.shared.forces import spring_pulls
from chainform.formulations.shared.kinematics import wrench_inputs
from chainform.formulations.shared.loop_rows import LoopGeometry, frame_at
from chainform.formulations.shared.newton_euler_recursion import NewtonEulerRecursion
from chainform.formulations.shared.options import Options
from chainform.formulations.shared.tree import Limb, Skeleton
from chainform.formulations.shared.world import RATES, World
from chainform.graph import Builder, Scalar
from chainform.mechanism import (
    GROUND,
    GROUND_NAME,
    IDENTITY,
    Frame,
    JointKind,
    Mechanism,
    frames_in,
    names_behind,
    symbols_in,
)
from chainform.spatial import (
    Vector,
    add,
    apply,
    apply_transposed,
    cross,
    product,
    scale,
    subtract,
)

# --- loads ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Load:
    """A force through the origin of a frame on its segment, and a moment; world axes."""

    frame: Frame
    force: Vector
    moment: Vector


def wrench_loads(world: World, options: Options) -> Iterator[Load]:
    """Yield the external wrenches on chosen frames."""
    for index, name in enumerate(options.wrenches):
        frame = world.skeleton.mechanism.frame(name)
        yield Load(frame, *wrench_inputs(world.builder, index))


def loop_loads(world: World) -> Iterator[Load]:
    """Yield the reactions of closed loops on both bodies of each."""
    rows = count()
    for loop in world.skeleton.mechanism.loops:
        force = moment = back = world.none
        for wrench in LoopGeometry(world, loop).wrenches():
            row = next(rows)
            sigma = world.builder.input(f"sigma{row + 1}", "sigma", row)
            force = add(force, scale(sigma, wrench.force))
            moment = add(moment, scale(sigma, wrench.moment))
            back = add(back, scale(sigma, wrench.back))
        yield Load(frame_at(loop.closing), force, moment)
        yield Load(frame_at(loop.target), scale(-1, force), scale(-1, back))


def spring_loads(world: World, options: Options) -> Iterator[Load]:
    """Yield the pulls of springs and dampers between two points."""
    for end, pull in spring_pulls(world.builder, world.skeleton.mechanism, options):
        yield Load(frame_at(end), pull, world.none)


def all_loads(world: World, options: Options) -> list[Load]:
    """Return everything that acts on the bodies from outside or from other bodies."""
    return [*wrench_loads(world, options), *loop_loads(world), *spring_loads(world, options)]


# --- constraints ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class UnplacedForce:
    """A constraint whose force has no place: the frames that it names, the joints that it moves."""

    name: str
    frames: frozenset[int]
    joints: frozenset[int]

    def check(self, mechanism: Mechanism, joint: int) -> None:
        """Refuse a joint beyond which the force acts, unless all of it does so."""
        beyond = [joint]
        for segment in beyond:
            beyond += mechanism.children[segment]
        within = self.joints.intersection(beyond)
        is_inside = not self.frames and within == self.joints and joint not in within
        if is_inside or not (within or self.frames.intersection(beyond)):
            return
        name = mechanism.segments[joint].name
        raise DeriveError(
            f"the reaction at {name!r} does not follow: the force of a constraint acts beyond it, "
            "and nothing says at which place",
            file=mechanism.file,
            element=f"constraint {self.name!r}",
            remedy="close a loop in place of the constraint, [[loops]], with a kind of joint that "
            "does the same: its force has a place",
        )


def unplaced_forces(mechanism: Mechanism) -> Iterator[UnplacedForce]:
    """Yield the constraints that do not act in one joint, and not as gears do."""
    if not mechanism.constraints:
        return
    builder = Builder()
    for parameter in mechanism.parameters:
        builder.parameter(parameter.name, parameter.value)
    laws = ConstraintLaws(builder, mechanism)
    rows = {True: iter(laws.unilateral), False: iter(laws.bilateral)}
    joint_of = [record.segment for record in mechanism.rate_records]
    for constraint in mechanism.constraints:
        row = next(rows[constraint.kind == "unilateral"])
        names = names_behind(mechanism, mechanism.elements, symbols_in(constraint.law))
        frames = {mechanism.frame(name).segment for name in frames_in(names) - {GROUND_NAME}}
        joints = frozenset(joint_of[k] for k in row.J)
        is_gear = constraint.kind != "nonholonomic" and laws.is_gear(row)
        if frames or (len(joints) > 1 and not is_gear):
            yield UnplacedForce(constraint.name, frozenset(frames) - {GROUND}, joints)


# --- reactions ------------------------------------------------------------------------------------


class Reactions:
    """The reactions of one mechanism; the skeleton has the inertia of its bodies unchanged."""

    def __init__(self, skeleton: Skeleton, options: Options) -> None:
        self.skeleton = skeleton
        self.mechanism = skeleton.mechanism
        self.options = options
        self._carried: dict[int, tuple[Vector, Vector]] = {}

    @cached_property
    def sweep(self) -> NewtonEulerRecursion:
        """The motion of all limbs, each in its own axes."""
        sweep = NewtonEulerRecursion(self.skeleton, frozenset(), RATES)
        sweep.outward()
        return sweep

    @cached_property
    def world(self) -> World:
        """Positions in world axes, for loads and for reactions in world axes."""
        return World(self.skeleton)

    @cached_property
    def loads(self) -> dict[int, list[Load]]:
        """What acts on each segment."""
        found: dict[int, list[Load]] = {}
        for load in all_loads(self.world, self.options):
            found.setdefault(load.frame.segment, []).append(load)
        return found

    @cached_property
    def unplaced(self) -> list[UnplacedForce]:
        """The constraints whose forces have no place."""
        return list(unplaced_forces(self.mechanism))

    def of(self, frame: Frame, axes: str) -> list[Scalar]:
        """Return what the joint of the segment of a frame transmits: force, then moment.

        The moment is about the origin of the frame. `axes`: "local" for those of the frame,
        "world", or "mixed" for the force in world axes and the moment in those of the frame.
        """
        for unplaced in self.unplaced:
            unplaced.check(self.mechanism, frame.segment)
        pose = self.skeleton.poses[frame.segment]
        force, moment = self.carried(frame.segment)
        moment = self.skeleton.builder.keep_vector(subtract(moment, cross(self._arm(frame), force)))
        own = product(pose.rotation, frame.rotation)
        if axes == "local":
            return [*apply_transposed(own, force), *apply_transposed(own, moment)]
        force = apply(self.world.rotation(pose.limb), force)
        if axes == "mixed":
            return [*force, *apply_transposed(own, moment)]
        return [*force, *apply(self.world.rotation(pose.limb), moment)]

    # --- sums over what lies beyond -----------------------------------------------------

    def carried(self, j: int) -> tuple[Vector, Vector]:
        """Return f and n of segment j."""
        waiting = [j]
        for i in waiting:
            waiting += [self.skeleton.limbs[k].segment for k in self._limbs_on(self._fixed_with(i))]
        for i in reversed(waiting):
            if i not in self._carried:
                self._carried[i] = self._sum(i)
        return self._carried[j]

    def _fixed_with(self, j: int) -> list[int]:
        """Return the segments at or beyond j that are fixed to it."""
        fixed = [j]
        for i in fixed:
            children = self.mechanism.children[i]
            fixed += [c for c in children if self.mechanism.segments[c].coordinate is None]
        return fixed

    def _limbs_on(self, segments: list[int]) -> list[int]:
        """Return the limbs whose joints sit on these segments."""
        parents = [self.mechanism.segments[limb.segment].parent for limb in self.skeleton.limbs]
        return [k for k, parent in enumerate(parents) if parent in segments]

    def _sum(self, j: int) -> tuple[Vector, Vector]:
        fixed = self._fixed_with(j)
        limb = self.skeleton.poses[j].limb
        force, moment = self.sweep.inertia_forces(limb, self._body(limb, fixed))
        for k in self._limbs_on(fixed):
            outer, turning = self._carried[self.skeleton.limbs[k].segment]
            for turn in reversed(self.sweep.path[k]):
                outer, turning = turn.back(outer), turn.back(turning)
            reach = self.skeleton.reach(self.skeleton.limbs[k])
            force, moment = add(force, outer), add(moment, add(turning, cross(reach, outer)))
        for i in fixed:
            for load in self.loads.get(i, ()):
                back = self.world.rotation(limb)
                push = self.skeleton.builder.keep_vector(apply_transposed(back, load.force))
                turning = add(
                    apply_transposed(back, load.moment), cross(self._arm(load.frame), push)
                )
                force, moment = subtract(force, push), subtract(moment, turning)
        return self.skeleton.builder.keep_vector(force), self.skeleton.builder.keep_vector(moment)

    def _body(self, limb: int, segments: list[int]) -> Limb:
        """Return some bodies of a limb as one."""
        zero = self.skeleton.builder.number(0)
        none: Vector = (zero, zero, zero)
        body = Limb(
            limb, limb, JointKind.FIXED, (), None, none, IDENTITY, zero, none, (none, none, none)
        )
        for j in segments:
            segment = self.mechanism.segments[j]
            if not segment.body.is_massless:
                pose = self.skeleton.poses[j]
                body = body.plus(*self.skeleton.inertia_of(pose, segment))
        return body

    def _arm(self, frame: Frame) -> Vector:
        """Return the vector from the origin of its limb to a frame, in the axes of the limb."""
        pose = self.skeleton.poses[frame.segment]
        point = apply(pose.rotation, self.skeleton.kinematics.vector(frame.point))
        return self.skeleton.builder.keep_vector(add(pose.position, point))


def frame_of_joint(mechanism: Mechanism, name: str) -> Frame:
    """Return the frame of a reaction: by its name, a segment's or a joint's."""
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
