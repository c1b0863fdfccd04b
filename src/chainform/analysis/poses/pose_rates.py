"""Rates and accelerations of poses at moving targets, exactly, and how near they are to singular.

symbol   meaning
J, v, a  J qd = v and J qdd = a (pose_equations.py); Jd the derivative of J by time
N        I - J^+ J: motions that leave the targets where they are

Where the targets determine the motion, qd = J^+ v and qdd = J^+ a. Where they do not, the choice is

least motion    qd = J^+ v, the rates of least norm; so qdd = J^+ a + N Jd^T (J^+)^T J^+ v
middle range    the pose nearest to a reference c: q - c + J^T l = 0, differentiated twice

In both the norm is that of angles in rad and of lengths over the size of the mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.poses.pose_equations import PoseEquations
from chainform.analysis.poses.pose_targets import PoseGoals

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

RANK = 1e-9
"""Singular values below this share of the largest count as zero."""
CONSISTENT = 1e-7
"""Rates fit if what is left over is below this share of those of the targets."""


@dataclass(frozen=True, eq=False)
class Inverse:
    """J^+ (m, nv, rows), singular values (m, k) falling, and where each is lost (m, rows, k)."""

    matrix: Array
    values: Array
    directions: Array

    @property
    def ranks(self) -> NDArray[np.int64]:
        """How many singular values are not zero, (m,)."""
        return np.sum(self.values > RANK * self.values[:, :1], axis=1)

    def smallest(self, rank: int) -> Array:
        """Return the smallest of the first `rank` singular values, against the largest, (m,)."""
        if not rank:
            return np.ones(len(self.values))
        return self.values[:, rank - 1] / np.maximum(self.values[:, 0], np.finfo(float).tiny)


def inverse_of(J: Array) -> Inverse:
    """Return the pseudo-inverse of matrices (m, rows, nv), zero where laws have no value."""
    known = np.where(np.isfinite(J).all(axis=(1, 2), keepdims=True), J, 0.0)
    U, s, Vt = np.linalg.svd(known, full_matrices=False)
    large = s > RANK * np.max(s, axis=1, keepdims=True, initial=0.0)
    weights = np.where(large, 1 / np.where(large, s, 1.0), 0.0)
    matrix = (np.swapaxes(Vt, 1, 2) * weights[:, np.newaxis]) @ np.swapaxes(U, 1, 2)
    return Inverse(matrix, s, U)


@dataclass(frozen=True, eq=False)
class PoseRates:
    """qd and qdd (m, nv), nan where no rates fit; qdd is None where it is not known."""

    qd: Array
    qdd: Array | None


def free_jacobian(equations: PoseEquations, q: Array, J: Array, v: Array, limits: bool) -> Array:
    """Return J (m, rows, nv) without the columns of coordinates that would pass their limits."""
    if not limits:
        return J
    qd = _times(inverse_of(J).matrix, v)
    held = equations.at_limit(q, np.where(np.abs(qd) > 1e-12, qd, 0.0))
    return np.where(held[:, np.newaxis], 0.0, J) if held.any() else J


def least_rates(equations: PoseEquations, q: Array, goals: PoseGoals, limits: bool) -> Array:
    """Return the rates of least norm (m, nv), in units of the scales."""
    J, v = equations.at(q, goals).J, equations.rates(q, goals)
    return _times(inverse_of(free_jacobian(equations, q, J, v, limits)).matrix, v)


def rates_of(
    equations: PoseEquations, q: Array, goals: PoseGoals, limits: bool, reference: Array | None
) -> PoseRates:
    """Return rates along the goals; `reference` (nq,) is the pose that redundancy stays near."""
    whole, v = equations.at(q, goals).J, equations.rates(q, goals)
    J = free_jacobian(equations, q, whole, v, limits)
    inverse = inverse_of(J).matrix
    if reference is not None:
        return _near(equations, q, goals, J, reference)
    qd = _times(inverse, v)
    a = equations.accelerations(q, qd * equations.scales, goals)
    qdd = _times(inverse, a)
    fits = _fits(J, qd, v) & _fits(J, qdd, a)
    is_loose = inverse_of(J).ranks < len(equations.moving)
    if equations.closure.count:
        # Loops leave Jd unknown, and with it how the choice changes.
        known = None if is_loose.all() else np.where(is_loose[:, np.newaxis], np.nan, qdd)
        return _unscaled(equations, qd, known, fits)
    if is_loose.any():
        qdd = _with_change_of_choice(equations, q, goals, J, qd, qdd)
    return _unscaled(equations, qd, qdd, fits)


def _with_change_of_choice(
    equations: PoseEquations, q: Array, goals: PoseGoals, J: Array, qd: Array, qdd: Array
) -> Array:
    """Return qdd with N Jd^T (J^+)^T qd added."""
    inverse = inverse_of(J).matrix
    Jd = equations.jacobian_rate(q, qd * equations.scales, goals.t)
    Jd = np.where(np.any(J != 0, axis=1, keepdims=True), Jd, 0.0)
    push = _times(np.swapaxes(Jd, 1, 2), _times(np.swapaxes(inverse, 1, 2), qd))
    return qdd + push - _times(inverse, _times(J, push))


def _near(
    equations: PoseEquations, q: Array, goals: PoseGoals, J: Array, reference: Array
) -> PoseRates:
    """Return rates of the poses nearest to a reference."""
    count, rows, nv = J.shape
    v, inverse = equations.rates(q, goals), inverse_of(J).matrix
    way = equations.difference(q, np.broadcast_to(reference, q.shape))
    multipliers = _times(np.swapaxes(inverse, 1, 2), way)
    free = np.any(J != 0, axis=1)
    bend = equations.bend(q, goals.t, multipliers) * free[:, :, np.newaxis] * free[:, np.newaxis]
    square = np.zeros((count, nv + rows, nv + rows))
    square[:, :nv, :nv] = np.eye(nv) + bend
    square[:, :nv, nv:] = np.swapaxes(J, 1, 2)
    square[:, nv:, :nv] = J
    solve = np.asarray(np.linalg.pinv(square, rcond=RANK), dtype=np.float64)
    both = _times(solve, np.concatenate([np.zeros((count, nv)), v], axis=1))
    qd, change = both[:, :nv], both[:, nv:]
    a = equations.accelerations(q, qd * equations.scales, goals)
    Jd = equations.jacobian_rate(q, qd * equations.scales, goals.t)
    D = equations.jacobian_bend(q, qd * equations.scales, goals.t)
    right = _times(np.swapaxes(D, 1, 2), multipliers) + 2 * _times(np.swapaxes(Jd, 1, 2), change)
    qdd = _times(solve, np.concatenate([-right * free, a], axis=1))[:, :nv]
    return _unscaled(equations, qd, qdd, _fits(J, qd, v) & _fits(J, qdd, a))


def _unscaled(equations: PoseEquations, qd: Array, qdd: Array | None, fits: Mask) -> PoseRates:
    known = [
        None if x is None else np.where(fits[:, None], x * equations.scales, np.nan)
        for x in (qd, qdd)
    ]
    assert known[0] is not None
    return PoseRates(known[0], known[1])


def _fits(J: Array, rates: Array, right: Array) -> Mask:
    """Tell where J times the rates is the right side."""
    left = np.max(np.abs(_times(J, rates) - right), axis=1, initial=0.0)
    return left <= CONSISTENT * (1 + np.max(np.abs(right), axis=1, initial=0.0))


def _times(matrices: Array, vectors: Array) -> Array:
    return np.einsum("mij,mj->mi", matrices, vectors)
