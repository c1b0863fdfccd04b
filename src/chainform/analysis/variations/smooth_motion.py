"""Transitions along a motion: intervals in which it is smooth, and as many as the tolerance needs.

The states at the nodes come from the motion itself. An interval is cut in two until the error that
it puts into the deviations is small: of two results, one in whole intervals and one in halves, the
second has a 63rd part of the difference (order 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.variations.collocation import ORDER, gauss, transitions
from chainform.analysis.variations.transitions import Transitions
from chainform.analysis.variations.variational_equations import VariationalEquations
from chainform.errors import RunError
from chainform.simulation import Run

Array = NDArray[np.float64]
ROUNDS = 16
"""How often intervals are cut in two,"""
MOST = 200_000
"""and how many there may be."""
STEPS = 6
"""Steps of the integration for an interval, to begin with."""
FLOOR = 1e-11
"""The least tolerance by default."""
LEAST = 1e-9
"""Deviations of one kind that are smaller, against the others, are measured as if they were so."""


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Intervals from `a` over their middles `m` to `b`, (k,), solved as a whole and in halves.

    Each result is (k, n, n + p): how z at the end follows from z at the beginning, and from dp.
    """

    a: Array
    m: Array
    b: Array
    whole: Array
    left: Array
    right: Array

    def __len__(self) -> int:
        return len(self.a)

    def some(self, which: Any) -> _Pairs:
        """Return some of the pairs."""
        return _Pairs(*(getattr(self, item.name)[which] for item in fields(self)))

    @staticmethod
    def joined(parts: Sequence[_Pairs]) -> _Pairs:
        """Return all pairs in the order of their times."""
        arrays = [[getattr(part, item.name) for part in parts] for item in fields(_Pairs)]
        whole = _Pairs(*(np.concatenate(each) for each in arrays))
        return whole.some(np.argsort(whole.a, kind="stable"))

    def halves(self) -> tuple[Array, Array]:
        """Return the edges of the halves, and their results, in the order of their times."""
        edges = np.append(np.stack([self.a, self.m], axis=1).ravel(), self.b[-1])
        results = np.stack([self.left, self.right], axis=1)
        return edges, results.reshape(-1, *results.shape[2:])


def transitions_along(
    equations: VariationalEquations,
    q0: Any = None,
    qd0: Any = None,
    x0: Any = None,
    *,
    times: Sequence[float] = (),
    start: Array | None = None,
    tolerance: float | None = None,
) -> tuple[Run, Transitions]:
    """Return the motion of a system from a state, and the transitions along it.

    There is an edge at each of `times`. The error is that of deviations whose values at the start
    are `start` (n, n + p), by default unit deviations and those by parameters.
    """
    run = equations.system.run(q0, qd0, x0)
    rtol = equations.system.problem.settings.rtol
    goal = max(10.0 * rtol, FLOOR) if tolerance is None else tolerance
    breaks = [run.t[0], *equations.system.conditions.efforts.breaks, *times, run.t[-1]]
    marks = np.unique([t for t in breaks if run.t[0] <= t <= run.t[-1]])
    share = np.diff(marks) / (run.t[-1] - run.t[0])
    counts = np.maximum(1, np.ceil(run.statistics.steps * share / STEPS)).astype(int)
    parts = [
        np.linspace(a, b, n + 1)[:-1] for a, b, n in zip(marks, marks[1:], counts, strict=False)
    ]
    edges = np.append(np.concatenate(parts), marks[-1])
    work = _Refinement(equations, (q0, qd0, x0), goal, start)
    return run, work.refined(edges)


