"""Accelerations and multipliers of a state: the solution of the equations of motion.

symbol   meaning
M, J     inertia; rows of loops, constraints and prescribed accelerations
s        multipliers of the rows

With N whose columns span what J leaves free, and J^+ the inverse of least norm, M qdd - J^T s = b
and J qdd = c are solved by

    qdd = J^+ c + N y,    N^T M N y = N^T (b - M J^+ c),    s = (J^T)^+ (M qdd - b)

so that rows may depend on others, and M may be singular in directions that J holds.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.implicit_equations import ImplicitEquations
from chainform.analysis.motions.constraint_values import ClosureRows
from chainform.errors import RunError
from chainform.mechanism import Mechanism
from chainform.simulation import Mobility, mobility

Array = NDArray[np.float64]

RANK = 1e-9
"""Singular values below this share of the largest count as zero."""
LOOSE = 1e-13
"""The share of inertia, its diagonal made 1, that rounding may leave of nothing."""
ROUNDING = 1e-13
"""Rows that are smaller, against the largest, are zero."""
CONSISTENT = 1e-6
"""What contradicts rows by more than this share is a contradiction."""


def even_factors(J: Array) -> Array:
    """Return what makes rows of J equally long, (rows, 1), zero for rows that are only rounding.

    A law may be multiplied by any number, and binds the same.
    """
    sizes = np.linalg.norm(J, axis=1, keepdims=True)
    smallest = ROUNDING * max(1.0, float(np.max(sizes, initial=0.0)))
    return np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > smallest)


class Accelerations:
    """Solves M qdd - J^T s = b, J qdd = c for any number of right sides."""

    def __init__(self, mechanism: Mechanism, M: Array, J: Array) -> None:
        self.M, self.factors = M, even_factors(J)
        u, sizes, vh = np.linalg.svd(self.factors * J)
        count = int(np.sum(sizes > RANK * sizes.max(initial=0.0)))
        self.free = vh[count:].T
        """What the rows leave free, (nv, freedoms)."""
        self.shared = np.where(self.factors > 0, self.factors, 1.0) * u[:, count:]
        """Multipliers that put no force on any joint, (rows, their number)."""
        self.inverse = vh[:count].T @ (u[:, :count] / sizes[:count]).T
        self.inertia = self.free.T @ M @ self.free
        _refuse_massless(mechanism, self.inertia, self.free)

    def solve(self, b: Array, c: Array) -> tuple[Array, Array]:
        """Return qdd and s, columns for columns."""
        start = self.inverse @ (self.factors * c)
        y = np.linalg.solve(self.inertia, self.free.T @ (b - self.M @ start))
        qdd = start + self.free @ y
        return qdd, self.factors * (self.inverse.T @ (self.M @ qdd - b))

    def bounds(self, b: Array, c: Array) -> Array:
        """Return how far qdd may be off, given how far b and c may be."""
        inverse = np.abs(self.inverse * self.factors.T)
        forces = b + np.abs(self.M) @ inverse @ c
        return inverse @ c + np.abs(self.free @ np.linalg.solve(self.inertia, self.free.T)) @ forces

    def least(self, s: Array) -> Array:
        """Return the multipliers of least norm that put the same forces on the joints."""
        return s - self.shared @ np.linalg.lstsq(self.shared, s, rcond=None)[0]


def _refuse_massless(mechanism: Mechanism, inertia: Array, free: Array) -> None:
    """Refuse a position in which a motion that the rows allow meets no inertia."""
    if not inertia.size:
        return
    sizes = np.sqrt(np.abs(np.diag(inertia)))
    worst = free[:, int(np.argmin(sizes))]
    if np.all(sizes > 0.0):
        values, vectors = np.linalg.eigh(inertia / np.outer(sizes, sizes))
        least = int(np.argmin(np.abs(values)))
        if abs(values[least]) > LOOSE:
            return
        worst = free @ (vectors[:, least] / sizes)
    name = mechanism.rates[int(np.argmax(np.abs(worst)))]
    raise RunError(
        f"the mass matrix is singular here: nothing resists the acceleration of {name}",
        file=mechanism.file,
        element=name,
        remedy="give what it moves mass or inertia, or choose another position",
    )


# --- accelerations and multipliers of a state -------------------------------------------------


def settle_accelerations(equations: ImplicitEquations, point: dict[str, Array]) -> Accelerations:
    """Put qdd and multipliers into a point, which must fit loops and constraints."""
    mechanism = equations.mechanism
    point |= {"qdd": np.zeros(mechanism.nv), "sigma": np.zeros(equations.sizes["sigma"])}
    left, d = equations.values(point), equations.derivatives(point, ("qdd",))
    M, J = d["balance", "qdd"], d["rows", "qdd"]
    if not all(np.isfinite(array).all() for array in (*left.values(), M, J)):
        raise no_value(mechanism, "values")
    found = Accelerations(mechanism, M, J)
    qdd, s = found.solve(-left["balance"][:, None], -left["rows"][:, None])
    point |= {"qdd": qdd[:, 0], "sigma": found.least(s[:, 0])}
    _check_rows(mechanism, point)
    _check_prescribed(equations, point, found)
    return found


def no_value(mechanism: Mechanism, what: str) -> RunError:
    """Return the error about equations that are not finite at a state."""
    return RunError(
        f"the equations have no finite {what} at this state",
        file=mechanism.file,
        element="q",
        remedy="a law may leave its range there: choose another state",
    )


def _check_rows(mechanism: Mechanism, point: Mapping[str, Array]) -> None:
    """Refuse a state that does not fit loops and constraints."""
    if not (mechanism.loops or mechanism.constraints):
        return
    rows, t = ClosureRows(mechanism), float(point["t"][0])
    at = rows.at(t, point["q"], point["qd"])
    try:
        rows.check(at, t, point["qd"], point["qdd"])
    except RunError as error:
        # In a singular position no accelerations may fit.
        if np.max(np.abs(at.values), initial=0.0) < CONSISTENT:
            refuse_singular(mechanism, mobility(mechanism, point["q"], t=t))
        message, remedy = error.message.replace("of the motion", "of the state"), error.remedy
        if message != error.message:
            remedy = 'name independent coordinates alone, as in q={"crank": 0.4}, and the others '
            remedy += "follow; chainform.simulation.assemble closes loops, too"
        raise RunError(message, file=mechanism.file, element="state", remedy=remedy) from None


def refuse_singular(mechanism: Mechanism, found: Mobility) -> None:
    """Refuse a position in which rows of loops and constraints are lost."""
    if found.is_singular:
        lost = found.rank - found.rank_here
        raise RunError(
            f"singular position: {lost} of {found.rank} equations of loops and constraints are "
            "lost here, so that small motions have other freedoms than motions have",
            file=mechanism.file,
            element="q",
            remedy="choose a position aside of it; chainform.simulation.mobility shows the ranks",
        )


def _check_prescribed(
    equations: ImplicitEquations, point: Mapping[str, Array], found: Accelerations
) -> None:
    """Refuse actuators that prescribe what loops, constraints or others prescribe already."""
    left = equations.values(point)["rows"]
    size = 1.0 + float(np.max(np.abs(point["qdd"]), initial=0.0))
    for k, actuator in enumerate(equations.prescribing, start=equations.held):
        if abs(left[k]) > CONSISTENT * size or np.any(np.abs(found.shared[k]) > CONSISTENT):
            raise RunError(
                f"the signal of {actuator} prescribes a motion that is bound already, by loops, "
                "constraints or other actuators",
                file=equations.mechanism.file,
                element=actuator,
                remedy="take an actuator that its load acts back on, or leave one out",
            )
