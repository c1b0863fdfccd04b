"""Solutions of the equations of rest for many starts at once, with exact derivatives.

symbol    meaning
F, A      equations in units of their own, and their derivatives by unknowns in such units
d         damping of Levenberg and Marquardt
a, b      a gap and its push, in units of their own

    (A^T A + d) step = - A^T F,    taken where |F| becomes smaller

A contact holds where a >= 0, b >= 0 and a b = 0. Far away that is one equation (Fischer and
Burmeister), sqrt(a^2 + b^2) - a - b = 0. Near a solution each contact is closed or open, and
Newton's method is that of a = 0 or b = 0.

Units: an energy E that is usual among the starts, 1 rad or the size of the mechanism, and for each
row the length of its gradient. A state of an actuator that acts on no joint keeps its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.equilibrium.static_equations import StaticEquations, StaticStates
from chainform.analysis.linear.state_accelerations import ROUNDING

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Function = Callable[[StaticStates], Array]

STEPS = 120
"""The most steps from a start."""
LONGEST = 0.7
"""The longest step, in rad or parts of the size."""
NEAR = 1e-7
"""Below this Newton's method takes over."""
BALANCED = 1e-10
"""What may be left over of an equilibrium."""
REFINED = 12
"""The most steps of Newton's method near a solution."""
RANK = 1e-9
"""Singular values below this share of the largest count as zero."""
BALANCED_SHARE = 1e-5
"""The share of the potential energy that counts where weight and springs cancel everywhere."""
SMALLEST, LARGEST = 1e-13, 1e7
"""The bounds of the damping."""


