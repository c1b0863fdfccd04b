"""Quantities that do not depend on the method: frames, Jacobians, energies, momentum.

A quantity of a frame is named `jacobian(tool)`, with `tool` a frame or segment of the
mechanism; `jacobian(tool,local)` gives it in the axes of the frame. Six-component quantities have
the linear part first; world axes at the point by default. "mixed" takes the linear
part in world axes and the angular part in the axes of the frame. A reaction is in the axes of the
frame by default.

Energies and momentum come from the velocities of limbs in their own axes. Outward from the base, w
(angular velocity) and v (velocity of the origin) of each limb; then with its mass M, first moment h
and second moments S

    linear momentum  f = M v + w x h        moment of momentum  n = (tr S - S) w + h x v
    kinetic energy   (v . f + w . n) / 2
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from chainform.errors import DeriveError
from chainform.formulations.shared.forces import passive_forces, rotor_energy, spring_energy
from chainform.formulations.shared.kinematics import AXES, Kinematics
from chainform.formulations.shared.options import PLAIN, Options, OutputRequest
from chainform.formulations.shared.outputs import Key, add_to, declare
from chainform.formulations.shared.reactions import Reactions, frame_of_joint
from chainform.formulations.shared.regressor import RegressorColumns
from chainform.formulations.shared.tree import Column, Limb, Skeleton
from chainform.formulations.shared.turns import AxisTurn, FrameTurn, MatrixTurn
from chainform.formulations.shared.world import World
from chainform.graph import Builder, Scalar, is_zero
from chainform.mechanism import (
    GROUND,
    DynamicParameter,
    Frame,
    Mechanism,
    dynamic_parameters,
)
from chainform.spatial import (
    Vector,
    add,
    apply,
    apply_transposed,
    cross,
    dot,
    scale,
    subtract,
    unit,
)

# --- energies, momentum and mass centre -----------------------------------------------------------


class Velocities:
    """Velocities of all limbs in their own axes, and the turns that lead from limb to limb."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.builder = skeleton.builder
        zero = self.builder.number(0)
        self.none: Vector = (zero, zero, zero)
        self.turns = [turns_to(skeleton, limb) for limb in skeleton.limbs]
        self.w: list[Vector] = []
        self.v: list[Vector] = []
        for k, limb in enumerate(skeleton.limbs):
            self._outward(k, limb)

    def _of_base(self) -> tuple[Vector, Vector]:
        """Return angular velocity and velocity of the base in its own axes."""
        base = self.skeleton.kinematics.base
        turn = MatrixTurn(self.builder, base.rotation)
        return turn.into(base.angular_velocity), turn.into(base.velocity)

    def _outward(self, k: int, limb: Limb) -> None:
        at_ground = limb.parent == GROUND
        w, v = self._of_base() if at_ground else (self.w[limb.parent], self.v[limb.parent])
        v = self.builder.keep_vector(add(v, cross(w, self.skeleton.reach(limb))))
        for turn in self.turns[k]:
            w, v = turn.into(w), turn.into(v)
        for column in limb.columns:
            rate = self.skeleton.kinematics.q(column.rate, "qd") * column.ratio
            own = unit(column.axis, rate, self.builder.number(0))
            if column.turning:
                w = add(w, own)
            else:
                v = add(v, own)
        self.w.append(self.builder.keep_vector(w))
        self.v.append(self.builder.keep_vector(v))

    def momentum(self, k: int) -> tuple[Vector, Vector]:
        """Return f and n of a limb, about its origin, in its own axes."""
        limb, w, v = self.skeleton.limbs[k], self.w[k], self.v[k]
        s = limb.second
        trace = self.builder.keep(s[0][0] + s[1][1] + s[2][2])
        linear = add(scale(limb.mass, v), cross(w, limb.moment))
        spin = subtract(scale(trace, w), apply(s, w))
        return self.builder.keep_vector(linear), self.builder.keep_vector(
            add(spin, cross(limb.moment, v))
        )


def turns_to(skeleton: Skeleton, limb: Limb) -> list[FrameTurn]:
    """Return the turns from the axes of the limb before to those of a limb."""
    turns = skeleton.turns(limb)
    if limb.is_revolute:
        angle, call = skeleton.displacement(limb), skeleton.builder.call
        turns.append(AxisTurn(limb.axis, call("cos", angle), call("sin", angle)))
    return turns


