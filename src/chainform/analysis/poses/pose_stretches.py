"""Stretches of a path that are out of reach or singular, with their places and their reasons.

Ends of a stretch between two samples are found by bisection, a singular position between two
samples by the smallest singular value of J, so that both are as exact as the path is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.poses.pose_equations import PoseEquations
from chainform.analysis.poses.pose_path import PathFollower, PosePath
from chainform.analysis.poses.pose_rates import inverse_of

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

SINGULAR = 1e-4
"""A position is singular where the smallest singular value is below this share of the largest."""
DIP = 0.1
"""Between samples a singular position is looked for where the share falls below this."""
BISECTIONS = 60
STEPS = 60
GOLDEN = (np.sqrt(5) - 1) / 2
PARTS = ("x", "y", "z", "turn x", "turn y", "turn z")
SHOWN = 0.3
"""Components of a direction that are smaller are left out of its words."""
LIMITS = "out of reach within the limits"
REASONS = ("the branch ends here, and another one reaches the target", LIMITS, "out of reach")
"""Why a branch is not at its target: the branch alone, limits, or the reach."""
LOOKED = 100
"""The most samples of a stretch of which the reason is looked for."""


@dataclass(frozen=True)
class Stretch:
    """A stretch of a branch from `start` to `end` (s): what is wrong there, in words.

    `kind` is "unreachable" or "singular"; `amount` is the greatest distance (m) of the pose nearest
    to its target with the angle (rad) there, or the smallest singular value against the largest.
    """

    kind: str
    branch: int
    start: float
    end: float
    amount: float
    angle: float
    text: str


def stretches_of(follower: PathFollower, path: PosePath) -> list[Stretch]:
    """Return all stretches of all branches, in the order of branches and times."""
    found = list[Stretch]()
    for branch in range(len(path.q)):
        found += _unreachable(follower, path, branch)
        found += _singular(follower, path, branch)
    return sorted(found, key=lambda s: (s.branch, s.start))


def runs(mask: Mask) -> Iterator[tuple[int, int]]:
    """Yield first and last place of each run of true entries."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    yield from ((int(a), int(b) - 1) for a, b in edges.reshape(-1, 2))


# --- out of reach -----------------------------------------------------------------------------


def _unreachable(follower: PathFollower, path: PosePath, branch: int) -> Iterator[Stretch]:
    """Yield the stretches that a branch does not reach, divided where the reason changes."""
    times, q = follower.targets.times, path.q[branch]
    distance, angle = follower.equations.errors(q, follower.targets.goals)
    turns = any(3 in rows for _, rows in follower.equations.rows)
    for first, last in runs(~path.reached[branch]):
        start, end = float(times[first]), float(times[last])
        if first > 0:
            start = _border(follower, q[first - 1], float(times[first - 1]), start)
        if last + 1 < len(times):
            end = _border(follower, q[last + 1], float(times[last + 1]), end)
        for reason, near, since, until in _parts(follower, q, (first, last), (start, end)):
            miss = distance[near] / follower.equations.size + angle[near]
            worst = int(near[np.argmax(miss)])
            left = f"{distance[worst]:.3g} m" + (f" and {angle[worst]:.3g} rad" if turns else "")
            near_by = f"the nearest pose is off by up to {left}, at t = {times[worst]:.6g}"
            if miss.max() <= follower.search.tolerance:
                near_by = "the poses there are those of the other one"
            if reason == LIMITS:
                reason += _limits(follower.equations, q[worst])
            text = f"{_place(since, until)}: {reason}; {near_by}"
            amount = float(distance[worst]), float(angle[worst])
            yield Stretch("unreachable", branch, since, until, *amount, text)


def _parts(
    follower: PathFollower, q: Array, samples: tuple[int, int], span: tuple[float, float]
) -> Iterator[tuple[str, NDArray[np.intp], float, float]]:
    """Yield the parts of a stretch: reason, samples, start and end (s)."""
    times, (first, last) = follower.targets.times, samples
    places = np.unique(np.linspace(first, last, min(last - first + 1, LOOKED)).astype(np.intp))
    reasons, poses = _reasons(follower, q, places)
    changes: list[int] = [*np.flatnonzero(np.diff(reasons)).tolist(), len(places) - 1]
    begin, start = first, span[0]
    for k in changes:
        stop, end = last, span[1]
        if k + 1 < len(places):
            pair = slice(k, k + 2)
            end = _change(follower, places[pair], reasons[pair], poses[pair])
            stop = int(np.searchsorted(times, end, side="right")) - 1
            stop = int(np.clip(stop, places[k], places[k + 1] - 1))
        yield REASONS[int(reasons[k])], np.arange(begin, stop + 1), start, end
        begin, start = stop + 1, end


def _reasons(
    follower: PathFollower, q: Array, places: NDArray[np.intp]
) -> tuple[NDArray[np.intp], Array]:
    """Return why the branch is not at its targets, by places in REASONS, and other poses."""
    search, goals, poses = follower.search, follower.targets.goals.take(places), q[places].copy()
    reasons = np.full(len(places), len(REASONS) - 1)
    for reason, way in enumerate((search, search.without_limits())):
        left = np.flatnonzero(reasons == len(REASONS) - 1)
        if len(left) and (search.limits or way is search):
            found = way.solve(goals.take(left), poses[left])
            reasons[left[found.reached]] = reason
            poses[left[found.reached]] = found.q[found.reached]
    return reasons, poses


