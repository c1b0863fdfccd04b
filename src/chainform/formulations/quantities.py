"""Quantities that do not depend on the method: frames, Jacobians, energies, momentum.

A quantity of a frame is named `jacobian(tool)`, with `tool` a frame or segment of the
mechanism; `jacobian(tool,local)` gives it in the axes of the frame. Six-component quantities have
the linear part first; world axes at the point by default. "mixed" takes the linear
part in world axes and the angular part in the axes of the frame. A reaction is in the axes of the
frame by default. Energies and momentum are in momentum.py, what needs the mass matrix in
operational_space.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from chainform.errors import DeriveError
from chainform.formulations.momentum import MassCentre, Six, kinetic_energy, potential_energy
from chainform.formulations.operational_space import QuantityBuilder, Rows
from chainform.formulations.shared.forces import passive_forces, rotor_energy, spring_energy
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.newton_euler_recursion import RegressorColumns
from chainform.formulations.shared.options import PLAIN, Options, OutputRequest
from chainform.formulations.shared.outputs import Key, add_to, declare
from chainform.formulations.shared.reactions import Reactions, frame_of_joint
from chainform.formulations.shared.tree import Column, Skeleton
from chainform.formulations.shared.world import World
from chainform.graph import Builder, Scalar, is_zero
from chainform.mechanism import (
    DynamicParameter,
    Frame,
    Mechanism,
    dynamic_parameters_of,
)
from chainform.spatial import add, apply_transposed, cross, subtract


class Quantities(QuantityBuilder):
    """Builds quantities into one graph."""

    def __init__(self, builder: Builder, mechanism: Mechanism, options: Options = PLAIN) -> None:
        super().__init__(builder, mechanism, options)
        self.skeleton = Skeleton(Kinematics(mechanism, builder))
        self.world = World(self.skeleton)
        self.joints = Reactions(self.skeleton, options)
        self.centre = MassCentre(self.world)

    def rows(self, request: OutputRequest) -> Rows:
        """Return the rows of the Jacobian that a request is about."""
        frame = self._frame(request)
        point = self.world.frame_origin(frame)
        entries = self._entries(request, frame, partial(self.world.column, point=point))
        rows: dict[int, dict[int, Scalar]] = {i: {} for i in request.rows}
        for (i, k), value in sorted(entries.items()):
            if i in rows and not is_zero(value):
                rows[i][k] = self.builder.keep(value)
        return list(rows.values())

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
        self._six(request, frame, self.world.frame_acceleration(frame), "a")

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

    def operational_bias(self, request: OutputRequest, frame: Frame) -> None:
        """Declare the force and moment that hold the frame at acceleration zero."""
        drift = World(self.skeleton, ("base", "qd")).frame_acceleration(frame)
        self.space.bias(request, self._in_axes(request, frame, drift))

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
        entries = self._entries(request, frame, column_of)
        shape = (6, self.mechanism.nv)
        declare(self.builder, request.text, request.label(letter), shape, entries)

    def _entries(
        self, request: OutputRequest, frame: Frame, column_of: Callable[[int, Column], Six]
    ) -> dict[Key, Scalar]:
        entries: dict[Key, Scalar] = {}
        for k in self.world.path(self.world.limb_of(frame)):
            for column in self.world.limbs[k].columns:
                for i, value in enumerate(self._in_axes(request, frame, column_of(k, column))):
                    add_to(entries, (i, column.rate), value)
        return entries

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
        self._regressor(request, "Y", dynamic_parameters_of(self.mechanism, self.options.without))

    def base_regressor(self, request: OutputRequest) -> None:
        """Declare the columns of the regressor that the base parameters are named after."""
        # Exact fields need a library that other outputs do not wait for.
        from chainform.mechanism import base_parameters_of

        base = base_parameters_of(self.mechanism, self.options.without)
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
        self.point(request, self.centre.position)

    def com_velocity(self, request: OutputRequest) -> None:
        """Declare its velocity."""
        self.point(request, self.centre.velocity)

    def com_acceleration(self, request: OutputRequest) -> None:
        """Declare its acceleration."""
        self.point(request, self.centre.acceleration)

    def com_jacobian(self, request: OutputRequest) -> None:
        """Declare the derivatives of its velocity by the rates."""
        self._matrix(request, "Jcom", 3, self.centre.jacobian())

    def momentum(self, request: OutputRequest) -> None:
        """Declare linear and angular momentum about the world origin, world axes."""
        self._momentum(request, self.centre.momentum, "p")

    def centroidal_momentum(self, request: OutputRequest) -> None:
        """Declare linear and angular momentum about the mass centre, world axes."""
        self._momentum(request, self.centre.about(self.centre.momentum), "pc")

    def centroidal_momentum_rate(self, request: OutputRequest) -> None:
        """Declare the derivative of it by time."""
        self._momentum(request, self.centre.about(self.centre.momentum_rate), "pcd")

    def centroidal_momentum_matrix(self, request: OutputRequest) -> None:
        """Declare the derivatives of the centroidal momentum by the rates."""
        self._matrix(request, "AG", 6, self.centre.matrix())

    def centroidal_momentum_matrix_rate(self, request: OutputRequest) -> None:
        """Declare the derivatives of the entries of this matrix by time."""
        self._matrix(request, "AGd", 6, self.centre.matrix_rate())

    def _momentum(self, request: OutputRequest, parts: Six, letter: str) -> None:
        declare(self.builder, request.text, letter, (6,), (*parts[0], *parts[1]))

    def _matrix(
        self, request: OutputRequest, letter: str, rows: int, values: Mapping[Key, Scalar]
    ) -> None:
        declare(self.builder, request.text, letter, (rows, self.mechanism.nv), values)


OF_FRAME: dict[str, Callable[[Quantities, OutputRequest, Frame], None]] = {
    "pose": Quantities.pose,
    "velocity": Quantities.velocity,
    "acceleration": Quantities.acceleration,
    "jacobian": Quantities.jacobian,
    "jacobian_rate": Quantities.jacobian_rate,
    "reaction": Quantities.reaction,
    "inverse_operational_inertia": lambda own, request, _: own.space.inverse_inertia(request),
    "operational_inertia": lambda own, request, _: own.space.inertia(request),
    "operational_bias": Quantities.operational_bias,
    "manipulability": lambda own, request, _: own.space.manipulability(request),
}
OF_MECHANISM: dict[str, Callable[[Quantities, OutputRequest], None]] = {
    "kinetic_energy": Quantities.kinetic_energy,
    "potential_energy": Quantities.potential_energy,
    "passive": Quantities.passive,
    "reactions": Quantities.reactions,
    "com": Quantities.com,
    "com_velocity": Quantities.com_velocity,
    "com_acceleration": Quantities.com_acceleration,
    "com_jacobian": Quantities.com_jacobian,
    "momentum": Quantities.momentum,
    "centroidal_momentum": Quantities.centroidal_momentum,
    "centroidal_momentum_rate": Quantities.centroidal_momentum_rate,
    "centroidal_momentum_matrix": Quantities.centroidal_momentum_matrix,
    "centroidal_momentum_matrix_rate": Quantities.centroidal_momentum_matrix_rate,
    "inverse_mass_matrix": lambda own, _: own.space.inverse_mass_matrix(),
    "regressor": Quantities.regressor,
    "base_regressor": Quantities.base_regressor,
}
COMMON = (*OF_FRAME, *OF_MECHANISM)
"""The outputs that every formulation gives."""
