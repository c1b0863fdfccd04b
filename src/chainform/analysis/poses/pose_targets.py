"""Where frames shall be: points, poses, laws of time and splines, as targets of a search.

{"tip": [0.4, 0, 0.3]}                                             a point
{"tip": {"position": [0.4, 0, 0.3], "rotation": [0, 3.14, 0]}}     with roll, pitch, yaw
{"tip": array (m, 4, 4)}                                           poses; with t, a path
{"tip": {"x": "0.4*cos(t)", "y": "0.4*sin(t)"}}                    laws, of some components
{"tip": {"points": [[...], [...]], "times": [0, 2]}}               a spline through points
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.poses.target_curves import (
    REMEDY,
    CurveReader,
    TargetCurve,
    any_rotation,
    check_count,
    constant,
    has_texts,
    numbers,
)
from chainform.errors import RunError
from chainform.formulations import check_frame
from chainform.given import Given, argument, finite_array
from chainform.mechanism import Mechanism

Array = NDArray[np.float64]
AXES = ("x", "y", "z")
LAST_ROW = (0, 0, 0, 1)
ROUNDING = 1e-9
FARTHEST = 1e9
"""The largest coordinate of a target, m or rad."""
FASTEST = 1e60
"""The largest rate or acceleration of a target."""


@dataclass(frozen=True, eq=False)
class PoseGoals:
    """Where frames and held coordinates shall be, at m times or for m targets.

    `position` (m, frames, 3) in m, `rotation` (m, frames, 3, 3) to world axes, `velocity` and
    `acceleration` (m, frames, 6) linear, then angular, in world axes; `held` (m, 3, n) has values,
    rates and accelerations of held coordinates. What is not bound is zero.
    """

    t: Array
    position: Array
    rotation: Array
    velocity: Array
    acceleration: Array
    held: Array

    def __len__(self) -> int:
        return len(self.t)

    def take(self, places: Any) -> PoseGoals:
        """Return some of the goals, perhaps several times."""
        return PoseGoals(*(getattr(self, item.name)[places] for item in fields(self)))


@dataclass(frozen=True)
class FrameTarget:
    """A frame, which rows of its velocity are bound (of x y z, turns x y z), and their curves."""

    frame: str
    rows: tuple[int, ...]
    position: TargetCurve
    rotation: TargetCurve


@dataclass(frozen=True)
class PoseTargets:
    """Targets of frames and held coordinates at times (m,), or m targets with no order.

    `is_path` tells whether they follow each other in time, and have rates.
    """

    frames: tuple[FrameTarget, ...]
    held: tuple[tuple[int, TargetCurve], ...]
    times: Array
    is_path: bool

    @property
    def rows(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """The frames with the rows that are bound."""
        return tuple((target.frame, target.rows) for target in self.frames)

    @property
    def has_spline(self) -> bool:
        """Whether rates are those of a spline through samples or points."""
        return any(curve.kind == "spline" for curve in _curves(self.frames, self.held))

    def at(self, t: Array) -> PoseGoals:
        """Return the goals at times (m,); single targets, by their numbers, are meant at t = 0."""
        parts = [(target.position.at(t), target.rotation.at(t)) for target in self.frames]
        p = np.stack([position[0] for position, _ in parts], axis=1)
        R = np.stack([rotation[0] for _, rotation in parts], axis=1)
        v, a = (
            np.stack([np.concatenate([x[k], w[k]], axis=1) for x, w in parts], axis=1)
            for k in (1, 2)
        )
        own = [np.stack(curve.at(t), axis=1) for _, curve in self.held]
        held = np.concatenate([np.zeros((len(t), 3, 0)), *own], axis=2)
        _refuse_far(t, (p, held[:, 0]), FARTHEST)
        _refuse_far(t, (v, a, held[:, 1:]), FASTEST)
        return PoseGoals(t if self.is_path else np.zeros(len(t)), p, R, v, a, held)

    @property
    def goals(self) -> PoseGoals:
        """The goals at all times, or all targets."""
        return self.at(self.times)


def _refuse_far(t: Array, parts: Sequence[Array], most: float) -> None:
    """Refuse targets with which nothing can be computed; they would leave rounding errors only."""
    for part in parts:
        rows = part.reshape(len(t), -1)
        wrong = ~(np.abs(rows) <= most).all(axis=1)
        if wrong.any():
            raise RunError(
                f"a target, or a rate of it, is beyond {most:g} at t = {t[wrong][0]:.6g}, or the "
                "target of this number",
                element="targets",
                remedy="give targets in m, and times in s",
            )


def _curves(
    frames: Sequence[FrameTarget], held: Sequence[tuple[int, TargetCurve]]
) -> list[TargetCurve]:
    parts = [curve for target in frames for curve in (target.position, target.rotation)]
    return [*parts, *(curve for _, curve in held)]


def pose_targets(mechanism: Mechanism, given: Given, t: Any, held: Given) -> PoseTargets:
    """Return checked targets: a table by frames, times or None, a table by coordinates or None."""
    table = given.table(remedy=REMEDY)
    if not table.value:
        raise table.error("there are no targets", REMEDY)
    reader = CurveReader(mechanism, None if t is None else _times(t))
    frames = tuple(_frame(reader, name, entry) for name, entry in table.items())
    rest = tuple(
        (_held_place(mechanism, name, entry), reader.vector(entry, 1, [entry.value]))
        for name, entry in (held.table().items() if held.is_given else ())
    )
    curves = _curves(frames, rest)
    own = [curve.times for curve in curves if curve.times is not None]
    times = reader.times if reader.times is not None else own[0] if own else None
    if times is not None:
        if reader.times is None and any(curve.kind == "samples" for curve in curves):
            raise given.error("samples need times next to a spline", "give t, a time for each")
        return PoseTargets(frames, rest, times, is_path=True)
    if any(curve.kind == "laws" for curve in curves):
        raise given.error(
            "laws of t need times", "give times: t=np.linspace(0, 1, 101), --times 0:1:101"
        )
    counts = sorted({curve.count for curve in curves} - {0})
    if len(counts) > 1:
        message = f"targets have different numbers of samples: {', '.join(map(str, counts))}"
        raise given.error(message, "give each frame the same number")
    return PoseTargets(frames, rest, np.arange(float([*counts, 1][0])), is_path=False)


def _times(t: Any) -> Array:
    times, given = np.atleast_1d(finite_array("t", t)), argument("t", t)
    check_count(given, times.size)
    if times.ndim != 1 or np.any(np.diff(times) <= 0):
        raise given.error("the times do not grow", "give growing times: np.linspace(0, 1, 101)")
    return times


def _held_place(mechanism: Mechanism, name: str, entry: Given) -> int:
    with entry.translate_errors():
        place = mechanism.coordinate_index(name)
    segment = mechanism.coordinate_records[place].segment
    if segment >= 0 and mechanism.segments[segment].joint.kind.has_quaternion:
        message = f"{name} belongs to a joint with a quaternion and cannot be held"
        raise entry.error(message, "hold coordinates of other joints")
    return place


# --- one frame --------------------------------------------------------------------------------


def _frame(reader: CurveReader, name: str, given: Given) -> FrameTarget:
    """Return the target of a frame."""
    with given.translate_errors():
        check_frame(reader.mechanism, name)
    _refuse_fixed(reader.mechanism, name, given)
    if not given.is_table:
        return _of_array(reader, name, given)
    table = given.table(("position", "rotation", "pose", "points", "times", *AXES))
    if table.has("pose"):
        if len([key for key in table.value if table.has(key)]) > 1:
            raise table.error("the pose is given twice", "give pose, or position and rotation")
        return _of_array(reader, name, table["pose"])
    position, rows = _position(reader, table)
    if not table.has("rotation"):
        if not rows:
            raise table.error("neither position nor rotation is given", REMEDY)
        return FrameTarget(name, rows, position, any_rotation())
    rotation = reader.rotation(table["rotation"])
    return FrameTarget(name, (*rows, 3, 4, 5), position, rotation)


def _refuse_fixed(mechanism: Mechanism, name: str, given: Given) -> None:
    """Refuse a frame that no coordinate moves; that of an element is known by its law only."""
    known = [frame.name for frame in (*mechanism.frames, *mechanism.segments)]
    if name not in (*known, "ground"):
        return
    path = mechanism.path_to(mechanism.frame(name).segment)
    if all(mechanism.segments[k].coordinate is None for k in path):
        message = f"{name} stands on the ground: no coordinate moves it"
        raise given.error(message, "name a frame that a joint moves")


def _of_array(reader: CurveReader, name: str, given: Given) -> FrameTarget:
    """Return the target of a point (3,), points (m, 3), a pose (4, 4) or poses (m, 4, 4)."""
    array = None if has_texts(given.value) else numbers(given)
    if array is None or array.shape[-2:] != (4, 4):
        return FrameTarget(name, (0, 1, 2), reader.vector(given, 3, given.value), any_rotation())
    if not np.allclose(array[..., 3, :], LAST_ROW, atol=ROUNDING, rtol=0):
        raise given.error("the last row of a pose is 0 0 0 1", "give homogeneous matrices")
    position = reader.vector(given, 3, array[..., :3, 3])
    rotation = reader.rotation(given.holding(array[..., :3, :3]))
    return FrameTarget(name, (0, 1, 2, 3, 4, 5), position, rotation)


def _position(reader: CurveReader, table: Given) -> tuple[TargetCurve, tuple[int, ...]]:
    """Return the curve of a position, and which of its rows are bound."""
    named = [key for key in ("position", "points", *AXES) if table.has(key)]
    if len(named) > 1 and not set(named) <= set(AXES):
        raise table.error(f"the position is given twice, by {' and '.join(named)}", REMEDY)
    if table.has("times") and named != ["points"]:
        raise table["times"].error("times belong to points", "give points, or t for all targets")
    if not named:
        return constant(np.zeros(3)), ()
    if named == ["points"]:
        path = {"points": table["points"].value, "times": table["times"].value}
        return reader.vector(table.holding(path), 3), (0, 1, 2)
    if named == ["position"]:
        return reader.vector(table["position"], 3), (0, 1, 2)
    rows = tuple(k for k, axis in enumerate(AXES) if axis in named)
    parts = [table[axis].value if axis in named else 0.0 for axis in AXES]
    return reader.vector(table, 3, parts), rows
