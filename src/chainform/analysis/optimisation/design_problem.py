"""What a design is to reach: an objective or goals, constraints, and all of them as functions.

minimise    one number, or the largest of rows (then the bound s of all rows is minimised)
goals       rows that should have given values: the sum of the squares of what is missing
constraints lower <= rows <= upper
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.optimisation.design_parameters import DesignParameters
from chainform.analysis.optimisation.row_expressions import Criterion, Varied, criterion
from chainform.analysis.optimisation.study import Study
from chainform.analysis.results.result import Result
from chainform.errors import RunError
from chainform.given import Given, argument, double_of, plain

Array = NDArray[np.float64]
GOALS = 'write goals={"last(q.arm)": 0.5}, or a number for each row'
LIMITS = 'write constraints={"l1 + l2": [0.5, 1]}, or {"lower": 0.5} for one side'


@dataclass(frozen=True, eq=False)
class Goal:
    """An expression whose rows should have given values."""

    criterion: Criterion
    wanted: Array


@dataclass(frozen=True)
class Limit:
    """A criterion whose rows lie between two bounds, infinite where there is none."""

    criterion: Criterion
    lower: float
    upper: float

    @property
    def text(self) -> str:
        """The constraint in words."""
        low = "" if self.lower == -np.inf else f"{self.lower:g} <= "
        high = "" if self.upper == np.inf else f" <= {self.upper:g}"
        equal = self.lower == self.upper
        return (
            f"{self.criterion.text} = {self.lower:g}" if equal else low + self.criterion.text + high
        )

    def violation(self, rows: Array) -> float:
        """Return by how much rows are out of the bounds."""
        return float(max(0.0, np.max(self.lower - rows), np.max(rows - self.upper)))


@dataclass(frozen=True, eq=False)
class DesignPoint:
    """All functions of a design at values of parameters, with their derivatives by these."""

    values: Array
    result: Result
    objective: Varied
    """Rows of what is minimised, or what goals miss."""
    limits: tuple[Varied, ...]
    size: float
    """The objective as one number."""
    slopes: Array
    """The derivative of that, (n,); that of the largest row where there are several."""
    violation: float

    @property
    def functions(self) -> Varied:
        """All rows one after the other."""
        every = [self.objective, *self.limits]
        return Varied(
            np.concatenate([each.values for each in every]),
            np.concatenate([each.slopes for each in every]),
        )


@dataclass(frozen=True, eq=False)
class DesignProblem:
    """A study, what is minimised or which goals there are, and constraints."""

    parameters: DesignParameters
    study: Study
    minimise: Criterion | None
    goals: tuple[Goal, ...]
    limits: tuple[Limit, ...]

    @staticmethod
    def of(
        study: Study, first: Result, minimise: object, goals: object, constraints: object
    ) -> DesignProblem:
        """Return the problem, all expressions of it checked against a first result."""
        if (minimise is None) == (goals is None):
            raise RunError(
                "a design has either something to minimise, or goals",
                element="minimise",
                remedy='give minimise="max(abs(tau.arm))", or goals={"last(q.arm)": 0.5}',
            )
        wanted = (
            () if goals is None else _goals(argument("goals", goals).table(remedy=GOALS), first)
        )
        aim = None if minimise is None else _objective(argument("minimise", minimise))
        table = argument("constraints", {} if constraints is None else constraints)
        limits = tuple(_limit(text, entry) for text, entry in table.table(remedy=LIMITS).items())
        return DesignProblem(study.parameters, study, aim, wanted, limits)

    @property
    def text(self) -> str:
        """What is made small, in words."""
        if self.minimise is not None:
            return self.minimise.text
        return "sum of squares of what the goals miss"

    @property
    def is_extreme(self) -> bool:
        """Whether the largest of several rows is minimised."""
        return self.minimise is not None and self.minimise.extreme == "max"

    @property
    def names(self) -> frozenset[str]:
        """All columns and parameters that are named."""
        criteria = [*(goal.criterion for goal in self.goals), *(x.criterion for x in self.limits)]
        criteria += [] if self.minimise is None else [self.minimise]
        return frozenset[str]().union(*(each.names for each in criteria))

    def at(self, values: Array, result: Result | None = None) -> DesignPoint:
        """Return all functions at values of the parameters."""
        found = self.study.find(values) if result is None else result
        known, rows = self.study.known(found, values, self.names), len(found)
        if self.minimise is not None:
            objective = self.minimise.at(known, rows)
            if not self.is_extreme and len(objective.values) > 1:
                raise RunError(
                    f"it has a value for each of {rows} rows, and one number is minimised",
                    element=self.minimise.text,
                    remedy="take mean(...), rms(...), integral(...), last(...) or max(...) of it",
                )
            largest = int(np.argmax(objective.values))
            size, slopes = float(objective.values[largest]), objective.slopes[largest]
        else:
            objective = _missed([_goal_rows(goal, known, rows) for goal in self.goals])
            size = float(objective.values @ objective.values)
            slopes = 2 * objective.values @ objective.slopes
        limits = tuple(limit.criterion.at(known, rows) for limit in self.limits)
        pairs = zip(self.limits, limits, strict=True)
        violation = max([0.0, *(limit.violation(found.values) for limit, found in pairs)])
        return DesignPoint(values, found, objective, limits, size, slopes, violation)


def _missed(parts: Sequence[Varied]) -> Varied:
    return Varied(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.slopes for part in parts]),
    )


def _goal_rows(goal: Goal, known: Mapping[str, Varied], rows: int) -> Varied:
    found = goal.criterion.at(known, rows)
    if goal.wanted.ndim and goal.wanted.shape != found.values.shape:
        raise RunError(
            f"there are {len(goal.wanted)} values for {len(found.values)} rows",
            element=f"goals, {goal.criterion.text}",
            remedy="give one value for each row, or one for all",
        )
    return Varied(found.values - goal.wanted, found.slopes)


# --- what is given --------------------------------------------------------------------------------


def _objective(given: Given) -> Criterion:
    found = criterion(given.text('write minimise="mean(tau.arm^2)"'))
    if found.extreme == "min":
        raise given.error(
            "the smallest of several rows has corners, and no bound takes its place",
            "minimise one row, as last(x), or mean(x)",
        )
    return found


def _goals(table: Given, first: Result) -> tuple[Goal, ...]:
    found: list[Goal] = []
    for text, entry in table.items():
        wanted = np.array(_numbers(entry))
        own = criterion(text)
        if own.extreme:
            raise entry.error("a largest or smallest value has corners", "minimise it instead")
        if wanted.ndim < 2:
            found.append(Goal(own, wanted))
            continue
        if wanted.ndim > 2 or text not in first.arrays:
            raise entry.error("lists of lists are for whole arrays, as position(pen)", GOALS)
        columns = list(first.columns([text]))
        if len(columns) != wanted.shape[1]:
            remedy = f"its columns are {', '.join(columns)}"
            raise entry.error(f"each row has {wanted.shape[1]} numbers", remedy)
        found += [Goal(criterion(n), wanted[:, k]) for k, n in enumerate(columns)]
    if not found:
        raise table.error("there are no goals", GOALS)
    return tuple(found)


def _numbers(given: Given) -> Any:
    value = plain(given.value)
    if isinstance(value, str | Mapping) or value is None or isinstance(value, bool):
        raise given.expected("numbers", GOALS)
    if not isinstance(value, list | tuple):
        return given.number()
    entries = [_numbers(entry) for entry in given.entries()]
    if len({np.shape(entry) for entry in entries}) > 1:
        raise given.error("its rows have different lengths", GOALS)
    return entries


def _limit(text: str, given: Given) -> Limit:
    own = criterion(text)
    ends = given.entries(2, LIMITS) if given.is_list else _ends(given)
    lower, upper = (
        open_end if end.value is None else _end(end)
        for end, open_end in zip(ends, (-np.inf, np.inf), strict=True)
    )
    if lower > upper:
        raise given.error(f"nothing lies between {lower:g} and {upper:g}", "order the bounds")
    if lower == -np.inf and upper == np.inf:
        raise given.error("it has no bound", LIMITS)
    wrong = lower if own.extreme == "max" else upper
    if own.extreme and abs(wrong) != np.inf:
        side = "upper" if own.extreme == "max" else "lower"
        raise given.error(
            f"{own.extreme}(...) takes the {side} bound only",
            "bound the rows themselves: without max or min a constraint counts for each row",
        )
    return Limit(own, lower, upper)


def _ends(given: Given) -> list[Given]:
    table = given.table(("lower", "upper"), LIMITS)
    return [table["lower"], table["upper"]]


def _end(given: Given) -> float:
    """Return a bound, which may be infinite."""
    number = double_of(given.value)
    return number if number is not None and abs(number) == np.inf else given.number()
