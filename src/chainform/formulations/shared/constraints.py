"""Constraints as scalars: their laws, and the derivatives of these by time and by rates.

symbol   meaning
f        the law: f(q, t) of a holonomic or unilateral constraint, f(q, qd, t) of a nonholonomic one
f'       its rate; a nonholonomic law stands on the level of rates already and is its own rate
J        df'/dqd, a row for each constraint
gamma    J qdd = gamma, from f'' = 0: gamma is minus the part of f'' that has no qdd

A law may name positions of frames, which are functions of q and t like any other, and their rates.

The rate of a coordinate is qd, but for joints with quaternions. There, with the quaternion (u, s)
and the velocities v and w of the body in its own axes,

    u' = (s w + u x w) / 2,     s' = - u . w / 2,     p' = R v

A row that follows from others does so at every state. A few random states, at which nothing is
special, show it: the rank there is the greatest that the matrix ever has.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import DeriveError
from chainform.formulations.shared.laws import ElementLaws
from chainform.formulations.shared.outputs import declare
from chainform.formulations.shared.scope import error_context
from chainform.graph import BatchPlan, Builder, Graph, Scalar, Tangents, is_zero
from chainform.mechanism import Constraint, JointKind, Mechanism, Number, Segment
from chainform.spatial import add, apply, cross, dot, scale

HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class ConstraintRow:
    """A law f, its rate, the row J by rate and gamma."""

    value: Scalar
    rate: Scalar
    J: dict[int, Scalar]
    gamma: Scalar


class ConstraintLaws:
    """The constraints and quasi-velocities of one mechanism."""

    def __init__(self, builder: Builder, mechanism: Mechanism) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.laws = ElementLaws(builder, mechanism)
        self.by_rate = cache(self._by_rate)
        self._clock = cache(self._made_clock)

    @cached_property
    def bilateral(self) -> list[ConstraintRow]:
        """The rows of holonomic and nonholonomic constraints, in the order of the file."""
        return [self._row(c) for c in self.mechanism.constraints if c.kind != "unilateral"]

    @cached_property
    def unilateral(self) -> list[ConstraintRow]:
        """The rows of unilateral constraints."""
        return [self._row(c) for c in self.mechanism.constraints if c.kind == "unilateral"]

    @cached_property
    def quasi(self) -> list[ConstraintRow]:
        """The rows of quasi-velocities: S in place of J, and minus the part of pi' without qdd."""
        rows: list[ConstraintRow] = []
        for quasi in self.mechanism.quasi:
            with error_context(self.mechanism, f"quasi-velocity {quasi.name!r}"):
                rows.append(self._of_rate(quasi.law))
        return rows

    def _row(self, constraint: Constraint) -> ConstraintRow:
        with error_context(self.mechanism, f"constraint {constraint.name!r}"):
            if constraint.kind == "nonholonomic":
                return self._of_rate(constraint.law)
            return self.holonomic(self.laws.differentiable(constraint.law))

    def holonomic(self, law: Scalar, moving: frozenset[int] | None = None) -> ConstraintRow:
        """Return the row of a law of coordinates and time.

        `moving` are the coordinates that the law depends on where it holds, all of them by default:
        the others stand still in its derivatives.
        """
        value, clock = self.builder.keep(law), self._clock(moving)
        return self._made(value, self.builder.keep(clock.of(value)), clock)

    def _of_rate(self, law: Number) -> ConstraintRow:
        value = self.builder.keep(self.laws.differentiable(law))
        return self._made(value, value, self._clock(None))

    def _made(self, value: Scalar, rate: Scalar, clock: Tangents) -> ConstraintRow:
        keep = self.builder.keep
        row = {k: keep(self.by_rate(k).of(rate)) for k in range(self.mechanism.nv)}
        J = {k: entry for k, entry in row.items() if not is_zero(entry)}
        return ConstraintRow(value, rate, J, keep(-clock.of(rate)))

    def is_gear(self, row: ConstraintRow) -> bool:
        """Whether the ratios of rates that a row binds do not change, as in a gear."""
        return all(is_zero(self._clock(None).of(entry)) for entry in row.J.values())

    # --- derivatives --------------------------------------------------------------------

    def _by_rate(self, k: int) -> Tangents:
        variable = self.builder.variable_of(self._qd(k))
        return Tangents(self.builder, {variable: self.builder.number(1)})

    def _qd(self, k: int) -> Scalar:
        return self.laws.kinematics.q(k, "qd")

    def _made_clock(self, moving: frozenset[int] | None) -> Tangents:
        """Return derivatives by time while the rates stay what they are."""
        direction = {
            self.builder.variable_of(self.laws.kinematics.q(place)): rate
            for place, rate in self.coordinate_rates().items()
            if moving is None or place in moving
        }
        if self.laws.has_time:
            direction[self.builder.variable_of(self.laws.time())] = self.builder.number(1)
        return Tangents(self.builder, direction)

    def coordinate_rates(self) -> dict[int, Scalar]:
        """Return the rate of every coordinate."""
        if not self.mechanism.segments:
            return {k: self._qd(k) for k in range(self.mechanism.nq)}
        rates: dict[int, Scalar] = {}
        for segment in self.mechanism.segments:
            if segment.coordinate is None or segment.rate is None:
                continue
            if segment.joint.kind.has_quaternion:
                rates |= self._quaternion_rates(segment, segment.coordinate, segment.rate)
            else:
                rates[segment.coordinate] = self._qd(segment.rate)
        return rates

    def _quaternion_rates(self, segment: Segment, place: int, rate: int) -> dict[int, Scalar]:
        q, keep = self.laws.kinematics.q, self.builder.keep
        free = segment.joint.kind is JointKind.FREE
        first, turning = place + 3 * free, rate + 3 * free
        u, s = (q(first), q(first + 1), q(first + 2)), q(first + 3)
        w = (self._qd(turning), self._qd(turning + 1), self._qd(turning + 2))
        turned = add(scale(s, w), cross(u, w))
        rates = {first + k: keep(HALF * keep(turned[k])) for k in range(3)}
        rates[first + 3] = keep(-HALF * keep(dot(u, w)))
        if free:
            v = (self._qd(rate), self._qd(rate + 1), self._qd(rate + 2))
            moved = apply(self.laws.kinematics.quaternion(segment), v)
            rates |= {place + k: keep(moved[k]) for k in range(3)}
        return rates


