"""Symplectic methods with a fixed step: Gauss's points in canonical variables.

| symbol | meaning                                                     |
|--------|-------------------------------------------------------------|
| H      | mass matrix                                                 |
| p      | momenta H qd                                                |
| c + hG | inverse dynamics without accelerations                      |
| w      | p' = dH/dt qd + H qdd = dH/dt qd + tau - (c + hG)           |

dH/dt qd is the derivative of p while the coordinates move with qd and the rates stay.

With the momenta p = H(q) qd the motion is

    q' = v,    p' = w(t, q, v) = dL/dq + tau,    where v = H(q)^-1 p

and a collocation method at Gauss's points keeps the symplectic form: the energy of a conservative
motion does not drift. The stages are found by fixed-point iteration, until rounding errors are all
that is left: an iteration cut short would itself be a drift.

With n rates and s stages, in `k` stand the rate at y (2n), v and w of each stage (2n s), the
momenta at y (n), the state of a stage and its w (3n), and H (n n).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fabs, sqrt

from chainform.graph import Scalar, Tangents, include
from chainform.runtime import Floats, Number, fmax, fmin
from chainform.simulation.equations.builder import EquationBuilder, Equations
from chainform.simulation.machine.linear import NOTHING, backward, cholesky, forward
from chainform.simulation.machine.machine import CompiledLoop
from chainform.simulation.machine.method import FIXED, Method, Tableau
from chainform.simulation.machine.records import NO_NUMBER, NO_SOLUTION, UNRESISTED, TimeStep
from chainform.simulation.solvers.adaptive import PROCEDURES
from chainform.simulation.solvers.integrator import Integrator

ROUNDS = 100
"""The most iterations."""
ROUNDING = 1e-12
"""Changes below this may be rounding errors: they need not shrink further."""
CLOSE = 1e-9
"""What changes must be below in the end."""


def inertia(t: Floats, y: Floats, p: Floats, out: Floats) -> None:
    """Stand for H(q), row by row, which is compiled from a graph."""


def push(t: Floats, y: Floats, p: Floats, out: Floats) -> None:
    """Stand for w(t, q, v): what changes the momenta."""


def momenta_of(clock: Floats, y: Floats, p: Floats, H: Floats, out: Floats, n: int) -> None:
    """Set out = H(q) qd."""
    inertia(clock, y, p, H)
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += H[i * n + j] * y[n + j]
        out[i] = total


def rates_of(clock: Floats, y: Floats, p: Floats, H: Floats, n: int) -> int:
    """Replace the momenta, which stand in y behind q, by the rates; return 0, or a failure."""
    inertia(clock, y, p, H)
    failed = cholesky(H, n, NOTHING)
    if failed < 0:
        return NO_NUMBER
    if failed > 0:
        return UNRESISTED - (failed - 1)
    forward(H, y[n:], n)
    backward(H, y[n:], n)
    return 0


def sweep(step: TimeStep, h: Number) -> float:
    """Compute v and w of all stages anew; return the change, or a failure.

    The change is the largest one of a coordinate or a momentum, relative to the largest of them.
    """
    n = step.rates
    s = step.stages
    y = step.y
    p = step.p
    t = step.t
    latest = step.latest
    clock = step.clock
    tableau = step.tableau
    stages = step.k[2 * n :]
    momenta = stages[2 * n * s :]
    at = momenta[n:]
    H = at[3 * n :]
    moved = 0.0
    pushed = 0.0
    far = 1e-300
    strong = 1e-300
    for i in range(s):
        for e in range(n):
            at[e] = 0.0
            at[n + e] = 0.0
        for j in range(s):
            weight = tableau[s + i * s + j]
            stage = stages[j * 2 * n :]
            for e in range(2 * n):
                at[e] += weight * stage[e]
        for e in range(n):
            at[e] = y[e] + h * at[e]
            at[n + e] = momenta[e] + h * at[n + e]
        clock[0] = fmin(t + tableau[i] * h, latest)
        status = rates_of(clock, at, p, H, n)
        if status < 0:
            return float(status)
        stage = stages[i * 2 * n :]
        push(clock, at, p, at[2 * n :])
        for e in range(n):
            moved = fmax(moved, fabs(h * (at[n + e] - stage[e])))
            pushed = fmax(pushed, fabs(h * (at[2 * n + e] - stage[n + e])))
            far = fmax(far, fabs(y[e]) + fabs(h * at[n + e]))
            strong = fmax(strong, fabs(momenta[e]) + fabs(h * at[2 * n + e]))
            stage[e] = at[n + e]
            stage[n + e] = at[2 * n + e]
    return fmax(moved / far, pushed / strong)


def failure_of(status: int, rounds: int) -> int:
    """Return why a step failed: what is no number later on was driven there by the iteration."""
    if rounds > 1 and status == NO_NUMBER:
        return NO_SOLUTION
    return status


def symplectic_step(step: TimeStep, h: Number, new: Floats) -> int:
    """Make a step of length h from the start of a step into `new`; return how often it evaluated.

    Or `NO_SOLUTION` where the iteration does not converge, or another failure.

    The stages begin on the parabola that the rate at y gives, with w as at y.
    """
    n = step.rates
    s = step.stages
    y = step.y
    p = step.p
    k = step.k
    latest = step.latest
    clock = step.clock
    tableau = step.tableau
    stages = k[2 * n :]
    momenta = stages[2 * n * s :]
    at = momenta[n:]
    H = at[3 * n :]
    clock[0] = fmin(step.t, latest)
    momenta_of(clock, y, p, H, momenta, n)
    push(clock, y, p, at)
    for i in range(s):
        stage = stages[i * 2 * n :]
        for e in range(n):
            stage[e] = y[n + e] + tableau[i] * h * k[n + e]
            stage[n + e] = at[e]
    before = 1e300
    rounds = 0
    while rounds < ROUNDS:
        change = sweep(step, h)
        rounds += 1
        if change < 0.0:
            return failure_of(int(change), rounds)
        if not change >= 0.0:
            return NO_SOLUTION
        if change == 0.0 or (change >= before and change < ROUNDING):
            break
        before = change
    if rounds == ROUNDS and not before < CLOSE:
        return NO_SOLUTION
    weights = tableau[s + s * s :]
    for e in range(n):
        moved = 0.0
        pushed = 0.0
        for i in range(s):
            moved += weights[i] * stages[i * 2 * n + e]
            pushed += weights[i] * stages[i * 2 * n + n + e]
        new[e] = y[e] + h * moved
        new[n + e] = momenta[e] + h * pushed
    clock[0] = fmin(step.t + h, latest)
    status = rates_of(clock, new, p, H, n)
    if status < 0:
        return status
    return (rounds + 1) * s


# --- solvers ----------------------------------------------------------------------------------


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


def symplectic(tableau: Tableau) -> Method:
    """Return the solver of one of Gauss's methods."""

    def rows(equations: Equations) -> int:
        return 3 + tableau.stages + (equations.nv + 1) // 2

    return Method(
        tableau.name,
        tableau.order,
        Integrator,
        (FIXED,),
        CompiledLoop(
            PROCEDURES, step=symplectic_step, kernels=("inertia", "push"), asking=("push",)
        ),
        tableau,
        outputs=("mass_matrix", "inverse_dynamics"),
        declare=declare_canonical,
        rows=rows,
        refuses=refuses,
        remedy="choose verner65 or dopri853 with a small rtol; free bodies also have Euler angles",
    )


SYMPLECTIC = {tableau.name: symplectic(tableau) for tableau in (MIDPOINT, GAUSS4, GAUSS6)}
