"""Quantities of an element model: of its frames, and of the whole; see quantities.py for names.

Velocities are those of element_frames.py, in the axes of each frame; everything else follows from
them by turning and by differentiating. Frames are the frames, points and bodies among the elements,
and the segments and frames of a mechanism that has such.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from chainform.errors import DeriveError
from chainform.formulations.element_reactions import ElementReactions
from chainform.formulations.elements import ElementEquation
from chainform.formulations.momentum import Six, refuse_without_mass
from chainform.formulations.operational_space import QuantityBuilder, Rows
from chainform.formulations.shared.options import PLAIN, Options, OutputRequest
from chainform.formulations.shared.outputs import declare
from chainform.formulations.shared.reactions import unplaced_forces
from chainform.formulations.shared.scope import uses_elements
from chainform.given import Given, listed
from chainform.graph import Builder, Scalar, Tangents, is_zero
from chainform.mechanism import GROUND_NAME, Mechanism
from chainform.spatial import Vector, add, apply, cross, scale, subtract


class ElementQuantities(QuantityBuilder):
    """Builds quantities into one graph."""

    def __init__(self, builder: Builder, mechanism: Mechanism, options: Options = PLAIN) -> None:
        super().__init__(builder, mechanism, options)
        self.equation = ElementEquation(builder, mechanism, options)
        self.frames = self.equation.frames
        inertia, forces = self.equation.inertia, self.equation.forces
        self.joints = ElementReactions(inertia, forces, mechanism, options)

    def rows(self, request: OutputRequest) -> Rows:
        """Return the rows of the Jacobian that a request is about."""
        columns, keep = self._columns(request, self._frame(request)), self.builder.keep
        entries = [{k: keep(column[i]) for k, column in enumerate(columns)} for i in request.rows]
        return [{k: v for k, v in row.items() if not is_zero(v)} for row in entries]

    def build(self, request: OutputRequest) -> None:
        """Declare one output."""
        if request.name in OF_FRAME:
            OF_FRAME[request.name](self, request, self._frame(request))
        elif request.name in OF_MODEL:
            OF_MODEL[request.name](self, request)
        else:
            raise DeriveError(
                f"{request.name} is a quantity of joints, and the mechanism has elements",
                file=self.mechanism.file,
                element=request.text,
                remedy=f"choices are {', '.join((*OF_FRAME, *OF_MODEL))}",
            )

    def _frame(self, request: OutputRequest) -> str:
        known = [GROUND_NAME, *self.frames.elements]
        given = Given(request.frame, request.text, self.mechanism.file, DeriveError)
        if request.name == "reaction" and request.frame not in known:
            carried = {segment.joint.name: segment.name for segment in self.mechanism.segments}
            given = given.holding(carried.get(request.frame or "", request.frame))
        if not given.is_given:
            raise given.error(
                f"{request.name} needs the name of a frame", f"frames are {listed(known)}"
            )
        return given.choice(known, "frame named")

    # --- quantities of a frame ----------------------------------------------------------

    def pose(self, request: OutputRequest, frame: str) -> None:
        """Declare the homogeneous transformation from frame axes to world axes, 4 x 4."""
        rotation, origin = self.frames.rotation(frame), self.frames.origin(frame)
        values = {
            (i, k): rotation[i][k] + self.builder.number(0) for i in range(3) for k in range(3)
        }
        values |= {(i, 3): origin[i] for i in range(3)} | {(3, 3): self.builder.number(1)}
        declare(self.builder, request.text, request.label("T"), (4, 4), values)

    def velocity(self, request: OutputRequest, frame: str) -> None:
        """Declare linear and angular velocity."""
        w, v = self.frames.velocity(frame)
        self._six(request, self._in_axes(request, frame, (v, w)), "v")

    def acceleration(self, request: OutputRequest, frame: str) -> None:
        """Declare the acceleration of the origin and the angular acceleration."""
        self._six(request, self._acceleration(request, frame), "a")

    def _acceleration(
        self, request: OutputRequest, frame: str, clock: Tangents | None = None
    ) -> list[Scalar]:
        w, v = self.frames.velocity(frame)
        derivatives = self.frames.derivatives
        clock = clock or derivatives.by_time
        rate, eps = (derivatives.vector(clock, x) for x in (v, w))
        linear = self.builder.keep_vector(add(rate, cross(w, v)))
        return self._in_axes(request, frame, (linear, eps))

    def jacobian(self, request: OutputRequest, frame: str) -> None:
        """Declare the derivatives of the velocity by the rates, six rows."""
        self._rows(request, "J", self._columns(request, frame))

    def jacobian_rate(self, request: OutputRequest, frame: str) -> None:
        """Declare the time derivative of the entries of the Jacobian."""
        clock = self.frames.derivatives.by_time_at_even_rates
        columns = self._columns(request, frame)
        rates = [[clock.of(entry) for entry in column] for column in columns]
        self._rows(request, "Jd", rates)

    def _columns(self, request: OutputRequest, frame: str) -> list[list[Scalar]]:
        w, v = self.frames.velocity(frame)
        derivatives, columns = self.frames.derivatives, list[list[Scalar]]()
        for k in range(self.mechanism.nv):
            by = derivatives.by_rate(k)
            own = derivatives.vector(by, v), derivatives.vector(by, w)
            columns.append(self._in_axes(request, frame, own))
        return columns

    def _in_axes(self, request: OutputRequest, frame: str, parts: Six) -> list[Scalar]:
        """Return a six-component quantity, given in the frame's axes, in those of the request."""
        linear, angular = parts
        rotation = self.frames.rotation(frame)
        if request.axes != "local":
            linear = self.builder.keep_vector(apply(rotation, linear))
        if request.axes == "world":
            angular = self.builder.keep_vector(apply(rotation, angular))
        return [*linear, *angular]

    def _six(self, request: OutputRequest, values: list[Scalar], letter: str) -> None:
        declare(self.builder, request.text, request.label(letter), (6,), values)

    def _rows(self, request: OutputRequest, letter: str, columns: list[list[Scalar]]) -> None:
        entries = {(i, k): columns[k][i] for k in range(len(columns)) for i in range(6)}
        declare(self.builder, request.text, request.label(letter), (6, len(columns)), entries)

    def reaction(self, request: OutputRequest, frame: str) -> None:
        """Declare what carries a frame exerts on all that stands on it: force, moment about it."""
        self._six(request, self.joints.of(frame, request.axes), "R")

    def operational_bias(self, request: OutputRequest, frame: str) -> None:
        """Declare the force and moment that hold the frame at acceleration zero."""
        clock = self.frames.derivatives.by_time_at_even_rates
        self.space.bias(request, self._acceleration(request, frame, clock))

    # --- quantities of the whole model --------------------------------------------------

    def kinetic_energy(self, request: OutputRequest) -> None:
        """Declare the kinetic energy."""
        total = self.equation.inertia.kinetic_energy()
        self.builder.output(request.text, (), [("T", total)])

    def potential_energy(self, request: OutputRequest) -> None:
        """Declare the energy of gravity, zero at the world origin, and of elastic elements."""
        total = self.equation.inertia.potential_energy() + self.equation.forces.spring_energy()
        self.builder.output(request.text, (), [("V", total)])

    def passive(self, request: OutputRequest) -> None:
        """Declare what elastic and dissipative elements add to inverse dynamics."""
        declare(self.builder, request.text, "P", (self.mechanism.nv,), self.equation.passive)

    def reactions(self, request: OutputRequest) -> None:
        """Declare the reactions of all bodies and points, each in its own axes."""
        rows = [self.joints.of(name, "local") for name in self.mechanism.body_names]
        values = {(j, i): value for j, row in enumerate(rows) for i, value in enumerate(row)}
        declare(self.builder, request.text, "R", (len(rows), 6), values)

    def com(self, request: OutputRequest) -> None:
        """Declare the mass centre of all masses, world axes."""
        self.point(request, self._centre)

    def com_velocity(self, request: OutputRequest) -> None:
        """Declare its velocity."""
        self.point(request, self._centre_velocity)

    def com_acceleration(self, request: OutputRequest) -> None:
        """Declare its acceleration."""
        derivatives = self.frames.derivatives
        self.point(request, derivatives.vector(derivatives.by_time, self._centre_velocity))

    def com_jacobian(self, request: OutputRequest) -> None:
        """Declare the derivatives of its velocity by the rates."""
        self._by_rates(request, "Jcom", self._centre_velocity)

    def momentum(self, request: OutputRequest) -> None:
        """Declare linear and angular momentum about the world origin, world axes."""
        self._momentum(request, [*self._momenta[0], *self._momenta[1]], "p")

    def centroidal_momentum(self, request: OutputRequest) -> None:
        """Declare linear and angular momentum about the mass centre, world axes."""
        self._momentum(request, self._centroidal, "pc")

    def centroidal_momentum_rate(self, request: OutputRequest) -> None:
        """Declare the derivative of it by time."""
        clock = self.frames.derivatives.by_time
        self._momentum(request, [clock.of(value) for value in self._centroidal], "pcd")

    def centroidal_momentum_matrix(self, request: OutputRequest) -> None:
        """Declare the derivatives of the centroidal momentum by the rates."""
        self._by_rates(request, "AG", self._centroidal)

    def centroidal_momentum_matrix_rate(self, request: OutputRequest) -> None:
        """Declare the derivatives of the entries of this matrix by time."""
        clock = self.frames.derivatives.by_time_at_even_rates
        self._by_rates(request, "AGd", self._centroidal, clock)

    def _by_rates(
        self,
        request: OutputRequest,
        letter: str,
        values: Sequence[Scalar],
        clock: Tangents | None = None,
    ) -> None:
        """Declare the derivatives of values by the rates, or the derivatives of these by time."""
        by, entries = self.frames.derivatives.by_rate, dict[tuple[int, int], Scalar]()
        for k in range(self.mechanism.nv):
            for i, value in enumerate(values):
                slope = self.builder.keep(by(k).of(value))
                entries[i, k] = slope if clock is None else clock.of(slope)
        declare(self.builder, request.text, letter, (len(values), self.mechanism.nv), entries)

    @cached_property
    def _mass(self) -> Scalar:
        """The reciprocal of the whole mass."""
        mass = self.builder.number(0)
        for element in self.equation.inertia.masses:
            mass = mass + self.equation.inertia.mass(element)
        if is_zero(mass):
            raise refuse_without_mass(self.mechanism, "elements")
        return self.builder.call("reciprocal", mass)

    @cached_property
    def _centre(self) -> Vector:
        inertia = self.equation.inertia
        total = self.frames.none
        for element in inertia.masses:
            total = add(total, scale(inertia.mass(element), inertia.centre(element)))
        share = self._mass
        return self.builder.keep_vector(scale(share, self.builder.keep_vector(total)))

    @cached_property
    def _centre_velocity(self) -> Vector:
        return self.builder.keep_vector(scale(self._mass, self._momenta[0]))

    @cached_property
    def _centroidal(self) -> list[Scalar]:
        linear, angular = self._momenta
        moved = subtract(angular, cross(self._centre, linear))
        return [*linear, *self.builder.keep_vector(moved)]

    @cached_property
    def _momenta(self) -> Six:
        inertia, frames = self.equation.inertia, self.frames
        linear, angular = frames.none, frames.none
        for element in inertia.masses:
            velocity = apply(frames.rotation(element.name), inertia.centre_velocity(element))
            share = self.builder.keep_vector(
                scale(inertia.mass(element), self.builder.keep_vector(velocity))
            )
            linear = add(linear, share)
            angular = add(angular, cross(inertia.centre(element), share))
        for element in inertia.bodies:
            spin = apply(inertia.tensor(element), frames.velocity(element.name)[0])
            angular = add(
                angular, apply(frames.rotation(element.name), self.builder.keep_vector(spin))
            )
        return self.builder.keep_vector(linear), self.builder.keep_vector(angular)

    def _momentum(self, request: OutputRequest, values: Sequence[Scalar], letter: str) -> None:
        declare(self.builder, request.text, letter, (6,), values)


