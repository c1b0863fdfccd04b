"""Quantities of an element model: of its frames, and of the whole; see quantities.py for names.

Velocities are those of element_frames.py, in the axes of each frame; everything else follows from
them by turning and by differentiating. Frames are the frames, points and bodies among the elements,
and the segments and frames of a mechanism that has such.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from chainform.errors import DeriveError
from chainform.formulations.elements import ElementEquation
from chainform.formulations.shared.kinematics import AXES
from chainform.formulations.shared.options import PLAIN, Options, OutputRequest
from chainform.formulations.shared.outputs import declare
from chainform.given import Given, listed
from chainform.graph import Builder, Scalar, is_zero
from chainform.mechanism import GROUND_NAME, Mechanism
from chainform.spatial import Vector, add, apply, cross, scale, subtract

Six: TypeAlias = tuple[Vector, Vector]
"""Linear and angular part."""


class ElementQuantities:
    """Builds quantities into one graph."""

    def __init__(self, builder: Builder, mechanism: Mechanism, options: Options = PLAIN) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.equation = ElementEquation(builder, mechanism, options)
        self.frames = self.equation.frames

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
        w, v = self.frames.velocity(frame)
        derivatives = self.frames.derivatives
        rate, eps = (derivatives.vector(derivatives.by_time, x) for x in (v, w))
        linear = self.builder.keep_vector(add(rate, cross(w, v)))
        self._six(request, self._in_axes(request, frame, (linear, eps)), "a")

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

    def com(self, request: OutputRequest) -> None:
        """Declare the mass centre of all masses, world axes."""
        centre = self._centre()
        self.builder.output(request.text, (3,), [(f"com_{AXES[i]}", centre[i]) for i in range(3)])

    def momentum(self, request: OutputRequest) -> None:
        """Declare linear and angular momentum about the world origin, world axes."""
        self._momentum(request, self._momenta(), "p")

    def centroidal_momentum(self, request: OutputRequest) -> None:
        """Declare linear and angular momentum about the mass centre, world axes."""
        linear, angular = self._momenta()
        moved = subtract(angular, cross(self._centre(), linear))
        self._momentum(request, (linear, self.builder.keep_vector(moved)), "pc")

    def _centre(self) -> Vector:
        inertia = self.equation.inertia
        total, mass = self.frames.none, self.builder.number(0)
        for element in inertia.masses:
            mass = mass + inertia.mass(element)
            total = add(total, scale(inertia.mass(element), inertia.centre(element)))
        if is_zero(mass):
            raise DeriveError(
                "the elements have no mass, so there is no mass centre",
                file=self.mechanism.file,
                element="com",
                remedy="give an element mass, or ask for momentum instead of centroidal_momentum",
            )
        share = self.builder.call("reciprocal", mass)
        return self.builder.keep_vector(scale(share, self.builder.keep_vector(total)))

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

    def _momentum(self, request: OutputRequest, parts: Six, letter: str) -> None:
        declare(self.builder, request.text, letter, (6,), (*parts[0], *parts[1]))


OF_FRAME: dict[str, Callable[[ElementQuantities, OutputRequest, str], None]] = {
    "pose": ElementQuantities.pose,
    "velocity": ElementQuantities.velocity,
    "acceleration": ElementQuantities.acceleration,
    "jacobian": ElementQuantities.jacobian,
    "jacobian_rate": ElementQuantities.jacobian_rate,
}

OF_MODEL: dict[str, Callable[[ElementQuantities, OutputRequest], None]] = {
    "kinetic_energy": ElementQuantities.kinetic_energy,
    "potential_energy": ElementQuantities.potential_energy,
    "passive": ElementQuantities.passive,
    "com": ElementQuantities.com,
    "momentum": ElementQuantities.momentum,
    "centroidal_momentum": ElementQuantities.centroidal_momentum,
}
