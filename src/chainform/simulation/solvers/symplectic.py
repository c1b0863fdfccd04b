"""Symplectic methods with a fixed step: Gauss's points in canonical variables.

| symbol | meaning                                                     |
|--------|-------------------------------------------------------------|
| H      | mass matrix                                                 |
| p      | momenta H qd                                                |
| c + hG | inverse dynamics without accelerations                      |
| w      | p' = dH/dt qd + H qdd = dH/dt qd + tau - (c + hG)           |

dH/dt qd is the derivative of p while the coordinates move with qd and the rates stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from chainform.graph import Scalar, Tangents, include
from chainform.simulation.equations import EquationBuilder, Equations
from chainform.simulation.loops.loop import Loop
from chainform.simulation.loops.symplectic import symplectic_step
from chainform.simulation.loops.tableaus import Tableau
from chainform.simulation.machines.integrator import Integrator
from chainform.simulation.solver import FIXED, Solver

ROOT_3, ROOT_15 = sqrt(3), sqrt(15)

MIDPOINT = Tableau("midpoint", 2, (0.5,), ({0: 0.5},), {0: 1.0})
"""The implicit midpoint rule."""

GAUSS4 = Tableau(
    "gauss4",
    4,
    (0.5 - ROOT_3 / 6, 0.5 + ROOT_3 / 6),
    ({0: 0.25, 1: 0.25 - ROOT_3 / 6}, {0: 0.25 + ROOT_3 / 6, 1: 0.25}),
    {0: 0.5, 1: 0.5},
)

GAUSS6 = Tableau(
    "gauss6",
    6,
    (0.5 - ROOT_15 / 10, 0.5, 0.5 + ROOT_15 / 10),
    (
        {0: 5 / 36, 1: 2 / 9 - ROOT_15 / 15, 2: 5 / 36 - ROOT_15 / 30},
        {0: 5 / 36 + ROOT_15 / 24, 1: 2 / 9, 2: 5 / 36 - ROOT_15 / 24},
        {0: 5 / 36 + ROOT_15 / 30, 1: 2 / 9 + ROOT_15 / 15, 2: 5 / 36},
    ),
    {0: 5 / 18, 1: 4 / 9, 2: 5 / 18},
)


def declare_canonical(builder: EquationBuilder, tau: Sequence[Scalar]) -> None:
    """Declare `inertia`, H(q), and `push`, w(t, q, qd)."""
    n, zero = builder.mechanism.nv, builder.builder.number(0)
    rest = {f"qdd{i + 1}": zero for i in range(n)}
    outputs = ["mass_matrix", "inverse_dynamics"]
    found = include(builder.builder, builder.model.graph, rest, outputs)
    H, bias = found["mass_matrix"], found["inverse_dynamics"]
    q, qd = ([builder.input(group, i) for i in range(n)] for group in ("q", "qd"))
    direction = {builder.builder.variable_of(q[i]): qd[i] for i in range(n)}
    along = Tangents(builder.builder, direction)
    push: list[Scalar] = []
    for i in range(n):
        total = tau[i] - bias[i]
        for j in range(n):
            total = total + builder.builder.keep(along.of(H[i * n + j])) * qd[j]
        push.append(total)
    builder.declare("inertia", H)
    builder.declare("push", push)


def refuses(equations: Equations) -> str | None:
    """Say why a system has no canonical variables here."""
    if equations.rows:
        return "does not take closed loops or constraints"
    if equations.nx or equations.nu:
        return "does not take actuators, nor controllers that integrate"
    if equations.nq != equations.nv:
        return "needs as many coordinates as rates, and there are quaternions"
    return None


def symplectic(tableau: Tableau) -> Solver:
    """Return the solver of one of Gauss's methods."""

    def rows(equations: Equations) -> int:
        return 3 + tableau.stages + (equations.nv + 1) // 2

    return Solver(
        tableau.name,
        tableau.order,
        Integrator,
        (FIXED,),
        Loop(step=symplectic_step, kernels=("inertia", "push"), asking=("push",)),
        tableau,
        outputs=("mass_matrix", "inverse_dynamics"),
        declare=declare_canonical,
        rows=rows,
        refuses=refuses,
        remedy="choose verner65 or dopri853 with a small rtol; free bodies also have Euler angles",
    )


SYMPLECTIC = {tableau.name: symplectic(tableau) for tableau in (MIDPOINT, GAUSS4, GAUSS6)}
