"""Poses along a path, each found from the one before; several branches go on together.

A step goes along the exact rates and is corrected by Newton steps. Where the correction is large or
fails, the step is halved; where even short steps fail, the pose nearest to the target is taken, and
the branch is found again where the path comes back into reach. Where the targets leave a choice,
the rates of least norm are integrated, so that poses, rates and accelerations belong together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.poses.arm_branches import ClosedForm
from chainform.analysis.poses.nearest_poses import nearest
from chainform.analysis.poses.pose_equations import PoseEquations
from chainform.analysis.poses.pose_rates import least_rates
from chainform.analysis.poses.pose_search import NEAR_STEPS, PoseSearch
from chainform.analysis.poses.pose_targets import PoseTargets
from chainform.analysis.results.interruption import Watch

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

CORRECTION = 0.1
"""A correction (rad, parts of the size) that is larger makes the step shorter."""
HALVINGS = 8
CORRECTIONS = 10
FLOW = 1e-9
"""How accurately rates of least norm are integrated over a step (rad, parts of the size)."""
FLOW_STEPS = 64
LINK = 0.3
"""How far (rad, parts of the size) a branch may be from where its rates lead."""
BACK = (1.0, 0.5, 0.0)
"""Where a lost branch is looked for, as parts of the way back to where it was lost."""


@dataclass(frozen=True, eq=False)
class PosePath:
    """Poses (branches, m, nq) along a path of m times, and where they are at their targets."""

    q: Array
    reached: Mask


@dataclass(frozen=True)
class PathFollower:
    """What follows a path: the search, the targets, and how redundancy is resolved.

    `integrates` tells that rates of least norm are integrated; `reference` (nq,) is the pose that
    redundancy stays near, or None. With a closed form all its branches are known at every time.
    """

    search: PoseSearch
    targets: PoseTargets
    integrates: bool = False
    reference: Array | None = None
    form: ClosedForm | None = None

    @property
    def equations(self) -> PoseEquations:
        """The equations of the search."""
        return self.search.equations

    def follow(self, starts: Array, watch: Watch) -> PosePath:
        """Return the poses along the path, from poses near the first ones (branches, nq).

        Where Ctrl-C ends it, there are the poses up to then.
        """
        count = (len(self.targets.times), len(starts))
        q, reached = np.empty((*count, self.equations.mechanism.nq)), np.zeros(count, dtype=bool)
        with watch.counting(len(q)):
            follow = self._linked if self.form is not None else self._stepped
            for k in follow(starts, q, reached):
                watch.tell(k + 1)
        return PosePath(np.swapaxes(q[: watch.done], 0, 1), reached[: watch.done].T)

    def _stepped(self, starts: Array, q: Array, reached: Mask) -> Iterator[int]:
        """Fill in the poses (m, branches, nq) by steps in time; yield each place that is done."""
        times = self.targets.times
        q[0], reached[0] = self.at(times[0], starts)
        yield 0
        lost: Array = q[0].copy()
        for k in range(1, len(times)):
            q[k], reached[k] = self._step(q[k - 1], reached[k - 1], times[k - 1], times[k])
            for b in np.flatnonzero(~reached[k]):
                q[k, b], reached[k, b] = self._bridge(
                    q[k - 1, b], lost[b], bool(reached[k - 1, b]), times[k - 1], times[k]
                )
            lost = np.where(reached[k][:, np.newaxis], q[k], lost)
            yield k

    def until(self, count: int) -> PathFollower:
        """Return the follower of so many first times."""
        return replace(self, targets=replace(self.targets, times=self.targets.times[:count]))

    def corrected(self, q: Array) -> PosePath:
        """Return the path of poses near its own (m, nq), each corrected by Newton steps.

        Newton steps from poses that lag behind may lead to another branch, which is no motion: then
        the path goes on from the pose before, and where that fails its branch ends.
        """
        times, found, good = self.targets.times, *self.search.newton(q, self.targets.goals)
        good &= self.equations.is_possible(found, times)
        for k in range(1, len(q)):
            if good[k - 1] and not (
                good[k] and self._goes_on(q[k - 1 : k + 1], found[k - 1 : k + 1])
            ):
                before = found[k - 1 : k]
                found[k], good[k] = self._halved(before, times[k - 1], times[k], HALVINGS)
        lost = np.flatnonzero(~good)
        found[lost] = nearest(self.search, q[lost], self.targets.goals.take(lost))
        return PosePath(found[np.newaxis], good[np.newaxis])

    def _goes_on(self, q: Array, found: Array) -> bool:
        """Tell whether two corrected poses (2, nq) are as far apart as those that they correct."""
        way = self.equations.difference(q[:1], q[1:])
        apart = self.equations.difference(self.equations.moved(found[:1], way), found[1:])
        return bool(np.max(np.abs(apart)) <= LINK + np.max(np.abs(way)) / 2)

    def _linked(self, starts: Array, q: Array, reached: Mask) -> Iterator[int]:
        """Fill in branches of a closed form: at each time the next to the one before."""
        assert self.form is not None
        times, goals = self.targets.times, self.targets.goals
        poses, good = self.form.branches(self.search, goals)
        q[0], reached[0] = starts, good[0].any()
        yield 0
        for k in range(1, len(times)):
            way = self._way(q[k - 1], times[k - 1], times[k]) * reached[k - 1][:, np.newaxis]
            predicted = self.equations.moved(q[k - 1], way)
            bound = LINK + np.max(np.abs(way), axis=1) / 2
            taken = self._matched(predicted, poses[k][good[k]])
            found = self.search.unwound(taken, predicted)
            apart = np.max(np.abs(self.equations.difference(predicted, found)), axis=1)
            reached[k] = np.isfinite(apart) & ((apart <= bound) | ~reached[k - 1])
            q[k] = np.where(reached[k][:, np.newaxis], found, q[k - 1])
            lost = np.flatnonzero(~reached[k])
            q[k, lost] = nearest(self.search, q[k, lost], goals.take(np.full(len(lost), k)))
            yield k

    def _matched(self, q: Array, poses: Array) -> Array:
        """Return for each pose (b, nq) another of some (k, nq), the nearest pairs first."""
        found = np.full(q.shape, np.nan)
        pairs = [(b, k) for b in range(len(q)) for k in range(len(poses))]
        if not pairs:
            return found
        one, two = np.array(pairs).T
        apart = self.search.distance(q[one], poses[two])
        rows, columns = set[int](), set[int]()
        for place in np.argsort(apart, kind="stable"):
            b, k = pairs[int(place)]
            if b not in rows and k not in columns:
                found[b] = poses[k]
                rows.add(b)
                columns.add(k)
        return found

    def at(self, t: float, q: Array, steps: int = CORRECTIONS) -> tuple[Array, Mask]:
        """Return poses (b, nq) at a time after Newton steps, and whether they are at the target."""
        goals = self.targets.at(np.full(len(q), t))
        found, good = self.search.newton(q, goals, steps)
        if self.reference is not None:
            middle = np.broadcast_to(self.reference, q.shape)
            found = np.where(good[:, np.newaxis], self.search.settled(found, goals, middle), found)
        return found, good & self.equations.is_possible(found, goals.t)

    def _step(self, q: Array, known: Mask, before: float, after: float) -> tuple[Array, Mask]:
        """Return poses (b, nq) after a step, and whether they are good: at the target, and near."""
        way = self._way(q, before, after)
        predicted = self.equations.moved(q, way)
        if self.search.limits:
            predicted = self.equations.clipped(predicted)
        found, good = self.at(after, predicted)
        correction = np.max(np.abs(self.equations.difference(predicted, found)), axis=1)
        near = correction <= CORRECTION + np.max(np.abs(way), axis=1) / 4
        return found, good & near & known

    def _way(self, q: Array, before: float, after: float) -> Array:
        """Return the step (b, nv) along the rates, in units of the scales."""
        h = after - before

        def rates(t: float, poses: Array) -> Array:
            goals = self.targets.at(np.full(len(q), t))
            return least_rates(self.equations, poses, goals, self.search.limits)

        if not self.integrates:
            slope = rates(before, q)
            middle = rates(before + h / 2, self.equations.moved(q, h / 2 * slope))
            return h * middle
        return self._integrated(q, before, h, rates)

    def _integrated(
        self, q: Array, start: float, h: float, rates: Callable[[float, Array], Array]
    ) -> Array:
        """Return the step along rates that are integrated (Runge, Kutta), in parts as needed."""
        last, parts = self._runge_kutta(q, start, h, 1, rates), 2
        while True:
            found = self._runge_kutta(q, start, h, parts, rates)
            change = np.max(np.abs(self.equations.difference(last, found)), initial=0.0)
            if change <= FLOW or not np.isfinite(change) or parts >= FLOW_STEPS:
                return self.equations.difference(q, found)
            last, parts = found, 2 * parts

    def _runge_kutta(
        self,
        q: Array,
        start: float,
        span: float,
        parts: int,
        rates: Callable[[float, Array], Array],
    ) -> Array:
        h = span / parts

        def slope(t: float, poses: Array) -> Array:
            # Steps along the rates of a body that turns would not be of fourth order.
            units = self.equations.with_unit_quaternions(poses)
            return self.equations.coordinate_rates(units, rates(t, units))

        for k in range(parts):
            t = start + k * h
            k1 = slope(t, q)
            k2 = slope(t + h / 2, q + h / 2 * k1)
            k3 = slope(t + h / 2, q + h / 2 * k2)
            k4 = slope(t + h, q + h * k3)
            q = self.equations.with_unit_quaternions(q + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
        return q

    def _bridge(
        self, q: Array, lost: Array, known: bool, before: float, after: float
    ) -> tuple[Array, bool]:
        """Return the pose (nq,) of one branch after a step that failed, and whether it is good."""
        if known:
            found, good = self._halved(q[np.newaxis], before, after, HALVINGS)
            if good:
                return found[0], True
        goals = self.targets.at(np.array([after]))
        pose = nearest(self.search, q[np.newaxis], goals)
        # A stretched arm can bend either way, and shall bend as it did before.
        way = self.equations.difference(pose, lost[np.newaxis])
        starts = np.concatenate([self.equations.moved(pose, k * way) for k in BACK])
        found, good = self.at(after, starts, NEAR_STEPS)
        away = self.search.distance(found, np.tile(lost, (len(BACK), 1)))
        best = int(np.argmin(np.where(good, away, np.inf)))
        return (found[best], True) if good[best] else (pose[0], False)

    def _halved(self, q: Array, before: float, after: float, halvings: int) -> tuple[Array, bool]:
        """Return the pose after two steps of half the length, each perhaps halved again."""
        middle = (before + after) / 2
        for start, end in ((before, middle), (middle, after)):
            found, good = self._step(q, np.ones(1, dtype=bool), start, end)
            if not good[0]:
                if not halvings:
                    return q, False
                found, is_good = self._halved(q, start, end, halvings - 1)
                if not is_good:
                    return q, False
            q = found
        return q, True
