"""The frames of a mechanism at the times of a picture.

Poses are derived as a graph and evaluated for all times together. Between two states of a motion
the coordinates are cubic polynomials with the right rates, on each interval of length h

    q(s) = h00 q0 + h10 h q0' + h01 q1 + h11 h q1'

For a joint of one freedom q' is the rate. With a quaternion r = (v, w) and rates in body axes
(linear u, angular o)

    x' = R u,    v' = (w o + v x o) / 2,    w' = -(v . o) / 2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from graphlib import TopologicalSorter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.expressions import symbols_of
from chainform.mechanism import (
    GROUND_NAME,
    DissipativeElement,
    ElasticElement,
    ElementPoint,
    InertialElement,
    JointKind,
    Mechanism,
    Number,
    ShiftStep,
    Step,
    TurnStep,
    float_vector,
    known_values,
    with_unit_quaternions,
)
from chainform.pictures.motion import Drawable
from chainform.pipeline import derive

Array = NDArray[np.float64]


class Track(NamedTuple):
    """Frames at m times: rotations (m, n, 3, 3) to world axes, positions (m, n, 3) in m."""

    rotations: Array
    positions: Array

    def path(self, frame: int, local: Array) -> Array:
        """Return where a point of a frame is at all times, (m, 3), world axes."""
        return self.positions[:, frame] + self.rotations[:, frame] @ local


@dataclass
class Turns:
    """The moving turns of a chain: for each its frame and its axis."""

    frames: list[int] = field(default_factory=list[int])
    axes: list[Array] = field(default_factory=list[Array])


class Frames:
    """All frames of a mechanism: the ground, the segments, then those of elements.

    The frame of segment i has the index i + 1, so that GROUND has the index 0. `turns` holds, for
    each frame of an element, the frames in its chain that turn; `ends` the points between which
    springs and dampers of elements act, each by its frame and its position there. One that moves
    in its frame has a frame of its own.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.known = known_values(mechanism)
        self.names = [GROUND_NAME, *(segment.name for segment in mechanism.segments)]
        self.turns: dict[str, Turns] = {}
        self.ends: dict[str, list[tuple[int, Array]]] = {}
        self._laws = {one.name: one.law for one in mechanism.definitions}
        self._elements: list[InertialElement] = []
        self._add_elements()
        outputs = [f"pose({name},world)" for name in self.names]
        posed = replace(mechanism, elements=tuple(self._elements))
        self._model = derive(posed, outputs, reduce="none")
        self._check_parameters()

    def track(self, q: Array, t: Array) -> Track:
        """Return all frames for the coordinates q (m, nq) at the times t (m,)."""
        with np.errstate(all="ignore"):
            poses = self._model.evaluate(q=q, t=t)
        table = np.stack(list(poses.values()), axis=1)
        return Track(np.ascontiguousarray(table[..., :3, :3]), table[..., :3, 3].copy())

    def _check_parameters(self) -> None:
        """Refuse a mechanism whose poses depend on a parameter without a value."""
        graph = self._model.graph
        needed = graph.cone([v for block in graph.outputs.values() for v in block.variables])
        for variable, item in graph.inputs.items():
            if item.group == "parameter" and item.default is None and needed[variable]:
                raise RunError(
                    f"the parameter {item.name!r} has no value, so the mechanism cannot be drawn",
                    file=self.mechanism.file,
                    element=item.name,
                    remedy="give it a value in the mechanism",
                )

    def place(self, name: str) -> tuple[int, Array, Array]:
        """Return a named frame as its index here, and its origin and axes there."""
        if name in self.names:
            return self.names.index(name), np.zeros(3), np.eye(3)
        frame = self.mechanism.frame(name)
        axes = np.array([[float(entry) for entry in row] for row in frame.rotation])
        return frame.segment + 1, float_vector(frame.point, self.known), axes

    def _add_elements(self) -> None:
        own = {e.name: e for e in self.mechanism.elements if isinstance(e, InertialElement)}
        needs = {name: [e.on] if e.on in own else [] for name, e in own.items()}
        for name in TopologicalSorter(needs).static_order():
            self._add_chain(own[name])
        for element in self.mechanism.elements:
            if isinstance(element, ElasticElement | DissipativeElement):
                self.ends[element.name] = [self._end(place) for place in element.ends or ()]

    def _add_chain(self, element: InertialElement) -> None:
        """Add the frames of a chain: one at each turn that moves, and the last."""
        turns = self.turns.setdefault(element.name, Turns())
        on, part = element.on, list[Step]()
        for step in element.chain:
            part.append(step)
            if isinstance(step, TurnStep) and self._moves(step.angle):
                on, part = self._add(self._free_name(element.name), on, part), []
                turns.frames.append(len(self.names) - 1)
                turns.axes.append(np.array([float(entry) for entry in step.axis]))
        self._add(element.name, on, part)

    def _end(self, place: ElementPoint) -> tuple[int, Array]:
        if all(isinstance(x, Fraction) or symbols_of(x) <= self.known.keys() for x in place.point):
            number, origin, axes = self.place(place.on)
            return number, origin + axes @ float_vector(place.point, self.known)
        self._add(self._free_name(place.on), place.on, [ShiftStep(place.point)])
        return len(self.names) - 1, np.zeros(3)

    def _add(self, name: str, on: str, chain: Sequence[Step]) -> str:
        self._elements.append(InertialElement(name, "frame", on, tuple(chain)))
        self.names.append(name)
        return name

    def _free_name(self, name: str) -> str:
        taken = {*self.names, *(one.name for one in self.mechanism.elements)}
        taken |= {frame.name for frame in self.mechanism.frames}
        while name in taken:
            name += "'"
        return name

    def _moves(self, law: Number) -> bool:
        """Tell whether a law changes with the coordinates or with time."""
        if isinstance(law, Fraction):
            return False
        names = symbols_of(law) - {one.name for one in self.mechanism.parameters}
        return any(name not in self._laws or self._moves(self._laws[name]) for name in names)


