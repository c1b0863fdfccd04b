"""Differences of motions computed by tight runs: what sensitivities are compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.mechanism import Mechanism
from chainform.simulation import Problem, Run

Array = NDArray[np.float64]


def displaced(mechanism: Mechanism, q: Array, xi: Array) -> Array:
    """Return coordinates moved along the rates, by one step of each joint's own motion."""
    result = q.copy()
    for segment in mechanism.segments:
        if segment.rate is None:
            continue
        first, rate = segment.coordinate, segment.rate
        assert first is not None
        if not segment.joint.kind.has_quaternion:
            result[first] += xi[rate]
            continue
        is_free = segment.joint.kind.name == "FREE"
        if is_free:
            axes = turned(q[first + 3 : first + 7])
            result[first : first + 3] += axes @ xi[rate : rate + 3]
            first, rate = first + 3, rate + 3
        angle = xi[rate : rate + 3]
        size = np.linalg.norm(angle)
        axis = angle / size if size else angle
        turn = np.append(np.sin(size / 2) * axis, np.cos(size / 2))
        result[first : first + 4] = times(q[first : first + 4], turn)
    return result


def apart(mechanism: Mechanism, a: Array, b: Array) -> Array:
    """Return the displacement along the rates that leads from a to b, to first order."""
    result = np.zeros(mechanism.nv)
    for segment in mechanism.segments:
        if segment.rate is None:
            continue
        first, rate = segment.coordinate, segment.rate
        assert first is not None
        if not segment.joint.kind.has_quaternion:
            result[rate] = b[first] - a[first]
            continue
        if segment.joint.kind.name == "FREE":
            axes = turned(a[first + 3 : first + 7])
            result[rate : rate + 3] = axes.T @ (b[first : first + 3] - a[first : first + 3])
            first, rate = first + 3, rate + 3
        conjugate = a[first : first + 4] * [-1, -1, -1, 1]
        turn = times(conjugate, b[first : first + 4])
        size = np.linalg.norm(turn[:3])
        angle = 2 * np.arctan2(size, turn[3])
        result[rate : rate + 3] = turn[:3] * (angle / size if size else 2.0)
    return result


def times(a: Array, b: Array) -> Array:
    """Return the product of two quaternions (x, y, z, w)."""
    v = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(v, a[3] * b[3] - a[:3] @ b[:3])


def turned(q: Array) -> Array:
    """Return the rotation of a quaternion (x, y, z, w)."""
    x, y, z, w = q
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def end_of(run: Run) -> tuple[Array, Array]:
    """Return coordinates, and rates with further states, at the end of a run."""
    extra = np.zeros(0) if run.extra_states is None else run.extra_states[-1]
    return run.q[-1], np.append(run.qd[-1], extra)


def slope(move: Callable[[float], Run], step: float) -> Array:
    """Return the derivative of z at the end of motions by a number, of fourth order."""
    mechanism = move(0.0).mechanism
    middle = end_of(move(0.0))[0]

    def at(h: float) -> Array:
        q, rest = end_of(move(h))
        return np.append(apart(mechanism, middle, q), rest)

    return (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step)


def start_slopes(problem: Problem, q0: Array, qd0: Array, step: float = 1e-3) -> Array:
    """Return the derivatives of z at the end by displacements and rates at the start."""
    system, nv = problem.compile(), problem.mechanism.nv
    columns: list[Array] = []
    for k in range(2 * nv):

        def move(h: float, k: int = k) -> Run:
            d = np.zeros(2 * nv)
            d[k] = h
            return system.run(displaced(problem.mechanism, q0, d[:nv]), qd0 + d[nv:])

        columns.append(slope(move, step))
    return np.array(columns).T


def parameter_slopes(
    problem: Problem, values: dict[str, float], state: tuple[Any, Any], share: float = 1e-3
) -> Array:
    """Return the derivatives of z at the end by parameters."""
    given = problem.options["values"] or {}
    columns: list[Array] = []
    for name, value in values.items():

        def move(h: float, name: str = name, value: float = value) -> Run:
            return problem.compile({**given, **values, name: value + h}).run(*state)

        columns.append(slope(move, share * abs(value)))
    return np.array(columns).T
