"""Solutions of inverse kinematics as results: poses of single targets and along paths, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.poses.arm_branches import ClosedForm
from chainform.analysis.poses.nearest_poses import nearest_of_many
from chainform.analysis.poses.pose_equations import PoseEquations
from chainform.analysis.poses.pose_rates import inverse_of
from chainform.analysis.poses.pose_search import PoseSearch
from chainform.analysis.poses.pose_targets import PoseGoals, PoseTargets
from chainform.analysis.poses.spring_motion import pulled
from chainform.analysis.results.interruption import Watch
from chainform.analysis.results.result import Result
from chainform.errors import RunError
from chainform.given import counted

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
MOST_NUMBERS = 50_000_000
"""The most coordinates of a result."""
SAMPLES = 20
"""Poses in which freedoms are counted: of all but singular ones it is the same number."""
MOST_BRANCHES = 32
"""No closed form has more candidates."""
SINGULAR = 1e-4
"""Smallest singular values below this, against the largest, are those of singular poses."""
LISTED = 20
"""The most stretches that a report names."""
UNITS = {"position_error": "m", "rotation_error": "rad"}
CHOICES = {
    "least_motion": "the pose nearest to q0 was looked for",
    "middle_range": "the pose nearest to the middle of the limits (0 without) was looked for",
    "any": "the first pose that was found",
    "held": "the first pose that was found with the held coordinates",
}
"""What is chosen where targets leave freedoms; of paths, the first is another."""
NORM = "angles in rad, lengths over the size of the mechanism"


@dataclass(frozen=True, eq=False)
class PoseProblem:
    """What is to be solved, checked; `branches` is None for all, `start` (nq,) where it begins."""

    search: PoseSearch
    targets: PoseTargets
    choice: str
    method: str
    branches: int | None
    start: Array
    form: ClosedForm | None
    watch: Watch

    @property
    def equations(self) -> PoseEquations:
        """The equations of the search."""
        return self.search.equations

    @property
    def middle(self) -> Array:
        """The pose (nq,) in the middle of the limits, zero where there are none."""
        equations, pose = self.equations, self.equations.mechanism.neutral()
        low, high = equations.lower[equations.single], equations.upper[equations.single]
        with np.errstate(invalid="ignore"):
            pose[equations.places] = np.where(np.isfinite(low + high), (low + high) / 2, 0.0)
        return pose

    def freedoms(self, q: Array, goals: PoseGoals) -> int:
        """Return how many freedoms the targets leave open at poses (m, nq)."""
        return len(self.equations.moving) - self.rank(q, goals) if len(q) else 0

    def rank(self, q: Array, goals: PoseGoals) -> int:
        """Return how many equations are independent in poses (m, nq) that are not singular.

        All of the given ones may be singular, so that without loops random poses count as well.
        """
        equations = self.equations
        some = np.unique(np.linspace(0, len(q) - 1, SAMPLES).astype(np.intp))[: len(q)]
        ranks = inverse_of(equations.at(q[some], goals.take(some)).J).ranks
        if not equations.closure.count:
            around = replace(self.search, random=np.random.default_rng(0)).random_poses(q[some])
            J = equations.at(around, equations.goals_at(around)).J
            ranks = np.concatenate([ranks, inverse_of(J).ranks])
        return int(np.max(ranks, initial=0))

    def refuse_many_branches(self, freedoms: int) -> None:
        """Refuse several branches where poses are not single ones."""
        if self.branches != 1 and freedoms:
            raise RunError(
                f"the targets leave {counted(freedoms, 'freedom')} open: there is no number of "
                "branches",
                element="branches",
                remedy='hold as many coordinates: redundancy={"joint3": 0.2}',
            )


# --- single targets ---------------------------------------------------------------------------


def single_poses(problem: PoseProblem) -> Result:
    """Return poses of targets that are solved each on its own."""
    goals = problem.targets.goals
    bound_rows(problem, len(goals) * (MOST_BRANCHES if problem.form is not None else 1))
    if problem.branches == 1:
        return _one_each(problem, goals)
    rows, lines = list[Array](), search_lines(problem)
    with problem.watch.counting(len(goals)):
        for poses in _all_branches(problem, goals):
            rows.append(poses[: problem.branches])
            problem.watch.tell(len(rows))
    q, goals = np.concatenate(rows[: problem.watch.done]), goals.take(slice(problem.watch.done))
    counts = np.array([len(poses) for poses in rows[: len(goals)]])
    which = np.repeat(np.arange(len(goals)), counts)
    problem.refuse_many_branches(problem.freedoms(q, goals.take(which)))
    number = np.concatenate([np.arange(1.0, len(poses) + 1) for poses in rows[: len(goals)]])
    found = pose_arrays(problem, q, goals.take(which), np.ones(len(q), dtype=bool))
    arrays: dict[str, Array] = {"branch": number, "target": which.astype(np.float64) + 1, **found}
    lines.append(
        f"branches: {len(q)} of {counted(len(goals), 'target')}, "
        f"{counts.min()} to {counts.max()} of each"
    )
    singular = np.unique(which[found["singular_value"] < SINGULAR])
    if len(singular):
        lines.append(f"singular at {_numbers(singular)}: there may be more poses side by side")
    missing = np.flatnonzero(counts == 0)
    if len(missing):
        lines.append(f"no pose was found for {_numbers(missing)}")
    facts = {"branches": len(q), "targets": len(goals), "reached": int(np.sum(counts > 0))}
    return pose_result(problem, "branch", arrays, lines, facts)


def _all_branches(problem: PoseProblem, goals: PoseGoals) -> Iterator[Array]:
    """Yield the different poses (k, nq) of each goal, those nearest to the start first."""
    search = problem.search
    if problem.form is not None:
        poses, good = problem.form.branches(search, goals)
        yield from (search.distinct(poses[k][good[k]], problem.start) for k in range(len(goals)))
        return
    for k in range(len(goals)):
        yield search.branches(goals.take([k]), problem.start)[0]


def _one_each(problem: PoseProblem, goals: PoseGoals) -> Result:
    search, start = problem.search, np.tile(problem.start, (len(goals), 1))
    starts = np.ones(len(goals), dtype=np.int64)
    if problem.form is not None:
        q, reached = _nearest_branch(problem, goals)
    elif problem.method == "dynamic":
        motion = pulled(search, problem.targets, problem.start, problem.watch)
        q, reached = search.newton(motion.q, goals)
    else:
        found = search.solve(goals, start, problem.watch)
        q, reached, starts = found.q, found.reached, found.starts
        goals, start = goals.take(slice(len(q))), start[: len(q)]
    count = len(goals)
    places, others = np.flatnonzero(reached), np.flatnonzero(~reached)
    freedoms = problem.freedoms(q[places], goals.take(places))
    if freedoms and problem.choice in ("least_motion", "middle_range"):
        near = start if problem.choice == "least_motion" else np.tile(problem.middle, (count, 1))
        q[places] = _settled(search, q[places], goals.take(places), near[places])
    else:
        q[places] = search.unwound(q[places], start[places])
    q[others] = nearest_of_many(search, q[others], goals.take(others))
    # The nearest pose may be at the target: no step is as careful as those that lead there.
    reached[others] = search.is_there(q[others], goals.take(others))
    places, others = np.flatnonzero(reached), np.flatnonzero(~reached)
    arrays = {"target": np.arange(1.0, count + 1), **pose_arrays(problem, q, goals, reached)}
    lines = [*search_lines(problem), *choice_lines(problem, freedoms)]
    lines.append(f"{len(places)} of {counted(count, 'target')} reached")
    if len(others):
        least = arrays["position_error"][others], arrays["rotation_error"][others]
        nearest = f"{least[0].min():.3g} to " if len(others) > 1 else ""
        lines.append(
            f"not reached: {_numbers(others)}; the nearest poses found are off by "
            f"{nearest}{least[0].max():.3g} m"
            + (f" and up to {least[1].max():.3g} rad" if least[1].any() else "")
        )
    facts = {"targets": count, "reached": len(places), "starts": int(starts.sum())}
    return pose_result(problem, "target", arrays, lines, {**facts, "freedoms": freedoms})


def _settled(search: PoseSearch, q: Array, goals: PoseGoals, near: Array) -> Array:
    """Return poses nearest to others where the search finds them, within the limits."""
    found = search.settled(search.unwound(q, near), goals, near)
    fine = search.equations.at(found, goals).size <= search.tolerance
    return np.where(fine[:, np.newaxis], found, q)


def _nearest_branch(problem: PoseProblem, goals: PoseGoals) -> tuple[Array, Mask]:
    """Return of each target the branch of the closed form that is nearest to the start."""
    assert problem.form is not None
    search, start = problem.search, problem.start
    poses, good = problem.form.branches(search, goals)
    count, kinds, nq = poses.shape
    flat = search.unwound(poses.reshape(-1, nq), np.tile(start, (count * kinds, 1)))
    away = search.equations.difference(flat, np.tile(start, (count * kinds, 1)))
    size = np.where(good, np.linalg.norm(away, axis=1).reshape(count, kinds), np.inf)
    best = np.argmin(size, axis=1)
    q = flat.reshape(poses.shape)[np.arange(count), best]
    reached = np.asarray(good.any(axis=1), dtype=np.bool_)
    return np.where(reached[:, np.newaxis], q, start), reached


# --- results ----------------------------------------------------------------------------------


def bound_rows(problem: PoseProblem, rows: int) -> None:
    """Refuse results that are too large for memory."""
    if rows * problem.equations.mechanism.nq > MOST_NUMBERS:
        raise RunError(
            f"{rows} poses of {problem.equations.mechanism.nq} coordinates are too many",
            element="targets",
            remedy="solve them in parts",
        )


def pose_arrays(
    problem: PoseProblem, q: Array, goals: PoseGoals, reached: Mask
) -> dict[str, Array]:
    """Return coordinates, errors, and how near to singular each pose is."""
    distance, angle = problem.equations.errors(q, goals)
    sizes = inverse_of(problem.equations.at(q, goals).J)
    rank = max(problem.rank(q, goals), int(np.max(sizes.ranks, initial=0)))
    return {
        "q": q,
        "position_error": distance,
        "rotation_error": angle,
        "singular_value": sizes.smallest(rank),
        "reached": reached.astype(np.float64),
    }


def pose_result(
    problem: PoseProblem,
    rows: str,
    arrays: dict[str, Array],
    lines: list[str],
    facts: dict[str, Any],
) -> Result:
    """Return the result, with what is known of the method; TaskInterrupted where it is a part."""
    about = {"method": problem.method, "redundancy": problem.choice, **facts}
    mechanism, report = problem.equations.mechanism, (*lines, *problem.watch.lines)
    result = Result("inverse_kinematics", mechanism, rows, arrays, report, about, UNITS)
    return problem.watch.finished(result)


def search_lines(problem: PoseProblem) -> list[str]:
    """Return how poses were looked for, and what that cannot promise."""
    limits = "within the limits" if problem.search.limits else "without limits"
    if problem.form is not None:
        return [f"closed form of an {problem.form.kind}: all branches, {limits}"]
    if problem.method == "dynamic":
        return [f"a fictitious spring pulled the frames, then Newton steps; {limits}"]
    starts = problem.search.starts
    line = f"Newton steps from at most {counted(starts, 'start')} for each target, {limits}"
    return [line, "a search from random starts cannot prove that there is no other pose"]


def choice_lines(problem: PoseProblem, freedoms: int) -> list[str]:
    """Return how redundancy was resolved."""
    if not freedoms:
        return []
    chosen = f"{CHOICES[problem.choice]}"
    if problem.targets.is_path and problem.method == "dynamic":
        chosen = "the motion of the spring chose"
    elif problem.targets.is_path and problem.choice != "middle_range":
        chosen = "the motion with rates of least norm"
    return [f"the targets leave {counted(freedoms, 'freedom')}: {chosen} ({NORM})"]


def _numbers(places: NDArray[np.intp]) -> str:
    shown = ", ".join(str(k + 1) for k in places[:LISTED])
    return (
        f"target{'s' if len(places) > 1 else ''} {shown}{', ...' if len(places) > LISTED else ''}"
    )
