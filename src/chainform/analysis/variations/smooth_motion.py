"""Transitions along a motion: intervals in which it is smooth, and as many as the tolerance needs.

The states at the nodes come from the motion itself. An interval is cut in two until the error that
it puts into the deviations is small: of two results, one in whole intervals and one in halves, the
second has a 63rd part of the difference (order 6). Between smooth stretches lie events (jumps.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.variations.collocation import ORDER, Stages, gauss
from chainform.analysis.variations.jumps import EventVariation, Jumps
from chainform.analysis.variations.transitions import Transitions
from chainform.analysis.variations.variation_graph import SEAMS
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
AWAY = 1e-9
"""How far (as a share of the motion) the equations are compared on both sides of a seam."""
JUMP = 1e-5
"""The share of the accelerations that is a jump."""
SAMPLES = 8
"""At how many times in an interval the arguments of signs are looked at."""
ROOTS = 40
"""The most steps to the zero of such an argument."""


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


@dataclass(frozen=True, eq=False)
class _Sequence:
    """Halves of pairs and events between them, in the order of their times."""

    edges: Array
    results: Array
    """(k, n, n + p), between the edges."""
    firsts: NDArray[np.intp]
    """Where each pair begins among the edges."""


class MotionVariations:
    """One motion of a system, and its transitions.

    The state at the start may be given as in `System.run`. There is an edge at each of `times`.
    """

    def __init__(
        self,
        equations: VariationalEquations,
        q0: Any = None,
        qd0: Any = None,
        x0: Any = None,
        *,
        times: Sequence[float] | Array = (),
    ) -> None:
        self.equations, self.state = equations, (q0, qd0, x0)
        self.start = equations.system.start(q0, qd0, x0)
        motion = equations.system.motion(self.start, np.zeros(0))
        self.steps, changes = motion.integrator.statistics.steps, motion.changes
        self.first, self.last = self.start.t, motion.integrator.t
        self.ending = motion.ending
        self.changes = [c for c in changes if self.first <= c.t <= self.last]
        jumps = Jumps(equations)
        found = [jumps.over(change) for change in self.changes]
        self.jumps = [matrix for matrix, _ in found]
        self.met = [met for _, met in found]
        breaks = [*equations.system.conditions.efforts.breaks, *times, self.first, self.last]
        breaks += [change.t for change in self.changes]
        self.marks = np.unique([t for t in breaks if self.first <= t <= self.last])

    @property
    def rtol(self) -> float:
        """The tolerance of the motion."""
        return self.equations.system.problem.settings.rtol

        self.marks = np.union1d(self.marks, self._seams())

    def edges(self) -> Array:
        """Return edges of intervals: some steps of the motion for each."""
        marks, steps = self.marks, self.steps
        share = np.diff(marks) / (marks[-1] - marks[0])
        counts = np.maximum(1, np.ceil(steps * share / STEPS)).astype(np.intp)
        places = np.concatenate([k + np.arange(n) / n for k, n in enumerate(counts.tolist())])
        return np.append(np.interp(places, np.arange(len(marks)), marks), marks[-1])

    # --- seams ------------------------------------------------------------------------------

    def _seams(self) -> Array:
        """Return the times at which arguments of signs and absolute values go through zero.

        RunError where the accelerations jump there.
        """
        if not self.equations.graph.has(SEAMS):
            return np.zeros(0)
        edges, aside = self.edges(), AWAY * (self.last - self.first)
        lengths = np.diff(edges)[:, None]
        t = (edges[:-1, None] + lengths * (np.arange(SAMPLES) + 0.5) / SAMPLES).ravel()
        t = np.unique(np.concatenate([t, self.marks[:-1] + aside, self.marks[1:] - aside]))
        values = self._arguments(t)
        stretch = np.searchsorted(self.marks, t)
        crossed = (values[:-1] * values[1:] < 0) & (stretch[:-1] == stretch[1:])[:, None]
        places, columns = np.nonzero(crossed)
        if not len(places):
            return np.zeros(0)
        roots = self._roots(t[places], t[places + 1], columns)
        for root in roots:
            self._check_jump(float(root), aside)
        return roots

    def _arguments(self, t: Array) -> Array:
        return self.equations.seams(t, *self.states(t))

    def _roots(self, a: Array, b: Array, columns: NDArray[np.intp]) -> Array:
        """Return zeros of arguments between times, by bisection until nothing is left between."""
        each = np.arange(len(a))
        low = self._at(a, columns)
        for _ in range(ROOTS):
            middle = (a + b) / 2
            found = self._at(middle, columns)
            is_low = found * low > 0
            a, b = np.where(is_low, middle, a), np.where(is_low, b, middle)
            low[each[is_low]] = found[is_low]
        return (a + b) / 2

    def _at(self, t: Array, columns: NDArray[np.intp]) -> Array:
        """Return some of the arguments, one at each of some times in any order."""
        every, places = np.unique(t, return_inverse=True)
        return self._arguments(every)[places, columns]

    def _check_jump(self, t: float, aside: float) -> None:
        sides = np.array([t - aside, t + aside])
        rates = self.equations.rates(sides, *self.states(sides))
        if np.abs(rates[1] - rates[0]).max() > JUMP * (1.0 + np.abs(rates).max()):
            raise RunError(
                f"a law jumps at t = {t:.9g} s, where the argument of a sign goes through zero",
                file=self.equations.mechanism.file,
                element="sensitivities",
                remedy="write a smooth law, as tanh(x/0.01) for sign(x), or friction of the joint",
            )

    # --- transitions ------------------------------------------------------------------------

    def transitions(
        self, start: Array | None = None, tolerance: float | None = None
    ) -> Transitions:
        """Return the transitions along the motion.

        The error is that of deviations whose values at the start are `start` (n, columns), the last
        ones by parameters; by default unit deviations, and those by parameters.
        """
        goal = max(10.0 * self.rtol, FLOOR) if tolerance is None else tolerance
        return _Refinement(self, goal, start).refined()

    def states(self, t: Array) -> tuple[Array, Array]:
        """Return states of the motion at times, (m, size), and what enters with them, (m, k)."""
        system, equations = self.equations.system, self.equations.system.machine.equations
        rows, layout = system.motion(self.start, t).result()[1], system.machine.layout
        y, given = rows[:, : equations.size], rows[:, equations.size :]
        if not given.shape[1]:
            held = layout.fresh()[layout.place("tau") : layout.place("slack")]
            given = np.broadcast_to(held, (len(t), len(held)))
        return y, given

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
    motion = MotionVariations(equations, q0, qd0, x0, times=times)
    return equations.system.run(q0, qd0, x0), motion.transitions(start, tolerance)


class _Refinement:
    """Cuts intervals in two until the deviations have the error that is wanted."""

    def __init__(self, motion: MotionVariations, goal: float, start: Array | None) -> None:
        self.motion, self.equations, self.goal = motion, motion.equations, goal
        equations = motion.equations
        n, p = len(equations.names), len(equations.parameters)
        self.start = np.eye(n, n + p) if start is None else start
        counts = [equations.graph.nv, equations.graph.nv, equations.graph.nx]
        self.groups = np.repeat([0, 1, 2], counts)

    def refined(self) -> Transitions:
        """Return transitions with as many intervals as are needed."""
        edges = self.motion.edges()
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
        y, given = self.motion.states(t)
        equations, nv = self.equations, self.equations.graph.nv
        F, C = equations.slopes(t, y, given), equations.turning(y)
        where, n = places.reshape(nodes.shape), len(equations.names)
        stages = Stages(F[where][..., :n], None if C is None else C[where], b - a, nv)
        return stages.results(F[where][..., n:])

    def _sequence(self, pairs: _Pairs) -> _Sequence:
        """Return halves and events in the order of their times."""
        edges, results, firsts = [float(pairs.a[0])], list[Array](), list[int]()
        waiting = list(zip(self.motion.changes, self.motion.jumps, strict=True))
        for k in range(len(pairs)):
            while waiting and waiting[0][0].t <= pairs.a[k]:
                edges.append(float(pairs.a[k]))
                results.append(waiting.pop(0)[1])
            firsts.append(len(results))
            edges += [float(pairs.m[k]), float(pairs.b[k])]
            results += [pairs.left[k], pairs.right[k]]
        for _, jump in waiting:
            edges.append(edges[-1])
            results.append(jump)
        return _Sequence(np.array(edges), np.array(results), np.array(firsts, dtype=np.intp))

    def _errors(self, pairs: _Pairs) -> Array:
        """Return the error that each pair puts into the deviations, against the largest ones."""
        sequence, n = self._sequence(pairs), len(self.equations.names)
        Z = carried(sequence.results, self.start)
        difference = pairs.whole - composed(pairs.right, pairs.left)
        forced = with_zeros(difference[..., n:], Z.shape[-1])
        errors = np.abs(difference[..., :n] @ Z[sequence.firsts] + forced)
        sizes = [np.abs(Z).max(axis=0)[self.groups == g].max(axis=0, initial=0.0) for g in range(3)]
        scales = np.maximum(sizes, LEAST * np.max(sizes, axis=0))[self.groups]
        scales[scales == 0.0] = 1.0
        return (errors / scales).max(axis=(1, 2)) / (2**ORDER - 1)

    def _result(self, pairs: _Pairs, reached: float) -> Transitions:
        equations, sequence = self.equations, self._sequence(pairs)
        n, edges = len(equations.names), sequence.edges
        results = sequence.results
        inner = np.setdiff1d(np.arange(len(results)), sequence.firsts)
        places = [k for k in inner.tolist() if k - 1 not in sequence.firsts]
        events = [
            EventVariation(name, change.t, place + 1, row[:n], row[n:])
            for change, met, place in zip(self.motion.changes, self.motion.met, places, strict=True)
            for name, row in met
        ]
        states = self.motion.states(edges)[0]
        size = states.shape[1]
        for change, place in zip(self.motion.changes, places, strict=True):
            states[place : place + 2] = change.before[:size], change.after[:size]
        return Transitions(
            equations.names,
            equations.parameters,
            edges,
            states,
            results[..., :n],
            results[..., n:],
            reached,
            tuple(events),
        )

    def _unreached(self, pairs: _Pairs, errors: Array) -> RunError:
        worst = int(np.argmax(errors))
        return RunError(
            f"the deviations do not come nearer than {errors.sum():.1e}, and {self.goal:.1e} was "
            f"wanted: the equations are not smooth near t = {pairs.a[worst]:.9g} s, or the motion "
            "is not accurate enough",
            file=self.equations.mechanism.file,
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
    forced = with_zeros(results[..., n:], start.shape[1])
    for k, result in enumerate(results):
        Z[k + 1] = result[:, :n] @ Z[k] + forced[k]
    return Z


def with_zeros(results: Array, columns: int) -> Array:
    """Return what parameters add, with zeros for the columns before them."""
    k, n, p = results.shape
    return np.concatenate([np.zeros((k, n, columns - p)), results], axis=-1)