# --- states between states ------------------------------------------------------------------------


def frame_times(start: float, end: float, rate: float, most: int) -> Array:
    """Return even times from start to end: about `rate` per second, `most` at the most."""
    count = min(int(np.ceil((end - start) * rate - 1e-9)) + 1, most)
    return np.linspace(start, end, max(count, 1 if end == start else 2))


def resampled(run: Drawable, times: Array) -> Array:
    """Return the coordinates at times within the motion, (k, nq); quaternions have length one."""
    t, q = run.t, aligned(run.mechanism, run.q)
    if len(t) == 1:
        return np.repeat(q, len(times), axis=0)
    slopes = slopes_of(run.mechanism, q, run.qd)
    # Where two states share a time, as before and after an impact, the later one counts.
    left = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
    width = t[left + 1] - t[left]
    safe = np.where(width > 0, width, 1.0)
    s = np.clip((times - t[left]) / safe, 0.0, 1.0)[:, None]
    h = width[:, None]
    inner = (1 + 2 * s) * (1 - s) ** 2 * q[left] + s * (1 - s) ** 2 * h * slopes[left]
    outer = s**2 * (3 - 2 * s) * q[left + 1] + s**2 * (s - 1) * h * slopes[left + 1]
    return with_unit_quaternions(run.mechanism, inner + outer)


def slopes_of(mechanism: Mechanism, q: Array, qd: Array) -> Array:
    """Return dq/dt, (m, nq)."""
    if mechanism.nq == mechanism.nv:
        return qd
    slopes = np.zeros_like(q)
    for segment in mechanism.segments:
        first, rate, kind = segment.coordinate, segment.rate, segment.joint.kind
        if first is None or rate is None:
            continue
        if not kind.has_quaternion:
            slopes[:, first] = qd[:, rate]
            continue
        last, end = first + kind.coordinates, rate + kind.rates
        r, turning = q[:, last - 4 : last], qd[:, end - 3 : end]
        if kind is JointKind.FREE:
            linear = qd[:, rate : rate + 3]
            across = 2.0 * np.cross(r[:, :3], linear)
            slopes[:, first : first + 3] = linear + r[:, 3:] * across + np.cross(r[:, :3], across)
        slopes[:, last - 4 : last - 1] = (r[:, 3:] * turning + np.cross(r[:, :3], turning)) / 2
        slopes[:, last - 1] = -np.sum(r[:, :3] * turning, axis=1) / 2
    return slopes


def aligned(mechanism: Mechanism, q: Array) -> Array:
    """Return q with quaternions of length one whose sign does not jump from time to time."""
    result = with_unit_quaternions(mechanism, q)
    for part in mechanism.quaternions:
        dots = np.sum(result[1:, part] * result[:-1, part], axis=1)
        signs = np.cumprod(np.where(dots < 0, -1.0, 1.0))
        result[1:, part] *= signs[:, None]
    return result
