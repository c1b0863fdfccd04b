"""Vectors and rotations of time that somebody gave: numbers, samples, laws of t, splines.

A rotation is given by three numbers (roll, pitch, yaw), four (a quaternion x y z w) or a matrix,
or by a table that says which: {"quaternion": ["0", "0", "sin(t/2)", "cos(t/2)"]}.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.motions.motion_sources import law_graph
from chainform.analysis.poses.graph_function import graph_function
from chainform.analysis.results.rotation_values import TURNS, Values, aligned, quaternions_of
from chainform.given import Given, finite_array, plain
from chainform.graph import Graph
from chainform.mechanism import Mechanism
from chainform.simulation import spline_through, values_along

Array = NDArray[np.float64]

MOST_TARGETS = 200_000
CUBIC = 3
"""The degree of splines through points: higher ones swing out more between them."""
ORTHOGONAL = 1e-6
"""How far the rows of a matrix may be from those of a rotation."""
SHORTEST = 1e-12
"""A quaternion that is shorter has no direction."""
REMEDY = 'write {"tip": {"position": [x, y, z], "rotation": [roll, pitch, yaw]}}'
WIDTHS = {"rpy": 3, "quaternion": 4, "matrix": 9}


@dataclass(frozen=True)
class TargetCurve:
    """A vector of time: its values at times (m,), its kind, and times of its own if it has such.

    Kinds are constant, laws, spline, and samples, which have no order in time; `count` is how many
    samples were given.
    """

    at: Callable[[Array], Values]
    kind: str
    count: int = 0
    times: Array | None = None


@dataclass(frozen=True)
class CurveReader:
    """What curves are read with: the mechanism, whose parameters laws may name, and the times."""

    mechanism: Mechanism
    times: Array | None

    def vector(self, given: Given, width: int, value: Any = None) -> TargetCurve:
        """Return the curve of numbers (width,), samples (m, width), laws, or points with times.

        `value` stands for the given one where that is a part of it.
        """
        if value is None and given.is_table:
            return self._spline(given.table(("points", "times")), width)
        given = given if value is None else given.holding(value)
        if has_texts(given.value):
            return self._laws(given, width)
        array = numbers(given)
        if array.shape == (width,):
            return constant(array)
        if array.ndim != 2 or array.shape[1] != width:
            message = f"expected ({width},) or (m, {width}) numbers, got the shape {array.shape}"
            raise given.error(message, REMEDY)
        return self._samples(given, array)

    def rotation(self, given: Given) -> TargetCurve:
        """Return matrices, angular velocities and accelerations in world axes."""
        form, entry = _form(given)
        value = None
        if form == "matrix" and not entry.is_table:
            value = entry.value
            if has_texts(value):
                value = np.ravel(np.array(plain(value), dtype=object)).tolist()
            else:
                form, value = "quaternion", quaternions_of(_matrices(entry))
        curve = self.vector(entry, WIDTHS[form], value)

        def at(t: Array) -> Values:
            values = curve.at(t)
            _check_rotation(form, entry, values[0])
            return TURNS[form](*values)

        return TargetCurve(at, curve.kind, curve.count, curve.times)

    def _samples(self, given: Given, array: Array) -> TargetCurve:
        """Return the curve of samples: a spline where there are times for them."""
        count, times = len(array), self.times
        check_count(given, count)
        if times is None:
            return TargetCurve(lambda t: _still(array[t.astype(int)]), "samples", count)
        if len(times) != count:
            message = f"there are {count} samples and {len(times)} times"
            raise given.error(message, "give as many times, or points with times of their own")
        if count == 1:
            return constant(array[0])
        return TargetCurve(
            spline_through(times, _of_one_sign(given, array), CUBIC), "spline", count
        )

    def _spline(self, given: Given, width: int) -> TargetCurve:
        points = numbers(given.required("points", REMEDY))
        times = numbers(given.required("times", "give a time for each point"))
        if points.ndim != 2 or points.shape[1] != width or len(points) < 2:
            message = f"expected two or more points of {width} numbers, got {points.shape}"
            raise given["points"].error(message, REMEDY)
        check_count(given, len(points))
        if times.shape != (len(points),) or np.any(np.diff(times) <= 0):
            message = "expected a growing time for each point"
            raise given["times"].error(message, f"give {len(points)} growing times")
        spline = spline_through(times, _of_one_sign(given, points), CUBIC)

        def at(t: Array) -> Values:
            if t.min(initial=times[0]) < times[0] or t.max(initial=times[0]) > times[-1]:
                message = f"the path is given from t = {times[0]:.6g} to {times[-1]:.6g} s"
                raise given.error(message, "take times from the first to the last of its points")
            return spline(t)

        return TargetCurve(at, "spline", 0, times)

    def _laws(self, given: Given, width: int) -> TargetCurve:
        entries = given.entries()
        if len(entries) != width:
            raise given.error(f"expected {width} laws, got {len(entries)}", REMEDY)
        names = {entry.element: entry.value for entry in entries}
        with given.translate_errors():
            graph = law_graph(self.mechanism, names, "law", self.times)

        parts = ("q", "qd", "qdd")
        cone = graph.cone(graph.output_variables(parts))
        if not any(cone[v] and item.group == "t" for v, item in graph.inputs.items()):
            return _constant_laws(given, graph)
        function = graph_function(self.mechanism, graph, parts)

        def at(t: Array) -> Values:
            q, qd, qdd = function(t=t[:, np.newaxis])
            wrong = ~np.isfinite(np.concatenate([q, qd, qdd], axis=1)).all(axis=1)
            if wrong.any():
                when = t[int(np.argmax(wrong))]
                message = f"the law has no finite value, rate or acceleration at t = {when:.6g} s"
                raise given.error(message, "correct the law, or leave out that time")
            return q, qd, qdd

        return TargetCurve(at, "laws")


def _constant_laws(given: Given, graph: Graph) -> TargetCurve:
    """Return the vector of laws that do not name t."""
    values = values_along(graph, "q", {"t": np.zeros(1)})[0]
    if not np.isfinite(values).all():
        raise given.error("the law has no finite value", "correct the law")
    return constant(values)


def constant(values: Array) -> TargetCurve:
    """Return a vector that does not change."""
    return TargetCurve(
        lambda t: _still(np.broadcast_to(values, (len(t), *values.shape))), "constant"
    )


def _still(values: Array) -> Values:
    return values, np.zeros(values.shape), np.zeros(values.shape)


def any_rotation() -> TargetCurve:
    """Return the rotation of a frame whose orientation is not bound."""

    def at(t: Array) -> Values:
        zero = np.zeros((len(t), 3))
        return np.broadcast_to(np.eye(3), (len(t), 3, 3)), zero, zero

    return TargetCurve(at, "constant")


def has_texts(value: Any) -> bool:
    """Tell whether there is a text in nested lists."""
    if isinstance(value, list | tuple):
        return any(map(has_texts, cast("list[Any]", value)))
    return isinstance(value, str)


def numbers(given: Given) -> Array:
    """Return finite numbers as an array."""
    with given.translate_errors():
        return finite_array(given.element, given.value)


def check_count(given: Given, count: int) -> None:
    """Refuse no targets, and too many."""
    if not 0 < count <= MOST_TARGETS:
        remedy = f"give 1 to {MOST_TARGETS}; solve more in parts"
        raise given.error(f"there are {count} targets", remedy)


# --- rotations ------------------------------------------------------------------------------


def _form(given: Given) -> tuple[str, Given]:
    """Return how a rotation is given, and its numbers, laws or points."""
    if given.is_table:
        form = given.table((*WIDTHS,)).one_of(*WIDTHS, remedy="give rpy, quaternion or matrix")
        return form, given[form]
    value = given.value
    shape = getattr(value, "shape", None) or np.array(plain(value), dtype=object).shape
    return {(3,): "rpy", (4,): "quaternion"}.get(shape, "matrix"), given


def _matrices(given: Given) -> Array:
    array = numbers(given)
    if array.shape[-2:] != (3, 3) or array.ndim > 3:
        remedy = 'give 3 x 3 matrices, or say what it is: {"rpy": ...}, {"quaternion": ...}'
        raise given.error(f"expected a rotation, got numbers of the shape {array.shape}", remedy)
    check_count(given, array.size // 9)
    _check_rotation("matrix", given, array.reshape(-1, 9))
    return array


def _of_one_sign(given: Given, points: Array) -> Array:
    """Return quaternions without jumps of sign; other points as they are."""
    if points.shape[1] != 4:
        return points
    _check_rotation("quaternion", given, points)
    return aligned(points)


def _check_rotation(form: str, given: Given, values: Array) -> None:
    """Refuse quaternions without a length, and matrices that are no rotations."""
    if form == "quaternion" and np.min(np.linalg.norm(values, axis=1), initial=1.0) < SHORTEST:
        raise given.error("a quaternion has no length", "without a turn it is 0 0 0 1")
    if form != "matrix":
        return
    array = values.reshape(-1, 3, 3)
    off = np.max(np.abs(array @ np.swapaxes(array, 1, 2) - np.eye(3)), initial=0.0)
    if not off <= ORTHOGONAL or np.min(np.linalg.det(array), initial=1.0) < 0:
        remedy = "give rows of length 1, at right angles, that are a right-handed frame"
        raise given.error("a matrix is not a rotation", remedy)