def has_reactions(mechanism: Mechanism) -> bool:
    """Whether the reactions of all bodies and points follow from what a mechanism says."""
    if not uses_elements(mechanism):
        return not any(unplaced_forces(mechanism))
    builder = Builder()
    for parameter in mechanism.parameters:
        builder.parameter(parameter.name, parameter.value)
    try:
        ElementQuantities(builder, mechanism).joints.check(mechanism.body_names)
    except DeriveError:
        return False
    return True


OF_FRAME: dict[str, Callable[[ElementQuantities, OutputRequest, str], None]] = {
    "pose": ElementQuantities.pose,
    "velocity": ElementQuantities.velocity,
    "acceleration": ElementQuantities.acceleration,
    "jacobian": ElementQuantities.jacobian,
    "jacobian_rate": ElementQuantities.jacobian_rate,
    "reaction": ElementQuantities.reaction,
    "inverse_operational_inertia": lambda own, request, _: own.space.inverse_inertia(request),
    "operational_inertia": lambda own, request, _: own.space.inertia(request),
    "operational_bias": ElementQuantities.operational_bias,
    "manipulability": lambda own, request, _: own.space.manipulability(request),
}

OF_MODEL: dict[str, Callable[[ElementQuantities, OutputRequest], None]] = {
    "kinetic_energy": ElementQuantities.kinetic_energy,
    "potential_energy": ElementQuantities.potential_energy,
    "passive": ElementQuantities.passive,
    "reactions": ElementQuantities.reactions,
    "com": ElementQuantities.com,
    "com_velocity": ElementQuantities.com_velocity,
    "com_acceleration": ElementQuantities.com_acceleration,
    "com_jacobian": ElementQuantities.com_jacobian,
    "momentum": ElementQuantities.momentum,
    "centroidal_momentum": ElementQuantities.centroidal_momentum,
    "centroidal_momentum_rate": ElementQuantities.centroidal_momentum_rate,
    "centroidal_momentum_matrix": ElementQuantities.centroidal_momentum_matrix,
    "centroidal_momentum_matrix_rate": ElementQuantities.centroidal_momentum_matrix_rate,
    "inverse_mass_matrix": lambda own, _: own.space.inverse_mass_matrix(),
}
