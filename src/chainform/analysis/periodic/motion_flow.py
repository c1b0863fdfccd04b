"""Motions of one system from any state over any span, and how deviations go on along them.

symbol   meaning
y        a state (q, qd, x), (nq + nv + nx,)
z        a deviation: displacements along the rates, changes of rates, changes of further states
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.results.displacement import displaced
from chainform.analysis.results.rotation_values import rotated
from chainform.analysis.variations.motion_variations import MotionVariations
from chainform.analysis.variations.refinement import transitions_along
from chainform.analysis.variations.transitions import Transitions
from chainform.analysis.variations.variation_graph import INSTANT
from chainform.analysis.variations.variational_equations import VariationalEquations
from chainform.errors import RunError
from chainform.given import argument
from chainform.mechanism import JointKind, Mechanism
from chainform.simulation import Problem, Run, Scenario, StartState, rest_names, whole_states

Array = NDArray[np.float64]
RTOL = 1e-11
"""How accurate motions are where nothing else is given."""
TIMELESS = ("events", "laws")
"""Outputs of the equations that do not move anything."""


@dataclass(frozen=True, eq=False)
class MotionStates:
    """States and deviations of the motions of one system; `names` are the entries of deviations."""

    mechanism: Mechanism
    names: tuple[str, ...]
    nx: int

    @staticmethod
    def of(equations: VariationalEquations) -> MotionStates:
        """Return the states of motions that have variational equations."""
        return MotionStates(equations.mechanism, equations.names, equations.graph.nx)

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return self.mechanism.nq

    @property
    def nv(self) -> int:
        """The number of rates."""
        return self.mechanism.nv

    def start(self, y: Array) -> tuple[Array, Array, Array | None]:
        """Return a state as a simulation takes it: q0, qd0, x0."""
        q, qd, x = y[: self.nq], y[self.nq : self.nq + self.nv], y[self.nq + self.nv :]
        if not len(x):
            return q, qd, None
        own = len(rest_names(self.mechanism))
        return q, qd, np.append(whole_states(self.mechanism, q, qd, x[:own]), x[own:])

    def along(self, run: Run) -> Array:
        """Return the states of a run, (m, nq + nv + nx)."""
        more = [] if run.extra_states is None else [run.extra_states[:, : self.nx]]
        return np.concatenate([run.q, run.qd, *more], axis=1)

    def moved(self, y: Array, z: Array) -> Array:
        """Return a state after a deviation."""
        q = displaced(self.mechanism, y[None, : self.nq], z[None, : self.nv])[0]
        return np.append(q, y[self.nq :] + z[self.nv :])

    def deviations(self, y: Array, start: Array) -> Array:
        """Return the deviations (m, n) of states (m, size) from others, to first order or exactly.

        Turns are rotation vectors in the axes of the joint at `start`.
        """
        q, origin = y[:, : self.nq], np.broadcast_to(start, y.shape)[:, : self.nq]
        rest = (y - start)[:, self.nq :]
        if not self.mechanism.quaternions:
            return np.concatenate([q - origin, rest], axis=1)
        xi = np.zeros((len(y), self.nv))
        for segment in self.mechanism.segments:
            first, rate, kind = segment.coordinate, segment.rate, segment.joint.kind
            if first is None or rate is None:
                continue
            if not kind.has_quaternion:
                xi[:, rate] = q[:, first] - origin[:, first]
                continue
            end = first + kind.coordinates
            turn = origin[:, end - 4 : end]
            if kind is JointKind.FREE:
                step = q[:, first : first + 3] - origin[:, first : first + 3]
                xi[:, rate : rate + 3] = rotated(turn * BACK, step)
                rate += 3
            xi[:, rate : rate + 3] = _rotation_vectors(turn, q[:, end - 4 : end])
        return np.concatenate([xi, rest], axis=1)

    @cached_property
    def kinds(self) -> list[NDArray[np.intp]]:
        """Which entries of z are displacements, rates and further states, as far as there are."""
        ends = np.cumsum([self.nv, self.nv, self.nx])
        parts = np.split(np.arange(len(self.names)), ends[:-1])
        return [part for part in parts if len(part)]

    def scales(self, y: Array, span: float) -> Array:
        """Return the size of each entry of deviations along a motion (m, size): its unit there.

        A motion at rest has the units 1 for displacements, and 1 in a time of 1/(2 pi) of the span.
        """
        z = self.deviations(y, y[0])
        spread = np.ptp(z[:, : self.nv], axis=0).max(initial=0.0) / 2
        amplitude = spread if spread > TINY else 1.0
        rates = np.abs(y[:, self.nq : self.nq + self.nv]).max(initial=0.0)
        result = np.empty(len(self.names))
        result[: self.nv] = amplitude
        result[self.nv : 2 * self.nv] = max(rates, amplitude * 2 * np.pi / span)
        states = np.abs(y[:, self.nq + self.nv :]).max(axis=0, initial=0.0)
        result[2 * self.nv :] = np.where(states > TINY, states, 1.0)
        return result

    def is_plain(self, rate: int) -> bool:
        """Whether a rate is that of a coordinate, and no turn or step of a quaternion's joint."""
        return not self.names[rate].startswith("displacement(")


