"""Inverse kinematics: the coordinates with which frames are where they shall be, and their rates.

One pose for each target, all branches of it, or a path that is followed in time; by Newton steps
from many starts, by the closed form of an arm, or by a fictitious spring that pulls the frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.motions.motion import with_values
from chainform.analysis.poses.arm_branches import closed_form
from chainform.analysis.poses.nearest_poses import nearest
from chainform.analysis.poses.pose_equations import pose_equations
from chainform.analysis.poses.pose_path import PathFollower, PosePath
from chainform.analysis.poses.pose_rates import PoseRates, rates_of
from chainform.analysis.poses.pose_search import PoseSearch
from chainform.analysis.poses.pose_solution import (
    LISTED,
    MOST_BRANCHES,
    PoseProblem,
    bound_rows,
    choice_lines,
    pose_arrays,
    pose_result,
    search_lines,
    single_poses,
)
from chainform.analysis.poses.pose_stretches import Stretch, stretches_of
from chainform.analysis.poses.pose_targets import PoseGoals, pose_targets
from chainform.analysis.poses.spring_motion import SpringMotion, pulled
from chainform.analysis.results.interruption import Progress, Watch
from chainform.analysis.results.result import Result
from chainform.errors import RunError
from chainform.given import argument
from chainform.mechanism import Mechanism
from chainform.simulation import initial_state

# --- poses along a path ---------------------------------------------------------------------------


Array = NDArray[np.float64]


def path_poses(problem: PoseProblem) -> Result:
    """Return poses along a path, with their rates."""
    targets = problem.targets
    bound_rows(problem, len(targets.times) * (MOST_BRANCHES if problem.form is not None else 1))
    first = targets.at(targets.times[:1])
    starts = _starts(problem, first)
    freedoms = problem.freedoms(starts, first.take([0] * len(starts)))
    problem.refuse_many_branches(freedoms)
    _refuse_middle_range(problem, freedoms)
    bound_rows(problem, len(targets.times) * len(starts))
    reference = problem.middle if freedoms and problem.choice == "middle_range" else None
    follower = PathFollower(
        problem.search, targets, freedoms > 0 and reference is None, reference, problem.form
    )
    motion = None
    if problem.method == "dynamic":
        motion = pulled(problem.search, targets, problem.start, problem.watch)
        follower = follower.until(len(motion.q))
        path = follower.corrected(motion.q)
    else:
        path = follower.follow(starts, problem.watch)
        follower = follower.until(path.q.shape[1])
    problem = replace(problem, targets=follower.targets)
    return _result(problem, follower, path, motion, freedoms)


def _starts(problem: PoseProblem, first: PoseGoals) -> Array:
    """Return the poses (branches, nq) in which the path begins."""
    search, start = problem.search, problem.start
    if problem.method == "dynamic":
        return start[np.newaxis]
    if problem.form is not None:
        poses, good = problem.form.branches(search, first)
        found = search.distinct(poses[0][good[0]], start)
    else:
        alone = replace(search, starts=1).solve(first, start[np.newaxis])
        near = problem.branches == 1 and bool(alone.reached[0])
        # Where the search from q0 fails, the nearest of what all starts find is taken.
        found = (
            search.unwound(alone.q, start[np.newaxis]) if near else search.branches(first, start)[0]
        )
    if not len(found):
        found = nearest(search, start[np.newaxis], first)
    return found[: problem.branches]


def _refuse_middle_range(problem: PoseProblem, freedoms: int) -> None:
    mechanism = problem.equations.mechanism
    is_simple = not problem.equations.closure.count and mechanism.nq == mechanism.nv
    if freedoms and problem.choice == "middle_range" and not is_simple:
        raise RunError(
            "along a path middle_range takes no loops, constraints and quaternions",
            element="redundancy",
            remedy='choose "least_motion", or hold coordinates: {"joint3": 0.2}',
        )


def _result(
    problem: PoseProblem,
    follower: PathFollower,
    path: PosePath,
    motion: SpringMotion | None,
    freedoms: int,
) -> Result:
    times, count = problem.targets.times, len(path.q)
    goals = problem.targets.goals.take(np.tile(np.arange(len(times)), count))
    q, reached = path.q.reshape(-1, path.q.shape[2]), path.reached.ravel()
    arrays: dict[str, Array] = {"t": goals.t, **pose_arrays(problem, q, goals, reached)}
    if count > 1:
        arrays = {"branch": np.repeat(np.arange(1.0, count + 1), len(times)), **arrays}
    lines = [*search_lines(problem), *choice_lines(problem, freedoms)]
    if motion is None or not freedoms:
        rates = rates_of(problem.equations, q, goals, problem.search.limits, follower.reference)
        lines += _rate_lines(problem, rates)
        known = {"qd": rates.qd, "qdd": rates.qdd}
        for name, values in ((n, x) for n, x in known.items() if x is not None):
            arrays[name] = np.where(reached[:, np.newaxis], values, np.nan)
    else:
        lines.append("rates are left out: the motion of the spring takes up what is free")
    if freedoms and problem.search.limits:
        lines += _limit_lines(problem, q[reached])
    stretches: list[Stretch] | None = None
    with problem.watch:
        stretches = stretches_of(follower, path)
    if stretches is None:
        stretches = []
        lines.append("places out of reach and singular ones were not looked for")
    facts = {
        "branches": count,
        "times": len(times),
        "reached": int(reached.sum()),
        "freedoms": freedoms,
        "stretches": [_table(stretch) for stretch in stretches],
    }
    if motion is not None:
        facts["steps"] = motion.steps
    lines += _stretch_lines(stretches, count, len(times), reached.reshape(count, -1))
    return pose_result(problem, "branch" if count > 1 else "t", arrays, lines, facts)


def _rate_lines(problem: PoseProblem, rates: PoseRates) -> list[str]:
    lines = ["rates and accelerations are exact: J qd = v, J qdd = a - Jd qd"]
    if problem.targets.has_spline:
        lines.append(
            "between points the targets are cubic splines (not-a-knot), and rates are theirs"
        )
    if rates.qdd is None:
        lines.append("accelerations are left out: loops and a choice of motions together")
    return lines


def _limit_lines(problem: PoseProblem, q: Array) -> list[str]:
    """Return which coordinates stay at limits for a while, where rates have jumps."""
    names = problem.equations.names_at_limits(q)
    if not names:
        return []
    return [f"rates jump where a coordinate meets or leaves its limit: {', '.join(names)}"]


def _stretch_lines(
    stretches: list[Stretch], count: int, times: int, reached: NDArray[np.bool_]
) -> list[str]:
    lines = list[str]()
    for branch in range(count):
        name = f"branch {branch + 1}: " if count > 1 else ""
        lines.append(f"{name}{int(reached[branch].sum())} of {times} places reached")
    for stretch in stretches[:LISTED]:
        name = f"branch {stretch.branch + 1}, " if count > 1 else ""
        lines.append(f"{name}{stretch.text}")
    if len(stretches) > LISTED:
        lines.append(f"and {len(stretches) - LISTED} more stretches, see facts['stretches']")
    return lines


def _table(stretch: Stretch) -> dict[str, object]:
    return {
        "kind": stretch.kind,
        "branch": stretch.branch + 1,
        "start": stretch.start,
        "end": stretch.end,
        "amount": stretch.amount,
        "angle": stretch.angle,
        "text": stretch.text,
    }


# --- the task -------------------------------------------------------------------------------------


METHODS = ("newton", "closed_form", "dynamic")
REDUNDANCY = ("least_motion", "middle_range", "any")
MOST_STARTS = 100_000
MOST_REQUESTED = 10_000
"""Branches that may be wanted."""
TRIES = 100
"""Random poses in which laws may have a value."""


class PoseOptions(TypedDict, total=False):
    """How poses are looked for.

    `limits` keeps joints within theirs. `redundancy` says what is chosen where targets leave
    freedoms: "least_motion", "middle_range" (near the middle of the limits), "any", or a table of
    coordinates with their values or laws. A target has as many as `starts` starts, random ones
    after the first, always the same for a `seed`. `tolerance` is what may be missing, in rad and in
    parts of the size; `values` are those of parameters.
    """

    limits: bool
    redundancy: str | Mapping[str, Any]
    starts: int
    seed: int
    tolerance: float
    values: Mapping[str, Any] | None


def inverse_kinematics(
    mechanism: Mechanism | str | PathLike[str],
    targets: Mapping[str, Any],
    t: Any = None,
    *,
    q0: Any = None,
    method: str = "newton",
    branches: int | str = 1,
    progress: Progress | None = None,
    **options: Unpack[PoseOptions],
) -> Result:
    """Return poses in which frames are at targets, and along a path their rates.

    `targets` has, by the name of a frame or segment, a point [x, y, z], a pose (4, 4), samples of
    them, or a table of position and rotation, in numbers, laws of t or points with times. With
    times `t` (s), or where points have times, the targets are a path, which is followed from a pose
    near `q0`; otherwise each target is solved on its own, the search beginning at `q0`.

    `method` is "newton", "closed_form" (arms with a spherical wrist or with three parallel axes) or
    "dynamic" (a spring pulls the frames along the path). `branches` is how many different poses of
    each target are wanted, or "all". The other arguments are those of `PoseOptions`. `progress` is
    called with the number of targets or places that are done, and of all; Ctrl-C raises
    TaskInterrupted, with these.
    """
    watch = Watch(progress)
    given = argument("options", options).table(PoseOptions.__annotations__).value
    settled = with_values(mechanism, given.get("values") or {})
    redundancy = given.get("redundancy", "least_motion")
    held = argument("redundancy", redundancy if isinstance(redundancy, Mapping) else None)
    choice = "held"
    if not held.is_given:
        choice = argument("redundancy", redundancy).choice(REDUNDANCY, "choice")
    wanted = pose_targets(settled, argument("targets", targets), t, held)
    equations = pose_equations(settled, wanted.rows, tuple(place for place, _ in wanted.held))
    search = PoseSearch(
        equations,
        argument("limits", given.get("limits", True)).flag(),
        argument("starts", given.get("starts", 100)).whole(1, MOST_STARTS),
        argument("tolerance", given.get("tolerance", 1e-10)).number(1e-14, 1e-2),
        np.random.default_rng(argument("seed", given.get("seed", 0)).whole()),
    )
    start = settled.neutral()
    if q0 is not None:
        start = initial_state(settled, q0, None)[: len(start)]
    if search.limits:
        start = equations.clipped(start[np.newaxis])[0]
    start = _with_value(search, start, wanted.goals.take([0]), is_given=q0 is not None)
    chosen = argument("method", method).choice(METHODS)
    form = closed_form(equations, wanted.goals) if chosen == "closed_form" else None
    count = _branches(branches, chosen)
    problem = PoseProblem(search, wanted, choice, chosen, count, start, form, watch)
    return path_poses(problem) if wanted.is_path else single_poses(problem)


def _with_value(search: PoseSearch, start: Array, goal: PoseGoals, *, is_given: bool) -> Array:
    """Return the pose to begin with: a random one where none is given and laws have no value."""
    tries = start[np.newaxis]
    if not is_given and not np.isfinite(search.equations.at(tries, goal).size[0]):
        tries = search.random_poses(np.tile(start, (TRIES, 1)))
    good = np.isfinite(search.equations.at(tries, goal.take([0] * len(tries))).size)
    if not good.any():
        message = "the laws of the mechanism have no value in the pose to begin with"
        raise RunError(message, element="q0", remedy="give a pose in its range")
    return tries[int(np.argmax(good))]


def _branches(branches: int | str, method: str) -> int | None:
    """Return how many branches are wanted, None for all."""
    remedy = 'give a number, or branches="all"'
    given = argument("branches", branches)
    if isinstance(branches, str):
        given.choice(("all",), "choice", remedy)
    count = None if isinstance(branches, str) else given.whole(1, MOST_REQUESTED, remedy)
    if method == "dynamic" and count != 1:
        raise RunError(
            "a spring pulls to one branch only",
            element="branches",
            remedy='leave branches out, or choose method="newton" or "closed_form"',
        )
    return count
