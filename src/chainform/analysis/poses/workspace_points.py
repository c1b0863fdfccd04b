"""The workspace of a frame: positions that it can take, in poses spread over the joints.

In a closed mechanism each drawn pose is moved to where loops and constraints hold, at time 0.
Directions in which the frame can move are the columns of J_F N, with J N = 0 for their rows J.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.motions.constraint_values import ClosureRows
from chainform.analysis.motions.motion import with_values
from chainform.analysis.motions.motion_kinematics import null_space
from chainform.analysis.poses.joint_ranges import limits_of
from chainform.analysis.poses.pose_equations import PoseEquations
from chainform.analysis.poses.pose_search import PoseSearch
from chainform.analysis.results.interruption import Progress, Watch
from chainform.analysis.results.result import Result
from chainform.errors import RunError
from chainform.formulations import check_frame, is_bound
from chainform.given import Given, argument
from chainform.mechanism import Mechanism, motion_units
from chainform.pipeline import derive

Array = NDArray[np.float64]
MOST = 100_000
"""Poses of a workspace."""
TOGETHER = 5000
"""Poses that are computed together."""
PORTION = 500
"""Poses whose loops are closed together."""
STEPS = 60
TOLERANCE = 1e-10
"""How far loops may stay open, in rad and in parts of the size."""


def workspace(
    mechanism: Mechanism | str | PathLike[str],
    of: str,
    *,
    count: int = 2000,
    seed: int = 0,
    ranges: Mapping[str, Sequence[float]] | None = None,
    values: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Result:
    """Return positions that the frame `of` can take: `count` poses, evenly spread over the joints.

    A joint moves between its limits, or a whole turn; `ranges` gives others, and must for sliding
    joints without limits. In a closed mechanism each pose is moved to the nearest in which loops
    and constraints hold; poses that cannot be closed within the ranges are left out, and so are
    those in which laws of elements have no value. Arrays: q,
    `position` (m, 3) in world axes, `singular_values` (m, k). `values` are those of parameters.
    `progress` is called with the number of poses that are done, and of all; Ctrl-C raises
    TaskInterrupted, with these.
    """
    watch, mechanism = Watch(progress), with_values(mechanism, values)
    number = argument("count", count).whole(1, MOST)
    check_frame(mechanism, of)
    low, high, is_given = _ranges(mechanism, argument("ranges", ranges or {}))
    q = low + (high - low) * _spread(number, mechanism.nq, argument("seed", seed).whole())
    lines = list[str]()
    if is_bound(mechanism):
        low, high = np.where(is_given, low, -np.inf), np.where(is_given, high, np.inf)
        q = _closed(mechanism, of, q, (low, high), watch)
        drawn = watch.done if watch.came else number
        lines.append(f"{len(q)} of {drawn} poses close the loops within the ranges")
        position, sizes = _reached(mechanism, of, q, Watch(takes_parts=False))
    else:
        position, sizes = _reached(mechanism, of, q, watch)
    found, places = len(position), np.flatnonzero(~np.isnan(position[:, 0]))
    q, position, sizes = (part[places] for part in (q, position, sizes))
    if len(q) < found:
        lines.append(f"{len(q)} of {found} poses are left: laws have no value in the others")
    if not len(q):
        message = f"the laws of the mechanism have no value in {found} poses"
        raise RunError(message, file=mechanism.file, element="ranges", remedy="give other ranges")
    box = [[float(f(position[:, k])) for f in (np.min, np.max)] for k in range(3)]
    reach = np.linalg.norm(position, axis=1)
    sides = ", ".join(f"{n} {a:.4g} to {b:.4g}" for n, (a, b) in zip("xyz", box, strict=True))
    ends = f"{reach.min():.4g} to {reach.max():.4g} m from the origin"
    beyond = f"{len(q)} poses show no more than themselves: the boundary lies a little outside"
    report = (
        f"box of the positions that were found, m: {sides}",
        f"{ends}; {beyond}",
        *lines,
        *watch.lines,
    )
    arrays = {"sample": np.arange(float(len(q))), "q": q, "position": position}
    arrays["singular_values"] = sizes
    facts, units = {"box": box}, {"position": "m"}
    return watch.finished(Result("workspace", mechanism, "sample", arrays, report, facts, units))


def _closed(
    mechanism: Mechanism, of: str, drawn: Array, bounds: tuple[Array, Array], watch: Watch
) -> Array:
    """Return the poses near to those drawn in which loops and constraints hold."""
    equations, found = PoseEquations(mechanism, ((of, ()),), ()), list[Array]()
    equations.lower, equations.upper = bounds
    search = PoseSearch(equations, True, 1, TOLERANCE, np.random.default_rng(0))
    with watch.counting(len(drawn)):
        for first in range(0, len(drawn), PORTION):
            starts = drawn[first : first + PORTION]
            goals = equations.goals_at(starts)
            poses, is_closed = search.newton(starts, goals, STEPS)
            found.append(poses[is_closed & equations.is_possible(poses, goals.t)])
            watch.tell(first + len(starts))
    poses = np.concatenate(found)
    if not len(poses):
        message = f"none of {watch.done} poses closes the loops within the ranges"
        remedy = "give ranges near to a closed pose, or a larger count"
        raise RunError(message, file=mechanism.file, element="loops", remedy=remedy)
    return poses


def _reached(mechanism: Mechanism, of: str, q: Array, watch: Watch) -> tuple[Array, Array]:
    """Return positions (m, 3) and singular values (m, k) of a frame in poses (m, nq).

    Positions are nan where laws have no value.
    """
    outputs = [f"pose({of})", f"jacobian({of})"]
    model = derive(mechanism, outputs)
    groups = {item.group for item in model.graph.inputs.values()}
    times: dict[str, Any] = {"t": 0.0} if "t" in groups else {}
    rows = ClosureRows(mechanism) if is_bound(mechanism) else None
    position, sizes = np.zeros((len(q), 3)), list[Array]()
    with watch.counting(len(q)):
        for first in range(0, len(q), TOGETHER):
            part = slice(first, first + TOGETHER)
            with np.errstate(all="ignore"):
                found = model.evaluate(q=q[part], **times)
            place, slopes = found[outputs[0]][:, :3, 3], found[outputs[1]][:, :3]
            lost = np.isnan(place.sum(axis=1) + slopes.sum(axis=(1, 2)))
            position[part] = np.where(lost[:, None], np.nan, place)
            J = np.where(lost[:, None, None], 0.0, slopes)
            still = np.zeros((len(J), mechanism.nv))
            moving = [J] if rows is None else _along(rows, q[part], still, J)
            sizes += [np.asarray(np.linalg.svd(x, compute_uv=False), np.float64) for x in moving]
            watch.tell(min(first + TOGETHER, len(q)))
    return position[: watch.done], _even(sizes)[: watch.done]


def _along(rows: ClosureRows, q: Array, still: Array, J: Array) -> list[Array]:
    """Return J_F N of each pose, (1, 3, freedoms) each."""
    at = rows.at(np.zeros(len(q)), q, still)
    return [(one @ null_space(row))[np.newaxis] for one, row in zip(J, at.J, strict=True)]


def _even(sizes: Sequence[Array]) -> Array:
    """Return singular values (m, k) of as many directions as there are in every pose."""
    count = min([3, *(one.shape[1] for one in sizes)])
    return np.concatenate([one[:, :count] for one in sizes])


def _ranges(mechanism: Mechanism, given: Given) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return the least and greatest value of each coordinate, and which of them bound it."""
    if mechanism.nq != mechanism.nv:
        remedy = "give it euler angles in the file"
        raise RunError("a joint has a quaternion", element="ranges", remedy=remedy)
    low, high = limits_of(mechanism)
    table = given.table(remedy='write {"slide": [0, 1]}')
    named = {mechanism.coordinate_index(name): entry for name, entry in table.items()}
    for place, entry in named.items():
        low[place], high[place] = (part.number() for part in entry.entries(2, "write [0, 1]"))
        if low[place] > high[place]:
            raise entry.error("the range is empty", "write the lower end first")
    is_turn = np.array([unit != "m" for unit in motion_units(mechanism)], np.bool_)
    # A joint that is limited on one side only moves a whole turn from there.
    only_low, only_high = (np.isfinite(x) & ~np.isfinite(y) for x, y in ((low, high), (high, low)))
    high = np.where(is_turn & only_low, low + 2 * np.pi, high)
    low = np.where(is_turn & only_high, high - 2 * np.pi, low)
    is_given = np.isfinite(low) & np.isfinite(high)
    for place in range(mechanism.nq):
        if not is_given[place] and not is_turn[place]:
            name = mechanism.coordinates[place]
            remedy = f'give a range: ranges={{"{name}": [0, 1]}}'
            raise RunError(
                "a sliding joint has no limits", element=f"joint {name!r}", remedy=remedy
            )
    return np.where(is_given, low, -np.pi), np.where(is_given, high, np.pi), is_given


def _spread(count: int, dimensions: int, seed: int) -> Array:
    """Return points that fill the unit cube evenly: Kronecker's sequence of a generalised root."""
    root = 2.0
    for _ in range(64):
        root = (1 + root) ** (1 / (dimensions + 1))
    steps = root ** -np.arange(1.0, dimensions + 1)
    first = np.random.default_rng(seed).random(dimensions)
    return (first + np.arange(count)[:, None] * steps) % 1.0
