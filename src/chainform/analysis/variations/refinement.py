"""Transitions along a motion: intervals in which it is smooth, and as many as the tolerance needs.

The states at the nodes come from the motion itself. An interval is cut in two until the error that
it puts into the deviations is small: of two results, one in whole intervals and one in halves, the
second has a 1023rd part of the difference (order 10). Between smooth stretches lie events
(event_variations.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.variations.collocation import ORDER, Stages, gauss
from chainform.analysis.variations.event_variations import EventVariation
from chainform.analysis.variations.motion_variations import AWAY, MotionVariations
from chainform.analysis.variations.transitions import Transitions
from chainform.analysis.variations.variational_equations import VariationalEquations
from chainform.errors import RunError
from chainform.simulation import Run

Array = NDArray[np.float64]
ROUNDS = 16
"""How often intervals are cut in two,"""
MOST = 200_000
"""and how many there may be."""
FLOOR = 1e-11
"""The least tolerance by default."""
SEEN, SLACK = 1e-4, 100.0
"""The share of the rates that may lack where accelerations are added up, and that of rtol."""
LEAST = 1e-9
"""Deviations of one kind that are smaller, against the others, are measured as if they were so."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Intervals from `a` over their middles `m` to `b`, (k,), solved as a whole and in halves.

    Each result is (k, n, n + p): how z at the end follows from z at the beginning, and from dp.
    `lacking` (k, nv) is what the halves lack of the change of the rates, `first` and `middle` (k,
    size) are states at `a` and `m`.
    """

    a: Array
    m: Array
    b: Array
    whole: Array
    left: Array
    right: Array
    lacking: Array
    first: Array
    middle: Array

    def __len__(self) -> int:
        return len(self.a)

    def some(self, which: Any) -> Pairs:
        """Return some of the pairs."""
        return Pairs(*(getattr(self, item.name)[which] for item in fields(self)))

    @staticmethod
    def joined(parts: Sequence[Pairs]) -> Pairs:
        """Return all pairs in the order of their times."""
        arrays = [[getattr(part, item.name) for part in parts] for item in fields(Pairs)]
        whole = Pairs(*(np.concatenate(each) for each in arrays))
        return whole.some(np.argsort(whole.a, kind="stable"))


@dataclass(frozen=True, eq=False)
class _Steps:
    """Halves of pairs and events between them, in the order of their times."""

    edges: Array
    results: Array
    """(k, n, n + p), between the edges."""
    firsts: NDArray[np.intp]
    """Where each pair begins among the edges."""


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
    path = Refinement(motion, tolerance, start).refined()
    return equations.system.run(q0, qd0, x0), path


class Refinement:
    """Cuts intervals in two until the deviations have the error that is wanted.

    Without parameters it is that of unit deviations at the start.
    """

    def __init__(
        self,
        motion: MotionVariations,
        tolerance: float | None,
        start: Array | None,
        *,
        has_parameters: bool = True,
    ) -> None:
        self.motion, self.equations, equations = motion, motion.equations, motion.equations
        self.goal = max(10.0 * motion.rtol, FLOOR) if tolerance is None else tolerance
        n, p = len(equations.names), len(equations.parameters) if has_parameters else 0
        self.start, self.width = np.eye(n, n + p) if start is None else start, n + p
        self.has_parameters, self.rounds = has_parameters, 0
        self.speeds = np.zeros(equations.graph.nv)
        """The largest rates so far."""
        nv, last = equations.graph.nv, equations.objective.integral is not None
        self.groups = np.repeat([0, 1, 2, 3], [nv, nv, n - 2 * nv - last, last])

    def refined(self) -> Transitions:
        """Return transitions with as many intervals as are needed."""
        return self.result(*self.pairs())

    def pairs(self) -> tuple[Pairs, float]:
        """Return as many intervals as are needed, and the error."""
        edges = self.motion.edges()
        pairs = self._first(edges[:-1], edges[1:])
        while True:
            errors, reached = self._errors(pairs)
            if reached > self.goal or not np.isfinite(reached):
                pairs = self.cut(pairs, errors, reached)
                continue
            missed = self._missed(pairs)
            if not missed.any():
                return pairs, reached
            pairs = self._divided(pairs, missed, reached)

    def _missed(self, pairs: Pairs) -> NDArray[np.bool_]:
        """Return the pairs that miss something of the motion, as a short push between their nodes.

        There the accelerations at the nodes do not give the change of the rates.
        """
        sizes = np.maximum(self.speeds, SEEN * self.speeds.max(initial=0.0))
        limit = max(SEEN, SLACK * self.motion.rtol) * np.where(sizes > 0, sizes, 1.0)
        # What is at rest moves by rounding.
        limit = limit + SLACK * self.motion.atol
        return np.any(pairs.lacking > limit, axis=1)

    def cut(self, pairs: Pairs, errors: Array, reached: float) -> Pairs:
        """Return pairs with those cut in two that have too large a share of the error."""
        wide = errors > errors.sum() * self.goal / (2 * len(errors) * reached)
        return self._divided(pairs, wide, reached)

    def _divided(self, pairs: Pairs, wide: NDArray[np.bool_], reached: float) -> Pairs:
        self.rounds += 1
        # Also where the error is unknown, as where deviations are no numbers.
        if self.rounds > ROUNDS or 2 * wide.sum() + len(pairs) > MOST or not wide.any():
            raise self.unreached(pairs, wide, reached)
        return Pairs.joined([pairs.some(~wide), self._cut(pairs.some(wide))])

    def _first(self, a: Array, b: Array) -> Pairs:
        k, m = len(a), (a + b) / 2
        solved = self._solved(np.concatenate([a, a, m]), np.concatenate([b, m, b]))
        found, lacking, first = solved
        lacking = np.maximum(lacking[k : 2 * k], lacking[2 * k :])
        halves = (found[k : 2 * k], found[2 * k :])
        return Pairs(a, m, b, found[:k], *halves, lacking, first[:k], first[2 * k :])

    def _cut(self, pairs: Pairs) -> Pairs:
        """Return the halves of pairs as pairs."""
        a, b = np.append(pairs.a, pairs.m), np.append(pairs.m, pairs.b)
        k, m = len(a), (a + b) / 2
        found, lacking, first = self._solved(np.append(a, m), np.append(m, b))
        whole = np.append(pairs.left, pairs.right, axis=0)
        lacking = np.maximum(lacking[:k], lacking[k:])
        return Pairs(a, m, b, whole, found[:k], found[k:], lacking, first[:k], first[k:])

    def _solved(self, a: Array, b: Array) -> tuple[Array, Array, Array]:
        """Return results of intervals, what they lack of the rates, and the states at `a`."""
        nodes = a[:, None] + (b - a)[:, None] * gauss().c
        # Events lie at the ends.
        aside = np.minimum(AWAY * (self.motion.last - self.motion.first), AWAY * 1e3 * (b - a))
        t, places = np.unique(np.column_stack([nodes, a, b - aside]), return_inverse=True)
        y, given = self.motion.states(t)
        places = places.reshape(len(a), -1)
        return (
            self._results(b - a, (t, y, given), places[:, :-2]),
            self._lacking(b - a, (t, y, given), places),
            y[places[:, -2]],
        )

    def _results(
        self, h: Array, states: tuple[Array, Array, Array], places: NDArray[np.intp]
    ) -> Array:
        """Return the results of intervals, (k, n, n + p), given states and places of nodes."""
        equations, n = self.equations, len(self.equations.names)
        chosen = np.unique(places)
        where = np.searchsorted(chosen, places)
        t, y, given = (part[chosen] for part in states)
        F = equations.slopes(t, y, given, has_parameters=self.has_parameters)
        C = equations.turning(y)
        stages = Stages(F[where][..., :n], None if C is None else C[where], h, equations.graph.nv)
        return stages.results(F[where][..., n:])

    def _lacking(
        self, h: Array, states: tuple[Array, Array, Array], places: NDArray[np.intp]
    ) -> Array:
        """Return the change of the rates without what accelerations at the nodes give, (k, nv)."""
        t, y, given = states
        nq, nv = self.equations.system.machine.equations.nq, self.equations.graph.nv
        v, qdd = y[:, nq : nq + nv], self.equations.rates(t, y, given)[:, nv : 2 * nv]
        self.speeds = np.maximum(self.speeds, np.abs(v).max(axis=0))
        made = h[:, None] * np.einsum("i,kix->kx", gauss().b, qdd[places[:, :-2]])
        return np.abs(v[places[:, -1]] - v[places[:, -2]] - made)

    def deviations_at(self, path: Transitions, times: Array) -> Array:
        """Return deviations at times, (m, n, columns); at the time of an event those after it."""
        n, Z = len(self.equations.names), path.forward(self.start)
        places = path.at(times)
        last = path.times[places]
        inside = times > last
        found = Z[places]
        if np.any(inside):
            results = self._solved(last[inside], times[inside])[0]
            found[inside] = results[..., :n] @ found[inside]
            found[inside, :, Z.shape[-1] - self.width + n :] += results[..., n:]
        return found

    def sequence(self, pairs: Pairs) -> _Steps:
        """Return halves and events in the order of their times."""
        edges, results, firsts = [float(pairs.a[0])], list[Array](), list[int]()
        waiting = list(zip(self.motion.changes, self.motion.jumps, strict=True))
        for k in range(len(pairs)):
            while waiting and waiting[0][0].t <= pairs.a[k]:
                edges.append(float(pairs.a[k]))
                results.append(waiting.pop(0)[1][:, : self.width])
            firsts.append(len(results))
            edges += [float(pairs.m[k]), float(pairs.b[k])]
            results += [pairs.left[k], pairs.right[k]]
        for _, jump in waiting:
            edges.append(edges[-1])
            results.append(jump[:, : self.width])
        return _Steps(np.array(edges), np.array(results), np.array(firsts, dtype=np.intp))

    def _errors(self, pairs: Pairs) -> tuple[Array, float]:
        """Return the error that each pair puts into the deviations, and the error of these.

        The second is the largest of all times, with all that grows of it on the way.
        """
        n, width = len(self.equations.names), self.start.shape[1]
        fine = composed(pairs.right, pairs.left)
        difference = (pairs.whole - fine) / (2**ORDER - 1)
        # Deviations, and errors next to them.
        both = np.zeros((len(pairs) + 1, n, 2 * width))
        put_in = np.zeros((len(pairs), n, width))
        now, forced = np.concatenate([self.start, np.zeros_like(self.start)], axis=1), width
        forced -= self.width - n
        waiting = list(zip(self.motion.changes, self.motion.jumps, strict=True))
        for k, (step, lost) in enumerate(zip(fine, difference, strict=True)):
            while waiting and waiting[0][0].t <= pairs.a[k]:
                jump = waiting.pop(0)[1]
                now = jump[:, :n] @ now
                now[:, forced:width] += jump[:, n : self.width]
            both[k] = now
            put_in[k] = lost[:, :n] @ now[:, :width]
            put_in[k, :, forced:] += lost[:, n:]
            now = step[:, :n] @ now
            now[:, forced:width] += step[:, n:]
            now[:, width:] += put_in[k]
        both[-1] = now
        largest = np.abs(both).max(axis=0)
        Z, errors = largest[:, :width], largest[:, width:]
        sizes = [Z[self.groups == g].max(axis=0, initial=0.0) for g in range(4)]
        scales = np.maximum(sizes, LEAST * np.max(sizes, axis=0))[self.groups]
        scales[scales == 0.0] = 1.0
        return (np.abs(put_in) / scales).max(axis=(1, 2)), float((errors / scales).max())

    def places(self, pairs: Pairs) -> list[int]:
        """Return which of the steps are those over events."""
        sequence = self.sequence(pairs)
        steps = np.concatenate([sequence.firsts, sequence.firsts + 1])
        return np.setdiff1d(np.arange(len(sequence.results)), steps).tolist()

    def result(self, pairs: Pairs, reached: float) -> Transitions:
        """Return the transitions between the edges of halves, and over events."""
        equations, sequence, places = self.equations, self.sequence(pairs), self.places(pairs)
        n, edges, results = len(equations.names), sequence.edges, sequence.results
        events = [
            EventVariation(name, change.t, place + 1, row[:n], row[n:])
            for change, met, place in zip(self.motion.changes, self.motion.met, places, strict=True)
            for name, row in met
        ]
        states = self._states(pairs, sequence)
        size = states.shape[1]
        for change, place in zip(self.motion.changes, places, strict=True):
            states[place : place + 2] = change.before[:size], change.after[:size]
        return Transitions(
            equations.names,
            equations.parameters if self.has_parameters else (),
            edges,
            states,
            results[..., :n],
            results[..., n:],
            reached,
            tuple(events),
        )

    def _states(self, pairs: Pairs, sequence: _Steps) -> Array:
        """Return the states at all edges."""
        states = np.empty((len(sequence.edges), pairs.first.shape[1]))
        states[sequence.firsts], states[sequence.firsts + 1] = pairs.first, pairs.middle
        states[-1] = self.motion.end[0]
        return states

    def unreached(self, pairs: Pairs, wide: NDArray[np.bool_], reached: float) -> RunError:
        worst = int(np.argmax(wide))
        message = f"the deviations do not come nearer than {reached:.1e}, not {self.goal:.1e}"
        if reached <= self.goal:
            message = "the rates do not change as the accelerations say"
        return RunError(
            f"{message}: the equations are not smooth near t = {pairs.a[worst]:.9g} s, or the "
            "motion is not accurate enough",
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
