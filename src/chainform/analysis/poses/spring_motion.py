"""A fictitious spring that pulls frames to their targets (Andrieiev and Dziuba 2023).

symbol   meaning
x        coordinates in rad, or in parts of the size; every one has the inertia L
r, J, v  what is missing, minus its derivatives, rates of the targets (pose_equations.py)
w, z     frequency of the spring (rad/s) and damping of the coordinates (1/s)

    L x'' = J^T (w^2 r + 2 w (v - J x')) - L z x'

L is the largest eigenvalue of J^T J in some poses, so that no motion is faster than w. The direct
problem is integrated while the targets move. Springs do not jump between branches and pass singular
positions with their momentum, so a rough start comes in smoothly; the price is hundreds of short
steps. The poses lag behind the targets by about a / w^2 and are corrected by Newton steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.poses.pose_rates import inverse_of
from chainform.analysis.poses.pose_search import PoseSearch
from chainform.analysis.poses.pose_targets import PoseGoals, PoseTargets
from chainform.analysis.results.interruption import Watch

Array = NDArray[np.float64]

FREQUENCY = 150.0
"""The frequency of the spring, times the span of the path."""
SETTLING = 60.0
"""How long the spring pulls before the path begins, times its frequency."""
DAMPING = 0.3
"""Damping of the coordinates against that of the spring."""
STEP = 0.4
"""The step of the integration, times the frequency."""
POSES, MARGIN = 32, 1.5
"""Random poses in which L is looked for, and what it is multiplied by."""


@dataclass(frozen=True, eq=False)
class SpringMotion:
    """Poses (m, nq) where the spring brought them, in so many steps."""

    q: Array
    steps: int


def pulled(search: PoseSearch, targets: PoseTargets, start: Array, watch: Watch) -> SpringMotion:
    """Return the motion along a path, or to each of several targets, from a pose (nq,).

    Where Ctrl-C ends a path, there are the poses up to then.
    """
    times = targets.times
    span = float(times[-1] - times[0]) if targets.is_path else 0.0
    spring = _Spring(search, FREQUENCY / (span or 1.0), _inertia(search, start))
    steps = spring.steps_of(SETTLING / spring.frequency)
    if not targets.is_path:
        q, _ = spring.settled(targets.goals, np.tile(start, (len(times), 1)))
        return SpringMotion(q, steps)
    q, x = spring.settled(targets.at(times[:1]), start[np.newaxis])
    rows = [q]
    with watch.counting(len(times)):
        watch.tell(1)
        for before, after in pairwise(times.tolist()):
            count = spring.steps_of(after - before)
            h = (after - before) / count
            for k in range(count):
                q, x = spring.step(targets, before + k * h, h, q, x)
            steps += count
            rows.append(q)
            watch.tell(len(rows))
    return SpringMotion(np.concatenate(rows[: watch.done]), steps)


def _inertia(search: PoseSearch, start: Array) -> float:
    """Return L."""
    equations = search.equations
    poses = np.vstack([start, search.random_poses(np.tile(start, (POSES, 1)))])
    J = equations.at(poses, equations.goals_at(poses)).J
    # Frames that nothing moves are not pulled, whatever the inertia is.
    return MARGIN * float(np.max(inverse_of(J).values, initial=0.0)) ** 2 or 1.0


@dataclass(frozen=True)
class _Spring:
    """The spring with its frequency (rad/s), and the steps of its motion."""

    search: PoseSearch
    frequency: float
    inertia: float

    def steps_of(self, span: float) -> int:
        """Return how many steps a span of time (s) needs."""
        return int(np.ceil(span * self.frequency / STEP)) or 1

    def force(self, q: Array, x: Array, goals: PoseGoals) -> Array:
        """Return x'' (m, nv)."""
        at, w = self.search.equations.at(q, goals), self.frequency
        slip = self.search.equations.rates(q, goals) - np.einsum("mij,mj->mi", at.J, x)
        pull = np.einsum("mij,mi->mj", at.J, w * w * at.r + 2 * w * slip)
        return pull / self.inertia - DAMPING * w * x

    def settled(self, goals: PoseGoals, q: Array) -> tuple[Array, Array]:
        """Return poses and rates after the spring pulled to goals that stand still."""
        still = PoseGoals(
            goals.t,
            goals.position,
            goals.rotation,
            np.zeros_like(goals.velocity),
            goals.acceleration,
            goals.held * [[1.0], [0.0], [0.0]],
        )
        x = np.zeros((len(q), self.search.equations.mechanism.nv))
        count = self.steps_of(SETTLING / self.frequency)
        h = SETTLING / self.frequency / count
        for _ in range(count):
            q, x = self._midpoint(lambda _: still, 0.0, h, q, x)
        return q, x

    def step(
        self, targets: PoseTargets, t: float, h: float, q: Array, x: Array
    ) -> tuple[Array, Array]:
        """Return poses and rates a step later along a path."""
        return self._midpoint(lambda s: targets.at(np.array([s])), t, h, q, x)

    def _midpoint(
        self, goals: Callable[[float], PoseGoals], t: float, h: float, q: Array, x: Array
    ) -> tuple[Array, Array]:
        """Return poses and rates after a step of the midpoint rule.

        Limits stop a coordinate; where a law has no value further on, all of them stop.
        """
        equations = self.search.equations
        half = x + h / 2 * self.force(q, x, goals(t))
        middle = equations.moved(q, h / 2 * x)
        rates = x + h * self.force(middle, half, goals(t + h / 2))
        moved = equations.moved(q, h * half)
        goes_on = np.isfinite(equations.at(moved, goals(t + h)).size)[:, np.newaxis]
        moved, rates = (
            np.where(goes_on, moved, q),
            np.where(goes_on & np.isfinite(rates), rates, 0.0),
        )
        if not self.search.limits:
            return moved, rates
        clipped = equations.clipped(moved)
        return clipped, np.where(equations.at_limit(clipped, rates), 0.0, rates)
