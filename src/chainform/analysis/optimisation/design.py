"""Design: values of parameters for which a study has the results that are wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.optimisation.design_parameters import DesignParameters, differences
from chainform.analysis.optimisation.design_problem import DesignPoint, DesignProblem
from chainform.analysis.optimisation.design_report import design_report
from chainform.analysis.optimisation.optimiser import Outcome, Search
from chainform.analysis.optimisation.study import Study
from chainform.analysis.results.interruption import Progress, Watch
from chainform.analysis.results.result import Result
from chainform.errors import Error, RunError
from chainform.given import argument
from chainform.mechanism import Mechanism
from chainform.readers import read

Array = NDArray[np.float64]
MOST_STARTS = 10_000
KINDS = ("exact", "differences")
DRAWS = 10
"""How often a start is drawn anew where the study fails."""
DIFFERENT = 1e-3
"""Derivatives that differ by more than this share are wrong."""
TINY = 1e-9
"""Columns that are smaller than this are measured as if they were so large."""


@dataclass(frozen=True, eq=False, repr=False)
class DesignResult(Result):
    """What a design found: a row for each start, best first.

    `mechanism` has the best values. `before` and `after` are the results of the study with the
    first values and with the best ones; `plot` draws columns of both.
    """

    before: Result | None = None
    after: Result | None = None
    shown: tuple[str, ...] = ()
    """The columns that the design names."""

    @property
    def plotted(self) -> Result:
        """The study with the best values, which `plot` draws."""
        return self.after or self

    def plot(
        self,
        what: str | Sequence[str] | None = None,
        file: str | PathLike[str] | None = None,
        **options: Any,
    ) -> Any:
        """Return a figure of columns of the study after and, dashed, before; write it to a file."""
        if self.after is None or self.before is None:
            return super().plot(what, file, **options)
        return self.after.plot(what or self.shown or None, file, before=self.before, **options)


class SearchOptions(TypedDict, total=False):
    """How a design is looked for: `starts`, all but the first drawn by `seed`; `derivatives`."""

    starts: int
    seed: int
    derivatives: str


def design(
    mechanism: Mechanism | str | PathLike[str],
    parameters: Mapping[str, Any],
    study: Mapping[str, Any],
    *,
    minimise: str | None = None,
    goals: Mapping[str, Any] | None = None,
    constraints: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **options: Unpack[SearchOptions],
) -> DesignResult:
    """Return the values of parameters that bring about what is wanted of a study.

    `parameters` have bounds and perhaps a start: {"l": [0.2, 0.6], "k": {"lower": 1, "upper": 9,
    "start": 5}}; the first of `starts` (5) is theirs, else the values of the mechanism, and others
    are drawn by `seed`. `study` is a task with its arguments, {"task": "statics", "q": ...}, or a
    motion, {"simulate": {"t": 2}}. `minimise` is an expression over columns of its result and
    parameters with a value, "mean(tau.arm^2)", or "max(abs(tau.arm))"; or `goals` are values that
    expressions should have, in all rows or each, in the least squares. `constraints` are bounds:
    {"l1 + l2": [0.5, None]}, for each row where there are several.

    Derivatives are exact (implicit functions, variational equations), and are compared with
    differences at the end; where a study has none, that is refused unless `derivatives` is
    "differences". Arrays have a row for each start, best first: start, the parameters, objective,
    violation of constraints, converged, iterations, evaluations, and q, the first pose of the
    study; `facts` has the rest. `progress` is called with the number of starts that are done, and
    of all; Ctrl-C raises TaskInterrupted.
    """
    source = mechanism if isinstance(mechanism, Mechanism) else read(mechanism)
    given = argument("options", options).table(SearchOptions.__annotations__).value
    count = argument("starts", given.get("starts", 5)).whole(1, MOST_STARTS)
    number = argument("seed", given.get("seed", 0)).whole()
    kind = argument("derivatives", given.get("derivatives", "exact")).choice(KINDS, "derivatives")
    chosen = DesignParameters.of(source, parameters)
    own = Study.of(chosen, study, kind == "exact")
    try:
        first = own.find(chosen.start)
    except Error as error:
        raise _at_start(error) from error
    problem = DesignProblem.of(own, first, minimise, goals, constraints)
    start = problem.at(chosen.start, first)
    _refuse_idle(problem, start, number)
    watch = Watch(progress)
    outcomes: list[Outcome] = []
    with watch.counting(count):
        for k in range(count):
            begin = start if k == 0 else _drawn(problem, chosen, number + k)
            if begin is not None:
                outcomes.append(Search(problem, lambda: watch.show(watch.done), begin).run())
            watch.tell(k + 1)
    if not outcomes:
        raise KeyboardInterrupt
    result = _result(problem, outcomes, start, watch.lines)
    watch.finished(result)
    return result


def _at_start(error: Error) -> RunError:
    """Return the error of a study that fails with the first values."""
    remedy = "give parameters a start at which the study has a result"
    remedy = f"{remedy}; {error.remedy}" if error.remedy else remedy
    return RunError(
        f"the study fails at the start: {error.message}",
        file=error.file,
        element=error.element or "study",
        remedy=remedy,
    )


def _drawn(problem: DesignProblem, parameters: DesignParameters, seed: int) -> DesignPoint | None:
    """Return a random start at which the study has a result; None where none was found."""
    for row in parameters.starts(DRAWS + 1, seed)[1:]:
        try:
            return problem.at(row)
        except Error:
            continue
    return None


def _refuse_idle(problem: DesignProblem, start: DesignPoint, seed: int) -> None:
    """Refuse what depends on no parameter, and parameters on which nothing depends."""
    idle = ~np.any(start.functions.slopes, axis=0)
    aim = not np.any(start.objective.slopes)
    if not (idle.any() or aim):
        return
    # Once may be chance: a start may be where something is least.
    other = _drawn(problem, problem.parameters, seed)
    if other is not None:
        idle &= ~np.any(other.functions.slopes, axis=0)
        aim = aim and not np.any(other.objective.slopes)
    names = [name for name, is_idle in zip(problem.parameters.names, idle, strict=True) if is_idle]
    if aim:
        raise RunError(
            f"{problem.text} depends on none of {', '.join(problem.parameters.names)}",
            element="minimise" if problem.minimise else "goals",
            remedy="choose other parameters, or what they change",
        )
    if names:
        raise RunError(
            f"nothing depends on {', '.join(names)}",
            element=f"parameters, {names[0]}",
            remedy="leave them out, or choose what they change",
        )


def _result(
    problem: DesignProblem,
    outcomes: Sequence[Outcome],
    start: DesignPoint,
    lines: Sequence[str],
) -> DesignResult:
    """Return the outcomes of all starts, best first."""

    def order(outcome: Outcome) -> tuple[bool, float, float]:
        missed = 0.0 if outcome.is_feasible else outcome.point.violation
        return not outcome.is_feasible, missed, outcome.point.size

    ranked = sorted(range(len(outcomes)), key=lambda k: order(outcomes[k]))
    rows = [outcomes[k] for k in ranked]
    best, names = rows[0], problem.parameters.names
    arrays = {"start": np.array(ranked) + 1.0}
    values = np.array([row.point.values for row in rows])
    arrays |= {name: values[:, k] for k, name in enumerate(names)}
    arrays |= {
        "objective": np.array([row.point.size for row in rows]),
        "violation": np.array([row.point.violation for row in rows]),
        "converged": np.array([float(row.is_converged) for row in rows]),
        "iterations": np.array([float(row.iterations) for row in rows]),
        "evaluations": np.array([float(row.evaluations) for row in rows]),
    }
    if "q" in best.point.result.arrays:
        arrays["q"] = np.array([row.point.result["q"][0] for row in rows])
    deviation = _deviation(problem, best.point)
    report, facts = design_report(problem, rows, start, deviation)
    shown = tuple(sorted(problem.study.columns(best.point.result, problem.names)))
    return DesignResult(
        "design",
        problem.parameters.bound(best.point.values),
        "start",
        arrays,
        (*report, *lines),
        facts,
        {},
        start.result,
        best.point.result,
        tuple(name for name in shown if name != start.result.rows),
    )


def _deviation(problem: DesignProblem, point: DesignPoint) -> float | None:
    """Return how far derivatives of columns are from differences, as a share; None if unknown.

    Derivatives that are wrong are refused.
    """
    study = problem.study
    names = sorted(study.columns(point.result, problem.names))
    if not study.is_exact or not names:
        return None if study.is_exact else 0.0
    known = study.known(point.result, point.values, names)

    def columns(values: Array) -> Array:
        found = study.find(values).columns(names)
        return np.stack([found[name] for name in names])

    try:
        other = differences(columns, point.values, problem.parameters)
    except (Error, ValueError):  # It fails, or has other rows.
        return None
    reach, worst = problem.parameters.range, 0.0
    for name, found in zip(names, other, strict=True):
        exact, values = known[name].slopes, known[name].values
        size = max(np.max(np.abs(found * reach)), np.max(np.abs(values)), TINY)
        worst = max(worst, float(np.max(np.abs((exact - found) * reach)) / size))
    if worst > DIFFERENT:
        raise RunError(
            f"derivatives deviate from differences by {worst:.1g} of their size",
            element="derivatives",
            remedy='the study is not smooth there: give other bounds, or derivatives="differences"',
        )
    return worst