class _Refinement:
    """Cuts intervals in two until the deviations have the error that is wanted."""

    def __init__(
        self,
        equations: VariationalEquations,
        state: tuple[Any, Any, Any],
        goal: float,
        start: Array | None,
    ) -> None:
        self.equations, self.state, self.goal = equations, state, goal
        n, p = len(equations.names), len(equations.parameters)
        self.start = np.eye(n, n + p) if start is None else start
        self.groups = np.repeat(
            [0, 1, 2], [equations.graph.nv, equations.graph.nv, equations.graph.nx]
        )

    def refined(self, edges: Array) -> Transitions:
        """Return transitions between edges, and between those that are put in."""
        pairs = self._first(edges[:-1], edges[1:])
        errors = self._errors(pairs)
        for _ in range(ROUNDS):
            if errors.sum() <= self.goal:
                return self._result(pairs, float(errors.sum()))
            wide = errors > self.goal / (2 * len(errors))
            if 2 * wide.sum() + len(errors) > MOST:
                break
            pairs = _Pairs.joined([pairs.some(~wide), self._cut(pairs.some(wide))])
            errors = self._errors(pairs)
        raise self._unreached(pairs, errors)

    def _first(self, a: Array, b: Array) -> _Pairs:
        k, m = len(a), (a + b) / 2
        found = self._solved(np.concatenate([a, a, m]), np.concatenate([b, m, b]))
        return _Pairs(a, m, b, found[:k], found[k : 2 * k], found[2 * k :])

    def _cut(self, pairs: _Pairs) -> _Pairs:
        """Return the halves of pairs as pairs."""
        a, b = np.append(pairs.a, pairs.m), np.append(pairs.m, pairs.b)
        k, m = len(a), (a + b) / 2
        found = self._solved(np.append(a, m), np.append(m, b))
        return _Pairs(a, m, b, np.append(pairs.left, pairs.right, axis=0), found[:k], found[k:])

    def _solved(self, a: Array, b: Array) -> Array:
        """Return the results of intervals, (k, n, n + p)."""
        nodes = a[:, None] + (b - a)[:, None] * gauss().c
        t, places = np.unique(nodes, return_inverse=True)
        y = self.states(t)
        equations, nv = self.equations, self.equations.graph.nv
        F, C, where = equations.slopes(t, y), equations.turning(y), places.reshape(nodes.shape)
        return transitions(F[where], None if C is None else C[where], b - a, nv)

    def states(self, t: Array) -> Array:
        """Return the states (q, qd, x) of the motion at times, (m, nq + nv + nx)."""
        system = self.equations.system
        problem = replace(system.problem, times=t)
        run = replace(system, problem=problem).run(*self.state)
        more = [] if run.extra_states is None else [run.extra_states]
        return np.concatenate([run.q, run.qd, *more], axis=1)

    def _errors(self, pairs: _Pairs) -> Array:
        """Return the error that each pair puts into the deviations, against the largest ones."""
        _, results = pairs.halves()
        n = len(self.equations.names)
        Z = carried(results, self.start)
        difference = pairs.whole - composed(pairs.right, pairs.left)
        errors = np.abs(difference[..., :n] @ Z[:-1:2] + _forced(difference[..., n:], Z.shape[-1]))
        sizes = [np.abs(Z).max(axis=0)[self.groups == g].max(axis=0, initial=0.0) for g in range(3)]
        scales = np.maximum(sizes, LEAST * np.max(sizes, axis=0))[self.groups]
        scales[scales == 0.0] = 1.0
        return (errors / scales).max(axis=(1, 2)) / (2**ORDER - 1)

    def _result(self, pairs: _Pairs, reached: float) -> Transitions:
        equations, (edges, results) = self.equations, pairs.halves()
        n = len(equations.names)
        return Transitions(
            equations.names,
            equations.parameters,
            edges,
            self.states(edges),
            results[..., :n],
            results[..., n:],
            reached,
        )

    def _unreached(self, pairs: _Pairs, errors: Array) -> RunError:
        worst = int(np.argmax(errors))
        return RunError(
            f"the deviations do not come nearer than {errors.sum():.1e}, and {self.goal:.1e} was "
            f"wanted: the equations are not smooth near t = {pairs.a[worst]:.9g} s, or the motion "
            "is not accurate enough",
            file=equations_file(self.equations),
            element="tolerance",
            remedy="give a larger tolerance, or a smaller rtol for the motion",
        )


def composed(second: Array, first: Array) -> Array:
    """Return the results of two steps one after the other, (k, n, n + p)."""
    n = first.shape[-2]
    result = second[..., :n] @ first
    result[..., n:] += second[..., n:]
    return result


def carried(results: Array, start: Array) -> Array:
    """Return deviations at all edges, (k + 1, n, columns), the last of them by parameters."""
    n = results.shape[1]
    Z = np.empty((len(results) + 1, *start.shape))
    Z[0] = start
    forced = _forced(results[..., n:], start.shape[1])
    for k, result in enumerate(results):
        Z[k + 1] = result[:, :n] @ Z[k] + forced[k]
    return Z


def _forced(results: Array, columns: int) -> Array:
    """Return what parameters add, with zeros for the columns before them."""
    k, n, p = results.shape
    return np.concatenate([np.zeros((k, n, columns - p)), results], axis=-1)


def equations_file(equations: VariationalEquations) -> str | None:
    """Return the file of the mechanism."""
    return equations.mechanism.file
