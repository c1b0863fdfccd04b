"""Elements: the general equation of dynamics by structural matrices (Andrieiev and Dziuba 2023).

    sum { W_R^T m a_C + W_M^T (J eps + w x J w) } + W_D^T D beta' + W_C^T C gamma = W_P^T P    (1)

symbol     meaning                                                                     eq.
W          derivatives of what an element measures by coordinates or rates             (1)
X          unknown forces and moments, in which components of P are linear             (7)
A, B       A X = B with A = W_P^T dP/dX, and B all the rest of (1), moved to one side  (3), (8)

The files element_*.py hold the terms. Every mechanism whose joints have one coordinate each can be
written as elements, so it has these equations too; tau is the drive on the coordinates that is
needed beside all forces of elements,

    tau = H qdd + bias + passive part - W_P^T P(X)

and A X = B are the same equations with tau = 0. Reactions of loops and forces given by laws of
single coordinates come from the parts that all methods share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chainform.errors import DeriveError
from chainform.formulations.applied import outer_forces, world_closure
from chainform.formulations.element_equation import ElementEquation
from chainform.formulations.factorisation import solve
from chainform.formulations.options import AxisChoices, Options
from chainform.formulations.outputs import Key, add_to, declare
from chainform.graph import Builder, Scalar
from chainform.mechanism import Mechanism
from chainform.spatial import Vector

UNKNOWN = ("force_matrix", "force_right")
"""The outputs that only a model with unknown forces has."""


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
    _Elements(builder, mechanism, options).build(outputs)
    return {}


class _Elements:
    """The outputs of one mechanism."""

    def __init__(self, builder: Builder, mechanism: Mechanism, options: Options) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.options = options
        self.equation = ElementEquation(builder, mechanism, options)

    def build(self, outputs: Sequence[str]) -> None:
        """Declare the outputs."""
        n, m, equation = self.mechanism.nv, len(self.mechanism.unknowns), self.equation
        closure = {"closure", "closure_jacobian"}.intersection(outputs)
        loops = world_closure(self.builder, self.mechanism) if closure else None
        for output in outputs:
            match output:
                case "mass_matrix":
                    self.declare(output, "H", (n, n), equation.mass_matrix)
                case "coriolis":
                    self.declare(output, "C", (n, n, n), equation.coriolis())
                case "coriolis_matrix":
                    self.declare(output, "Cm", (n, n), self.coriolis_matrix())
                case "gravity":
                    self.declare(output, "hG", (n,), equation.gravity)
                case "bias":
                    self.declare(output, "h", (n,), equation.bias)
                case "inverse_dynamics":
                    self.declare(output, "tau", (n,), self.drives())
                case "forward_dynamics":
                    self.declare(output, "qdd", (n,), self.accelerations())
                case "force_matrix":
                    self.declare(output, "A", (n, m), equation.force_matrix)
                case "force_right":
                    self.declare(output, "b", (n,), self.right())
                case "closure" if loops is not None:
                    loops.build_matrix()
                case _ if loops is not None:
                    loops.build_jacobian()
                case _:
                    raise AssertionError(output)

    def declare(
        self, name: str, letter: str, shape: tuple[int, ...], values: dict[Key, Scalar]
    ) -> None:
        declare(self.builder, name, letter, shape, values)

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
        for key, value in self.equation.unknown_share().items():
            add_to(totals, key, -value)
        return totals

    def accelerations(self) -> dict[Key, Scalar]:
        """Return qdd from H qdd = tau less all the rest."""
        q = self.equation.frames.laws.kinematics.q
        rest: dict[Key, Scalar] = {(i,): q(i, "tau") for i in range(self.mechanism.nv)}
        taken = dict(self.equation.bias)
        self.add_outer(taken)
        for key, value in taken.items():
            rest[key] = rest[key] - value
        for key, value in self.equation.unknown_share().items():
            rest[key] = rest[key] + value
        right = {i: self.builder.keep(value) for (i,), value in rest.items()}
        solution = solve(self.equation.mass_matrix, right)
        return {(i,): value for i, value in solution.items()}

    def add_outer(self, totals: dict[Key, Scalar]) -> None:
        """Add springs, dampers and known forces, and what all methods share."""
        for key, value in self.equation.at_rest_forces().items():
            add_to(totals, key, value)
        for place, name in enumerate(self.options.wrenches):
            force, moment = self.wrench(6 * place), self.wrench(6 * place + 3)
            for i, value in self.equation.forces.wrench(name, force, moment).items():
                add_to(totals, (i,), -value)
        # Springs and friction are elements here, and wrenches act on their frames.
        left_out = self.options.without | {"springs", "friction"}
        shared = replace(self.options, wrenches=(), without=left_out)
        for i, value in outer_forces(self.builder, self.mechanism, shared).items():
            add_to(totals, (i,), value)

    def wrench(self, first: int) -> Vector:
        """Return three components of the wrenches, inputs."""
        x, y, z = (
            self.builder.input(f"wrench{k + 1}", "wrench", k) for k in range(first, first + 3)
        )
        return (x, y, z)
