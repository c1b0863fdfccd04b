"""One motion and what lies between its smooth stretches: events, breaks of laws, seams.

A seam is a time at which the argument of an absolute value or a sign goes through zero: the motion
goes on smoothly, or nearly so, but no interval of a quadrature may lie across it. Where the
accelerations jump there, the deviations would have to jump as well: that is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.variations.event_variations import Jumps
from chainform.analysis.variations.variation_graph import SEAMS
from chainform.analysis.variations.variational_equations import VariationalEquations
from chainform.errors import RunError

Array = NDArray[np.float64]
STEPS = 8
"""Steps of the integration for an interval, to begin with."""
AWAY = 1e-9
"""How far (as a share of the motion) the equations are compared on both sides of a seam."""
JUMP = 1e-5
"""The share of the accelerations that is a jump."""
SAMPLES = 8
"""At how many times in an interval the arguments of signs are looked at."""
ROOTS = 40
"""The most steps to the zero of such an argument."""


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
        for root in self._seams():
            # Several arguments may have the same zero, up to rounding.
            if np.abs(self.marks - root).min() > AWAY * (self.last - self.first):
                self.marks = np.union1d(self.marks, root)

    @property
    def rtol(self) -> float:
        """The tolerance of the motion."""
        return self.equations.system.problem.settings.rtol

    def edges(self) -> Array:
        """Return edges of intervals: some steps of the motion for each."""
        marks, steps = self.marks, self.steps
        share = np.diff(marks) / (marks[-1] - marks[0])
        counts = np.maximum(1, np.ceil(steps * share / STEPS)).astype(np.intp)
        parts: list[Array] = [k + np.arange(n) / n for k, n in enumerate(counts.tolist())]
        places: Array = np.concatenate(parts)
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