def _change(
    follower: PathFollower, places: NDArray[np.intp], reasons: NDArray[np.intp], poses: Array
) -> float:
    """Return the time between two places at which one reason takes the place of another."""
    good, bad = (0, 1) if reasons[0] < reasons[1] else (1, 0)
    search = follower.search if reasons[good] == 0 else follower.search.without_limits()
    inside, outside = (float(follower.targets.times[places[k]]) for k in (good, bad))

    def reach(t: float, pose: Array) -> tuple[Array, Mask]:
        found = search.solve(follower.targets.at(np.array([t])), pose)
        return found.q, found.reached

    return _last(poses[good], inside, outside, reach)


def _border(follower: PathFollower, q: Array, good: float, bad: float) -> float:
    """Return the last time, from a good one towards a bad one, at which the branch reaches."""
    return _last(q, good, bad, lambda t, pose: follower.at(t, pose, STEPS))


def _last(
    q: Array, good: float, bad: float, reach: Callable[[float, Array], tuple[Array, Mask]]
) -> float:
    """Return the last time, from a good one towards a bad one, at which a target is reached."""
    pose, size = q[np.newaxis], abs(good) + abs(bad)
    for _ in range(BISECTIONS):
        middle = (good + bad) / 2
        if abs(bad - good) <= 1e-12 * size:
            break
        found, reached = reach(middle, pose)
        if reached[0]:
            good, pose = middle, found
        else:
            bad = middle
    return good


def _limits(equations: PoseEquations, q: Array) -> str:
    """Return the coordinates of a pose that are at a limit, in words."""
    names = equations.names_at_limits(q[np.newaxis])
    return (
        f" ({', '.join(names)} at {'its limit' if len(names) == 1 else 'limits'})" if names else ""
    )


def _place(start: float, end: float) -> str:
    return f"t = {start:.9g}" if start == end else f"t = {start:.9g} to {end:.9g}"


# --- singular positions -----------------------------------------------------------------------


def _singular(follower: PathFollower, path: PosePath, branch: int) -> Iterator[Stretch]:
    """Yield stretches of samples that are singular, and singular positions between samples."""
    times, q, reached = follower.targets.times, path.q[branch], path.reached[branch]
    places = np.flatnonzero(reached)
    if not len(places):
        return
    inverse = inverse_of(follower.equations.at(q[places], follower.targets.goals.take(places)).J)
    rank = int(inverse.ranks.max())
    share = np.full(len(times), np.inf)
    share[places] = inverse.smallest(rank)
    for first, last in runs(share < SINGULAR):
        worst = first + int(np.argmin(share[first : last + 1]))
        yield _stretch(follower, branch, (times[first], times[last]), q[worst], times[worst], rank)
    for k in range(1, len(times) - 1):
        low = share[k - 1 : k + 2]
        is_dip = SINGULAR <= low[1] < DIP and low[1] <= low[0] and low[1] <= low[2]
        if is_dip and np.isfinite(low).all():
            t, pose, least = _lowest(follower, q[k], times[k - 1 : k + 2], rank)
            if least < SINGULAR:
                yield _stretch(follower, branch, (t, t), pose, t, rank)


def _stretch(
    follower: PathFollower, branch: int, span: Sequence[float], q: Array, t: float, rank: int
) -> Stretch:
    equations = follower.equations
    at = equations.at(q[np.newaxis], follower.targets.at(np.array([t])))
    inverse = inverse_of(at.J)
    least = float(inverse.smallest(rank)[0])
    lost = _direction(equations, inverse.directions[0, :, rank - 1])
    text = f"{_place(*span)}: singular, rates along {lost} have no bound"
    return Stretch("singular", branch, float(span[0]), float(span[1]), least, 0.0, text)


def _direction(equations: PoseEquations, row: Array) -> str:
    """Return the rows in which a direction lies, in words; the largest is positive."""
    names = [f"{frame} {PARTS[k]}" for frame, rows in equations.rows for k in rows]
    names += [equations.mechanism.rates[k] for k in equations.held]
    names += [f"closing {name}" for name in equations.closure.names]
    row = row * np.sign(row[np.argmax(np.abs(row))])
    shown = [f"{x:+.2f} {name}" for x, name in zip(row, names, strict=True) if abs(x) > SHOWN]
    return " ".join(shown).removeprefix("+")


def _lowest(
    follower: PathFollower, q: Array, times: Array, rank: int
) -> tuple[float, Array, float]:
    """Return where between three samples J is nearest to singular, the pose, and its share."""

    def share(t: float) -> tuple[float, Array]:
        pose, _ = follower.at(t, q[np.newaxis], STEPS)
        at = follower.equations.at(pose, follower.targets.at(np.array([t])))
        return float(inverse_of(at.J).smallest(rank)[0]), pose[0]

    a, b = float(times[0]), float(times[2])
    c, d = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    low, high = share(c), share(d)
    for _ in range(BISECTIONS):
        if low[0] < high[0]:
            b, d, high = d, c, low
            c = b - GOLDEN * (b - a)
            low = share(c)
        else:
            a, c, low = c, d, high
            d = a + GOLDEN * (b - a)
            high = share(d)
    best, t = (low, c) if low[0] < high[0] else (high, d)
    return t, best[1], best[0]
