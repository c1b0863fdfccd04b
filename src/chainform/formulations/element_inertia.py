"""Inertia forces and gravity of an element model, by structural matrices.

The method is that of Andrieiev and Dziuba 2023, (1).

symbol     meaning                                                              frame
W_R, W_M   derivatives of v_C and w by the rates; their columns W_R_k, W_M_k    own axes
v_C, a_C   velocity and acceleration of the mass centre                         own axes
w, eps     angular velocity and acceleration                                    own axes
m, J       mass, and inertia about the mass centre                              own axes
I, s       an inertia, and the law along which it resists
g          gravity                                                              own axes

    tau_k = sum { W_R_k . m (a_C - g) + W_M_k . (J eps + w x J w) } + sum ds/dq_k I s''

The paper has the mass centre in world axes. Scalar products are the same in any axes, and in its
own axes a body costs fewer operations: a_C = dv_C/dt + w x v_C, eps = dw/dt, both derivatives taken
of components. Gravity is a force m g on each mass, as any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache, cached_property

from chainform.formulations.element_frames import ElementFrames
from chainform.formulations.shared.outputs import Key, SymmetricSums, add_to
from chainform.graph import Scalar, Tangents, is_zero
from chainform.mechanism import ZERO, ZERO_MATRIX, ZERO_VECTOR, InertiaElement, InertialElement
from chainform.spatial import Matrix, Vector, add, apply, cross, dot, scale, subtract

HALF = Fraction(1, 2)


class ElementInertia:
    """What the inertial elements of one model give to its equations."""

    def __init__(self, frames: ElementFrames) -> None:
        self.frames = frames
        self.builder = frames.builder
        self.nv = frames.mechanism.nv
        self.rotors = [e for e in frames.mechanism.elements if isinstance(e, InertiaElement)]
        self.centre_velocity = cache(self._centre_velocity)
        self.columns = cache(self._columns)
        self.turning_columns = cache(self._turning_columns)
        self.rotor_columns = cache(self._rotor_columns)

    @cached_property
    def masses(self) -> list[InertialElement]:
        """The elements with mass that move."""
        return [element for element in self._moving if element.mass != ZERO]

    @cached_property
    def bodies(self) -> list[InertialElement]:
        """The elements with moments of inertia that move."""
        return [element for element in self._moving if element.inertia != ZERO_MATRIX]

    @cached_property
    def _moving(self) -> list[InertialElement]:
        return [e for e in self.loaded if not self.frames.stands_still(e.name)]

    @cached_property
    def loaded(self) -> list[InertialElement]:
        """The elements with mass or moments of inertia."""
        elements = self.frames.elements.values()
        return [e for e in elements if e.mass != ZERO or e.inertia != ZERO_MATRIX]

    # --- velocities and structural matrices ---------------------------------------------

    def _number(self, element: InertialElement | InertiaElement) -> int:
        return self.frames.numbers[element.name]

    def _centre_velocity(self, element: InertialElement) -> Vector:
        """Return v_C."""
        w, v = self.frames.velocity(element.name)
        if element.com == ZERO_VECTOR:
            return v
        moved = add(v, cross(w, self.frames.vector(element.com)))
        return self.frames.laws.kinematics.named_vector(f"vC_{self._number(element)}", moved)

    def _columns(self, element: InertialElement) -> dict[int, Vector]:
        """Return W_R by rate."""
        return self._named("WR", element, self.frames.columns(self.centre_velocity(element)))

    def _turning_columns(self, element: InertialElement) -> dict[int, Vector]:
        """Return W_M by rate."""
        turning, _ = self.frames.velocity(element.name)
        return self._named("WM", element, self.frames.columns(turning))

    def _named(
        self, letter: str, element: InertialElement, columns: dict[int, Vector]
    ) -> dict[int, Vector]:
        number, named = self._number(element), self.frames.laws.kinematics.named_vector
        return {k: named(f"{letter}_{number}_{k + 1}", w) for k, w in columns.items()}

    def _rotor_columns(self, element: InertiaElement) -> dict[int, Scalar]:
        """Return ds/dq by rate."""
        by = self.frames.derivatives.by_coordinate
        with self.frames.error_context(element):
            law = self.frames.laws.scalar(element.along)
            columns = {k: self.builder.keep(by(k).of(law)) for k in range(self.nv)}
        return {k: w for k, w in columns.items() if not is_zero(w)}

    def mass(self, element: InertialElement) -> Scalar:
        """Return m."""
        return self.frames.laws.scalar(element.mass)

    def tensor(self, element: InertialElement) -> Matrix:
        """Return J."""
        x, y, z = (self.frames.vector(row) for row in element.inertia)
        return (x, y, z)

    # --- mass matrix, forces ------------------------------------------------------------

    def mass_matrix(self) -> dict[Key, Scalar]:
        """Return H, the sum of W_R^T m W_R + W_M^T J W_M."""
        sums = SymmetricSums()
        for element in self.masses:
            columns, mass = self.columns(element), self.mass(element)
            momenta = {k: self.builder.keep_vector(scale(mass, w)) for k, w in columns.items()}
            _add_products(sums, columns, momenta)
        for element in self.bodies:
            columns, tensor = self.turning_columns(element), self.tensor(element)
            momenta = {k: self.builder.keep_vector(apply(tensor, w)) for k, w in columns.items()}
            _add_products(sums, columns, momenta)
        for rotor in self.rotors:
            inertia, along = self.frames.laws.scalar(rotor.inertia), self.rotor_columns(rotor)
            for k, l in _pairs(along):
                sums.add((k, l), inertia * along[k] * along[l], same_joint=True)
        return sums.mirrored()

    def forces(self, clock: Tangents, *, weight: bool) -> dict[Key, Scalar]:
        """Return the inertia forces by rate, with the accelerations that a clock gives.

        With `weight` they include those of gravity.
        """
        totals: dict[Key, Scalar] = {}
        for element in self.masses:
            acceleration = self.acceleration(element, clock)
            if weight:
                acceleration = subtract(acceleration, self.frames.field(element.name))
            force = self.builder.keep_vector(
                scale(self.mass(element), self.builder.keep_vector(acceleration))
            )
            for k, column in self.columns(element).items():
                add_to(totals, (k,), dot(column, force))
        for element in self.bodies:
            moment = self.moment(element, clock)
            for k, column in self.turning_columns(element).items():
                add_to(totals, (k,), dot(column, moment))
        for rotor in self.rotors:
            effort = self._effort(rotor, clock)
            for k, slope in self.rotor_columns(rotor).items():
                add_to(totals, (k,), slope * effort)
        return totals

    def gravity(self) -> dict[Key, Scalar]:
        """Return hG, the sum of - W_R^T m g."""
        totals: dict[Key, Scalar] = {}
        for element in self.masses:
            weight = scale(self.mass(element), self.frames.field(element.name))
            for k, column in self.columns(element).items():
                add_to(totals, (k,), -dot(column, self.builder.keep_vector(weight)))
        return totals

    def acceleration(self, element: InertialElement, clock: Tangents) -> Vector:
        """Return a_C, own axes."""
        velocity, w = self.centre_velocity(element), self.frames.velocity(element.name)[0]
        rate = self.frames.derivatives.vector(clock, velocity)
        return self.builder.keep_vector(add(rate, cross(w, velocity)))

    def moment(self, element: InertialElement, clock: Tangents) -> Vector:
        """Return J eps + w x J w, own axes."""
        tensor, w = self.tensor(element), self.frames.velocity(element.name)[0]
        eps = self.frames.derivatives.vector(clock, w)
        spin = self.builder.keep_vector(apply(tensor, w))
        return self.builder.keep_vector(add(apply(tensor, eps), cross(w, spin)))

    def _effort(self, rotor: InertiaElement, clock: Tangents) -> Scalar:
        """Return I s''."""
        rate = self._rotor_rate(rotor)
        return self.builder.keep(self.frames.laws.scalar(rotor.inertia) * clock.of(rate))

    def _rotor_rate(self, rotor: InertiaElement) -> Scalar:
        with self.frames.error_context(rotor):
            law = self.frames.laws.scalar(rotor.along)
            return self.builder.keep(self.frames.derivatives.by_time.of(law))

    # --- energies -----------------------------------------------------------------------

    def kinetic_energy(self) -> Scalar:
        """Return the kinetic energy."""
        total = self.builder.number(0)
        for element in self.masses:
            velocity = self.centre_velocity(element)
            total = total + self.mass(element) * dot(velocity, velocity)
        for element in self.bodies:
            w = self.frames.velocity(element.name)[0]
            total = total + dot(w, self.builder.keep_vector(apply(self.tensor(element), w)))
        for rotor in self.rotors:
            total = total + self.frames.laws.scalar(rotor.inertia) * self._rotor_rate(rotor) ** 2
        return total * HALF

    def potential_energy(self) -> Scalar:
        """Return the energy of gravity, zero at the world origin."""
        field = self.frames.laws.kinematics.vector(self.frames.mechanism.gravity)
        total = self.builder.number(0)
        for element in self.masses:
            total = total - self.mass(element) * dot(field, self.centre(element))
        return total

    def centre(self, element: InertialElement) -> Vector:
        """Return the mass centre, world axes."""
        origin, rows = self.frames.origin(element.name), self.frames.rotation(element.name)
        return self.builder.keep_vector(add(origin, apply(rows, self.frames.vector(element.com))))


def _pairs(columns: dict[int, Vector] | dict[int, Scalar]) -> Iterator[tuple[int, int]]:
    """Yield the places (k, l) with l before or at k."""
    for k in columns:
        yield from ((k, l) for l in columns if l <= k)


def _add_products(
    sums: SymmetricSums, columns: dict[int, Vector], momenta: dict[int, Vector]
) -> None:
    for k, l in _pairs(columns):
        sums.add((k, l), dot(momenta[k], columns[l]), same_joint=True)
