"""The search for poses: damped Newton steps from many starts, for many targets at once.

symbol   meaning
r, J     what is missing, and minus its derivatives (pose_equations.py)
d        damping, the share DAMPING of r^T r: large far from the target, nothing near it; what is
         missing counts as MOST_MISSING at most, or else a frame that slides far takes short steps

    step = J^T (J J^T + d)^-1 r

(Levenberg and Marquardt, with the damping of Sugihara 2011.) A coordinate at its limit that the
step would push further is held there. A start that does not come near in time is given up for a
random one, so that all targets go on together until each is reached or has had all its starts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.poses.pose_equations import PoseEquations, Residuals
from chainform.analysis.poses.pose_steps import compiled_step, is_small, packed
from chainform.analysis.poses.pose_targets import PoseGoals
from chainform.analysis.results.interruption import Watch

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.intp]

DAMPING = 0.05
LEAST_DAMPING = 1e-14
MOST_MISSING = 10.0
STEPS, NEAR_STEPS = 12, 30
"""Steps of one start, and where it has come near."""
BLOCK = 3
"""Steps after which it is seen which targets are reached."""
NEAR = 1e-2
"""What is missing counts as little below this (parts of the size, rad)."""
LANES = 512
"""Rows in which starts of few targets run together."""
CHUNK = 4096
"""Targets that are solved together."""
ROUNDING = 1e-15
"""What is missing is nothing below this."""
DESCENT = 200
SETTLED = 1e-11
"""A pose is nearest to another where the next step is shorter (rad, parts of the size)."""
TWIN = 1e-4
"""Poses that are nearer (rad, parts of the size) are one branch."""


@dataclass(frozen=True, eq=False)
class FoundPoses:
    """Poses (m, nq), which of them are at their targets, and how many starts each took."""

    q: Array
    reached: Mask
    starts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PoseSearch:
    """A search with its equations: limits, the most starts, the tolerance of r, random numbers."""

    equations: PoseEquations
    limits: bool
    starts: int
    tolerance: float
    random: np.random.Generator

    def without_limits(self) -> PoseSearch:
        """Return the same search with no limits."""
        return replace(self, limits=False)

    # --- steps --------------------------------------------------------------------------------

    def step(self, q: Array, at: Residuals, damping: Array) -> Array:
        """Return poses after damped steps; coordinates at limits stay there."""
        return self.moved(q, self.damped(self.free(q, at), at.r, damping))

    def damped(self, J: Array, r: Array, damping: Array) -> Array:
        """Return J^T (J J^T + d)^-1 r (m, nv), from the columns that matter."""
        moving = self.equations.moving
        step = np.zeros((len(r), J.shape[2]))
        step[:, moving] = damped_step(
            J if len(moving) == J.shape[2] else J[:, :, moving], r, damping
        )
        return step

    def free(self, q: Array, at: Residuals) -> Array:
        """Return J without the columns of coordinates that are pushed against a limit."""
        if not self.limits:
            return at.J
        push = np.einsum("mij,mi->mj", at.J, at.r)
        return np.where(self.equations.at_limit(q, push)[:, np.newaxis], 0.0, at.J)

    def moved(self, q: Array, step: Array) -> Array:
        """Return poses after steps, within the limits."""
        moved = self.equations.moved(q, step)
        return self.equations.clipped(moved) if self.limits else moved

    def newton(self, q: Array, goals: PoseGoals, steps: int = NEAR_STEPS) -> tuple[Array, Mask]:
        """Return poses after a few steps, and whether they are at their targets."""
        at = self.equations.at(q, goals)
        for _ in range(steps):
            far = at.size > self.tolerance
            if not far.any():
                break
            q = np.where(far[:, np.newaxis], self.step(q, at, damping_of(at)), q)
            at = self.equations.at(q, goals)
        return self.polished(q, goals), at.size <= self.tolerance

    def polished(self, q: Array, goals: PoseGoals) -> Array:
        """Return poses after one more step, where it brings them nearer."""
        at = self.equations.at(q, goals)
        rough = np.flatnonzero(at.size > ROUNDING)
        if not len(rough):
            return q
        some = Residuals(at.r[rough], at.J[rough])
        trial = self.step(q[rough], some, np.full(len(rough), LEAST_DAMPING))
        nearer = self.equations.at(trial, goals.take(rough)).size < some.size
        result = q.copy()
        result[rough[nearer]] = trial[nearer]
        return result

    def nearest(self, q: Array, goals: PoseGoals) -> Array:
        """Return poses without loops from which no step leads nearer to their targets.

        Far from a target J alone bends too little: the steps are those of Newton for the least
        squares of r, with the derivative of J.
        """
        at, damping = self.equations.at(q, goals), np.full(len(q), 1e-3)
        for _ in range(DESCENT if len(q) else 0):
            trial = self._descent(q, goals, at, damping)
            new = self.equations.at(trial, goals)
            gain = np.sum(at.r**2, axis=1) - np.sum(new.r**2, axis=1)
            good = gain > 0
            q = np.where(good[:, np.newaxis], trial, q)
            at = Residuals(
                np.where(good[:, np.newaxis], new.r, at.r),
                np.where(good[:, np.newaxis, np.newaxis], new.J, at.J),
            )
            damping = np.clip(np.where(good, damping / 5, damping * 5), LEAST_DAMPING, 1e9)
            if np.all((damping > 1e8) | (gain > 0) & (gain < 1e-15 * np.sum(at.r**2, axis=1))):
                break
        return q

    def _descent(self, q: Array, goals: PoseGoals, at: Residuals, damping: Array) -> Array:
        """Return poses after a damped step towards the least squares of r, without loops."""
        J = self.free(q, at)
        free = np.any(J != 0, axis=1)
        bend = self.equations.bend(q, goals.t, at.r) * free[:, np.newaxis] * free[..., np.newaxis]
        square = np.swapaxes(J, 1, 2) @ J - (bend + np.swapaxes(bend, 1, 2)) / 2
        places = range(J.shape[2])
        square[:, places, places] += damping[:, np.newaxis]
        push = np.einsum("mij,mi->mj", J, at.r)
        step = _solved(square, push)
        # A step of Newton may be large where the curvature is nearly zero.
        length = np.max(np.abs(step), axis=1, keepdims=True)
        return self.moved(q, step / np.maximum(1.0, length))

    # --- many targets -------------------------------------------------------------------------

    def solve(self, goals: PoseGoals, q: Array, watch: Watch | None = None) -> FoundPoses:
        """Return poses for all goals (m), the search beginning at q (m, nq).

        A `watch` learns how far it has come; where Ctrl-C ends it, there are the first goals only.
        """
        watch = watch or Watch(takes_parts=False)
        parts: list[tuple[Array, Mask, NDArray[np.int64]]] = []
        with watch.counting(len(goals)):
            for first in range(0, len(goals), CHUNK):
                some = goals.take(slice(first, first + CHUNK))
                parts.append(self._solve(some, q[first : first + CHUNK], watch))
                watch.tell(first + len(some))
        parts = parts[: -(-watch.done // CHUNK)]
        return FoundPoses(*(np.concatenate(x) for x in zip(*parts, strict=True)))

    def _solve(
        self, goals: PoseGoals, q: Array, watch: Watch
    ) -> tuple[Array, Mask, NDArray[np.int64]]:
        found, least = q.copy(), np.full(len(q), np.inf)
        reached, starts = np.zeros(len(q), dtype=bool), np.ones(len(q), dtype=np.int64)
        target, pose, age = np.arange(len(q)), q.copy(), np.zeros(len(q), dtype=np.int64)
        numbers = packed(goals)
        while len(target):
            chosen = numbers[target]
            for _ in range(BLOCK - 1):
                pose = self._ahead(pose, goals, chosen, target)[1]
            before = pose
            size, pose = self._ahead(before, goals, chosen, target)
            done = size <= self.tolerance
            done[done] = self.is_there(before[done], goals.take(target[done]))
            self._note(found, least, target, before, np.where(done, -1.0, size))
            reached[target[done]] = True
            late = (age >= STEPS) & ((size > NEAR) | (age >= NEAR_STEPS)) | ~np.isfinite(size)
            fresh = late & ~reached[target] & (starts[target] < self.starts)
            age = np.where(late, 0, age + BLOCK)
            np.add.at(starts, target[fresh], 1)
            pose[fresh] = self.random_poses(q[target[fresh]])
            going = ~reached[target] & (~late | fresh)
            target, pose, age = target[going], pose[going], age[going]
            target, pose, age = self._more_starts(starts, target, pose, age, q)
            watch.show(watch.done + len(q) - len(np.unique(target)))
        polished = found.copy()
        polished[reached] = self.polished(found[reached], goals.take(np.flatnonzero(reached)))
        return polished, reached, starts

    def _ahead(
        self, pose: Array, goals: PoseGoals, numbers: Array, target: Places
    ) -> tuple[Array, Array]:
        """Return what is missing at poses, the largest entry (m,), and poses a step later."""
        equations, t = self.equations, goals.t[target]
        if not is_small(equations):
            at = equations.at(pose, goals.take(target))
            return at.size, self.step(pose, at, damping_of(at))
        weights = np.zeros((len(pose), len(equations.moving), 2))
        if self.limits:
            weights[..., 0], weights[..., 1] = equations.is_at_limits(pose)
        r, short = compiled_step(equations)(
            q=pose, x=numbers, weights=weights.reshape(len(pose), -1), t=t[:, np.newaxis]
        )
        step = np.zeros((len(pose), equations.mechanism.nv))
        step[:, equations.moving] = short
        return np.max(np.abs(r), axis=1, initial=0.0), self.moved(pose, step)

    def is_there(self, q: Array, goals: PoseGoals) -> Mask:
        """Tell which poses are at their targets, with no loop turned over."""
        size = self.equations.at(q, goals).size
        return (size <= 2 * self.tolerance) & self.equations.is_possible(q, goals.t)

    def _more_starts(
        self, starts: NDArray[np.int64], target: Places, pose: Array, age: Places, q: Array
    ) -> tuple[Places, Array, Places]:
        """Add random starts where few rows are left, so that the lanes stay full."""
        late = np.unique(target[starts[target] > 1])
        room = (LANES - len(target)) // max(1, len(late))
        if not len(late) or room < 1 or len(target) > LANES // 2:
            return target, pose, age
        added = np.repeat(late, np.clip(self.starts - starts[late], 0, room))
        np.add.at(starts, added, 1)
        return (
            np.concatenate([target, added]),
            np.concatenate([pose, self.random_poses(q[added])]),
            np.concatenate([age, np.zeros(len(added), dtype=np.int64)]),
        )

    def _note(self, found: Array, least: Array, target: Places, pose: Array, size: Array) -> None:
        """Keep the best pose of each target; a target may have several rows."""
        order = np.argsort(-np.where(np.isfinite(size), size, np.inf), kind="stable")
        better = order[size[order] < least[target[order]]]
        # Of several rows of a target the last one written is the best.
        found[target[better]] = pose[better]
        least[target[better]] = size[better]

    def random_poses(self, q: Array) -> Array:
        """Return poses (m, nq), random in all that moves the frames and as in q else."""
        equations = self.equations
        low, high = self._range()
        step = self.random.uniform(-1.0, 1.0, (len(q), equations.mechanism.nv))
        moved = equations.moved(q, np.pi * step * equations.moves)
        single = equations.moves[equations.single]
        rates, places = equations.single[single], equations.places[single]
        moved[:, places] = low[rates] + (high - low)[rates] * (step[:, rates] + 1) / 2
        return moved

    def _range(self) -> tuple[Array, Array]:
        """Return bounds (nv,) of random starts: the limits, and a turn or the size without."""
        equations = self.equations
        reach = np.where(equations.turns, np.pi, equations.size)
        low = np.where(np.isfinite(equations.lower), equations.lower, -np.inf)
        high = np.where(np.isfinite(equations.upper), equations.upper, np.inf)
        low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * reach, -reach))
        return low, np.where(np.isfinite(high), high, low + 2 * reach)

    # --- branches -----------------------------------------------------------------------------

    def branches(self, goal: PoseGoals, q: Array) -> tuple[Array, int]:
        """Return the different poses (k, nq) found for one goal, and from how many starts.

        Those nearest to q (nq,) come first.
        """
        starts = np.concatenate(
            [q[np.newaxis], self.random_poses(np.tile(q, (self.starts - 1, 1)))]
        )
        goals = goal.take(np.zeros(len(starts), dtype=np.intp))
        once = replace(self, starts=1)
        found = once.solve(goals, starts)
        return self.distinct(found.q[found.reached], q), int(found.reached.sum())

    def distinct(self, poses: Array, q: Array) -> Array:
        """Return poses (k, nq) without twins, those nearest to q (nq,) first."""
        unwound = self.unwound(poses, q[np.newaxis])
        away = np.linalg.norm(
            self.equations.difference(unwound, np.tile(q, (len(poses), 1))), axis=1
        )
        chosen = list[int]()
        for k in np.argsort(away, kind="stable"):
            others = np.array(chosen, dtype=np.intp)
            apart = self.distance(unwound[[k] * len(chosen)], unwound[others])
            if not np.any(apart < TWIN):
                chosen.append(int(k))
        return unwound[chosen]

    def distance(self, q: Array, other: Array) -> Array:
        """Return the largest step (m,) between poses, whole turns left out."""
        step, turns = self.equations.difference(q, other), self.equations.whole_turns
        step[:, turns] -= 2 * np.pi * np.round(step[:, turns] / (2 * np.pi))
        return np.max(np.abs(step), axis=1, initial=0.0)

    def unwound(self, q: Array, reference: Array) -> Array:
        """Return poses with joints turned back by whole turns to a reference, within limits."""
        equations, result = self.equations, q.copy()
        turning = np.isin(equations.single, equations.whole_turns)
        rates, places = equations.single[turning], equations.places[turning]
        values = q[:, places]
        best = np.round((values - reference[:, places]) / (2 * np.pi))
        choices = values - 2 * np.pi * (
            best + np.array([0, 1, -1, 2, -2])[:, np.newaxis, np.newaxis]
        )
        inside = (choices >= equations.lower[rates]) & (choices <= equations.upper[rates])
        first = np.argmax(inside, axis=0) if self.limits else np.zeros(values.shape, dtype=np.intp)
        picked = np.take_along_axis(choices, first[np.newaxis], axis=0)[0]
        allowed = inside.any(axis=0) if self.limits else np.ones(values.shape, dtype=bool)
        result[:, places] = np.where(allowed, picked, values)
        return result

    # --- redundancy ---------------------------------------------------------------------------

    def settled(self, q: Array, goals: PoseGoals, reference: Array) -> Array:
        """Return, of the poses near q at the same targets, those nearest to a reference (m, nq).

        Steps go to the reference as far as the targets leave it free: I - J^+ J times the way.
        """
        share, last = np.ones(len(q)), np.full(len(q), np.inf)
        for _ in range(DESCENT):
            at = self.equations.at(q, goals)
            way = self.equations.difference(q, reference) * self.equations.moves
            if self.limits:
                way = np.where(self.equations.at_limit(q, way), 0.0, way)
            J = self.free(q, at)
            missing = at.r - np.einsum("mij,mj->mi", J, way)
            full = way + self.damped(J, missing, damping_of(at))
            left = np.max(np.abs(full), axis=1)
            if not np.any(left > SETTLED):
                break
            share = np.where(left > last, share / 2, np.minimum(1.0, share * 1.2))
            last = left
            q = self.moved(q, share[:, np.newaxis] * full)
        return self.newton(q, goals)[0]


def damping_of(at: Residuals) -> Array:
    """Return the damping (m,) that goes with what is missing."""
    missing = np.einsum("mi,mi->m", at.r, at.r)
    return DAMPING * np.minimum(missing, MOST_MISSING) + LEAST_DAMPING


def damped_step(J: Array, r: Array, damping: Array) -> Array:
    """Return J^T (J J^T + d)^-1 r, (m, nv); the equations have the shorter side of J."""
    rows, columns = J.shape[1:]
    across = np.swapaxes(J, 1, 2)
    if rows <= columns:
        square = J @ across
        square[:, range(rows), range(rows)] += damping[:, np.newaxis]
        return np.einsum("mij,mi->mj", J, _solved(square, r))
    square = across @ J
    square[:, range(columns), range(columns)] += damping[:, np.newaxis]
    return _solved(square, np.einsum("mij,mi->mj", J, r))


def _solved(square: Array, right: Array) -> Array:
    """Return the solutions (m, n) of equations (m, n, n)."""
    found = np.linalg.solve(square, right[..., np.newaxis])
    return np.asarray(found[..., 0], dtype=np.float64)
