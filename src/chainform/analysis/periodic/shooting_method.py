"""Periodic motions by shooting: the start and the period with which a motion closes.

symbol   meaning
y, T     state at the start, period
z        deviation of the start, in units of the motion (`scales`)
Phi      transition of deviations over a period, R the change at its end
f        rates along the motion at the end

    closed      r = R(y(T)) - y - shift = 0        in all entries but those of `relative`
    step        (R' Phi - 1) z + R' f dT = -r
    section     g' (Phi z + f dT) = -g

The step is the one of least norm (Gauss-Newton): along the motion itself, and in a family of
periodic motions, the start goes no further than it must. It is halved until the gap shrinks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.periodic.motion_flow import MotionFlow
from chainform.analysis.periodic.section import Section
from chainform.analysis.variations.transitions import Transitions
from chainform.errors import RunError
from chainform.simulation import Run

Array = NDArray[np.float64]
MOST_STEPS = 60
HALVINGS = 12
FEWEST = 0.4
"""The largest change of the period in a step, as a share of it."""
EXACT = 1e-12
"""A gap below this share of the motion is none."""
WORTH = 0.25
"""A further step after the goal is reached is worth it where the gap shrinks below this share."""
SHORTEST = 1e-3
"""A period below this share of the first guess tends to zero."""
RANKS = (1e-7, 1e-10, 1e-13)
"""Singular values below such a share count as zero, the first that lets the gap shrink."""
SMALLEST = 1e-3
"""A motion that becomes smaller than this share of the first one tends to rest."""
HELD = 1e-9
"""Entries that are held change by less, in units of the motion."""
RESTING = 1e-6
"""Rates below this share of their units are none."""


@dataclass(frozen=True, eq=False)
class Periodicity:
    """What closes: `shift` (n,) is what coordinates advance in a period, `relative` advance freely.

    `held` are entries of the start that stay as they are; `has_free_period` tells whether the
    period is to be found as well.
    """

    first: float
    shift: Array
    relative: tuple[int, ...]
    held: tuple[int, ...]
    has_free_period: bool
    section: Section | None = None


@dataclass(frozen=True, eq=False)
class Orbit:
    """A motion over a period: `gap` (n,) is what is left over, `size` its size in its units.

    `monodromy` (n, n) goes over the period, its change with it; `start_rates` and `rates` are those
    of deviations at the start and at the end, after the change. `row` is the start with what enters
    the equations there, `tangent` (n, freedoms) what loops and contacts leave free there, in units.
    """

    y: Array
    period: float
    run: Run
    path: Transitions
    gap: Array
    scales: Array
    monodromy: Array
    start_rates: Array
    rates: Array
    row: Array
    tangent: Array
    steps: int = 0

    @property
    def size(self) -> float:
        """The gap in units of the motion."""
        return size_of(self.gap, self.scales)


def size_of(gap: Array, scales: Array) -> float:
    """Return the largest entry of a gap in units of the motion."""
    return float(np.max(np.abs(gap / scales), initial=0.0))


class Shooting:
    """Newton's iteration to a start and a period with which a motion closes."""

    def __init__(self, flow: MotionFlow, closure: Periodicity, points: int) -> None:
        self.flow, self.closure, self.points = flow, closure, points
        n = len(flow.equations.names)
        self.counted = [k for k in range(n) if k not in closure.relative]
        self.first_scales: Array | None = None

    # --- one motion -----------------------------------------------------------------------

    def gap_after(self, y: Array, end: Array) -> Array:
        """Return the gap of a motion from its ends; zero in relative entries."""
        gap = self.flow.states.deviations(end[None], y)[0] - self.closure.shift
        gap[list(self.closure.relative)] = 0.0
        return gap

    def _ended(self, T: float, end: Array) -> Array:
        section = self.closure.section
        if section is None or not section.changed:
            return end
        return section.after(self.closure.first + T, end)

    def size_at(self, y: Array, T: float, scales: Array) -> float:
        """Return the size of the gap of a trial, infinite where its motion ends early."""
        section, t = self.closure.section, self.closure.first + T
        try:
            end = self._over(T, 2).end(y)
            if end is None:
                return np.inf
            left = size_of(self.gap_after(y, self._ended(T, end)), scales)
            if section is not None:
                left = max(left, self._section_gap(section, t, y, end) / T)
            return left
        except RunError:
            return np.inf

    def _section_gap(self, section: Section, t: float, start: Array, end: Array) -> float:
        """Return how long, about, the motion still needs to the section."""
        at = (t, end) if section.changed else (self.closure.first, start)
        rate = section.crossing(*at, self.flow.rates_at(*at))
        return abs(section.value(*at) / rate) if rate else np.inf

    def _over(self, T: float, points: int) -> MotionFlow:
        first = self.closure.first
        return self.flow.over((first, first + T), first + T * np.linspace(0.0, 1.0, points))

    def orbit(self, y: Array, T: float, steps: int = 0) -> Orbit:
        """Return the motion from a state over a period with its derivatives."""
        flow, states = self._over(T, self.points), self.flow.states
        run, path = flow.path(y)
        along = states.along(run)
        if run.t[-1] < self.closure.first + T * (1 - 1e-9):
            raise RunError(
                f"the motion ends by {run.about.ending} at t = {run.t[-1]:.9g} s, before a period",
                element="events",
                remedy="leave out what ends it: a periodic motion goes on",
            )
        start, end = along[0], along[-1]
        first, rates = flow.rates(run, 0), flow.rates(run, len(run.t) - 1)
        over = path.monodromy
        section = self.closure.section
        if section is not None and section.changed:
            over, rates = self._changed(section, run.t[-1], end, rates, over)
        gap = self.gap_after(start, self._ended(T, end))
        scales = self._scales(along, T)
        row = flow.rows(run)[0]
        tangent = flow.tangent(float(run.t[0]), row, scales)
        return Orbit(start, T, run, path, gap, scales, over, first, rates, row, tangent, steps)

    def _scales(self, along: Array, T: float) -> Array:
        """Return the units of a motion, not far below those of the first one."""
        moving = along.copy()
        moving[:, list(self.closure.relative)] = 0.0
        scales = self.flow.states.scales(moving, T)
        if self.first_scales is None:
            self.first_scales = scales
        return np.maximum(scales, SMALLEST * self.first_scales)

    def _changed(
        self, section: Section, t: float, end: Array, rates: Array, M: Array
    ) -> tuple[Array, Array]:
        """Return the transition through the section and its change, and the rates after it."""
        slope, R = section.slopes(t, end)
        crossing = section.crossing(t, end, rates)
        if crossing == 0.0:
            raise RunError(
                f"the motion only touches the section at t = {t:.9g} s, where its return jumps",
                element="section",
                remedy="choose a law that the motion crosses",
            )
        after = self.flow.rates_at(t, section.after(t, end))
        return (R - np.outer(R @ rates - after, slope) / crossing) @ M, after

    # --- steps ----------------------------------------------------------------------------

    def solve(
        self, y: Array, T: float, goal: float, tell: Callable[[int], None] | None = None
    ) -> Orbit:
        """Return the periodic motion near a start; RunError where there is none to be found."""
        orbit = self.orbit(y, T)
        best = self._left(orbit)
        for number in range(1, MOST_STEPS + 1):
            if tell is not None:
                tell(number)
            if best <= EXACT:
                break
            found = self._stepped(orbit, best, is_last=best <= goal)
            if found is None or (found[2] > WORTH * best and best <= goal):
                break
            if found[1] < SHORTEST * T:
                raise RunError(
                    f"the period tends to zero: {found[1]:.3g} s after {number} steps",
                    element="period",
                    remedy="give a start that is farther from rest, or hold what tells the motion "
                    "apart from rest, as held=[...]",
                )
            orbit = self.orbit(*found[:2], number)
            best = self._left(orbit)
        if not best <= goal:
            raise self._unclosed(orbit, best, goal)
        return orbit

    def _left(self, orbit: Orbit) -> float:
        section, left = self.closure.section, orbit.size
        if section is not None:
            t = self.closure.first + orbit.period
            end = self.flow.states.along(orbit.run)[-1]
            left = max(left, self._section_gap(section, t, orbit.y, end) / orbit.period)
        return left

    def _stepped(
        self, orbit: Orbit, size: float, *, is_last: bool
    ) -> tuple[Array, float, float] | None:
        """Return the next start and period with the size of their gap; None if none is nearer.

        A last step, from what is near enough already, is taken as it is or not.
        """
        for rank in RANKS[:1] if is_last else RANKS:
            z, dT = self._step(orbit, rank)
            share = min(1.0, FEWEST * orbit.period / max(abs(dT), 1e-300))
            for _ in range(1 if is_last else HALVINGS):
                y = self.flow.states.moved(orbit.y, share * z)
                y = self.flow.closed(self.closure.first, y, orbit.row, orbit.scales)
                T = orbit.period + share * dT
                left = self.size_at(y, T, orbit.scales)
                if left < (1 - 1e-3 * share) * size:
                    return y, T, left
                share /= 2
        return None

    def _step(self, orbit: Orbit, rank: float) -> tuple[Array, float]:
        """Return the step of least norm of the start and of the period."""
        scales, n = orbit.scales, len(orbit.scales)
        section, period = self.closure.section, orbit.period
        M, rates = orbit.path.monodromy, self._end_rates(orbit)
        A = np.column_stack([M, rates * period])
        rows, right = A.copy(), -orbit.gap
        if section is not None and section.changed:
            _, R = section.slopes(
                self.closure.first + period, self.flow.states.along(orbit.run)[-1]
            )
            rows = R @ A
        rows[:, :n] -= np.eye(n)
        rows, right = (rows / scales[:, None])[self.counted], (right / scales)[self.counted]
        if section is not None:
            row, value = self._section_row(section, orbit, A)
            rows, right = np.vstack([rows, row]), np.append(right, -value)
        basis = self._choices(orbit)
        found = np.linalg.lstsq(rows @ basis, right, rcond=rank)[0]
        step = basis @ found
        return step[:n], float(step[n] * period)

    def _choices(self, orbit: Orbit) -> Array:
        """Return how the start and the period may change: a basis (n + 1, choices)."""
        n, free = len(orbit.scales), orbit.tangent
        stay = [*self.closure.relative, *self.closure.held]
        bound = free[stay]
        if stay:
            values, directions = np.linalg.svd(bound)[1:]
            free = free @ directions[int(np.sum(values > HELD)) :].T
        basis = np.zeros((n + 1, free.shape[1] + 1))
        basis[:n, :-1], basis[n, -1] = free * orbit.scales[:, None], 1.0
        return basis if self.closure.has_free_period else basis[:, :-1]

    def _end_rates(self, orbit: Orbit) -> Array:
        """Return the rates at the end of the motion, before a change."""
        section = self.closure.section
        if section is None or not section.changed:
            return orbit.rates
        flow = self._over(orbit.period, self.points)
        return flow.rates(orbit.run, len(orbit.run.t) - 1)

    def _section_row(self, section: Section, orbit: Orbit, A: Array) -> tuple[Array, float]:
        """Return how long the motion needs to the section, and its derivative, both by periods."""
        first, n = self.closure.first, len(orbit.scales)
        if section.changed:
            t, end = first + orbit.period, self.flow.states.along(orbit.run)[-1]
            slope, _ = section.slopes(t, end)
            row, value, rates = slope @ A, section.value(t, end), A[:, n] / orbit.period
        else:
            slope, _ = section.slopes(first, orbit.y)
            row, value, rates = (
                np.append(slope, 0.0),
                section.value(first, orbit.y),
                orbit.start_rates,
            )
        size = abs(float(slope @ rates)) * orbit.period or 1.0
        return row / size, value / size

    # --- what is refused ------------------------------------------------------------------

    def _unclosed(self, orbit: Orbit, size: float, goal: float) -> RunError:
        worst = int(np.argmax(np.abs(orbit.gap / orbit.scales)))
        name = self.flow.equations.names[worst]
        return RunError(
            f"the motion does not close: after {orbit.steps} steps {name} is "
            f"{orbit.gap[worst]:.3g} away after {orbit.period:.6g} s, {size:.1e} of its size, and "
            f"{goal:.1e} was wanted",
            file=self.flow.mechanism.file,
            element="periodic_motion",
            remedy="begin nearer to a periodic motion (q0, qd0, period; near a stable one by a "
            "longer settle), or let go: coordinates that advance need shift or relative, and "
            "forces that take energy out something that puts it in",
        )


def over_longer(flow: MotionFlow, orbit: Orbit, advance: Array) -> tuple[Array, Array]:
    """Return the states of a period, and those of the next one less the advance, (m, size)."""
    states, run = flow.states, orbit.run
    times = run.t + orbit.period
    # The ends are those of the times: a sum in another order may be before the last of them.
    later = flow.over((float(times[0]), float(times[-1])), times)
    end = states.moved(orbit.y, advance)
    back = np.array([states.moved(y, -advance) for y in states.along(later.run(end))])
    return states.along(run), back
