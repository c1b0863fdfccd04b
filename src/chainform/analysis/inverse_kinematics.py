"""Inverse kinematics: the coordinates with which frames are where they shall be, and their rates.

One pose for each target, all branches of it, or a path that is followed in time; by Newton steps
from many starts, by the closed form of an arm, or by a fictitious spring that pulls the frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np

from chainform.analysis.arm_branches import closed_form
from chainform.analysis.pose_equations import pose_equations
from chainform.analysis.pose_motion import path_poses
from chainform.analysis.pose_search import PoseSearch
from chainform.analysis.pose_solution import PoseProblem, single_poses
from chainform.analysis.pose_targets import pose_targets
from chainform.analysis.result import Result
from chainform.errors import RunError
from chainform.given import argument
from chainform.mechanism import Mechanism
from chainform.readers import read
from chainform.simulation import initial_state, parameters_of

METHODS = ("newton", "closed_form", "dynamic")
REDUNDANCY = ("least_motion", "middle_range", "any")
MOST_STARTS = 100_000
MOST_BRANCHES = 10_000


def inverse_kinematics(  # noqa: PLR0913, a front door
    mechanism: Mechanism | str | PathLike[str],
    targets: Mapping[str, Any],
    t: Any = None,
    *,
    q0: Any = None,
    method: str = "newton",
    branches: int | str = 1,
    limits: bool = True,
    redundancy: str | Mapping[str, Any] = "least_motion",
    starts: int = 100,
    seed: int = 0,
    tolerance: float = 1e-10,
    values: Mapping[str, Any] | None = None,
) -> Result:
    """Return poses in which frames are at targets, and along a path their rates.

    `targets` has, by the name of a frame or segment, a point [x, y, z], a pose (4, 4), samples of
    them, or a table of position and rotation, in numbers, laws of t or points with times. With
    times `t` (s), or where points have times, the targets are a path, which is followed from a pose
    near `q0`; otherwise each target is solved on its own, the search beginning at `q0`.

    `method` is "newton", "closed_form" (arms with a spherical wrist or with three parallel axes) or
    "dynamic" (a spring pulls the frames along the path). `branches` is how many different poses of
    each target are wanted, or "all". `limits` keeps joints within theirs. `redundancy` says what is
    chosen where targets leave freedoms: "least_motion", "middle_range" (near the middle of the
    limits), "any", or a table of coordinates with their values or laws. A target has as many as
    `starts` starts, random ones after the first, always the same for a `seed`. `tolerance` is what
    may be missing, in rad and in parts of the size; `values` are those of parameters.
    """
    source = mechanism if isinstance(mechanism, Mechanism) else read(mechanism)
    settled = parameters_of(source, values).mechanism
    held = argument("redundancy", redundancy if isinstance(redundancy, Mapping) else None)
    choice = "held"
    if not held.is_given:
        choice = argument("redundancy", redundancy).choice(REDUNDANCY, "choice")
    wanted = pose_targets(settled, argument("targets", targets), t, held)
    equations = pose_equations(settled, wanted.rows, tuple(place for place, _ in wanted.held))
    search = PoseSearch(
        equations,
        argument("limits", limits).flag(),
        argument("starts", starts).whole(1, MOST_STARTS),
        argument("tolerance", tolerance).number(1e-14, 1e-2),
        np.random.default_rng(argument("seed", seed).whole()),
    )
    start = settled.neutral()
    if q0 is not None:
        start = initial_state(settled, q0, None)[: len(start)]
    if search.limits:
        start = equations.clipped(start[np.newaxis])[0]
    chosen = argument("method", method).choice(METHODS)
    form = closed_form(equations, wanted.goals) if chosen == "closed_form" else None
    count = _branches(branches, chosen)
    problem = PoseProblem(search, wanted, choice, chosen, count, start, form)
    return path_poses(problem) if wanted.is_path else single_poses(problem)


def _branches(branches: int | str, method: str) -> int | None:
    """Return how many branches are wanted, None for all."""
    remedy = 'give a number, or branches="all"'
    given = argument("branches", branches)
    if isinstance(branches, str):
        given.choice(("all",), "choice", remedy)
    count = None if isinstance(branches, str) else given.whole(1, MOST_BRANCHES, remedy)
    if method == "dynamic" and count != 1:
        raise RunError(
            "a spring pulls to one branch only",
            element="branches",
            remedy='leave branches out, or choose method="newton" or "closed_form"',
        )
    return count
