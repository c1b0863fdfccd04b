"""The general equation of dynamics of an element model, term by term.

The terms are those of Andrieiev and Dziuba 2023, (1) to (8).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from chainform.errors import DeriveError
from chainform.formulations.element_forces import ElementForces
from chainform.formulations.element_frames import ElementFrames
from chainform.formulations.element_inertia import ElementInertia
from chainform.formulations.element_laws import ElementLaws
from chainform.formulations.options import Options
from chainform.formulations.outputs import Key, add_to, label
from chainform.graph import Builder, Scalar, Tangents
from chainform.mechanism import (
    ZERO,
    DissipativeElement,
    EffortElement,
    ElasticElement,
    Element,
    ForceElement,
    InertiaElement,
    Mechanism,
    MomentElement,
    symbols_in,
)

LEFT_OUT = {
    "friction": DissipativeElement,
    "springs": ElasticElement,
    "rotors": InertiaElement,
    "forces": ForceElement | MomentElement | EffortElement,
}
"""The elements that go when a part of the mechanism is left out; unknown forces stay."""


class ElementEquation:
    """U = H qdd + bias + passive part - W_P^T P, whose rows are the general equation of dynamics.

    A mechanism with segments is converted first.
    """

    def __init__(self, builder: Builder, mechanism: Mechanism, options: Options) -> None:
        self.builder = builder
        self.mechanism = _bare(mechanism, options).as_elements()
        _refuse_clash(self.mechanism)
        self.frames = ElementFrames(ElementLaws(builder, self.mechanism))
        self.inertia = ElementInertia(self.frames)
        self.forces = ElementForces(self.frames)

    @cached_property
    def mass_matrix(self) -> dict[Key, Scalar]:
        """H."""
        values = self.inertia.mass_matrix()
        return {key: self.builder.name(label("H", key), value) for key, value in values.items()}

    @cached_property
    def gravity(self) -> dict[Key, Scalar]:
        """The weights, hG."""
        return self.inertia.gravity()

    @cached_property
    def bias(self) -> dict[Key, Scalar]:
        """Inertia forces at qdd = 0, and weights."""
        return self.inertia.forces(self.frames.derivatives.by_time_at_even_rates, weight=True)

    @cached_property
    def passive(self) -> dict[Key, Scalar]:
        """The forces of springs and dampers."""
        return self.forces.passive()

    @cached_property
    def force_matrix(self) -> dict[Key, Scalar]:
        """A, by sorting: eq. (8)."""
        values = self.forces.matrix()
        return {key: self.builder.name(label("A", key), value) for key, value in values.items()}

    @cached_property
    def motive(self) -> dict[Key, Scalar]:
        """H qdd + bias: inertia forces with all accelerations, and weights."""
        return self.inertia.forces(self.frames.derivatives.by_time, weight=True)

    def at_rest_forces(self) -> dict[Key, Scalar]:
        """Return the passive part less all forces that are known."""
        totals = dict(self.passive)
        for key, value in self.forces.known().items():
            add_to(totals, key, -value)
        return totals

    def unknown_share(self) -> dict[Key, Scalar]:
        """Return A X, with the unknown forces X as inputs."""
        totals: dict[Key, Scalar] = {}
        for (k, j), value in sorted(self.force_matrix.items()):
            add_to(totals, (k,), value * self.frames.laws.unknowns[j])
        return totals

    def coriolis(self) -> dict[Key, Scalar]:
        """Return the Christoffel symbols of H, by differentiating its entries."""
        n, h = self.mechanism.nv, self.mass_matrix
        by, keep = self.frames.derivatives.by_coordinate, self.builder.keep
        slopes: dict[Key, Scalar] = {}
        for (i, k), value in h.items():
            if i >= k:
                for l in range(n):
                    slopes[i, k, l] = slopes[k, i, l] = keep(by(l).of(value))
        zero, symbols = self.builder.number(0), dict[Key, Scalar]()
        for i in range(n):
            for k in range(n):
                for l in range(k + 1):
                    parts = ((i, k, l), (i, l, k), (k, l, i))
                    a, b, c = (slopes.get(part, zero) for part in parts)
                    symbols[i, k, l] = symbols[i, l, k] = keep((a + b - c) / 2)
        return symbols

    # --- the first algorithm of the paper -----------------------------------------------

    def by_differentiation(self) -> tuple[dict[Key, Scalar], dict[Key, Scalar]]:
        """Return A and B of A X = B from the finished equations U: eq. (5).

        U is built with the unknown forces as inputs. A is - dU/dX, and B is U without them.
        """
        whole, known = dict(self.motive), dict(self.motive)
        for totals, part in ((whole, self.forces.whole()), (known, self.forces.known())):
            for key, value in self.passive.items():
                add_to(totals, key, value)
            for key, value in part.items():
                add_to(totals, key, -value)
        matrix: dict[Key, Scalar] = {}
        for j, unknown in enumerate(self.frames.laws.unknowns):
            direction = {self.builder.variable_of(unknown): self.builder.number(1)}
            by = Tangents(self.builder, direction)
            for (k,), value in whole.items():
                matrix[k, j] = -by.of(self.builder.keep(value))
        return matrix, known


def _refuse_clash(mechanism: Mechanism) -> None:
    """Refuse a coordinate that is called like a number of the mechanism, which laws name, too."""
    taken = {*mechanism.coordinates, *mechanism.rates}
    for parameter in mechanism.parameters:
        if parameter.name in taken:
            raise DeriveError(
                f"the coordinate {parameter.name!r} has the name that is given to a number",
                file=mechanism.file,
                element=f"coordinate {parameter.name!r}",
                remedy="rename the joint in the file, or derive with parameters='numeric'",
            )


def _bare(mechanism: Mechanism, options: Options) -> Mechanism:
    """Return the mechanism without what is to be left out."""
    out, segments, unknowns = options.without, mechanism.segments, set(mechanism.unknowns)
    if not out:
        return mechanism
    if "friction" in out:
        segments = tuple(replace(s, joint=replace(s.joint, friction=None)) for s in segments)
    if "rotors" in out:
        segments = tuple(replace(s, joint=replace(s.joint, rotor_inertia=ZERO)) for s in segments)

    def stays(element: Element) -> bool:
        gone = (part for part, kind in LEFT_OUT.items() if isinstance(element, kind))
        return not out.intersection(gone) or bool(symbols_in(element) & unknowns)

    return replace(
        mechanism,
        segments=segments,
        springs=() if "springs" in out else mechanism.springs,
        elements=tuple(element for element in mechanism.elements if stays(element)),
    )
