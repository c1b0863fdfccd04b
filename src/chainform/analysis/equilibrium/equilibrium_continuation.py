"""Equilibria along a parameter: continuation over folds, and onto branches.

The path begins at the equilibrium near a pose, and goes on by pseudo-arclength (continuation.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.equilibrium.continuation import (
    BRANCH,
    CONTACT,
    FOLD,
    LONGEST,
    POINT,
    SHORTEST,
    Continuation,
)
from chainform.analysis.equilibrium.equilibrium_search import equilibria_counted, static_arrays
from chainform.analysis.equilibrium.static_equations import joined
from chainform.analysis.equilibrium.static_problem import StaticOptions, static_problem
from chainform.analysis.results.interruption import Progress, Watch
from chainform.analysis.results.result import Result
from chainform.given import argument, counted
from chainform.mechanism import Mechanism
from chainform.simulation import without_values

Array = NDArray[np.float64]

MOST_POINTS = 100_000


def equilibrium_path(  # noqa: PLR0913, a front door
    mechanism: Mechanism | str | PathLike[str],
    parameter: str,
    span: tuple[float, float],
    *,
    q0: Any = None,
    branches: bool = False,
    step: float = LONGEST,
    points: int = 2000,
    progress: Progress | None = None,
    **acting: Unpack[StaticOptions],
) -> Result:
    """Return the equilibria along a parameter, from the first value of its span to the second.

    `parameter` is one of the mechanism, a signal of an actuator, or a name in laws of `forces`:
    forces={"slide": "-3*load"}. The path begins at the equilibrium near q0, goes on over folds, and
    ends where the parameter leaves its span, where it comes back to its beginning, or after so many
    `points`. `step` is the longest step in rad, parts of the size and of the span. With `branches`
    the other paths through branch points are followed as well. `progress` is called with the number
    of points, and with the most there may be. The other arguments are those of `StaticOptions`.

    Arrays have a row for each point: parameter, q, tau, multipliers, contact_force(NAME),
    gap(NAME), potential_energy, stable, stiffness, growth, determinant (its sign), branch (0 is the
    first path), and kind: 1 at a fold, 2 at a branch point, 3 where a contact opens or closes.
    `facts` has the values of the parameter at folds and branch points. Ctrl-C raises
    TaskInterrupted, with what there is.
    """
    name = argument("parameter", parameter).text()
    first, last = (end.number() for end in argument("span", span).entries(2, "write [0, 1]"))
    if first == last:
        raise argument("span", span).error("the span is empty", "give two values: span=[0, 1]")
    problem = static_problem(mechanism, acting, q0, name, (first, last))
    path = Continuation(problem, name, (first, last), q0)
    path.longest = argument("step", step).number(above=SHORTEST, most=1.0)
    path.most = argument("points", points).whole(2, MOST_POINTS)
    path.watch, with_branches = Watch(progress), argument("branches", branches).flag()
    with path.watch.counting(path.most):
        path.follow(with_branches=with_branches)
    del path.rows[path.watch.done :]
    return path.watch.finished(_result(path))


def _result(path: Continuation) -> Result:
    """Return the path as far as it came."""
    rows, states = path.rows, joined([row.point.state for row in path.rows])
    each = [row.stability for row in rows]
    arrays = {
        "point": np.arange(1.0, len(rows) + 1),
        "parameter": states.parameter,
        **static_arrays(path.problem, states),
        "stable": np.array([s.stable for s in each]),
        "stiffness": np.array([s.stiffness for s in each]),
        "determinant": np.array([row.point.determinant[0] for row in rows]),
        "branch": np.array([float(row.branch) for row in rows]),
        "kind": np.array([row.kind for row in rows]),
        "residual": np.array([row.point.left for row in rows]) * path.system.energy,
    }
    if any(not np.isnan(s.growth) for s in each):
        arrays["growth"] = np.array([s.growth for s in each])
    endings = [*path.endings, *path.watch.lines]
    special = {
        word: [float(row.point.state.parameter[0]) for row in rows if row.kind == kind]
        for word, kind in (("folds", FOLD), ("branch_points", BRANCH))
    }
    facts = {"parameter": path.name, **special, "endings": endings}
    units = {"potential_energy": "J", "growth": "1/s", "residual": "N m"}
    report = _report(path, endings)
    # The parameter has no value in what is the same at all points.
    mechanism = without_values(path.mechanism, [path.name])
    return Result("equilibrium_path", mechanism, "point", arrays, report, facts, units)


def _report(path: Continuation, endings: Sequence[str]) -> tuple[str, ...]:
    words = {FOLD: "fold", BRANCH: "branch point", CONTACT: "a contact opens or closes"}
    paths = len({row.branch for row in path.rows})
    found = f"{equilibria_counted(len(path.rows))} of {path.mechanism.name}"
    lines = [f"{found} along {path.name}, on {counted(paths, 'path')}"]
    for number, row in enumerate(path.rows, 1):
        if row.kind != POINT:
            value = float(row.point.state.parameter[0])
            lines.append(f"{words[row.kind]} at {path.name} = {value:.9g} (point {number})")
    lines.append("paths that do not meet this one are not found")
    return (*lines, *endings, *path.problem.notes)