@dataclass(frozen=True)
class EquilibriumSystem:
    """The equations of rest in units of their own.

    `rows` (count,) multiplies equations, `columns` (n,) are the units of unknowns.
    """

    equations: StaticEquations
    rows: Array
    columns: Array
    energy: float

    @property
    def gaps(self) -> slice:
        """Where the gaps stand among the equations."""
        return self.equations.parts["gaps"]

    @property
    def _pushes(self) -> slice:
        """Where their pushes stand among the unknowns."""
        last = len(self.columns)
        return slice(last - len(self.equations.contacts), last)

    def contact_values(
        self, states: StaticStates, values: Array | None = None
    ) -> tuple[Array, Array]:
        """Return gaps and pushes in their units, (m, contacts)."""
        values = self.equations.values(states) if values is None else values
        count = len(self.equations.contacts)
        a = values[:, self.gaps] * self.rows[self.gaps]
        b = states.sigma[:, states.sigma.shape[1] - count :] / self.columns[self._pushes]
        return a, b

    # --- residuals ----------------------------------------------------------------------

    def residual(self, states: StaticStates) -> Array:
        """Return F, contacts as Fischer and Burmeister have them."""
        values = self.equations.values(states)
        a, b = self.contact_values(states, values)
        F = values * self.rows
        F[:, self.gaps] = np.hypot(a, b) - a - b
        return F

    def jacobian(self, states: StaticStates) -> Array:
        """Return A of these."""
        A = self.scaled_slopes(states)
        a, b = self.contact_values(states)
        length = np.hypot(a, b)
        safe = np.where(length > 0, length, 1.0)
        alpha, beta = (np.where(length > 0, c / safe, np.sqrt(0.5)) - 1.0 for c in (a, b))
        A[:, self.gaps] *= alpha[..., None]
        first, count = self._pushes.start, len(self.equations.contacts)
        places = np.arange(count)
        A[:, self.gaps.start + places, first + places] += beta
        return A

    def fixed_residual(self, states: StaticStates, closed: Flags) -> Array:
        """Return F with contacts that are closed or open, (m, contacts)."""
        values = self.equations.values(states)
        a, b = self.contact_values(states, values)
        F = values * self.rows
        F[:, self.gaps] = np.where(closed, a, b)
        return F

    def fixed_jacobian(self, states: StaticStates, closed: Flags) -> Array:
        """Return A of these."""
        A = self.scaled_slopes(states)
        A[:, self.gaps] *= closed[..., None]
        places = np.arange(len(self.equations.contacts))
        A[:, self.gaps.start + places, self._pushes.start + places] += ~closed
        return A

    def scaled_slopes(self, states: StaticStates) -> Array:
        """Return the derivatives of all equations, gaps as they are."""
        return self.equations.slopes(states) * self.rows[:, None] * self.columns

    def row_rank(self, states: StaticStates) -> int:
        """Return how many rows of loops and constraints are independent, at most in some states."""
        part, sizes = self.equations.parts["balance"], self.equations.sizes
        first = sizes["q"] + sizes["x"]
        J = self.scaled_slopes(states)[:, part, first : first + len(self.equations.rows)]
        return int(np.max(np.linalg.matrix_rank(J, RANK), initial=0)) if J.size else 0

    def row_residual(self, states: StaticStates) -> Array:
        """Return what loops and constraints leave open."""
        part = self.equations.parts["rows"]
        return self.equations.values(states)[:, part] * self.rows[part]

    def row_jacobian(self, states: StaticStates) -> Array:
        """Return its derivatives; forces change nothing."""
        part, nv = self.equations.parts["rows"], self.equations.sizes["q"]
        A = self.scaled_slopes(states)[:, part]
        A[:, :, nv:] = 0.0
        return A

    def moved(self, states: StaticStates, steps: Array) -> StaticStates:
        """Return states after steps in units."""
        return self.equations.moved(states, steps * self.columns)

    # --- solution -----------------------------------------------------------------------

    def close(self, states: StaticStates) -> tuple[StaticStates, Array]:
        """Return states with closed loops, and what is left open, (m,)."""
        return self._descend(states, self.row_residual, self.row_jacobian)

    def descend(self, states: StaticStates) -> tuple[StaticStates, Array]:
        """Return states near equilibria, and what is left over, (m,)."""
        return self._descend(states, self.residual, self.jacobian)

    def _descend(
        self, states: StaticStates, residual: Function, jacobian: Function
    ) -> tuple[StaticStates, Array]:
        states, F = states.copy(), residual(states)
        sizes, damping = _norms(F), np.full(len(states), 1e-2)
        if not F.size:
            return states, sizes
        A = jacobian(states)
        for _ in range(STEPS):
            busy = np.flatnonzero((sizes > SMALLEST) & (damping < LARGEST) & np.isfinite(sizes))
            if not len(busy):
                break
            steps = _damped(A[busy], F[busy], damping[busy], self.equations.sizes["q"])
            trial = self.moved(states[busy], steps)
            new = residual(trial)
            better = _norms(new) < sizes[busy]
            # Far below any tolerance a step that hardly helps is the last one.
            done = better & (sizes[busy] < NEAR**2)
            taken, left = busy[better], busy[~better]
            states.put(taken, trial[better])
            F[taken], sizes[taken] = new[better], _norms(new)[better]
            damping[taken] = np.maximum(damping[taken] / 8, SMALLEST)
            damping[left] *= 5
            damping[busy[done]] = LARGEST
            if len(taken):
                A[taken] = jacobian(states[taken])
        return states, sizes

    def refine(self, states: StaticStates) -> tuple[StaticStates, Array, Flags]:
        """Return equilibria to the last digits, what is left over, and which contacts are closed.

        Contacts that would have to pull, or are passed, leave infinitely much.
        """
        a, b = self.contact_values(states)
        closed = b > a
        states, sizes = self.newton(states, closed)
        a, b = self.contact_values(states)
        fits = np.all((a >= -BALANCED) & (b >= -BALANCED), axis=1)
        return states, np.where(fits, sizes, np.inf), closed

    def newton(self, states: StaticStates, closed: Flags) -> tuple[StaticStates, Array]:
        """Take steps of Newton, the shortest of all, as long as they help."""
        states, F = states.copy(), self.fixed_residual(states, closed)
        sizes = _norms(F)
        busy = np.flatnonzero(np.isfinite(sizes))
        for _ in range(REFINED):
            A = self.fixed_jacobian(states[busy], closed[busy])
            finite = np.isfinite(A).all(axis=(1, 2))
            busy = busy[finite]
            if not len(busy):
                break
            steps = -np.einsum("mij,mj->mi", np.linalg.pinv(A[finite], rcond=RANK), F[busy])
            trial = self.moved(states[busy], steps)
            new = self.fixed_residual(trial, closed[busy])
            better = _norms(new) < sizes[busy]
            busy = busy[better]
            states.put(busy, trial[better])
            F[busy], sizes[busy] = new[better], _norms(new)[better]
        return states, sizes


