"""Elements: the general equation of dynamics by structural matrices (Andrieiev and Dziuba 2023).

    sum { W_R^T m a_C + W_M^T (J eps + w x J w) } + W_D^T D beta' + W_C^T C gamma = W_P^T P    (1)

symbol     meaning                                                                     eq.
W          derivatives of what an element measures by coordinates or rates             (1)
X          unknown forces and moments, in which components of P are linear             (7)
A, B       A X = B with A = W_P^T dP/dX, and B all the rest of (1), moved to one side  (3), (8)

The files element_*.py hold the terms. Every mechanism whose joints have one coordinate each can be
written as elements, so it has these equations too; tau is the drive on the coordinates that is
needed besides all forces of elements,

    tau = H qdd + bias + passive part - W_P^T P(X)

and A X = B are the same equations with tau = 0. Reactions of loops and forces given by laws of
single coordinates come from the parts that all methods share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from chainform.errors import DeriveError
from chainform.formulations.element_forces import ElementForces
from chainform.formulations.element_frames import ElementFrames
from chainform.formulations.element_inertia import ElementInertia
from chainform.formulations.shared.closure_jacobian import Closure
from chainform.formulations.shared.forces import outer_forces, world_closure
from chainform.formulations.shared.kinematics import wrench_inputs
from chainform.formulations.shared.laws import ElementLaws
from chainform.formulations.shared.options import AxisChoices, Options
from chainform.formulations.shared.outputs import (
    Key,
    add_all,
    add_to,
    declare,
    declare_equation,
    label,
    solve,
)
from chainform.formulations.shared.scope import UNKNOWN
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

# --- the general equation, term by term -----------------------------------------------------------

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


# --- the method -----------------------------------------------------------------------------------


def elements(
    builder: Builder, mechanism: Mechanism, outputs: Sequence[str], options: Options
) -> AxisChoices:
    """Build the equations of a mechanism, as elements; joints with quaternions are refused."""
    if not mechanism.unknowns and any(output in UNKNOWN for output in outputs):
        raise DeriveError(
            "the mechanism has no unknown forces",
            file=mechanism.file,
            element="unknowns",
            remedy='name them: unknowns = ["F"], and use them in the components of forces',
        )
    work = _Elements(builder, mechanism, options)
    for output in outputs:
        work.declare(output)
    return {}


class _Elements:
    """The outputs of one mechanism."""

    def __init__(self, builder: Builder, mechanism: Mechanism, options: Options) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.options = options
        self.equation = ElementEquation(builder, mechanism, options)

    @cached_property
    def closure(self) -> Closure:
        """The closure equations of loops."""
        return world_closure(self.builder, self.mechanism)

    def declare(self, output: str) -> None:
        """Declare one output."""
        n, m, equation = self.mechanism.nv, len(self.mechanism.unknowns), self.equation
        match output:
            case "force_matrix":
                declare(self.builder, output, "A", (n, m), equation.force_matrix)
            case "force_right":
                declare(self.builder, output, "b", (n,), self.right())
            case "closure" | "closure_jacobian":
                self.closure.declare(output)
            case _:
                declare_equation(self.builder, self.mechanism, output, self._values(output))

    def _values(self, output: str) -> dict[Key, Scalar] | dict[int, Scalar]:
        match output:
            case "mass_matrix":
                return self.equation.mass_matrix
            case "coriolis":
                return self.equation.coriolis()
            case "coriolis_matrix":
                return self.coriolis_matrix()
            case "gravity":
                return self.equation.gravity
            case "bias":
                return self.equation.bias
            case "inverse_dynamics":
                return self.drives()
            case _:
                return self.accelerations()

    def coriolis_matrix(self) -> dict[Key, Scalar]:
        """Return the sum of the Christoffel symbols times qd, over the last index."""
        totals: dict[Key, Scalar] = {}
        for (i, k, l), value in self.equation.coriolis().items():
            rate = self.equation.frames.laws.kinematics.q(l, "qd")
            add_to(totals, (i, k), value * rate)
        return totals

    def right(self) -> dict[Key, Scalar]:
        """Return B: all of the equation but the unknown forces, with their sign turned."""
        totals = dict(self.equation.motive)
        self.add_outer(totals)
        return totals

    def drives(self) -> dict[Key, Scalar]:
        """Return tau."""
        totals = self.right()
        add_all(totals, self.equation.unknown_share(), -1)
        return totals

    def accelerations(self) -> dict[int, Scalar]:
        """Return qdd from H qdd = tau less all the rest."""
        q = self.equation.frames.laws.kinematics.q
        rest: dict[Key, Scalar] = {(i,): q(i, "tau") for i in range(self.mechanism.nv)}
        taken = dict(self.equation.bias)
        self.add_outer(taken)
        add_all(rest, taken, -1)
        add_all(rest, self.equation.unknown_share())
        right = {i: self.builder.keep(value) for (i,), value in rest.items()}
        return solve(self.equation.mass_matrix, right)

    def add_outer(self, totals: dict[Key, Scalar]) -> None:
        """Add springs, dampers and known forces, and what all methods share."""
        add_all(totals, self.equation.at_rest_forces())
        for index, name in enumerate(self.options.wrenches):
            force, moment = wrench_inputs(self.builder, index)
            for i, value in self.equation.forces.wrench(name, force, moment).items():
                add_to(totals, (i,), -value)
        # Springs and friction are elements here, and wrenches act on their frames.
        left_out = self.options.without | {"springs", "friction"}
        shared = replace(self.options, wrenches=(), without=left_out)
        for i, value in outer_forces(self.builder, self.mechanism, shared).items():
            add_to(totals, (i,), value)