TINY = 1e-9
"""Motions below this, in rad and m, are none."""
BACK = np.array([-1.0, -1.0, -1.0, 1.0])
"""Signs that make a quaternion the inverse one."""


def _rotation_vectors(first: Array, second: Array) -> Array:
    """Return the rotation vectors, in the axes of the first, that lead to the second."""
    u, s = -first[:, :3], first[:, 3:]
    v, c = second[:, :3], second[:, 3:]
    w = s * c - np.sum(u * v, axis=1, keepdims=True)
    sine = s * v + c * u + np.cross(u, v)
    sine, w = np.where(w < 0, -sine, sine), np.abs(w)
    size = np.linalg.norm(sine, axis=1, keepdims=True)
    angle = 2 * np.arctan2(size, w)
    factor: Any = np.divide(angle, size, out=np.full_like(size, 2.0), where=size > 0)
    return np.asarray(sine * factor, np.float64)


@dataclass(frozen=True, eq=False)
class MotionFlow:
    """The motions of one system from states y (nq + nv + nx,)."""

    equations: VariationalEquations
    states: MotionStates

    @staticmethod
    def of(problem: Problem) -> MotionFlow:
        """Return the motions of a problem; RunError where they have no derivatives."""
        equations = VariationalEquations.of(problem.compile())
        return MotionFlow(equations, MotionStates.of(equations))

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism with the values of its parameters."""
        return self.equations.mechanism

    @cached_property
    def names_time(self) -> bool:
        """Whether the equations, or what enters them, depend on the time."""
        graph = self.equations.system.machine.equations.graph
        efforts = self.equations.system.conditions.efforts
        moving = [name for name in graph.outputs if name not in TIMELESS]
        cone = graph.cone(graph.output_variables(moving))
        named = any(cone[v] and item.group == "t" for v, item in graph.inputs.items())
        return named or efforts.has_tables or bool(efforts.breaks)

    def over(self, span: tuple[float, float], times: Array | None = None) -> MotionFlow:
        """Return the same motions over another span, with output at times, its ends by default."""
        system = self.equations.system
        times = np.array(span) if times is None else times
        problem = replace(system.problem, span=span, times=times)
        return replace(
            self, equations=replace(self.equations, system=replace(system, problem=problem))
        )

    def start(self) -> Array:
        """Return the state in which the problem begins, its loops closed."""
        return self.states.along(self._own_start(0.0))[0]

    def after(self, time: float) -> Array:
        """Return the state so long after the problem begins."""
        return self.states.along(self._own_start(time))[-1]

    def _own_start(self, time: float) -> Run:
        first = self.equations.system.problem.span[0]
        return self.over((first, first + (time or 1e-9))).equations.system.run()

    def run(self, y: Array) -> Run:
        """Return the motion from a state."""
        return self.equations.system.run(*self.states.start(y))

    def end(self, y: Array) -> Array | None:
        """Return the state at the last time of output, None if the motion ends before.

        The state must fit loops and constraints.
        """
        system, times = self.equations.system, self.equations.system.problem.times[-1:]
        whole = np.zeros(system.machine.equations.size)
        whole[: len(y)] = y
        start = StartState(system.problem.span[0], whole, times)
        rows = system.motion(start, times).result()[1]
        return rows[0, : len(y)] if len(rows) else None

    def path(self, y: Array) -> tuple[Run, Transitions]:
        """Return the motion from a state, and the transitions of deviations along it."""
        return transitions_along(self.equations, *self.states.start(y))

    def begins_on_jump(self, y: Array) -> bool:
        """Whether a law jumps where deviations of a state lead over it: they have two sides."""
        seams = MotionVariations(self.equations, *self.states.start(y)).seams
        return bool(np.any(seams.at_start()))

    def rows(self, run: Run) -> Array:
        """Return the states of a run with what enters the equations with each, (m, k)."""
        assert run.extra_states is not None
        assert run.u is not None
        assert run.modes is not None
        machine, modes = self.equations.system.machine, run.modes
        layout, m = machine.layout, len(run.t)
        x = np.zeros((m, machine.equations.nx))
        x[:, : run.extra_states.shape[1]] = run.extra_states
        if not modes.shape[1]:
            held = layout.fresh()[layout.place("mask") : layout.place("slack")]
            modes = np.broadcast_to(held, (m, len(held)))
        return np.concatenate([run.q, run.qd, x, run.tau, run.u, modes], axis=1)

    def rates(self, run: Run, k: int) -> Array:
        """Return the rates of deviations along the motion at one of its times, (n,)."""
        row, size = self.rows(run)[[k]], self.equations.system.machine.equations.size
        return self.equations.rates(run.t[[k]], row[:, :size], row[:, size:])[0]

    def rates_at(self, t: float, y: Array) -> Array:
        """Return the rates of deviations along the motion that begins with a state, (n,)."""
        return self.rates(self.over((t, t + 1e-9)).run(y), 0)

    # --- loops, constraints, closed contacts ---------------------------------------------------

    def bonds(self, t: float, row: Array) -> tuple[Array, Array]:
        """Return what rows that hold leave open, positions then rates, and the slopes by z."""
        equations, count = self.equations, self.equations.graph.rows
        if not count:
            return np.zeros(0), np.zeros((0, len(equations.names)))
        given = row[None, equations.system.machine.equations.size :]
        inputs = equations.inputs(np.array([t]), row[None], given)
        slopes = equations.chosen(equations.graph.slopes(inputs, GROUPS, INSTANT))[0]
        values = equations.graph.values(inputs, INSTANT)[0][0]
        # A foot that sticks may stand anywhere, and so may a joint: those rows bind rates alone.
        first = equations.system.machine.equations.row_counts.first_tangential
        holds = equations.mask(given)[0] > 0
        held = np.append(holds & (np.arange(count) < first), holds)
        slopes, values = slopes[: 2 * count][held], values[: 2 * count][held]
        binding = np.abs(slopes).max(axis=1) > 0
        return values[binding], slopes[binding]

    def tangent(self, t: float, row: Array, scales: Array) -> Array:
        """Return what rows that hold leave free, in units of the motion: a basis (n, freedoms)."""
        _, slopes = self.bonds(t, row)
        if not len(slopes):
            return np.eye(len(scales))
        even = slopes * scales
        even = even / np.maximum(np.linalg.norm(even, axis=1, keepdims=True), 1e-300)
        values, directions = np.linalg.svd(even)[1:]
        return directions[int(np.sum(values > RANK * values[0])) :].T

    def closed(self, t: float, y: Array, row: Array, scales: Array) -> Array:
        """Return the state near by in which the rows hold that hold in a row of output."""
        if not self.equations.graph.rows:
            return y
        for _ in range(CLOSING_STEPS):
            values, slopes = self.bonds(t, np.append(y, row[len(y) :]))
            if not len(values):
                break
            step = np.linalg.lstsq(slopes * scales, -values, rcond=RANK)[0]
            y = self.states.moved(y, step * scales)
            if np.max(np.abs(step)) < CLOSED:
                break
        return y


GROUPS = ("q", "qd", "x", "parameters")
RANK = 1e-9
CLOSING_STEPS = 8
CLOSED = 1e-14
"""Steps below this, in units of the motion, change nothing any more."""


def problem_of(
    mechanism: Mechanism | Scenario | str | PathLike[str],
    options: dict[str, Any],
    span: tuple[float, float],
) -> Problem:
    """Return the problem of a mechanism over a span; what has no derivatives is refused."""
    for name, remedy in REFUSED.items():
        if options.get(name) is not None:
            raise RunError(f"{name} has no place in this task", element=name, remedy=remedy)
    given = {"rtol": RTOL, **options, "t": span, "energy_balance": False}
    if "method" in given and not isinstance(given["method"], str):
        del given["rtol"]
    return Problem.of(mechanism, **cast("Any", given))


def from_state(problem: Problem, start: tuple[Array, Array, Array | None]) -> Problem:
    """Return a problem that begins with another state."""
    own = dict(zip(("q0", "qd0", "x0"), start, strict=True))
    return replace(problem, options={**problem.options, **own})


REFUSED = {
    "t_eval": "give points: so many times in a period are put out",
    "hold": "leave it out: efforts then follow the state all the time",
    "energy_balance": "leave it out: simulate adds up work and losses along a motion",
}


def names_of(given: Any, element: str, known: Sequence[str]) -> list[str]:
    """Return names that are given, each of them known and once."""
    texts = argument(element, given).texts(f'write {element}=["{known[0]}"]')
    for text in texts:
        if text not in known:
            raise argument(element, text).unknown("name", known)
    return list(dict.fromkeys(texts))
