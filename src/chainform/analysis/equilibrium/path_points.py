"""Points of a path of equilibria: its tangent, the way onto it, and what is special on the way.

symbol   meaning
y        unknowns of the equations of rest and the parameter, in units of their own
F        equations of rest with contacts closed or open
B        derivatives of F by y, without rows and multipliers that follow from others
v        tangent, B v = 0, of length 1
w        1 for entries of q and for the parameter, 0 for forces and states, which follow from them

    onto the path    F(y) = 0,    w v0 . (y - y0) = h        pseudo-arclength h from y0 along v0
    fold             the parameter turns: its entry of v changes its sign
    branch point     det [B; v] changes its sign: another path of equilibria goes through it

Multipliers of rows that follow from others are those of least norm: with an orthonormal basis Y of
what the rows can do, s = Y s' and Y^T r = 0 leave as many equations as unknowns. Y is found for r
and for s apart, each in its unit, with the same orientation: so the sign of the determinant does
not depend on the choice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.equilibrium.equilibrium_solver import BALANCED, EquilibriumSystem, Flags
from chainform.analysis.equilibrium.static_equations import StaticStates

Array = NDArray[np.float64]

REPEATS = 8
"""The most steps of Newton onto the path."""
EXACT = 1e-13
"""What is left over of a point on it, if it can be had."""
HALVINGS = 100


@dataclass(frozen=True)
class PathPoint:
    """An equilibrium on a path: state, closed contacts (1, contacts), tangent (n + 1,).

    `determinant` is that of [B; v], its sign and the logarithm of its size.
    """

    state: StaticStates
    closed: Flags
    tangent: Array
    determinant: tuple[float, float]
    left: float
    """What is left over of the equations."""

    @property
    def slope(self) -> float:
        """How the parameter changes along the path, in its unit."""
        return float(self.tangent[-1])


@dataclass(frozen=True)
class PathSystem:
    """The equations of rest along a parameter; `unit` is what counts as 1 of it.

    `rank` is the number of rows of loops and constraints that are independent.
    """

    system: EquilibriumSystem
    unit: float
    rank: int

    # --- derivatives --------------------------------------------------------------------

    def slopes(self, state: StaticStates, closed: Flags) -> Array:
        """Return the derivatives of F by y, all of them, (count, n + 1)."""
        system = self.system
        A = system.fixed_jacobian(state, closed)[0]
        column = system.equations.parameter_slopes(state)[0] * system.rows * self.unit
        # The push of an open contact is zero whatever the parameter is.
        column[system.gaps] *= closed[0]
        return np.column_stack([A, column])

    def reduced(self, slopes: Array) -> tuple[Array, Array]:
        """Return B, and the matrix that leads from its unknowns to y."""
        equations = self.system.equations
        balance, rows = equations.parts["balance"], equations.parts["rows"]
        sizes, count = equations.sizes, len(equations.rows)
        first = sizes["q"] + sizes["x"]
        forces = np.linalg.svd(slopes[balance, first : first + count])[2][: self.rank].T
        binding = np.linalg.svd(slopes[rows, : sizes["q"]])[0][:, : self.rank]
        # Both are bases of what the rows can do, in two units; they shall have one orientation.
        if np.linalg.slogdet(binding.T @ forces)[0] < 0:
            binding[:, 0] *= -1
        n = slopes.shape[1]
        into = np.zeros((n, n - count + self.rank))
        into[:first, :first] = np.eye(first)
        into[first : first + count, first : first + self.rank] = forces
        into[first + count :, first + self.rank :] = np.eye(n - first - count)
        top, bottom = slopes[: rows.start], slopes[rows.stop :]
        return np.vstack([top, binding.T @ slopes[rows], bottom]) @ into, into

    def null_vectors(self, state: StaticStates, closed: Flags) -> Array:
        """Return directions (2, n + 1) in which F changes least, that of the path first."""
        B, into = self.reduced(self.slopes(state, closed))
        return (into @ np.linalg.svd(B)[2][::-1][:2].T).T

    def point(
        self, state: StaticStates, closed: Flags, towards: Array | None = None, left: float = 0.0
    ) -> PathPoint:
        """Return a point with its tangent, which goes on `towards` a direction."""
        B, into = self.reduced(self.slopes(state, closed))
        along = np.linalg.svd(B)[2][-1]
        if towards is not None and self.dot(into @ along, towards) < 0:
            along = -along
        sign, size = np.linalg.slogdet(np.vstack([B, along]))
        tangent = self.unit_length(into @ along)
        return PathPoint(state, closed, tangent, (float(sign), float(size)), left)

    def dot(self, one: Array, other: Array) -> float:
        """Return the product of two directions; forces and states of actuators do not count."""
        nv = self.system.equations.sizes["q"]
        return float(one[:nv] @ other[:nv] + one[-1] * other[-1])

    def unit_length(self, direction: Array) -> Array:
        """Return a direction of length 1."""
        return direction / np.sqrt(self.dot(direction, direction))

    # --- the way onto the path ----------------------------------------------------------

    def moved(self, state: StaticStates, step: Array) -> StaticStates:
        """Return a state after a step of y."""
        moved = self.system.moved(state, step[None, :-1])
        return replace(moved, parameter=state.parameter + self.unit * step[-1])

    def onto(
        self, state: StaticStates, closed: Flags, normal: Array
    ) -> tuple[StaticStates, float, int]:
        """Return the state on the path in the plane through a state, what is left, and steps."""
        plane = normal.copy()
        plane[self.system.equations.sizes["q"] : -1] = 0.0
        left = self.system.fixed_residual(state, closed)[0]
        size = _size(left)
        for number in range(REPEATS):
            if size < EXACT or not np.isfinite(size):
                return state, size, number
            both = np.vstack([self.slopes(state, closed), plane])
            if not np.isfinite(both).all():
                return state, np.inf, number
            step = np.linalg.lstsq(both, np.append(-left, 0.0), rcond=1e-12)[0]
            trial = self.moved(state, np.asarray(step, np.float64))
            new = self.system.fixed_residual(trial, closed)[0]
            if not _size(new) < size:
                # Rounding decides from here on, or the plane misses the path.
                return state, size, REPEATS if size > BALANCED else number
            state, left, size = trial, new, _size(new)
        return state, size, REPEATS

    def ahead(self, point: PathPoint, length: float) -> tuple[PathPoint, int] | None:
        """Return the point a step further, and how many steps of Newton it took; None if none."""
        start = self.moved(point.state, length * point.tangent)
        state, size, number = self.onto(start, point.closed, point.tangent)
        if not size < BALANCED:
            return None
        return self.point(state, point.closed, point.tangent, size), number

    def located(
        self, point: PathPoint, length: float, test: Callable[[PathPoint], float]
    ) -> tuple[PathPoint, float] | None:
        """Return the point within a step at which a function is zero, and its distance.

        Regula falsi with the correction of Illinois, and halving where that is slow.
        """
        last = self.ahead(point, length)
        if last is None:
            return None
        low, high, a, b = 0.0, length, test(point), test(last[0])
        best = (last[0], length) if abs(b) < abs(a) else (point, 0.0)
        for number in range(HALVINGS):
            if high - low < 1e-14 * length or a == 0.0 or b == 0.0:
                break
            middle = (low * b - high * a) / (b - a) if number % 3 < 2 else (low + high) / 2
            found = self.ahead(point, min(max(middle, low), high))
            if found is None:
                break
            value = test(found[0])
            if abs(value) <= abs(test(best[0])):
                best = found[0], middle
            if value == 0.0:
                break
            if (value > 0) == (b > 0):
                high, b, a = middle, value, a / 2 if number % 3 < 2 else a
            else:
                low, a, b = middle, value, b / 2 if number % 3 < 2 else b
        return best


def _size(F: Array) -> float:
    return float(np.linalg.norm(F))
