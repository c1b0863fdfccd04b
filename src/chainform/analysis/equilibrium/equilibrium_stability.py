"""Stability of equilibria, and those that are not isolated.

symbol   meaning
J        rows that hold: loops, constraints, held joints, closed contacts
N        orthonormal directions that J leaves free
K        derivatives of the balance by q, at constant forces s
M, D     derivatives of the balance by accelerations and rates

    K_N = N^T K N        stiffness that small motions meet

Where K_N is symmetric, weight and springs hold the mechanism as a potential does: it is stable if
all eigenvalues are positive, whatever dampers there are, and unstable if one is negative. Otherwise
the poles of N^T (M, D, K) N decide. A zero eigenvalue leaves both open; there the equilibrium is
one of a family if the equations can be solved a little further along its direction, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.equilibrium.equilibrium_solver import (
    BALANCED,
    RANK,
    EquilibriumSystem,
    Flags,
)
from chainform.analysis.equilibrium.static_equations import BatchOutput, StaticStates
from chainform.analysis.equilibrium.static_problem import StaticProblem
from chainform.analysis.linear.linearisation import linearise
from chainform.analysis.linear.state_accelerations import even_factors
from chainform.errors import RunError
from chainform.formulations import with_derivatives
from chainform.simulation import whole_states

Array = NDArray[np.float64]

ZERO = 1e-7
"""Eigenvalues of the stiffness below this, in units of energy, are zero."""
SYMMETRIC = 1e-8
"""The share of a stiffness that rounding may leave of its skew part."""
AHEAD = 0.05
"""How far along a free direction another equilibrium is looked for, in rad or parts of the size."""
STILL = 1e-9
"""The share of the largest pole below which a real part is zero."""
STABLE, UNSTABLE, UNKNOWN = 1.0, 0.0, -1.0


@dataclass(frozen=True)
class Stability:
    """How an equilibrium answers a small push.

    `stable` is 1, 0, or -1 where it is not decided; `stiffness` the smallest eigenvalue of K_N in
    N m/rad and N/m; `growth` the largest real part of the poles (1/s), NaN where they were not
    needed. `free` (nv, n) are directions without stiffness, `family` how many of them lead to other
    equilibria. `is_lost` says that rows of loops are lost here: a singular position.
    """

    stable: float
    stiffness: float
    growth: float
    free: Array
    family: int
    is_lost: bool = False

    @property
    def is_singular(self) -> bool:
        """Whether the equilibrium does not change smoothly with the forces."""
        return self.free.shape[1] > 0 or self.is_lost


class StabilityTest:
    """Decides the stability of equilibria of one system."""

    def __init__(self, problem: StaticProblem, system: EquilibriumSystem, rank: int) -> None:
        self.problem = problem
        self.system = system
        self.rank = rank
        """How many rows of loops and constraints are independent in general."""
        self.equations = system.equations
        sizes = self.equations.sizes
        self.nv, self.nx = sizes["q"], sizes["x"]

    def of(self, state: StaticStates, closed: Flags) -> Stability:
        """Return the stability of one equilibrium; `closed` (1, contacts) are its contacts."""
        A = self.equations.slopes(state)[0]
        if not np.isfinite(A).all():
            return Stability(UNKNOWN, np.nan, np.nan, np.zeros((self.nv, 0)), 0)
        balance, scales = self.equations.parts["balance"], self.system.columns[: self.nv]
        active = np.concatenate([np.ones(len(self.equations.rows), np.bool_), closed[0]])
        rows = -A[balance, self.nv + self.nx :].T[active]
        N, lost = self._tangent(rows * scales, len(rows) - int(closed.sum()))
        K = (A[balance, : self.nv] + self._actuators(A)) * np.outer(scales, scales)
        reduced = N.T @ K @ N
        plain = _orthonormal(scales[:, None] * N)
        stiffness = _least(plain.T @ (K / np.outer(scales, scales)) @ plain)
        values, vectors = np.linalg.eigh((reduced + reduced.T) / 2)
        is_potential = _is_symmetric(reduced, self.system.energy)
        flat = self._flat(reduced, values, vectors, is_potential=is_potential)
        free = N @ flat if self._is_holonomic else self._open_positions(state, closed)
        family = self._family(state, closed, free) if free.shape[1] else 0
        stable, growth = self._by_stiffness(values), np.nan
        if (
            self._actuators_act
            or not is_potential
            or self._is_driven_by_rates(state, scales[:, None] * N)
        ):
            growth = self._growth(state, closed, scales[:, None] * N)
            stable = _by_growth(growth)
        if lost or not self.equations.moving.holonomic.all() or self._grazes(state):
            stable = UNKNOWN
        if not N.shape[1] and not self.equations.moving.prescribing:
            stable = STABLE
        return Stability(stable, stiffness, growth, scales[:, None] * free, family, lost)

    def _tangent(self, J: Array, count: int) -> tuple[Array, bool]:
        """Return N in units of the rates, and whether rows are lost at this pose."""
        if not len(J):
            return np.eye(self.nv), False
        even = J * even_factors(J)
        values, vh = np.linalg.svd(even)[1:]
        rank = int(np.sum(values > RANK * max(float(values.max(initial=0.0)), 1e-300)))
        own = np.linalg.matrix_rank(even[:count], RANK) if count else 0
        return vh[rank:].T, bool(own < self.rank)

    def _actuators(self, A: Array) -> Array:
        """Return what states of actuators that settle by themselves add to the stiffness."""
        if not self.nx:
            return np.zeros((self.nv, self.nv))
        part, own = self.equations.parts["x"], slice(self.nv, self.nv + self.nx)
        change = np.linalg.pinv(A[part, own]) @ A[part, : self.nv]
        return -A[self.equations.parts["balance"], own] @ change

    def _flat(self, K: Array, values: Array, vectors: Array, *, is_potential: bool) -> Array:
        """Return the directions without stiffness."""
        if is_potential:
            return vectors[:, np.abs(values) < ZERO * self.system.energy]
        sizes, vh = np.linalg.svd(K)[1:]
        return vh[sizes < ZERO * self.system.energy].T

    @property
    def _is_holonomic(self) -> bool:
        """Whether all rows bind positions."""
        moving = self.equations.moving
        return bool(moving.holonomic.all()) and not moving.prescribing

    @property
    def _actuators_act(self) -> bool:
        return bool(self.problem.mechanism.actuators)

    def _open_positions(self, state: StaticStates, closed: Flags) -> Array:
        """Return the directions in which the equations of rest do not change, forces following."""
        A = self.system.fixed_jacobian(state, closed)[0]
        sizes, vh = np.linalg.svd(A)[1:]
        rank = int(np.sum(sizes > ZERO * sizes.max(initial=0.0)))
        motions = vh[rank:, : self.nv].T
        left, amounts = np.linalg.svd(motions)[:2]
        return left[:, : int(np.sum(amounts > ZERO))]

    def _by_stiffness(self, values: Array) -> float:
        bound = ZERO * self.system.energy
        if np.any(values < -bound):
            return UNSTABLE
        return STABLE if np.all(values > bound) else UNKNOWN

    def _grazes(self, state: StaticStates) -> bool:
        """Whether a contact touches without a push."""
        a, b = self.system.contact_values(state)
        return bool(np.any((np.abs(a) < ZERO) & (np.abs(b) < ZERO)))

    # --- families -----------------------------------------------------------------------

    def _family(self, state: StaticStates, closed: Flags, free: Array) -> int:
        """Return how many of the free directions lead to other equilibria."""
        return sum(self._leads_on(state, closed, direction) for direction in free.T)

    def _leads_on(self, state: StaticStates, closed: Flags, direction: Array) -> bool:
        """Whether there is an equilibrium a little further along a direction."""
        step = np.zeros((1, len(self.system.columns)))
        step[0, : self.nv] = direction
        for side in (AHEAD, -AHEAD):
            found = self.system.moved(state, np.asarray(side * step, np.float64))
            for _ in range(10):
                F = self.system.fixed_residual(found, closed)[0]
                if not np.isfinite(F).all():
                    break
                if np.linalg.norm(F) < BALANCED:
                    return True
                A = self.system.fixed_jacobian(found, closed)[0]
                # The way along the direction stays, all else follows.
                both, right = np.vstack([A, step]), np.append(-F, 0.0)
                change = np.linalg.lstsq(both, right, rcond=RANK)[0]
                found = self.system.moved(found, np.asarray(change[None], np.float64))
        return False

    # --- poles --------------------------------------------------------------------------

    def _is_driven_by_rates(self, state: StaticStates, N: Array) -> bool:
        """Whether forces depend on rates otherwise than those of dampers."""
        mechanism = self.problem.mechanism
        if not (mechanism.forces or mechanism.elements or mechanism.base.is_moving):
            return False
        D = N.T @ self._mass_and_damping(state)[1] @ N
        largest = float(np.max(np.abs(D), initial=0.0))
        is_damper = np.max(np.abs(D - D.T), initial=0.0) <= SYMMETRIC * largest
        return not (is_damper and _least(D) >= -SYMMETRIC * largest)

    @cached_property
    def _rate_slopes(self) -> list[BatchOutput]:
        texts = [f"product(derivative(equations,{g}),direction)" for g in ("qdd", "qd")]
        moving = self.equations.moving
        graph = with_derivatives(moving.graph, texts, moving.mechanism)
        return [BatchOutput(graph, text) for text in texts]

    def _growth(self, state: StaticStates, closed: Flags, N: Array) -> float:
        """Return the largest real part of the poles, NaN where there are none to be had."""
        driven = self._actuators_act
        if not N.shape[1] and not driven:
            return -np.inf
        poles = self._driven_poles(state, closed) if driven else self._poles(state, N)
        if poles is None:
            return np.nan
        if not len(poles):
            return -np.inf
        largest = float(np.max(np.abs(poles), initial=0.0))
        growth = float(np.max(poles.real))
        return 0.0 if abs(growth) <= STILL * largest or largest == 0.0 else growth

    def _poles(self, state: StaticStates, N: Array) -> NDArray[np.complex128] | None:
        M, D = self._mass_and_damping(state)
        K = self.equations.slopes(state)[0][self.equations.parts["balance"], : self.nv]
        mass, damping, stiffness = (N.T @ matrix @ N for matrix in (M, D, K))
        if not np.linalg.cond(mass) < 1 / RANK:
            return None
        n, inverse = len(mass), np.linalg.inv(mass)
        first = np.hstack([np.zeros((n, n)), np.eye(n)])
        matrix = np.vstack([first, np.hstack([-inverse @ stiffness, -inverse @ damping])])
        return np.asarray(np.linalg.eigvals(matrix), np.complex128)

    def _mass_and_damping(self, state: StaticStates) -> tuple[Array, Array]:
        sizes, nv = self.equations.moving.sizes, self.nv
        own = state[np.zeros(nv, np.intp)]
        zeros = {g: np.zeros((nv, n)) for g, n in sizes.items() if g not in ("q", "x", "sigma")}
        columns = {**zeros, **self.equations.columns(own), "direction": np.eye(nv)}
        M, D = (
            output(columns, nv)[:, self.equations.parts["balance"]].T
            for output in self._rate_slopes
        )
        return M, D

    def _driven_poles(self, state: StaticStates, closed: Flags) -> NDArray[np.complex128] | None:
        """Return the poles with states of actuators; none where contacts or held joints act."""
        problem = self.problem
        if closed.any() or problem.held or problem.barriers.stiff:
            return None
        mechanism, constants = (
            problem.barriers.bare(problem.mechanism),
            self.equations.columns(state),
        )
        still = np.zeros(mechanism.nv)
        x = whole_states(mechanism, state.q[0], still, state.x[0])
        u = np.atleast_2d(constants["u"])[0]
        try:
            return linearise(mechanism, q=state.q[0], x=x, u=u, t=problem.t).poles
        except RunError:
            return None


def _by_growth(growth: float) -> float:
    if np.isnan(growth) or growth == 0.0:
        return UNKNOWN
    return STABLE if growth < 0 else UNSTABLE


def _is_symmetric(K: Array, energy: float) -> bool:
    size = max(float(np.max(np.abs(K), initial=0.0)), energy)
    return bool(np.max(np.abs(K - K.T), initial=0.0) <= SYMMETRIC * size)


def _orthonormal(columns: Array) -> Array:
    return np.linalg.qr(columns)[0] if columns.shape[1] else columns


def _least(K: Array) -> float:
    return float(np.linalg.eigvalsh((K + K.T) / 2)[0]) if K.size else np.inf


def names_of(direction: Array, names: Sequence[str]) -> str:
    """Return which coordinates a direction moves."""
    largest = float(np.max(np.abs(direction), initial=0.0))
    return ", ".join(n for n, d in zip(names, direction, strict=True) if abs(d) > 0.01 * largest)