def kinetic_energy(skeleton: Skeleton) -> Scalar:
    """Return the kinetic energy."""
    velocities = Velocities(skeleton)
    total = skeleton.builder.number(0)
    for k in range(len(skeleton.limbs)):
        f, n = velocities.momentum(k)
        total = total + dot(velocities.v[k], f) + dot(velocities.w[k], n)
    return total * Fraction(1, 2)


def momentum(skeleton: Skeleton) -> tuple[Vector, Vector]:
    """Return linear momentum and moment of momentum about the world origin, world axes."""
    velocities = Velocities(skeleton)
    keep, limbs = skeleton.builder.keep_vector, skeleton.limbs
    # The place after the last limb, index -1, is the ground.
    linear = [velocities.none] * (len(limbs) + 1)
    angular = [velocities.none] * (len(limbs) + 1)
    for k in reversed(range(len(limbs))):
        f, n = velocities.momentum(k)
        f, n = keep(add(f, linear[k])), keep(add(n, angular[k]))
        for turn in reversed(velocities.turns[k]):
            f, n = turn.back(f), turn.back(n)
        parent = limbs[k].parent
        linear[parent] = add(linear[parent], f)
        angular[parent] = add(angular[parent], add(n, cross(skeleton.reach(limbs[k]), f)))
    base = skeleton.kinematics.base
    turn = MatrixTurn(skeleton.builder, base.rotation)
    f, n = turn.back(keep(linear[GROUND])), turn.back(keep(angular[GROUND]))
    return f, keep(add(n, cross(base.position, f)))


def potential_energy(skeleton: Skeleton) -> Scalar:
    """Return the potential of gravity: - g . (M P + h), summed over limbs, each in its own axes."""
    builder, base = skeleton.builder, skeleton.kinematics.base
    world = skeleton.kinematics.vector(skeleton.mechanism.gravity)
    ground = MatrixTurn(builder, base.rotation).into(world)
    level = builder.keep(dot(world, base.position))
    fields: list[Vector] = []
    levels: list[Scalar] = []
    total = builder.number(0)
    for limb in skeleton.limbs:
        at_ground = limb.parent == GROUND
        field = ground if at_ground else fields[limb.parent]
        before = level if at_ground else levels[limb.parent]
        levels.append(builder.keep(before + dot(field, skeleton.reach(limb))))
        for turn in turns_to(skeleton, limb):
            field = turn.into(field)
        fields.append(field)
        total = total - limb.mass * levels[-1] - dot(field, limb.moment)
    return total


def centre_of_mass(world: World) -> Vector:
    """Return the mass centre of all moving bodies, world axes."""
    keep, builder = world.builder.keep_vector, world.builder
    total, mass = world.none, builder.number(0)
    for k, limb in enumerate(world.limbs):
        mass = mass + limb.mass
        own = add(scale(limb.mass, world.origin(k)), apply(world.rotation(k), limb.moment))
        total = add(total, own)
    if is_zero(mass):
        raise DeriveError(
            "the moving bodies have no mass, so there is no mass centre",
            file=world.skeleton.mechanism.file,
            element="com",
            remedy="give a body mass, or ask for momentum instead of centroidal_momentum",
        )
    return keep(scale(builder.call("reciprocal", mass), keep(total)))


# --- quantities -----------------------------------------------------------------------------------

Six: TypeAlias = tuple[Vector, Vector]
"""Linear and angular part."""