def _norms(F: Array) -> Array:
    """Return the largest entries of the rows, infinite where there is no value."""
    found = np.sqrt(np.sum(F * F, axis=1))
    return np.where(np.isfinite(found), found, np.inf)


def _damped(A: Array, F: Array, damping: Array, turns: int) -> Array:
    """Return damped steps (m, n), none of them longer than is sensible."""
    n = A.shape[2]
    matrix = np.einsum("mki,mkj->mij", A, A)
    size = 1.0 + np.einsum("mii->m", matrix) / n
    matrix[:, np.arange(n), np.arange(n)] += (damping * size)[:, None]
    right = np.einsum("mki,mk->mi", A, F)[..., None]
    steps = np.asarray(-np.linalg.solve(matrix, right)[..., 0], np.float64)
    longest = np.max(np.abs(steps[:, :turns]), axis=1, initial=0.0)
    return steps * np.minimum(1.0, LONGEST / np.maximum(longest, 1e-300))[:, None]


def equilibrium_system(
    equations: StaticEquations, states: StaticStates, scales: Array, least: float = 0.0
) -> EquilibriumSystem:
    """Return the equations in units that suit some states; `scales` are those of the rates.

    `least` is the smallest unit of energy.
    """
    parts, sizes = equations.parts, equations.sizes
    nv, nx = sizes["q"], sizes["x"]
    values, slopes = equations.values(states), equations.slopes(states)
    finite = np.isfinite(values).all(axis=1) & np.isfinite(slopes).all(axis=(1, 2))
    values, slopes = values[finite], slopes[finite]
    loads = np.max(np.abs(values[:, parts["balance"]] * scales), axis=1, initial=0.0)
    energy = max(_usual_energy(loads, equations.energies(states[finite])), least)
    rows, columns = np.ones(equations.count), np.ones(nv + nx + sizes["sigma"])
    rows[parts["balance"]], columns[:nv] = scales / energy, scales
    # A state of an actuator has the unit that does as much as the unit of energy.
    efforts = np.swapaxes(slopes[:, parts["balance"], nv : nv + nx], 1, 2) * scales / energy
    works = _lengths(efforts)
    columns[nv : nv + nx] = np.divide(1.0, works, out=np.ones(nx), where=works > 0)
    rows[parts["x"]] = _factors(slopes[:, parts["x"], nv : nv + nx] * columns[nv : nv + nx])
    for name in ("rows", "gaps"):
        rows[parts[name]] = _factors(slopes[:, parts[name], :nv] * scales)
    # J^T s, with the gradient of each row of length 1, is an energy.
    forces = np.swapaxes(slopes[:, parts["balance"], nv + nx :], 1, 2) * scales
    columns[nv + nx :] = _factors(forces) * energy
    return EquilibriumSystem(equations, rows, columns, energy)


def _usual_energy(loads: Array, energies: Array | None) -> float:
    """Return the unit of energy: what the starts need, or a little of what balances itself."""
    if not len(loads):
        return 1.0
    stored = 0.0 if energies is None else BALANCED_SHARE * float(np.median(np.abs(energies)))
    return max(float(np.median(loads)), stored) or float(np.max(loads)) or 1.0


def _lengths(rows: Array) -> Array:
    """Return the usual length of each row, (rows,)."""
    number, count = len(rows), int(rows.shape[1])
    if number == 0:
        return np.ones(count)
    lengths = np.sort(np.sqrt(np.einsum("mij,mij->mi", rows, rows)), axis=0)
    return np.asarray(lengths[number // 2], dtype=np.float64)


def _factors(rows: Array) -> Array:
    """Return what gives each row the length 1; a row that nothing moves has the unit of others."""
    lengths = _lengths(rows)
    largest = np.max(lengths, initial=0.0) or 1.0
    return 1.0 / np.where(lengths > ROUNDING * largest, lengths, largest)
