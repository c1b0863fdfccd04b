"""Elastic, dissipative and force elements of a model, by structural matrices.

The method is that of Andrieiev and Dziuba 2023.

symbol      meaning                                                                  eq.
W_C         derivatives of a deformation gamma by the coordinates                    (1)
W_D         derivatives of a rate beta' by the rates                                 (1)
W_P         derivatives of the place (or turning) of a force by the coordinates      (1), (2)
P, R(X)     components of a force or moment; R has unknowns X, and is linear in X    (2), (7)
A, B        A X = B, what the unknown forces must be along a motion                  (3)

    passive part   W_C^T C (gamma - rest) + W_D^T (D beta' + K sign(beta'))
    forces         W_P^T P = W_P^T P(X = 0) + W_P^T (dP/dX) X,     A = W_P^T dP/dX    (7), (8)

Between two places r apart, gamma = |r|, and r . dr/dq = gamma W_C:

    W_C^T C (gamma - rest) = C (1 - rest / |r|) r . dr/dq
    W_D^T D beta'          = D (r . r') / r^2   r . dr/dq

so that a spring of rest length zero may shrink to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from chainform.formulations.element_frames import ElementFrames
from chainform.formulations.shared.outputs import Key, add_to
from chainform.graph import Scalar, Tangents, is_zero
from chainform.mechanism import (
    WORLD,
    ZERO,
    DissipativeElement,
    EffortElement,
    ElasticElement,
    ElementPoint,
    ForceElement,
    MomentElement,
    Number,
)
from chainform.spatial import Vector, dot, scale, subtract

HALF = Fraction(1, 2)

Loads: TypeAlias = ForceElement | MomentElement | EffortElement
Reader: TypeAlias = Callable[[Sequence[Number]], tuple[Scalar, ...]]
"""Laws as scalars: with the unknown forces as inputs, with them zero, or derivatives by one."""


@dataclass(frozen=True, slots=True)
class _Lever:
    """Where one end of a force acts: columns of W_P, the axes they are in, and the sense."""

    columns: dict[int, tuple[Scalar, ...]]
    axes: str | None
    sign: int


class ElementForces:
    """What the elements without inertia give to the equations of one model."""

    def __init__(self, frames: ElementFrames) -> None:
        self.frames = frames
        self.builder = frames.builder
        self.nv = frames.mechanism.nv
        elements = frames.mechanism.elements
        self.springs = [e for e in elements if isinstance(e, ElasticElement)]
        self.dampers = [e for e in elements if isinstance(e, DissipativeElement)]
        self.loads = [e for e in elements if isinstance(e, Loads)]
        self._levers: dict[str, list[_Lever]] = {}

    # --- springs and dampers ------------------------------------------------------------

    def passive(self) -> dict[Key, Scalar]:
        """Return what springs and dampers add to inverse dynamics, by rate."""
        totals: dict[Key, Scalar] = {}
        for spring in self.springs:
            with self.frames.error_context(spring):
                self._add_spring(totals, spring)
        for damper in self.dampers:
            with self.frames.error_context(damper):
                self._add_damper(totals, damper)
        return totals

    def _add_spring(self, totals: dict[Key, Scalar], spring: ElasticElement) -> None:
        scalar, builder = self.frames.laws.scalar, self.builder
        if spring.ends is None:
            gamma = scalar(spring.deformation or ZERO)
            stretch = builder.keep(gamma - scalar(spring.rest))
            force = builder.keep(scalar(spring.stiffness) * stretch)
            slopes = self.slopes(spring.deformation or ZERO)
        else:
            r = self._between(spring.ends)
            slopes = self._leans(r)
            if not slopes:
                return
            force = self._tension(spring, r)
        for k, slope in slopes.items():
            add_to(totals, (k,), slope * force)

    def _add_damper(self, totals: dict[Key, Scalar], damper: DissipativeElement) -> None:
        scalar, builder = self.frames.laws.scalar, self.builder
        if damper.ends is None:
            rate, slopes = self.rate(damper)
            force = scalar(damper.damping) * rate
            if damper.coulomb != ZERO:
                force = force + scalar(damper.coulomb) * builder.call("sign", rate)
            force = builder.keep(force)
        else:
            r = self._between(damper.ends)
            slopes = self._leans(r)
            if not slopes:
                return
            force = self._drag(damper, r)
        for k, slope in slopes.items():
            add_to(totals, (k,), slope * force)

    def _tension(self, spring: ElasticElement, r: Vector) -> Scalar:
        """Return C (1 - rest / |r|): the pull of a spring between two places by their distance."""
        scalar, builder = self.frames.laws.scalar, self.builder
        force = scalar(spring.stiffness)
        if spring.rest != ZERO:
            length = builder.call("sqrt", builder.keep(dot(r, r)))
            force = force * (1 - scalar(spring.rest) * builder.call("reciprocal", length))
        return builder.keep(force)

    def _drag(self, damper: DissipativeElement, r: Vector) -> Scalar:
        """Return D (r . r') / r^2, and K sign(r . r') / |r|: the same of a damper."""
        scalar, builder = self.frames.laws.scalar, self.builder
        square = builder.keep(dot(r, r))
        change = self.frames.derivatives.vector(self.frames.derivatives.by_time, r)
        rate = builder.keep(dot(r, change))
        force = scalar(damper.damping) * rate * builder.call("reciprocal", square)
        if damper.coulomb != ZERO:
            length = builder.call("reciprocal", builder.call("sqrt", square))
            force = force + scalar(damper.coulomb) * builder.call("sign", rate) * length
        return builder.keep(force)

    def pull(self, element: ElasticElement | DissipativeElement) -> Vector:
        """Return what a spring or damper between two places does to the first, world axes."""
        if element.ends is None:
            return self.frames.none
        r = self._between(element.ends)
        is_spring = isinstance(element, ElasticElement)
        force = self._tension(element, r) if is_spring else self._drag(element, r)
        return self.builder.keep_vector(scale(force, r))

    def rate(self, damper: DissipativeElement) -> tuple[Scalar, dict[int, Scalar]]:
        """Return beta' and W_D."""
        scalar, derivatives = self.frames.laws.scalar, self.frames.derivatives
        if damper.rate is not None:
            rate = self.builder.keep(scalar(damper.rate))
            return rate, self._each(lambda k: derivatives.by_rate(k).of(rate))
        law = damper.deformation or ZERO
        return self.builder.keep(derivatives.by_time.of(scalar(law))), self.slopes(law)

    def slopes(self, law: Number) -> dict[int, Scalar]:
        """Return the derivatives of a law by the coordinates that are not zero."""
        value = self.frames.laws.scalar(law)
        return self._each(lambda k: self.frames.derivatives.by_coordinate(k).of(value))

    def _each(self, derivative: Callable[[int], Scalar]) -> dict[int, Scalar]:
        values = {k: self.builder.keep(derivative(k)) for k in range(self.nv)}
        return {k: value for k, value in values.items() if not is_zero(value)}

    def _between(self, ends: tuple[ElementPoint, ElementPoint]) -> Vector:
        """Return r, world axes."""
        near, far = (self.frames.point(end) for end in ends)
        return self.builder.keep_vector(subtract(far, near))

    def _leans(self, r: Vector) -> dict[int, Scalar]:
        """Return r . dr/dq by coordinate."""
        derivatives = self.frames.derivatives
        return self._each(lambda k: dot(r, derivatives.vector(derivatives.by_coordinate(k), r)))

    def spring_energy(self) -> Scalar:
        """Return the energy of the springs, C (gamma - rest)^2 / 2."""
        scalar, builder = self.frames.laws.scalar, self.builder
        total = builder.number(0)
        for spring in self.springs:
            if spring.ends is None:
                gamma = scalar(spring.deformation or ZERO)
            else:
                r = self._between(spring.ends)
                square = builder.keep(dot(r, r))
                if spring.rest == ZERO:
                    total = total + HALF * scalar(spring.stiffness) * square
                    continue
                gamma = builder.call("sqrt", square)
            stretch = builder.keep(gamma - scalar(spring.rest))
            total = total + HALF * scalar(spring.stiffness) * stretch**2
        return total

    # --- forces and moments -------------------------------------------------------------

    def known(self) -> dict[Key, Scalar]:
        """Return W_P^T P with all unknown forces zero."""
        return self._work(self.frames.laws.known)

    def whole(self) -> dict[Key, Scalar]:
        """Return W_P^T P with the unknown forces as inputs."""
        return self._work(self.frames.laws.whole)

    def matrix(self) -> dict[Key, Scalar]:
        """Return A = W_P^T dP/dX: forces are sorted while the equations are built, eq. (8)."""
        laws, entries = self.frames.laws, dict[Key, Scalar]()
        for load in self.loads:
            for j in laws.unknowns_in(_components(load)):
                unknown = self.builder.variable_of(laws.unknowns[j])
                by = Tangents(self.builder, {unknown: self.builder.number(1)})
                with self.frames.error_context(load):
                    slopes = tuple(by.of(value) for value in laws.whole(_components(load)))
                    shares = self._share(load, slopes)
                for k, value in shares.items():
                    add_to(entries, (k, j), value)
        return entries

    def _work(self, reader: Reader) -> dict[Key, Scalar]:
        totals: dict[Key, Scalar] = {}
        for load in self.loads:
            with self.frames.error_context(load):
                shares = self._share(load, reader(_components(load)))
            for k, value in shares.items():
                add_to(totals, (k,), value)
        return totals

    def _share(self, load: Loads, components: tuple[Scalar, ...]) -> dict[int, Scalar]:
        """Return what given components of a force contribute, by rate."""
        totals: dict[Key, Scalar] = {}
        if all(is_zero(component) for component in components):
            return {}
        for lever in self._levers_of(load):
            turned = components
            if lever.axes is not None and not isinstance(load, EffortElement):
                x, y, z = components
                turned = self.frames.into(lever.axes, load.axes, (x, y, z))
            for k, column in lever.columns.items():
                work = self.builder.number(0)
                for a, b in zip(column, turned, strict=True):
                    work = work + a * b
                add_to(totals, (k,), work * lever.sign)
        return {key[0]: value for key, value in totals.items()}

    def wrench(self, frame: str, force: Vector, moment: Vector) -> dict[int, Scalar]:
        """Return what a force at the origin of a frame and a moment do, both in world axes."""
        w, v = self.frames.velocity(frame)
        totals: dict[Key, Scalar] = {}
        for velocity, load in ((v, force), (w, moment)):
            turned = self.frames.into(frame, WORLD, load)
            for k, (x, y, z) in self.frames.columns(velocity).items():
                add_to(totals, (k,), dot((x, y, z), turned))
        return {key[0]: value for key, value in totals.items()}

    def _levers_of(self, load: Loads) -> list[_Lever]:
        """Return the ends of a force: where it acts, and where the opposite one does."""
        if load.name not in self._levers:
            self._levers[load.name] = self._made_levers(load)
        return self._levers[load.name]

    def _made_levers(self, load: Loads) -> list[_Lever]:
        match load:
            case EffortElement():
                slopes = self.slopes(load.along)
                return [_Lever({k: (slope,) for k, slope in slopes.items()}, None, 1)]
            case ForceElement():
                ends = [(load.at, 1)] + ([(load.to, -1)] if load.to is not None else [])
                velocities = [(p.on, self.frames.point_velocity(p), sign) for p, sign in ends]
            case MomentElement():
                names = [(load.on, 1)] + ([(load.to, -1)] if load.to is not None else [])
                velocities = [(n, self.frames.velocity(n)[0], sign) for n, sign in names]
        return [_Lever(self.frames.columns(v), axes, sign) for axes, v, sign in velocities]


def _components(load: Loads) -> tuple[Number, ...]:
    match load:
        case ForceElement():
            return load.force
        case MomentElement():
            return load.moment
        case EffortElement():
            return (load.effort,)