class Quantities:
    """Builds quantities into one graph."""

    def __init__(self, builder: Builder, mechanism: Mechanism, options: Options = PLAIN) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.options = options
        self.skeleton = Skeleton(Kinematics(mechanism, builder))
        self.world = World(self.skeleton)
        self.joints = Reactions(self.skeleton, options)

    def build(self, request: OutputRequest) -> None:
        """Declare one output."""
        if request.name in OF_FRAME:
            frame = self._frame(request)
            OF_FRAME[request.name](self, request, frame)
        else:
            OF_MECHANISM[request.name](self, request)

    def _frame(self, request: OutputRequest) -> Frame:
        if request.frame is None:
            raise DeriveError(
                f"{request.name} is the {request.name} of a frame, which is not named",
                element=request.name,
                remedy=f"{request.name}({self.mechanism.segments[-1].name})",
            )
        if request.name == "reaction":
            return frame_of_joint(self.mechanism, request.frame)
        return self.mechanism.frame(request.frame)

    # --- quantities of a frame ----------------------------------------------------------

    def pose(self, request: OutputRequest, frame: Frame) -> None:
        """Declare the homogeneous transformation from frame axes to world axes, 4 x 4."""
        rotation, origin = self.world.frame_rotation(frame), self.world.frame_origin(frame)
        rows = [[*rotation[i], origin[i]] for i in range(3)]
        rows.append([self.builder.number(int(k == 3)) for k in range(4)])
        values = {(i, k): value for i, row in enumerate(rows) for k, value in enumerate(row)}
        declare(self.builder, request.text, request.label("T"), (4, 4), values)

    def velocity(self, request: OutputRequest, frame: Frame) -> None:
        """Declare linear and angular velocity."""
        self._six(request, frame, self._velocity(frame), "v")

    def acceleration(self, request: OutputRequest, frame: Frame) -> None:
        """Declare the acceleration of the point and the angular acceleration."""
        world = self.world
        k, arm = world.follow(world.limb_of(frame)), world.frame_arm(frame)
        w, b = world.angular_velocity(k), world.angular_acceleration(k)
        keep = self.builder.keep_vector
        centripetal = cross(w, keep(cross(w, arm)))
        linear = add(world.acceleration(k), add(cross(b, arm), centripetal))
        self._six(request, frame, (keep(linear), b), "a")

    def jacobian(self, request: OutputRequest, frame: Frame) -> None:
        """Declare the Jacobian, six rows."""
        point = self.world.frame_origin(frame)
        self._columns(request, frame, "J", partial(self.world.column, point=point))

    def jacobian_rate(self, request: OutputRequest, frame: Frame) -> None:
        """Declare the time derivative of the Jacobian, six rows, in the same axes."""
        point, (velocity, spin) = self.world.frame_origin(frame), self._velocity(frame)

        def rate(k: int, column: Column) -> Six:
            linear, angular = self.world.column_rate(k, column, point, velocity)
            if request.axes == "world":
                return linear, angular
            # In axes that turn with the frame the turning itself changes the components.
            before = self.world.column(k, column, point)
            if request.axes == "local":
                linear = subtract(linear, cross(spin, before[0]))
            return linear, subtract(angular, cross(spin, before[1]))

        self._columns(request, frame, "Jd", rate)

    def reaction(self, request: OutputRequest, frame: Frame) -> None:
        """Declare what the parent exerts on the segment of a frame: force, moment about it."""
        values = self.joints.of(frame, request.axes)
        declare(self.builder, request.text, request.label("R"), (6,), values)

    def _velocity(self, frame: Frame) -> Six:
        world = self.world
        k, arm = world.follow(world.limb_of(frame)), world.frame_arm(frame)
        w = world.angular_velocity(k)
        return world.builder.keep_vector(add(world.velocity(k), cross(w, arm))), w

    # --- axes and entries ---------------------------------------------------------------

    def _in_axes(self, request: OutputRequest, frame: Frame, parts: Six) -> list[Scalar]:
        """Return a six-component quantity, given in world axes, in the axes of the request."""
        linear, angular = parts
        if request.axes != "world":
            rotation = self.world.frame_rotation(frame)
            angular = apply_transposed(rotation, angular)
            if request.axes == "local":
                linear = apply_transposed(rotation, linear)
        return [*linear, *angular]

    def _six(self, request: OutputRequest, frame: Frame, parts: Six, letter: str) -> None:
        values = self._in_axes(request, frame, parts)
        declare(self.builder, request.text, request.label(letter), (6,), values)

    def _columns(
        self,
        request: OutputRequest,
        frame: Frame,
        letter: str,
        column_of: Callable[[int, Column], Six],
    ) -> None:
        entries: dict[Key, Scalar] = {}
        for k in self.world.path(self.world.limb_of(frame)):
            for column in self.world.limbs[k].columns:
                for i, value in enumerate(self._in_axes(request, frame, column_of(k, column))):
                    add_to(entries, (i, column.rate), value)
        shape = (6, self.mechanism.nv)
        declare(self.builder, request.text, request.label(letter), shape, entries)

    # --- quantities of the whole mechanism ----------------------------------------------

    def kinetic_energy(self, request: OutputRequest) -> None:
        """Declare the kinetic energy, that of rotors included."""
        rotors = rotor_energy(self.builder, self.mechanism, self.options)
        self.builder.output(request.text, (), [("T", kinetic_energy(self.skeleton) + rotors)])

    def potential_energy(self, request: OutputRequest) -> None:
        """Declare the energy of gravity, zero at the world origin, and of springs."""
        springs = spring_energy(self.builder, self.mechanism, self.options)
        self.builder.output(request.text, (), [("V", potential_energy(self.skeleton) + springs)])

    def passive(self, request: OutputRequest) -> None:
        """Declare what friction and springs add to inverse dynamics."""
        forces = passive_forces(self.builder, self.mechanism, self.options)
        declare(self.builder, request.text, "P", (self.mechanism.nv,), forces)

    def reactions(self, request: OutputRequest) -> None:
        """Declare force and moment in every joint: of the parent on the child, its frame."""
        frames = [Frame(segment.name, j) for j, segment in enumerate(self.mechanism.segments)]
        rows = [self.joints.of(frame, "local") for frame in frames]
        values = {(j, i): value for j, row in enumerate(rows) for i, value in enumerate(row)}
        declare(self.builder, request.text, "R", (len(rows), 6), values)

    def regressor(self, request: OutputRequest) -> None:
        """Declare the matrix Y with tau = Y theta, theta the dynamic parameters."""
        self._regressor(request, "Y", dynamic_parameters(self.mechanism, self.options.without))

    def base_regressor(self, request: OutputRequest) -> None:
        """Declare the columns of the regressor that the base parameters are named after."""
        # Exact fields need a library that other outputs do not wait for.
        from chainform.mechanism import base_parameters

        base = base_parameters(self.mechanism, self.options.without)
        self._regressor(request, "Yb", [entry.leader for entry in base])

    def _regressor(
        self, request: OutputRequest, letter: str, parameters: Sequence[DynamicParameter]
    ) -> None:
        columns = RegressorColumns(self.joints.sweep)
        found = [columns.of(parameter) for parameter in parameters]
        values = {(i, k): value for k, column in enumerate(found) for i, value in column.items()}
        shape = (self.mechanism.nv, len(found))
        declare(self.builder, request.text, letter, shape, values)

    def com(self, request: OutputRequest) -> None:
        """Declare the position of the mass centre of all moving bodies, world axes."""
        values = centre_of_mass(self.world)
        entries = [(f"com_{AXES[i]}", values[i]) for i in range(3)]
        self.builder.output(request.text, (3,), entries)

    def momentum(self, request: OutputRequest) -> None:
        """Declare linear and angular momentum about the world origin, world axes."""
        self._momentum(request, momentum(self.skeleton), "p")

    def centroidal_momentum(self, request: OutputRequest) -> None:
        """Declare linear and angular momentum about the mass centre, world axes."""
        linear, angular = momentum(self.skeleton)
        moved = subtract(angular, cross(centre_of_mass(self.world), linear))
        self._momentum(request, (linear, moved), "pc")

    def _momentum(self, request: OutputRequest, parts: Six, letter: str) -> None:
        declare(self.builder, request.text, letter, (6,), (*parts[0], *parts[1]))


OF_FRAME: dict[str, Callable[[Quantities, OutputRequest, Frame], None]] = {
    "pose": Quantities.pose,
    "velocity": Quantities.velocity,
    "acceleration": Quantities.acceleration,
    "jacobian": Quantities.jacobian,
    "jacobian_rate": Quantities.jacobian_rate,
    "reaction": Quantities.reaction,
}
OF_MECHANISM: dict[str, Callable[[Quantities, OutputRequest], None]] = {
    "kinetic_energy": Quantities.kinetic_energy,
    "potential_energy": Quantities.potential_energy,
    "passive": Quantities.passive,
    "reactions": Quantities.reactions,
    "com": Quantities.com,
    "momentum": Quantities.momentum,
    "centroidal_momentum": Quantities.centroidal_momentum,
    "regressor": Quantities.regressor,
    "base_regressor": Quantities.base_regressor,
}
COMMON = (*OF_FRAME, *OF_MECHANISM)
"""The outputs that every formulation gives."""