# --- independence of the rows ---------------------------------------------------------------------

STATES = 24
"""How many states are tried; laws may have no value, or be constant, at some of them."""
RANK = 1e-9
"""A row counts as a sum of others if what is left of it is below this share of it."""


def dependent_rows(graph: Graph, output: str) -> list[int]:
    """Return the rows of a matrix that follow from those before them, at every state."""
    matrices = _at_random(graph, output)
    found = [_dependent(matrix) for matrix in matrices if np.isfinite(matrix).all()]
    return min(found, key=len) if found else []


def _dependent(matrix: NDArray[np.float64]) -> list[int]:
    """Return the rows that have no part independent of those before them."""
    basis = np.zeros((0, matrix.shape[1]))
    dependent: list[int] = []
    for index, row in enumerate(matrix):
        largest = np.max(np.abs(row), initial=0.0)
        if not largest:
            dependent.append(index)
            continue
        left = row / largest
        size = np.linalg.norm(left)
        # Twice, so that rounding leaves nothing of a row that follows from the others.
        for _ in range(2):
            left = left - basis.T @ (basis @ left)
        own = np.linalg.norm(left)
        if own <= RANK * size:
            dependent.append(index)
        else:
            basis = np.vstack((basis, left / own))
    return dependent


def _at_random(graph: Graph, output: str) -> NDArray[np.float64]:
    """Return a matrix at states of small and large numbers, parameters at their values if any."""
    block, rng = graph.block(output), np.random.default_rng(1)
    variables = np.asarray(block.variables, dtype=np.int32)
    wanted = np.unique(variables)
    plan = BatchPlan(graph, wanted)
    inputs: dict[int, Any] = {}
    for v in plan.inputs:
        given = graph.inputs[v]
        sizes = 10.0 ** rng.uniform(-1, 2, STATES)
        sizes[: STATES // 2] = rng.uniform(0.1, 1.2, STATES // 2)
        signs = 1 if given.group in ("t", "parameter") else rng.choice([-1, 1], STATES)
        inputs[v] = signs * sizes if given.default is None else float(given.default)
    with np.errstate(all="ignore"):
        results = plan.run(inputs, STATES)
    entries = results[np.searchsorted(wanted, variables)]
    return entries.T.reshape((STATES, *block.shape))


def refuse_dependent(mechanism: Mechanism, *, with_quasi: bool) -> None:
    """Refuse constraints that follow from others, and quasi-velocities that leave rates open."""
    builder = Builder()
    laws = ConstraintLaws(builder, mechanism)
    names = [c.name for c in mechanism.constraints if c.kind != "unilateral"]
    rows = [*laws.bilateral, *(laws.quasi if with_quasi else ())]
    entries = {(i, k): value for i, row in enumerate(rows) for k, value in row.J.items()}
    declare(builder, "rows", "rows", (len(rows), mechanism.nv), entries)
    dependent = dependent_rows(builder.finish(), "rows")
    if not dependent:
        return
    place = dependent[0]
    if place < len(names):
        raise DeriveError(
            "the constraint binds nothing, or follows from those before it or contradicts them, "
            "so that the forces of constraints are not determined",
            file=mechanism.file,
            element=f"constraint {names[place]!r}",
            remedy="leave it out",
        )
    raise DeriveError(
        "quasi-velocities and constraints do not determine the rates: this one follows from the "
        "constraints and those before it",
        file=mechanism.file,
        element=f"quasi-velocity {mechanism.quasi[place - len(names)].name!r}",
        remedy="choose quasi-velocities that are independent of each other and of the constraints",
    )
