"""A damped Newton step as one compiled function: residual, limits, equations and their solution.

symbol   meaning
r, J     what is missing and minus its derivatives, scaled (pose_equations.py)
m        1 for coordinates that may move, 0 for those that J^T r pushes against a limit
d        damping, DAMPING min(r^T r, MOST_MISSING) + LEAST_DAMPING

    step = J^T (J m J^T + d)^-1 r,    J = J m

It goes through the processor in lanes, several states at a time, where numpy takes a pass over
memory for each operation. With a the axis times the sine s, and c the cosine, a rotation vector is
2 a atan(s / (1 + c)) / s.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.poses.graph_function import Function, graph_function
from chainform.analysis.poses.pose_equations import PoseEquations
from chainform.analysis.poses.pose_targets import PoseGoals
from chainform.graph import Builder, Graph, Scalar

Array = NDArray[np.float64]
Vector = list[Scalar]

DAMPING = Fraction(1, 20)
LEAST_DAMPING = Fraction(1, 10**14)
MOST_MISSING = Fraction(10)
TINY = Fraction(1, 10**40)
"""What keeps the sine of no angle from being zero."""
LARGEST = 12
"""The most rows or columns of equations that are solved in one function."""
GOAL = 12
"""Numbers of a goal: position, rotation by rows."""


def is_small(equations: PoseEquations) -> bool:
    """Tell whether a step can be one function: few rows and columns, and no others than frames."""
    rows = sum(len(rows) for _, rows in equations.rows)
    alone = not equations.closure.count and not equations.held.size
    return alone and min(rows, len(equations.moving)) <= LARGEST and rows <= 2 * LARGEST


@lru_cache(maxsize=8)
def compiled_step(equations: PoseEquations) -> Function:
    """Return the function of the last equations, without compiling it again."""
    return step_function(equations)


def step_function(equations: PoseEquations) -> Function:
    """Return the function of q, x (goals), weights (at lower, at upper limits) and t.

    It gives r (m, rows) and the step (m, moving), in units of the scales.
    """
    builder = Builder()
    builder.resume(equations.frame_graph)
    r, J = list[Scalar](), list[Vector]()
    for k, (frame, rows) in enumerate(equations.rows):
        poses = _entries(builder, equations.frame_graph, f"pose({frame})")
        columns = _entries(builder, equations.frame_graph, f"jacobian({frame})")
        goal = [builder.input(f"goal_{GOAL * k + i + 1}", "x", GOAL * k + i) for i in range(GOAL)]
        missing = _missing(builder, poses, goal, equations.size, 3 in rows)
        sizes = [Fraction(equations.size) if row < 3 else Fraction(1) for row in range(6)]
        nv = equations.mechanism.nv
        for row in rows:
            r.append(missing[row])
            scaled = [Fraction(float(equations.scales[i])) / sizes[row] for i in equations.moving]
            entries = [columns[nv * row + int(i)] for i in equations.moving]
            J.append([builder.keep(x * s) for x, s in zip(entries, scaled, strict=True)])
    step = _step(builder, r, J)
    builder.output("missing", (len(r),), [(f"missing_{i + 1}", x) for i, x in enumerate(r)])
    builder.output("step", (len(step),), [(f"step_{i + 1}", x) for i, x in enumerate(step)])
    return graph_function(equations.mechanism, builder.finish(), ("missing", "step"))


def packed(goals: PoseGoals) -> Array:
    """Return the goals as rows of numbers (m, 12 frames)."""
    count = len(goals)
    turns = goals.rotation.reshape(count, -1, 9)
    return np.concatenate([goals.position, turns], axis=2).reshape(count, -1)


def _entries(builder: Builder, graph: Graph, name: str) -> Vector:
    return [builder.scalar(int(v)) for v in graph.block(name).variables]


def _dot(builder: Builder, a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    total = builder.number(0)
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return builder.keep(total)


def _missing(builder: Builder, pose: Vector, goal: Vector, size: float, turns: bool) -> Vector:
    """Return the distance over the size, and the rotation vector from the frame to its goal."""
    way = [builder.keep((goal[i] - pose[4 * i + 3]) * (1 / Fraction(size))) for i in range(3)]
    if not turns:
        return [*way, *(builder.number(0) for _ in range(3))]
    wanted = [[goal[3 + 3 * i + k] for k in range(3)] for i in range(3)]
    now = [[pose[4 * i + k] for k in range(3)] for i in range(3)]
    turn = [[_dot(builder, wanted[i], now[k]) for k in range(3)] for i in range(3)]
    axis = [turn[2][1] - turn[1][2], turn[0][2] - turn[2][0], turn[1][0] - turn[0][1]]
    half = [builder.keep(x * Fraction(1, 2)) for x in axis]
    cosine = (turn[0][0] + turn[1][1] + turn[2][2] - 1) * Fraction(1, 2)
    sine = builder.call("sqrt", _dot(builder, half, half) + TINY)
    tangent = builder.keep(sine * builder.call("reciprocal", cosine + 1))
    factor = builder.call("atan", tangent) * builder.call("reciprocal", sine) * 2
    scale = builder.keep(factor)
    return [*way, *(builder.keep(scale * x) for x in half)]


def _step(builder: Builder, r: Vector, J: list[Vector]) -> Vector:
    """Return the damped step within the limits."""
    count = len(J[0])
    columns = [[row[k] for row in J] for k in range(count)]
    for k, column in enumerate(columns):
        low, high = (
            builder.input(f"at_{w}_{k + 1}", "weights", 2 * k + i)
            for i, w in enumerate(("lower", "upper"))
        )
        sign = builder.call("sign", _dot(builder, column, r))
        # Towards the limit the sign is that of the side on which it stands.
        stuck = low * (1 - sign) + high * (1 + sign)
        free = builder.keep(1 - stuck * Fraction(1, 2))
        columns[k] = [builder.keep(x * free) for x in column]
    rows = [[column[i] for column in columns] for i in range(len(r))]
    damping = _damping(builder, r)
    if len(r) <= count:
        y = _solved(builder, rows, damping, r)
        return [_dot(builder, column, y) for column in columns]
    push = [_dot(builder, column, r) for column in columns]
    return _solved(builder, columns, damping, push)


def _damping(builder: Builder, r: Vector) -> Scalar:
    """Return what `damping_of` of a search does."""
    missing = builder.keep(_dot(builder, r, r))
    beyond = builder.keep(missing - MOST_MISSING)
    # The less of two numbers is their mean less half of their distance.
    least = (missing + MOST_MISSING - builder.call("abs", beyond)) * Fraction(1, 2)
    return builder.keep(least * DAMPING + LEAST_DAMPING)


def _solved(builder: Builder, rows: list[Vector], damping: Scalar, right: Vector) -> Vector:
    """Return (A A^T + d)^-1 b, by factors L D L^T without square roots."""
    n = len(rows)
    L: dict[tuple[int, int], Scalar] = {}
    inverse, scaled = list[Scalar](), list[Scalar]()
    for i in range(n):
        for k in range(i):
            inner = _dot(builder, rows[i], rows[k])
            for j in range(k):
                inner = inner - L[i, j] * scaled[j] * L[k, j]
            L[i, k] = builder.keep(builder.keep(inner) * inverse[k])
        pivot = _dot(builder, rows[i], rows[i]) + damping
        for j in range(i):
            pivot = pivot - L[i, j] * L[i, j] * scaled[j]
        scaled.append(builder.keep(pivot))
        inverse.append(builder.call("reciprocal", scaled[i]))
    y = list[Scalar]()
    for i in range(n):
        rest = right[i]
        for j in range(i):
            rest = rest - L[i, j] * y[j]
        y.append(builder.keep(rest))
    x = [builder.keep(y[i] * inverse[i]) for i in range(n)]
    for i in reversed(range(n)):
        rest = x[i]
        for j in range(i + 1, n):
            rest = rest - L[j, i] * x[j]
        x[i] = builder.keep(rest)
    return x
