"""The best values of parameters from one start: least squares for goals, else SLSQP of scipy.

Parameters are shares of their ranges, u in [0, 1]; the largest of rows is a variable s of its own:

    minimise s    with    s - row >= 0 for each row

Where the study fails, the step was too long: the search goes on from the best point that is known,
in a box that ends half way to the failure, and once more where it ends at the edge of the box.
At the end the conditions of Karush, Kuhn and Tucker are looked at: the gradient is a sum of those
of active bounds and constraints, with multipliers that are not negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.optimisation.design_parameters import scipy_module
from chainform.analysis.optimisation.design_problem import DesignPoint, DesignProblem
from chainform.errors import Error

Array = NDArray[np.float64]
TOLERANCE = 1e-12
"""Relative change of the objective at which a search ends."""
ITERATIONS = 300
ROUNDS = 40
"""How often a search goes on after the study failed, or at the edge of a box."""
SMALLEST = 1e-5
"""The smallest box, as a share of the ranges."""
EDGE = 1e-9
"""A search ended at the edge of its box within this share of the ranges."""
FEASIBLE = 1e-6
"""Constraints hold within this share of their size."""
AT_BOUND = 1e-9
"""A parameter is at its bound within this share of its range."""
ACTIVE = 1e-5
"""A constraint is active within this share of its size."""
AGAIN, BETTER = 4, 1e-9
"""How often a search begins anew where it ended, in the measures of that place, while it makes the
objective smaller by this share."""
SMALL = 1e-6
"""Gradients below this, and below this share of the objective, are small in any case."""
RANK = 1e-8
"""Gradients of active bounds depend on each other below this share."""
STATIONARY = 1e-4
"""What may be left of the gradient, against its size, where the optimiser says that it is done."""


Active: TypeAlias = tuple[Array, str, str, float]
"""The gradient of an active bound, its name and side, and what makes its multiplier a rate."""


@dataclass(frozen=True)
class Multiplier:
    """By how much the objective changes when one bound is moved by 1."""

    name: str
    side: str
    rate: float


@dataclass(frozen=True, eq=False)
class Outcome:
    """Where a search from one start ended, and why."""

    point: DesignPoint
    start: DesignPoint
    iterations: int
    evaluations: int
    is_feasible: bool
    is_converged: bool
    message: str
    stationarity: float
    multipliers: tuple[Multiplier, ...] | None
    """None where active bounds depend on each other, so that there are many."""


class _Stop(Exception):  # noqa: N818, no error of a user
    """The study failed at some shares."""

    def __init__(self, shares: Array, error: Error) -> None:
        super().__init__(str(error))
        self.shares, self.error = shares, error


@dataclass
class Search:
    """A search from one start."""

    problem: DesignProblem
    tell: Callable[[], None]
    start: DesignPoint
    evaluations: int = 1
    iterations: int = 0
    points: dict[bytes, DesignPoint] = field(default_factory=dict[bytes, DesignPoint])

    def __post_init__(self) -> None:
        self.best = self.start
        self.points[self.start.values.tobytes()] = self.start
        self.steepest = self._measure()
        self.scales = [
            _scale(limit.lower, limit.upper, found.values)
            for limit, found in zip(self.problem.limits, self.start.limits, strict=True)
        ]

    def _measure(self) -> float:
        """Take the objective and its slope at the best point as measures; return the slope."""
        slope = float(np.linalg.norm(self.best.slopes * self.problem.parameters.range))
        self.scale = max(abs(self.best.size), slope) or 1.0
        return slope

    # --- values at shares -----------------------------------------------------------------

    def at(self, shares: Array) -> DesignPoint:
        """Return the functions at shares; _Stop where the study fails."""
        values = self.problem.parameters.values(shares)
        key = values.tobytes()
        if key not in self.points:
            self.evaluations += 1
            self.tell()
            try:
                self.points[key] = self.problem.at(values)
            except Error as error:
                raise _Stop(shares, error) from error
            if len(self.points) > 8:
                self.points.pop(next(iter(self.points)))
            if self._is_better(self.points[key]):
                self.best = self.points[key]
        return self.points[key]

    def missed(self, point: DesignPoint) -> float:
        """Return by how much constraints are violated, each against its size."""
        parts = zip(self.problem.limits, point.limits, self.scales, strict=True)
        return max([0.0, *(limit.violation(rows.values) / scale for limit, rows, scale in parts)])

    def _is_better(self, point: DesignPoint) -> bool:
        mine, other = self.missed(point), self.missed(self.best)
        if max(mine, other) > FEASIBLE:
            return mine < other
        return point.size < self.best.size

    # --- search -----------------------------------------------------------------------------

    def run(self) -> Outcome:
        """Return where the search ends."""
        n, parameters = len(self.start.values), self.problem.parameters
        box, success, message, failed = np.array([np.zeros(n), np.ones(n)]), False, "", None
        again = AGAIN
        for _ in range(ROUNDS):
            shares, before = parameters.scaled(self.best.values), self.best
            try:
                shares, success, message = self._searched(shares, box)
                self._take(self.at(shares), success)
                shares = parameters.scaled(self.best.values)
                inner = (box > 0) & (box < 1) & (np.abs(shares - box) < EDGE)
                if failed is None or not inner.any():
                    again -= 1
                    if not again or before.size - self.best.size <= BETTER * abs(before.size):
                        break
                    self._measure()
                    continue
            except _Stop as stop:
                failed, shares = stop, parameters.scaled(self.best.values)
            reach = float(np.max(np.abs(failed.shares - shares))) / 2
            success, message = False, f"the study fails beyond: {failed.error.message}"
            if reach < SMALLEST:
                break
            box = _box(shares, reach)
        return self._outcome(success, message)

    def _take(self, point: DesignPoint, success: bool) -> None:
        """Take where an optimiser ended for the best point, unless it gave up at a worse one."""
        missed = self.missed(point)
        is_allowed = missed <= FEASIBLE or missed <= self.missed(self.best)
        if (success and is_allowed) or self._is_better(point):
            self.best = point

    def _searched(self, centre: Array, box: Array) -> tuple[Array, bool, str]:
        if self.problem.goals and not self.problem.limits:
            return self._least_squares(centre, box)
        return self._slsqp(centre, box)

    def _least_squares(self, centre: Array, box: Array) -> tuple[Array, bool, str]:
        width = box[1] - box[0]

        def missed(shares: Array) -> Array:
            return self.at(shares).objective.values

        def slopes(shares: Array) -> Array:
            return self.at(shares).objective.slopes * self.problem.parameters.range

        found = scipy_module("optimize").least_squares(
            missed,
            np.clip(centre, box[0] + 1e-10 * width, box[1] - 1e-10 * width),
            jac=slopes,
            bounds=(box[0], box[1]),
            xtol=TOLERANCE,
            ftol=TOLERANCE,
            gtol=TOLERANCE,
            max_nfev=ITERATIONS,
        )
        self.iterations += int(found.njev)
        return np.asarray(found.x), bool(found.success), _sentence(found.message)

    def _slsqp(self, centre: Array, box: Array) -> tuple[Array, bool, str]:
        n, extreme = len(centre), self.problem.is_extreme
        first = self.at(centre)
        reach = self.problem.parameters.range

        def size(z: Array) -> float:
            return float(z[n]) if extreme else self.at(z[:n]).size / self.scale

        def gradient(z: Array) -> Array:
            if extreme:
                return np.eye(n + 1)[n]
            return self.at(z[:n]).slopes * reach / self.scale

        z = np.append(centre, first.size / self.scale) if extreme else centre
        bounds = [(low, high) for low, high in box.T]
        found = scipy_module("optimize").minimize(
            size,
            z,
            jac=gradient,
            bounds=bounds + [(None, None)] * extreme,
            constraints=list(self._constraints(z)),
            method="SLSQP",
            options={"maxiter": ITERATIONS, "ftol": TOLERANCE},
        )
        self.iterations += int(found.nit)
        shares = np.clip(np.asarray(found.x)[:n], box[0], box[1])
        return shares, bool(found.success), _sentence(found.message)

    def _constraints(self, z: Array) -> Iterator[dict[str, Any]]:
        """Yield the constraints as scipy takes them."""
        for kind, is_equal in (("ineq", False), ("eq", True)):

            def values(z: Array, is_equal: bool = is_equal) -> Array:
                return self._conditions(z, is_equal)[0]

            def slopes(z: Array, is_equal: bool = is_equal) -> Array:
                return self._conditions(z, is_equal)[1]

            if len(values(z)):
                yield {"type": kind, "fun": values, "jac": slopes}

    def _conditions(self, z: Array, is_equal: bool) -> tuple[Array, Array]:
        """Return what must not be negative, or must vanish, and its derivatives by z."""
        n, reach = len(self.start.values), self.problem.parameters.range
        point, width = self.at(z[:n]), len(z)
        values: list[Array] = []
        slopes: list[Array] = []

        def add(rows: Array, by: Array, last: float = 0.0) -> None:
            whole = np.full((len(rows), width), last)
            whole[:, :n] = by * reach
            values.append(rows)
            slopes.append(whole)

        if self.problem.is_extreme and not is_equal:
            rows = point.objective
            add(z[n] - rows.values / self.scale, -rows.slopes / self.scale, 1.0)
        for limit, rows, scale in zip(self.problem.limits, point.limits, self.scales, strict=True):
            if (limit.lower == limit.upper) != is_equal:
                continue
            if limit.lower > -np.inf:
                add((rows.values - limit.lower) / scale, rows.slopes / scale)
            if limit.upper < np.inf and not is_equal:
                add((limit.upper - rows.values) / scale, -rows.slopes / scale)
        empty = np.zeros(0), np.zeros((0, width))
        return (np.concatenate(values), np.concatenate(slopes)) if values else empty

    # --- end --------------------------------------------------------------------------------

    def _outcome(self, success: bool, message: str) -> Outcome:
        point = self.best
        left, multipliers = self._multipliers(point)
        is_feasible = self.missed(point) <= FEASIBLE
        is_done = (success and left <= STATIONARY) or left <= STATIONARY / 100
        if not is_feasible:
            message = f"infeasible: {self._worst(point)}; {message}"
        elif success and not is_done:
            message = f"{message}, yet {left:.1g} of the gradient is left over"
        return Outcome(
            point,
            self.start,
            self.iterations,
            self.evaluations,
            is_feasible,
            is_done and is_feasible,
            message,
            left,
            multipliers,
        )

    def _worst(self, point: DesignPoint) -> str:
        parts = [
            (limit.violation(rows.values) / scale, limit, rows)
            for limit, rows, scale in zip(
                self.problem.limits, point.limits, self.scales, strict=True
            )
        ]
        _, limit, rows = max(parts, key=lambda part: part[0])
        return f"{limit.text} is missed by {limit.violation(rows.values):.3g}"

    def _multipliers(self, point: DesignPoint) -> tuple[float, tuple[Multiplier, ...] | None]:
        """Return what is left of the gradient, as a share, and multipliers of active bounds."""
        reach, extreme = self.problem.parameters.range, self.problem.is_extreme
        gradient = point.slopes * reach
        if extreme:
            # The bound of all rows is the last unknown, in units of their steepest slope.
            steepest = np.linalg.norm(point.objective.slopes * reach, axis=1).max()
            gradient = np.append(np.zeros(len(reach)), max(float(steepest), np.finfo(float).tiny))
        columns = [*self._active_bounds(point), *self._active_rows(point, gradient[-1])]
        size = float(np.linalg.norm(gradient))
        most = max(size, self.steepest, SMALL * abs(point.size), SMALL)
        if self.problem.goals:
            # What a change of parameters by a share of 1e-8 takes away is nothing.
            most = max(most, 1e-4 * float(np.sum((point.objective.slopes * reach) ** 2)))
        if not columns:
            return size / most, ()
        A = np.stack([_padded(column, len(gradient)) for column, *_ in columns], axis=1)
        lengths = np.linalg.norm(A, axis=0)
        lengths[lengths == 0] = 1.0
        found, left = scipy_module("optimize").nnls(A / lengths, gradient)
        if np.linalg.matrix_rank(A / lengths, tol=RANK) < A.shape[1]:
            return float(left) / most, None
        totals: dict[tuple[str, str], float] = {}
        for value, (_, name, side, factor) in zip(found / lengths, columns, strict=True):
            if name:
                totals[name, side] = totals.get((name, side), 0.0) + float(value) * factor
        return float(left) / most, tuple(Multiplier(*k, float(rate)) for k, rate in totals.items())

    def _active_bounds(self, point: DesignPoint) -> Iterator[Active]:
        parameters = self.problem.parameters
        shares, reach = parameters.scaled(point.values), parameters.range
        for k, name in enumerate(parameters.names):
            unit = np.eye(len(reach))[k]
            if shares[k] < AT_BOUND:
                yield unit, name, "lower", 1 / reach[k]
            if shares[k] > 1 - AT_BOUND:
                yield -unit, name, "upper", -1 / reach[k]

    def _active_rows(self, point: DesignPoint, weight: float) -> Iterator[Active]:
        reach = self.problem.parameters.range
        if self.problem.is_extreme:
            least = ACTIVE * max(abs(point.size), self.scale)
            for slope in point.objective.slopes[point.size - point.objective.values <= least]:
                yield np.append(-slope * reach, weight), "", "", 0.0
        for limit, rows, scale in zip(self.problem.limits, point.limits, self.scales, strict=True):
            for side, end, sign in (("lower", limit.lower, 1.0), ("upper", limit.upper, -1.0)):
                for slope in rows.slopes[np.abs(rows.values - end) <= ACTIVE * scale]:
                    yield sign * slope * reach, limit.criterion.text, side, sign


def _scale(lower: float, upper: float, rows: Array) -> float:
    ends = [abs(end) for end in (lower, upper) if abs(end) < np.inf]
    return max(ends) or float(np.max(np.abs(rows), initial=0.0)) or 1.0


def _padded(column: Array, size: int) -> Array:
    return np.append(column, np.zeros(size - len(column)))


def _box(centre: Array, reach: float) -> Array:
    return np.array([np.maximum(centre - reach, 0.0), np.minimum(centre + reach, 1.0)])


def _sentence(message: str) -> str:
    """Return what an optimiser says of its end."""
    return " ".join(str(message).replace("`", "").rstrip(".").split())
