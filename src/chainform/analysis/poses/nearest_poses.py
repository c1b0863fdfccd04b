"""Poses nearest to targets that cannot be met, where loops, constraints and held joints stay met.

symbol     meaning
r, J       what the frames miss of their targets, and minus its derivatives (pose_equations.py)
A          the same derivatives of held coordinates, loops and constraints
P          I - A^+ A, what these leave free
d          damping

    step = P J^T (J P J^T + d)^-1 r

Each step ends where the loops are closed again; it counts if the frames are nearer there.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.poses.pose_equations import Residuals
from chainform.analysis.poses.pose_rates import inverse_of
from chainform.analysis.poses.pose_search import CHUNK, PoseSearch
from chainform.analysis.poses.pose_targets import PoseGoals
from chainform.errors import RunError

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
CLOSING = 40
"""Steps in which loops are closed."""
TRIES = 50
"""Random poses from which loops are closed where a given one does not lead to a closed pose."""
DESCENT = 200
RESTARTS = 10
LARGEST = 1e8
"""Damping at which no step leads nearer."""


def nearest(search: PoseSearch, q: Array, goals: PoseGoals) -> Array:
    """Return poses from which no step leads nearer to their targets; loops stay closed."""
    if not search.equations.closure.count:
        find = search.nearest
    else:
        find = partial(_nearest_closed, search)
    parts = [slice(first, first + CHUNK) for first in range(0, len(q), CHUNK)]
    return np.concatenate([q[:0], *(find(q[part], goals.take(part)) for part in parts)])


def _nearest_closed(search: PoseSearch, q: Array, goals: PoseGoals) -> Array:
    """Return closed poses (m, nq) from which no step leads nearer to their targets."""
    q, is_closed = _closed(search, q, goals)
    for _ in range(TRIES):
        open_ = np.flatnonzero(~is_closed)
        if not len(open_):
            break
        q[open_], is_closed[open_] = _closed(
            search, search.random_poses(q[open_]), goals.take(open_)
        )
    if not is_closed.all():
        raise RunError(
            "no pose was found in which the loops are closed",
            file=search.equations.mechanism.file,
            element="loops",
            remedy="give q0 near to a closed pose, or correct lengths and limits",
        )
    frames, firm = _parts(search, q, goals)
    damping = np.full(len(q), 1e-3)
    for _ in range(DESCENT):
        trial, is_closed = _closed(search, _step(search, q, (frames, firm), damping), goals)
        ahead, beyond = _parts(search, trial, goals)
        size = np.sum(frames.r**2, axis=1)
        gain = np.where(is_closed, size - np.sum(ahead.r**2, axis=1), -np.inf)
        good = gain > 0
        q = np.where(good[:, np.newaxis], trial, q)
        frames, firm = _chosen(good, ahead, frames), _chosen(good, beyond, firm)
        damping = np.where(good, damping / 5, damping * 5)
        if np.all((damping > LARGEST) | good & (gain < 1e-15 * size)):
            break
    return q


def nearest_of_many(search: PoseSearch, q: Array, goals: PoseGoals) -> Array:
    """Return the nearest of what several starts lead to: linkages have dead ends of their own."""
    q = nearest(search, q, goals)
    size = search.equations.at(q, goals).size
    for _ in range(RESTARTS if len(q) and search.equations.closure.count else 0):
        trial = nearest(search, search.random_poses(q), goals)
        new = search.equations.at(trial, goals).size
        q, size = np.where((new < size)[:, np.newaxis], trial, q), np.minimum(new, size)
    return q


def _parts(search: PoseSearch, q: Array, goals: PoseGoals) -> tuple[Residuals, Residuals]:
    """Return the equations of frames, and those that hold in any case."""
    equations = search.equations
    at = equations.at(q, goals)
    first = at.r.shape[1] - equations.closure.count - len(equations.held)
    return Residuals(at.r[:, :first], at.J[:, :first]), Residuals(at.r[:, first:], at.J[:, first:])


def _chosen(which: Mask, one: Residuals, other: Residuals) -> Residuals:
    r = np.where(which[:, np.newaxis], one.r, other.r)
    return Residuals(r, np.where(which[:, np.newaxis, np.newaxis], one.J, other.J))


def _closed(search: PoseSearch, q: Array, goals: PoseGoals) -> tuple[Array, Mask]:
    """Return poses near by in which loops are closed, and whether they are."""
    q = q.copy()
    for _ in range(CLOSING):
        at = _parts(search, q, goals)[1]
        far = at.size > search.tolerance
        if not far.any():
            break
        damping = np.minimum(np.einsum("mi,mi->m", at.r, at.r), 1.0) / 20 + 1e-14
        q[far] = search.step(q, at, damping)[far]
    size = _parts(search, q, goals)[1].size
    return q, (size <= search.tolerance) & search.equations.is_possible(q, goals.t)


def _step(
    search: PoseSearch, q: Array, parts: tuple[Residuals, Residuals], damping: Array
) -> Array:
    """Return poses after a damped step, in which coordinates at limits stay there."""
    frames, firm = parts
    free = _free(frames.J, firm.J)
    if search.limits:
        push = np.einsum("mij,mi->mj", free, frames.r)
        held = search.equations.at_limit(q, push)[:, np.newaxis]
        free = _free(np.where(held, 0.0, frames.J), np.where(held, 0.0, firm.J))
    step = search.damped(free, frames.r, damping)
    length = np.max(np.abs(step), axis=1, keepdims=True)
    return search.moved(q, step / np.maximum(1.0, length))


def _free(J: Array, A: Array) -> Array:
    """Return J P."""
    return J - J @ inverse_of(A).matrix @ A
