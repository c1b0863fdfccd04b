"""Equations of poses: r(q, t) = 0 where frames are at their targets and all loops are closed.

symbol   meaning
r        targets minus frames (distances over the size, rotation vectors in rad), then held
         coordinates, then loops and holonomic constraints
J        minus the derivatives of r by the rates, whose unit is 1 rad, or the size in m
v, a     rates of the targets, without what the frames have of them at qd = 0 and qdd = 0

    J qd = v,    J qdd = a

All of it is scaled, compiled, and for many states at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.motions.constraint_values import ClosureRows
from chainform.analysis.poses.graph_function import Function, graph_function
from chainform.analysis.poses.joint_ranges import (
    carriers,
    limits_of,
    moving_rates,
    size_of,
    whole_turns,
)
from chainform.analysis.poses.pose_targets import PoseGoals
from chainform.analysis.results.displacement import has_quaternion
from chainform.analysis.results.rotation_values import (
    of_length_one,
    quaternion_rates,
    rotation_vectors,
    rotations_of,
    turned,
)
from chainform.errors import RunError
from chainform.formulations import coordinate_of
from chainform.graph import Graph
from chainform.mechanism import Mechanism, motion_units
from chainform.pipeline import derive

Array = NDArray[np.float64]
Rows = tuple[tuple[str, tuple[int, ...]], ...]
"""Frames with the rows of their velocities that are bound."""
CLOSURE = ("values", "J", "gamma", "rates", "cosines", "gaps")


@dataclass(frozen=True, eq=False)
class Residuals:
    """r (m, rows) and J (m, rows, nv), scaled."""

    r: Array
    J: Array

    @property
    def size(self) -> Array:
        """The largest entry of r, (m,)."""
        return np.max(np.abs(self.r), axis=1, initial=0.0)


class PoseEquations:
    """The equations of some frames of a mechanism, with its limits and scales.

    `lower` and `upper` (nv,) bound the coordinates that have one rate, `scales` (nv,) are 1 rad or
    the size in m, `moving` are the rates that matter to the frames.
    """

    def __init__(self, mechanism: Mechanism, rows: Rows, held: tuple[int, ...]) -> None:
        _refuse(mechanism)
        self.mechanism, self.rows = mechanism, rows
        self.closure = ClosureRows(mechanism)
        self.size = size_of(mechanism, [name for name, _ in rows])
        slides = np.array([unit == "m" for unit in motion_units(mechanism)], dtype=bool)
        self.turns = ~slides
        self.scales = np.where(slides, self.size, 1.0)
        single = [k for k in range(mechanism.nv) if not has_quaternion(mechanism, k)]
        self.single = np.array(single, dtype=np.intp)
        """The rates of coordinates that have one rate, and their places in q."""
        self.places = np.array([coordinate_of(mechanism, k) for k in single], dtype=np.intp)
        self.held_places = np.array(held, dtype=np.intp)
        self.held = self.single[[list(self.places).index(k) for k in held]]
        self.lower, self.upper = limits_of(mechanism)
        self.moving = moving_rates(mechanism, [name for name, _ in rows])
        self.moves = np.isin(np.arange(mechanism.nv), self.moving)
        self.chain = [s.rate for s in carriers(mechanism, rows[0][0]) if s.rate is not None]
        """The rates of the joints from the base to the first frame."""
        loops = [loop.rows for loop in mechanism.loops]
        lengths = [[self.size] * len(r.linear) + [1.0] * len(r.angular) for r in loops]
        self._closure_sizes = np.ones(self.closure.count)
        self._closure_sizes[: self.closure.loops] = np.concatenate([*lengths, []])

    # --- compiled functions -------------------------------------------------------------------

    def _names(self, *quantities: str) -> list[str]:
        return [f"{quantity}({frame})" for frame, _ in self.rows for quantity in quantities]

    def _derived(self, *quantities: str) -> Function:
        names = self._names(*quantities)
        return graph_function(self.mechanism, derive(self.mechanism, names).graph, names)

    @cached_property
    def frame_graph(self) -> Graph:
        """The graph of poses and Jacobians of the frames."""
        return derive(self.mechanism, self._names("pose", "jacobian")).graph

    @cached_property
    def _quaternions(self) -> list[tuple[int, int, int, int]]:
        """First and last place in q and in qd of each joint with a quaternion."""
        return [
            (first, first + segment.joint.kind.coordinates, rate, rate + segment.joint.kind.rates)
            for segment in self.mechanism.segments
            if (first := segment.coordinate) is not None
            and (rate := segment.rate) is not None
            and segment.joint.kind.has_quaternion
        ]

    @cached_property
    def _poses(self) -> Function:
        return graph_function(self.mechanism, self.frame_graph, self._names("pose", "jacobian"))

    @cached_property
    def _motions(self) -> Function:
        return self._derived("velocity", "acceleration")

    @cached_property
    def _jacobian_rates(self) -> Function:
        return self._derived("jacobian_rate")

    @cached_property
    def _jacobian_bends(self) -> Function:
        names = [
            f"product(derivative(jacobian_rate({frame}),q),direction)" for frame, _ in self.rows
        ]
        return graph_function(self.mechanism, derive(self.mechanism, names).graph, names)

    @cached_property
    def _closed(self) -> dict[str, Function]:
        graph = self.closure.graph
        return {
            name: graph_function(self.mechanism, graph, [name])
            for name in CLOSURE
            if len(graph.block(name).variables)
        }

    def _closure(self, name: str, q: Array, qd: Array | float, t: Array) -> Array:
        """Return values of loops and constraints, (m, ...)."""
        if name not in self._closed:
            return np.zeros((len(q), 0))
        rates = np.broadcast_to(np.asarray(qd, dtype=np.float64), (len(q), self.mechanism.nv))
        return self._closed[name](q=q, qd=rates, t=t[:, np.newaxis])[0]

    # --- positions ----------------------------------------------------------------------------

    @cached_property
    def whole_turns(self) -> NDArray[np.intp]:
        """The rates of coordinates for which a whole turn changes nothing.

        Laws of elements and constraints may take an angle as they like: there the equations are
        looked at, at a pose and a whole turn further.
        """
        mechanism = self.mechanism
        if not mechanism.constraints and not mechanism.elements:
            return whole_turns(mechanism)
        rates = [int(k) for k in self.single if self.turns[k]]
        pose = mechanism.neutral() + np.random.default_rng(1).uniform(0.1, 0.9, mechanism.nq)
        q = np.tile(pose, (len(rates) + 1, 1))
        for row, rate in enumerate(rates, 1):
            q[row, coordinate_of(mechanism, rate)] += 2 * np.pi
        goals = replace(self.goals_at(np.tile(pose, (len(q), 1))), t=np.full(len(q), 0.7))
        with np.errstate(all="ignore"):
            found = self.at(q, goals)
        values = np.concatenate([found.r, found.J.reshape(len(q), -1)], axis=1)
        same = np.all(np.abs(values[1:] - values[0]) <= 1e-10 * (1 + np.abs(values[0])), axis=1)
        return np.array(rates, dtype=np.intp)[same]

    def at(self, q: Array, goals: PoseGoals) -> Residuals:
        """Return r and J at poses (m, nq)."""
        found = self._poses(q=q, t=goals.t[:, np.newaxis])
        r, J = list[Array](), list[Array]()
        for k, (_, rows) in enumerate(self.rows):
            pose, gap = found[2 * k], np.zeros((len(q), 6))
            gap[:, :3] = (goals.position[:, k] - pose[:, :3, 3]) / self.size
            if 3 in rows:
                back = np.swapaxes(pose[:, :3, :3], 1, 2)
                gap[:, 3:] = rotation_vectors(goals.rotation[:, k] @ back)
            r.append(gap if len(rows) == 6 else gap[:, list(rows)])
            J.append(self._frame_rows(found[2 * k + 1], rows))
        if self.held.size:
            r.append((goals.held[:, 0] - q[:, self.held_places]) / self.scales[self.held])
            unit = np.eye(self.mechanism.nv)[self.held] / self.scales[self.held][:, np.newaxis]
            J.append(np.broadcast_to(unit * self.scales, (len(q), *unit.shape)))
        if self.closure.count:
            sizes = self._closure_sizes
            r.append(-self._closure("values", q, 0.0, goals.t) / sizes)
            J.append(self._closure("J", q, 0.0, goals.t) * (self.scales / sizes[:, np.newaxis]))
        if len(r) == 1:
            return Residuals(r[0], J[0])
        return Residuals(np.concatenate(r, axis=1), np.concatenate(J, axis=1))

    def _frame_rows(self, jacobian: Array, rows: tuple[int, ...]) -> Array:
        """Return the rows of a frame (m, rows, nv), scaled."""
        some = jacobian if len(rows) == 6 else jacobian[:, list(rows)]
        return some * (self.scales / self._row_sizes(rows)[:, np.newaxis])

    def errors(self, q: Array, goals: PoseGoals) -> tuple[Array, Array]:
        """Return the largest distance (m) and angle (rad) of a frame from its target, (m,)."""
        found = self._poses(q=q, t=goals.t[:, np.newaxis])
        distance, angle = np.zeros((2, len(q)))
        for k, (_, rows) in enumerate(self.rows):
            pose, linear = found[2 * k], [i for i in rows if i < 3]
            gap = (goals.position[:, k] - pose[:, :3, 3])[:, linear]
            distance = np.maximum(distance, np.linalg.norm(gap, axis=1))
            if 3 in rows:
                turn = goals.rotation[:, k] @ np.swapaxes(pose[:, :3, :3], 1, 2)
                angle = np.maximum(angle, np.linalg.norm(rotation_vectors(turn), axis=1))
        return distance, angle

    def is_possible(self, q: Array, t: Array) -> NDArray[np.bool_]:
        """Tell whether frames of loops are not turned over, and no unilateral constraint passed."""
        signs = [self._closure(name, q, 0.0, t) for name in ("cosines", "gaps")]
        return np.all(np.concatenate(signs, axis=1) >= 0, axis=1)

    def frame_jacobian(self, q: Array, t: Array) -> tuple[Array, Array]:
        """Return pose (m, 4, 4) and Jacobian (m, 6, nv) of the first frame."""
        found = self._poses(q=q, t=t[:, np.newaxis])
        return found[0], found[1]

    def goals_at(self, q: Array) -> PoseGoals:
        """Return goals that poses (m, nq) meet at t = 0, without rates."""
        t = np.zeros(len(q))
        found = np.stack(self._poses(q=q, t=t[:, np.newaxis])[::2], axis=1)
        still = np.zeros((len(q), len(self.rows), 6))
        held = np.zeros((len(q), 3, len(self.held)))
        held[:, 0] = q[:, self.held_places]
        return PoseGoals(t, found[..., :3, 3], found[..., :3, :3], still, still, held)

    # --- rates --------------------------------------------------------------------------------

    def rates(self, q: Array, goals: PoseGoals) -> Array:
        """Return v (m, rows)."""
        still = np.zeros((len(q), self.mechanism.nv))
        moved = self._motions(q=q, qd=still, qdd=still, t=goals.t[:, np.newaxis])[::2]
        held = goals.held[:, 1] / self.scales[self.held]
        closure = -self._closure("rates", q, 0.0, goals.t)
        return self._stacked(goals.velocity, moved, held, closure)

    def accelerations(self, q: Array, qd: Array, goals: PoseGoals) -> Array:
        """Return a (m, rows)."""
        still = np.zeros((len(q), self.mechanism.nv))
        moved = self._motions(q=q, qd=qd, qdd=still, t=goals.t[:, np.newaxis])[1::2]
        held = goals.held[:, 2] / self.scales[self.held]
        closure = self._closure("gamma", q, qd, goals.t)
        return self._stacked(goals.acceleration, moved, held, closure)

    def jacobian_rate(self, q: Array, qd: Array, t: Array) -> Array:
        """Return the derivative of J by time (m, rows, nv); there are no loops and constraints."""
        return self._scaled(self._jacobian_rates(q=q, qd=qd, t=t[:, np.newaxis]))

    def bend(self, q: Array, t: Array, weights: Array) -> Array:
        """Return the derivative of J^T w by the rates (m, nv, nv), w (m, rows); without loops."""
        nv, columns = self.mechanism.nv, list[Array]()
        for k in range(nv):
            unit = np.zeros((len(q), nv))
            unit[:, k] = self.scales[k]
            Jd = self.jacobian_rate(q, unit, t)
            columns.append(np.einsum("mij,mi->mj", Jd, weights))
        return np.stack(columns, axis=2)

    def jacobian_bend(self, q: Array, qd: Array, t: Array) -> Array:
        """Return what q alone changes in that derivative, by time; there are no quaternions."""
        return self._scaled(self._jacobian_bends(q=q, qd=qd, direction=qd, t=t[:, np.newaxis]))

    def _scaled(self, found: Sequence[Array]) -> Array:
        """Return matrices of frames (m, 6, nv) as rows of J; those of held coordinates are zero."""
        parts = [self._frame_rows(x, rows) for x, (_, rows) in zip(found, self.rows, strict=True)]
        held = np.zeros((len(found[0]), len(self.held), self.mechanism.nv))
        return np.concatenate([*parts, held], axis=1)

    def _row_sizes(self, rows: Iterable[int]) -> Array:
        return np.array([self.size if row < 3 else 1.0 for row in rows])

    def _stacked(self, wanted: Array, moved: Sequence[Array], held: Array, closure: Array) -> Array:
        parts = [
            (wanted[:, k] - moved[k])[:, list(rows)] / self._row_sizes(rows)
            for k, (_, rows) in enumerate(self.rows)
        ]
        return np.concatenate([*parts, held, closure / self._closure_sizes], axis=1)

    # --- motion -------------------------------------------------------------------------------

    def moved(self, q: Array, step: Array) -> Array:
        """Return poses (m, nq) after steps (m, nv) along the rates, in units of the scales."""
        change, result = step * self.scales, q.copy()
        result[:, self.places] += change[:, self.single]
        for first, last, rate, end in self._quaternions:
            turn = q[:, last - 4 : last]
            if last - first == 7:
                shift = rotations_of(turn) @ change[:, rate : rate + 3, np.newaxis]
                result[:, first : first + 3] += shift[..., 0]
            result[:, last - 4 : last] = turned(turn, change[:, end - 3 : end])
        return result

    def coordinate_rates(self, q: Array, rates: Array) -> Array:
        """Return dq/dt (m, nq) of poses under rates (m, nv), in units of the scales."""
        qd, result = rates * self.scales, np.zeros_like(q)
        result[:, self.places] = qd[:, self.single]
        for first, last, rate, end in self._quaternions:
            turn = q[:, last - 4 : last]
            if last - first == 7:
                shift = rotations_of(turn) @ qd[:, rate : rate + 3, np.newaxis]
                result[:, first : first + 3] = shift[..., 0]
            result[:, last - 4 : last] = quaternion_rates(turn, qd[:, end - 3 : end])
        return result

    def with_unit_quaternions(self, q: Array) -> Array:
        """Return coordinates (m, nq) with quaternions of length 1."""
        result = q.copy()
        for _, last, _, _ in self._quaternions:
            result[:, last - 4 : last] = of_length_one(q[:, last - 4 : last])
        return result

    def difference(self, q: Array, other: Array) -> Array:
        """Return the steps (m, nv), in units of the scales, from q to other poses (m, nq)."""
        step = np.zeros((len(q), self.mechanism.nv))
        step[:, self.single] = other[:, self.places] - q[:, self.places]
        for first, last, rate, end in self._quaternions:
            back = np.swapaxes(rotations_of(q[:, last - 4 : last]), 1, 2)
            if last - first == 7:
                shift = other[:, first : first + 3] - q[:, first : first + 3]
                step[:, rate : rate + 3] = (back @ shift[..., np.newaxis])[..., 0]
            turn = back @ rotations_of(other[:, last - 4 : last])
            step[:, end - 3 : end] = rotation_vectors(turn)
        return step / self.scales

    def clipped(self, q: Array) -> Array:
        """Return poses within the limits."""
        result = q.copy()
        bounds = self.lower[self.single], self.upper[self.single]
        result[:, self.places] = np.clip(q[:, self.places], *bounds)
        return result

    def names_at_limits(self, q: Array) -> list[str]:
        """Return the coordinates that matter and are at a limit in one of the poses (m, nq)."""
        values, low, high = q[:, self.places], self.lower[self.single], self.upper[self.single]
        stuck = np.any((values == low) | (values == high), axis=0) & self.moves[self.single]
        return [self.mechanism.rates[int(rate)] for rate in self.single[stuck]]

    def is_at_limits(self, q: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell which of the coordinates that matter are at lower and upper limits, (m, moving)."""
        found = np.zeros((2, len(q), self.mechanism.nv), dtype=bool)
        values = q[:, self.places]
        found[0][:, self.single] = values <= self.lower[self.single]
        found[1][:, self.single] = values >= self.upper[self.single]
        return found[0][:, self.moving], found[1][:, self.moving]

    def at_limit(self, q: Array, push: Array) -> NDArray[np.bool_]:
        """Tell which rates (m, nv) are pushed against a limit."""
        found = np.zeros(push.shape, dtype=bool)
        values, toward = q[:, self.places], push[:, self.single]
        low, high = self.lower[self.single], self.upper[self.single]
        found[:, self.single] = ((values <= low) & (toward < 0)) | ((values >= high) & (toward > 0))
        return found


@lru_cache(maxsize=8)
def pose_equations(mechanism: Mechanism, rows: Rows, held: tuple[int, ...]) -> PoseEquations:
    """Return the equations, those of the last mechanisms without deriving them again."""
    return PoseEquations(mechanism, rows, held)


def _refuse(mechanism: Mechanism) -> None:
    """Refuse what positions alone do not determine."""
    loose = [c.name for c in mechanism.constraints if c.kind == "nonholonomic"]
    if loose:
        raise RunError(
            f"the constraint {loose[0]!r} binds rates: poses do not tell whether it holds",
            file=mechanism.file,
            element="mechanism",
            remedy="find the motion with chainform.simulate, or take the constraint out",
        )
    if mechanism.base.is_moving and not mechanism.base.follows_its_place:
        raise RunError(
            "the base moves with given velocities, and its place at a time is not known",
            file=mechanism.file,
            element="mechanism",
            remedy="give its position and orientation as laws of t",
        )
