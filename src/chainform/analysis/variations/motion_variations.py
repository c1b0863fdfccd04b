"""One motion and what lies between its smooth stretches: events, breaks of laws, seams.

A seam is a time at which the argument of an absolute value or a sign in a law goes through zero. No
interval of a quadrature may lie across it, and where the law jumps deviations jump, too:

symbol   meaning
g        the argument
f        rates of z along the motion, before (-) and after (+) the seam

    dt* = -(g_z z + g_p dp) / (g_t + g_z f-),    z+ = z- + (f- - f+) dt*
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.results.displacement import displaced
from chainform.analysis.variations.event_variations import REMEDY, SAME, Jumps
from chainform.analysis.variations.variation_graph import SEAMS
from chainform.analysis.variations.variational_equations import VariationalEquations
from chainform.simulation import StateChange

Array = NDArray[np.float64]
STEPS = 8
"""Steps of the integration for an interval, to begin with."""
Crossing: TypeAlias = tuple[float, list[int]]
"""A time, and the arguments that go through zero at it."""
AWAY = 1e-9
"""How far (as a share of the motion) both sides of a seam are away from it."""
NEAR = 1e-7
"""How far both sides of an argument that is zero at the start are away from it."""
SIDES = np.array([-2.0, -1.0, 1.0, 2.0])
SAMPLES = 8
"""At how many times in an interval the arguments are looked at."""
PARTS, ROUNDS = 16, 11
"""Into how many parts the time of a zero is divided, and how often."""
NONE, NOISE = 1e-7, 1e-12
"""Shares of a rate, and of the largest, by which it may differ on both sides without a jump."""


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
        self.ending, self._end = motion.ending, motion.row()
        starts = [change.after for change in changes if change.t == self.first and not change.met]
        layout = equations.system.machine.layout
        held = layout.fresh()[layout.place("tau") : layout.place("slack")]
        self._begin = starts[-1] if starts else np.concatenate([self.start.y, held])
        self.changes = [c for c in changes if self.first <= c.t <= self.last]
        jumps = Jumps(equations)
        found = [jumps.over(change) for change in self.changes]
        self.jumps = [matrix for matrix, _ in found]
        self.met = [met for _, met in found]
        breaks = [*equations.system.conditions.efforts.breaks, *times, self.first, self.last]
        breaks += [change.t for change in self.changes]
        self.marks = np.unique([t for t in breaks if self.first <= t <= self.last])
        self.seams = Seams(self, jumps)
        for t, jump in [*self.seams.found()]:
            self._add_seam(t, jump)

    def _add_seam(self, t: float, jump: Array | None) -> None:
        """Add a seam to the marks and, where deviations jump there, to the changes."""
        self.marks = np.union1d(self.marks, t)
        if jump is None:
            return
        place = int(np.searchsorted([change.t for change in self.changes], t))
        if place == len(self.changes) or self.changes[place].t != t:
            row = np.concatenate(self.states(np.array([t])), axis=1)[0]
            self.changes.insert(place, StateChange(t, (), row, row))
            self.jumps.insert(place, jump)
            self.met.insert(place, [])
        else:
            self.jumps[place] = jump

    @property
    def rtol(self) -> float:
        """The relative tolerance of the motion."""
        return self.equations.system.problem.settings.rtol

    @property
    def atol(self) -> float:
        """The absolute tolerance of the motion."""
        return self.equations.system.problem.settings.atol

    def edges(self) -> Array:
        """Return edges of intervals: some steps of the motion for each."""
        marks, steps = self.marks, self.steps
        share = np.diff(marks) / (marks[-1] - marks[0])
        counts = np.maximum(1, np.ceil(steps * share / STEPS)).astype(np.intp)
        parts: list[Array] = [k + np.arange(n) / n for k, n in enumerate(counts.tolist())]
        places: Array = np.concatenate(parts)
        return np.append(np.interp(places, np.arange(len(marks)), marks), marks[-1])

    @property
    def begin(self) -> tuple[Array, Array]:
        """The state at the start as in `states`, after what happens there at once."""
        return self._split(self._begin)

    @property
    def end(self) -> tuple[Array, Array]:
        """The state at the end as in `states`."""
        return self._split(self._end)

    def _split(self, row: Array) -> tuple[Array, Array]:
        size = self.equations.system.machine.equations.size
        return row[None, :size], row[None, size:]

    def states(self, t: Array) -> tuple[Array, Array]:
        """Return states of the motion at times, (m, size), and what enters with them, (m, k)."""
        system, equations = self.equations.system, self.equations.system.machine.equations
        rows, layout = system.motion(self.start, t).result()[1], system.machine.layout
        y, given = rows[:, : equations.size], rows[:, equations.size :]
        if not given.shape[1]:
            held = layout.fresh()[layout.place("tau") : layout.place("slack")]
            given = np.broadcast_to(held, (len(t), len(held)))
        return y, given


class Seams:
    """The seams of one motion, by its marks and changes."""

    def __init__(self, motion: MotionVariations, jumps: Jumps) -> None:
        self.motion, self.jumps, self.equations = motion, jumps, motion.equations
        self.aside = AWAY * (motion.last - motion.first)
        self.breaks = frozenset(self.equations.system.conditions.efforts.breaks)

    def found(self) -> Iterator[tuple[float, Array | None]]:
        """Yield the times of all seams, and how deviations jump there, None where they do not."""
        crossings = self._crossings()
        if not crossings:
            return
        times = np.array([t for t, _ in crossings])
        every, places = np.unique(
            times[:, None] + self.aside * np.append(SIDES, 0.0), return_inverse=True
        )
        places = places.reshape(len(times), -1)
        y, given = self.motion.states(every)
        sides = _limits(self.equations.rates(every, y, given)[places[:, :-1]])
        here = places[:, -1]
        slopes = self.equations.seam_slopes(every[here], y[here], given[here])
        for k, (t, columns) in enumerate(crossings):
            yield t, self._jump(t, slopes[k, columns], sides[k])

    def _jump(self, t: float, slopes: Array, f: Array) -> Array | None:
        """Return the transition over a seam, (n, n + p), given slopes of arguments and both f."""
        if not _differ(*f):
            return None
        changes = [c for c in self.motion.changes if c.t == t]
        regular = [c for c in changes if not np.array_equal(c.before, c.after)]
        if regular:
            # An impact, or what holds: the law may jump with it, but not by itself.
            known = [self.jumps.rates(t, row) for row in (regular[0].before, regular[-1].after)]
            if any(_differ(a, b) for a, b in zip(f, known, strict=True)):
                raise self.jumps.refusal(t, "a law jumps at the time of an impact", REMEDY)
            return None
        # An argument without slopes jumps with another one: it is a sign itself.
        rows = slopes[np.any(slopes, axis=1)]
        times = np.array([self.jumps.time_change(t, row, f[0]) for row in rows])
        size = np.abs(times).max(initial=0.0)
        if size == 0.0:
            return None
        if t in self.breaks or np.abs(times - times[0]).max() > SAME * size:
            raise self.jumps.refusal(t, "laws jump at the same time, each by its own way", REMEDY)
        n = len(self.equations.names)
        return np.eye(n, len(times[0])) + np.outer(f[0] - f[1], times[0])

    # --- where they are -----------------------------------------------------------------------

    def _crossings(self) -> list[Crossing]:
        """Return times in their order, and the arguments that go through zero at each."""
        if not self.equations.graph.has(SEAMS):
            return []
        edges, marks = self.motion.edges(), self.motion.marks
        t = edges[:-1, None] + np.diff(edges)[:, None] * (np.arange(SAMPLES) + 0.5) / SAMPLES
        t = np.unique(np.concatenate([t.ravel(), marks[:-1] + self.aside, marks[1:] - self.aside]))
        values = self._arguments(t)
        # What rests at zero changes its sign by rounding.
        signs = np.sign(values) * (np.abs(values) > NOISE * np.abs(values).max(axis=0))
        places, columns = np.nonzero(signs[:-1] != signs[1:])
        if not len(places):
            return []
        stretch = np.searchsorted(marks, t)
        roots, is_mark = marks[stretch[places]], stretch[places] != stretch[places + 1]
        between = places[~is_mark]
        roots[~is_mark] = self._roots(t[between], t[between + 1], columns[~is_mark])
        result: list[Crossing] = []
        for place in np.argsort(roots, kind="stable"):
            # Several arguments may have the same zero, up to rounding.
            if not result or roots[place] > result[-1][0] + 2 * self.aside:
                result.append((float(roots[place]), []))
            result[-1][1].append(int(columns[place]))
        return result

    def _arguments(self, t: Array) -> Array:
        return self.equations.seams(t, *self.motion.states(t))

    def _roots(self, a: Array, b: Array, columns: NDArray[np.intp]) -> Array:
        """Return zeros of arguments between times, until nothing is left between."""
        each, low = np.arange(len(a)), self._signs(a[:, None], columns)
        for _ in range(ROUNDS if len(a) else 0):
            steps = (b - a)[:, None] / PARTS
            inner = a[:, None] + steps * np.arange(1, PARTS)
            is_low = np.append(self._signs(inner, columns) == low, np.zeros((len(a), 1)), axis=1)
            first = np.argmin(is_low, axis=1)
            points = np.concatenate([a[:, None], inner, b[:, None]], axis=1)
            a, b = points[each, first], points[each, first + 1]
        return (a + b) / 2

    def _signs(self, t: Array, columns: NDArray[np.intp]) -> Array:
        """Return the signs of arguments, one for each row of times."""
        every, places = np.unique(t, return_inverse=True)
        return np.sign(self._arguments(every))[places.reshape(t.shape), columns[:, None]]

    # --- at the start -------------------------------------------------------------------------

    def at_start(self) -> Array:
        """Return slopes (k, n + p) of arguments that are zero at the start, where a law jumps."""
        equations, (y, given) = self.equations, self.motion.begin
        n, p = len(equations.names), len(equations.parameters)
        if not equations.graph.has(SEAMS):
            return np.zeros((0, n + p))
        t = np.array([self.motion.first])
        slopes = equations.seam_slopes(t, y, given)[0]
        size = np.abs(slopes).sum(axis=1)
        # A zero so soon after the start is not found by signs.
        speed = np.abs(slopes[:, :n] @ equations.rates(t, y, given)[0] + slopes[:, -1])
        zero = np.abs(equations.seams(t, y, given)[0]) <= AWAY * size + 2 * self.aside * speed
        rows = [row for row in slopes[zero & np.any(slopes[:, :-1], axis=1)] if self._is_jump(row)]
        return np.array(rows).reshape(-1, n + p + 1)[:, :-1]

    def _is_jump(self, slopes: Array) -> bool:
        """Tell whether the rates differ on both sides of a zero at the start."""
        equations, (y, given) = self.equations, self.motion.begin
        n, nv = len(equations.names), equations.graph.nv
        nq, size = equations.system.machine.equations.nq, np.linalg.norm(slopes[:n])
        step = NEAR * SIDES
        t, states = np.full(4, self.motion.first), np.repeat(y, 4, axis=0)
        if size > 0:
            way = step[:, None] * slopes[:n] / size
            states[:, :nq] = displaced(equations.mechanism, states[:, :nq], way[:, :nv])
            more = min(n - nv, states.shape[1] - nq)
            states[:, nq : nq + more] += way[:, nv : nv + more]
        else:
            t += step
        found = equations.rates(t, states, np.repeat(given, 4, axis=0))
        return _differ(*_limits(found))


def _limits(f: Array) -> Array:
    """Return what rates (..., 4, n) at `SIDES` are next to the middle, (..., 2, n)."""
    return np.stack([2 * f[..., 1, :] - f[..., 0, :], 2 * f[..., 2, :] - f[..., 3, :]], axis=-2)


def _differ(a: Array, b: Array) -> bool:
    """Tell whether rates jump."""
    sizes = np.abs(a) + np.abs(b)
    return bool(np.any(np.abs(a - b) > NONE * sizes + NOISE * sizes.max(initial=0.0)))
