"""What a design says of itself: before and after, active bounds, sensitivities, why it stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chainform.analysis.optimisation.design_parameters import named
from chainform.analysis.optimisation.design_problem import DesignPoint, DesignProblem
from chainform.analysis.optimisation.optimiser import AT_BOUND, Outcome
from chainform.given import counted

RANK = 1e-9
"""Singular values below this share of the largest count as zero."""
SAME = 1e-6
"""Objectives that differ by less than this share of those at the starts are the same."""


def design_report(
    problem: DesignProblem, rows: Sequence[Outcome], start: DesignPoint, deviation: float | None
) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    """Return lines, and facts, of a design; rows are its outcomes, best first."""
    best = rows[0]
    names = problem.parameters.names
    gradient = named(names, best.point.slopes)
    facts: dict[str, Any] = {
        "study": problem.study.name,
        "minimised": problem.text,
        "before": start.size,
        "after": best.point.size,
        "parameters": named(names, best.point.values),
        "converged": best.is_converged,
        "status": [row.message for row in rows],
        "stationarity": best.stationarity,
        "derivatives": "exact" if problem.study.is_exact else "differences",
        "multipliers": [[each.name, each.side, each.rate] for each in best.multipliers or ()],
    }
    if not problem.is_extreme:
        facts["gradient"] = gradient
    if deviation is not None:
        facts["derivative_deviation"] = deviation
    lines = [
        f"{problem.text}: {start.size:.6g} before, {best.point.size:.6g} after",
        *_parameters(problem, best, start),
        *_goals(problem, best.point, start),
        *_limits(problem, best.point),
        *_sensitivities(best),
        _end(best),
        _starts(rows),
        _derivatives(problem, deviation),
    ]
    return tuple(lines), facts


def _parameters(problem: DesignProblem, best: Outcome, start: DesignPoint) -> list[str]:
    parameters, lines = problem.parameters, list[str]()
    shares = parameters.scaled(best.point.values)
    for k, name in enumerate(parameters.names):
        is_low, is_high = shares[k] < AT_BOUND, shares[k] > 1 - AT_BOUND
        side = "lower" if is_low else "upper" if is_high else ""
        at = f", its {side} bound" if side else ""
        lines.append(f"{name}: {start.values[k]:.6g} before, {best.point.values[k]:.9g} after{at}")
    return lines


def _goals(problem: DesignProblem, point: DesignPoint, start: DesignPoint) -> list[str]:
    if not problem.goals:
        return []
    before, after = (float(np.max(np.abs(each.objective.values))) for each in (start, point))
    lines = [f"goals: missed by {before:.3g} at most before, by {after:.3g} after"]
    slopes = point.objective.slopes * problem.parameters.range
    sizes = np.linalg.svd(slopes, compute_uv=False)
    known = int(np.sum(sizes > RANK * sizes.max(initial=0.0)))
    left = slopes.shape[1] - known
    if left:
        many = counted(left, "combination")
        lines.append(f"the goals leave {many} of the parameters open: other values do as well")
    return lines


def _limits(problem: DesignProblem, point: DesignPoint) -> list[str]:
    lines: list[str] = []
    for limit, rows in zip(problem.limits, point.limits, strict=True):
        low, high = float(rows.values.min()), float(rows.values.max())
        found = f"{low:.6g}" if len(rows.values) == 1 else f"{low:.6g} to {high:.6g}"
        missed = limit.violation(rows.values)
        state = f"missed by {missed:.3g}" if missed > 1e-6 * max(1.0, abs(low)) else "holds"
        lines.append(f"constraint {limit.text}: {found}, {state}")
    return lines


def _sensitivities(best: Outcome) -> list[str]:
    if best.multipliers is None:
        return ["active bounds depend on each other: no rate belongs to each of them"]
    return [
        f"moving the {each.side} bound of {each.name} by 1 changes the objective by {each.rate:.4g}"
        for each in best.multipliers
        if each.rate
    ]


def _end(best: Outcome) -> str:
    state = "converged" if best.is_converged else "NOT converged"
    return (
        f"{state}: {best.message} ({counted(best.iterations, 'iteration')}, "
        f"{counted(best.evaluations, 'evaluation')} of the study)"
    )


def _starts(rows: Sequence[Outcome]) -> str:
    done = [row for row in rows if row.is_converged]
    least = rows[0].point.size
    size = max(abs(least), *(abs(row.start.size) for row in rows))
    same = sum(row.point.size - least <= SAME * size for row in done)
    return (
        f"{len(done)} of {counted(len(rows), 'start')} converged, {same} to this objective: "
        "other starts may find a better one"
    )


def _derivatives(problem: DesignProblem, deviation: float | None) -> str:
    if not problem.study.is_exact:
        return "derivatives are finite differences, not exact"
    if deviation is None:
        return "derivatives are exact; they were not compared, as there is no result around"
    return f"derivatives are exact: differences deviate by {deviation:.1g} of their size at most"
