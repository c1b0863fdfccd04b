"""The gradient of an objective by the adjoint of the collocation: at the cost of few parameters.

symbol   meaning
l        costate: the derivative of the objective by z at a time, (n,)
mu       weights of B at the nodes of an interval (collocation.py)

    l at the beginning of an interval = transition^T l at its end
    dJ/dp = J_p + l_0^T z_p(0) + sum over intervals and nodes of mu^T B + sum over events of l^T R_p

The steps are those of the forward method, transposed, so that both give the same numbers. Between
events mu^T B is one sweep through the equations in reverse, however many parameters there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.variations.collocation import ORDER, Stages, gauss
from chainform.analysis.variations.motion_variations import MotionVariations
from chainform.analysis.variations.refinement import Refinement
from chainform.analysis.variations.transitions import Transitions
from chainform.analysis.variations.variation_graph import MOTION, VALUE

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EndSlopes:
    """The objective's law at the end of a motion: its value, and slopes by z and by parameters.

    Where an event ends the motion, its time changes with z and p, which is in both.
    """

    value: float
    by_state: Array
    by_parameters: Array


def end_slopes(motion: MotionVariations) -> EndSlopes:
    """Return the slopes of the objective at the end; its integral is the last entry of z."""
    equations, n = motion.equations, len(motion.equations.names)
    t = np.array([motion.last])
    y, given = motion.end
    slopes, value = np.zeros(n + len(equations.parameters) + 1), 0.0
    if equations.objective.end is not None:
        inputs = equations.inputs(t, y, given)
        found = equations.graph.slopes(inputs, ("q", "qd", "x", "parameters", "t"), VALUE)
        slopes[:-1], slopes[-1] = equations.chosen(found)[0, 0], found["t"][0, 0, 0]
        value = float(equations.graph.values(inputs, VALUE)[0][0, 0])
    if equations.objective.integral is not None:
        slopes[n - 1] = 1.0
    by_time = slopes[:-1].copy()
    if motion.ending:
        rate = slopes[-1] + slopes[:n] @ equations.rates(t, y, given)[0]
        by_time += rate * dict(motion.met[-1])[motion.ending]
    return EndSlopes(value, by_time[:n], by_time[n:])


def integral_along(motion: MotionVariations, edges: Array) -> float:
    """Return the integral of the objective's law, by the nodes of intervals between edges."""
    equations, h = motion.equations, np.diff(edges)
    if equations.objective.integral is None:
        return 0.0
    nodes = (edges[:-1, None] + h[:, None] * gauss().c)[h > 0]
    t = nodes.ravel()
    y, given = motion.states(t)
    inputs = equations.inputs(t, y, given)
    inputs |= {"qdd": np.zeros((len(t), equations.graph.nv))}
    inputs |= {"sigma": np.zeros((len(t), equations.graph.rows))}
    values = equations.graph.values(inputs, MOTION)[0][:, -1].reshape(nodes.shape)
    return float(h[h > 0] @ (values @ gauss().b))


@dataclass(frozen=True, eq=False)
class Gradient:
    """The value of an objective, and its derivatives by the columns of deviations at the start.

    `costates` (k + 1, n) are those by z at the times of the `path`.
    """

    value: float
    slopes: Array
    costates: Array
    path: Transitions
    tolerance: float


def forward_gradient(motion: MotionVariations, path: Transitions, start: Array) -> Array:
    """Return the derivatives of the objective by the columns of deviations at the start."""
    end, p = end_slopes(motion), len(motion.equations.parameters)
    found = end.by_state @ path.forward(start)[-1]
    if p:
        found[len(found) - p :] += end.by_parameters
    return found


def adjoint_gradient(
    motion: MotionVariations, start: Array, tolerance: float | None = None
) -> Gradient:
    """Return the gradient of the objective of a motion by the columns of deviations at the start.

    `start` (n, columns) has columns by parameters last.
    """
    end, work = end_slopes(motion), Refinement(motion, tolerance, start, has_parameters=False)
    pairs, reached = work.pairs()
    while True:
        path = work.result(pairs, reached)
        costates = _costates(path, end.by_state)
        firsts = work.sequence(pairs).firsts
        ends = (costates[firsts + 2], costates[firsts + 1])
        whole = _weighted(motion, pairs.a, pairs.b, ends[0])
        halves = _weighted(
            motion,
            np.append(pairs.a, pairs.m),
            np.append(pairs.m, pairs.b),
            np.append(*ends[::-1], axis=0),
        )
        k = len(pairs)
        parts = halves[:k] + halves[k:]
        total = end.by_parameters + parts.sum(axis=0)
        for change, place in zip(motion.jumps, work.places(pairs), strict=True):
            total = total + costates[place + 1] @ change[:, len(path.names) :]
        sizes = np.maximum(np.abs(total), np.abs(np.cumsum(parts, axis=0)).max(axis=0, initial=0.0))
        errors = np.abs(parts - whole) / np.where(sizes > 0, sizes, 1.0) / (2**ORDER - 1)
        share = errors.max(axis=1, initial=0.0)
        error = float(share.sum())
        if error <= work.goal:
            reached = max(reached, error)
            value = end.value + integral_along(motion, path.times)
            slopes = costates[0] @ start
            slopes[len(slopes) - len(total) :] += total
            return Gradient(value, slopes, costates, path, reached)
        pairs = work.cut(pairs, share, error)


def _costates(path: Transitions, last: Array) -> Array:
    """Return the derivatives of the objective by z at all times, (k + 1, n)."""
    found = np.empty((len(path.times), len(last)))
    found[-1] = last
    for k in range(len(path.transitions) - 1, -1, -1):
        found[k] = found[k + 1] @ path.transitions[k]
    return found


def _weighted(motion: MotionVariations, a: Array, b: Array, costates: Array) -> Array:
    """Return what parameters do in each interval to the objective, (k, p)."""
    equations, nv = motion.equations, motion.equations.graph.nv
    nodes = a[:, None] + (b - a)[:, None] * gauss().c
    t, places = np.unique(nodes, return_inverse=True)
    y, given = motion.states(t)
    where = places.reshape(nodes.shape)
    F, C = equations.slopes(t, y, given, has_parameters=False), equations.turning(y)
    stages = Stages(F[where], None if C is None else C[where], b - a, nv)
    weights = stages.node_weights(costates)
    flat = where.ravel()
    each = equations.by_parameters(
        t[flat], y[flat], given[flat], weights.reshape(len(flat), weights.shape[-1])
    )
    return each.reshape(*nodes.shape, each.shape[-1]).sum(axis=1)
