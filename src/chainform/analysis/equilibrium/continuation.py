"""Continuation: a path of equilibria from point to point, and onto its branches.

Steps become longer where the path is straight. Folds and branch points are located where their
functions change sign (path_points.py). Where a contact closes, or would have to pull, the path goes
on with the other contacts from exactly there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.equilibrium.equilibrium_search import without_turns
from chainform.analysis.equilibrium.equilibrium_solver import (
    BALANCED,
    NEAR,
    Flags,
    equilibrium_system,
)
from chainform.analysis.equilibrium.equilibrium_stability import Stability, StabilityTest, names_of
from chainform.analysis.equilibrium.equilibrium_starts import (
    periodic_coordinates,
    start_poses,
    start_ranges,
    with_multipliers,
)
from chainform.analysis.equilibrium.path_points import PathPoint, PathSystem
from chainform.analysis.equilibrium.static_equations import StaticStates
from chainform.analysis.equilibrium.static_problem import StaticProblem
from chainform.analysis.results.interruption import Watch
from chainform.errors import RunError

Array = NDArray[np.float64]

LONGEST, SHORTEST = 0.05, 1e-7
"""The longest and the shortest step, in rad, parts of the size, or parts of the span."""
BENT = 0.98
"""The least cosine between the tangents of two points."""
SAME = 1e-3
"""Branch points nearer than this are one."""
POINT, FOLD, BRANCH, CONTACT = 0.0, 1.0, 2.0, 3.0
"""Kinds of points."""


@dataclass(frozen=True)
class PathRow:
    """A point of the result."""

    point: PathPoint
    stability: Stability
    branch: int
    kind: float = POINT


class Continuation:
    """A path on its way."""

    def __init__(
        self, problem: StaticProblem, name: str, span: tuple[float, float], q0: Any
    ) -> None:
        self.problem, self.name, self.span = problem, name, span
        self.equations, self.mechanism = problem.equations, problem.mechanism
        self.longest, self.most = LONGEST, 2000
        self.watch = Watch()
        self.rows: list[PathRow] = []
        self.endings: list[str] = []
        if not self.equations.moving.holonomic.all():
            raise RunError(
                "a nonholonomic constraint leaves positions open, so that there is no single path",
                file=self.mechanism.file,
                element="constraints",
                remedy="describe what stays in place as a holonomic constraint",
            )
        self.periodic = periodic_coordinates(problem)
        state, closed = self._start(q0)
        rank = self.system.row_rank(state)
        self.path = PathSystem(self.system, abs(span[1] - span[0]), rank)
        self.test = StabilityTest(problem, self.system, rank)
        self._refuse_family(state, closed)
        towards = np.zeros(len(self.system.columns) + 1)
        towards[-1] = np.sign(span[1] - span[0])
        self.first = self.path.point(state, closed, towards)

    def _states(self, q: Array) -> StaticStates:
        m, x = len(q), np.tile(self.problem.x0, (len(q), 1))
        sigma = np.zeros((m, self.equations.sizes["sigma"]))
        return StaticStates(q, x, sigma, np.full(m, self.span[0]))

    def _start(self, q0: Any) -> tuple[StaticStates, Flags]:
        """Return the equilibrium near a pose."""
        problem, scales = self.problem, self.problem.scales
        begin = self._states(problem.pose(q0)[None])
        drawn = start_poses(problem, start_ranges(problem, None), 20, 0)
        about = self._states(drawn)
        self.system = equilibrium_system(self.equations, about, scales)
        begin, left = self.system.close(self.equations.settled(begin))
        if left[0] < NEAR:
            begin, left = self.system.descend(with_multipliers(self.system, begin))
        if left[0] < NEAR:
            begin, left, closed = self.system.refine(begin)
            if left[0] < BALANCED and problem.is_closed(begin.q, NEAR)[0]:
                return begin, closed
        raise RunError(
            f"no equilibrium was found near q0 at {self.name} = {self.span[0]:g}",
            file=self.mechanism.file,
            element="q0",
            remedy="give a pose nearer to one: chainform.equilibria finds them",
        )

    def _refuse_family(self, state: StaticStates, closed: Flags) -> None:
        stability = self.test.of(state, closed)
        if stability.family:
            moves = "; ".join(names_of(d, self.mechanism.rates) for d in stability.free.T)
            raise RunError(
                f"the equilibrium at q0 is one of a family: it moves freely along {moves}",
                file=self.mechanism.file,
                element="q0",
                remedy="hold as many coordinates with held",
            )

    # --- the way ------------------------------------------------------------------------

    def follow(self, *, with_branches: bool) -> None:
        """Follow the path, then those that branch off it."""
        self._follow(self.first, 0)
        met: list[PathPoint] = []
        while with_branches and len(self.rows) < self.most:
            ahead = (row.point for row in self.rows if row.kind == BRANCH)
            new = next((point for point in ahead if not self._is_met(point, met)), None)
            if new is None:
                return
            met.append(new)
            for start in self._branches(new):
                if len(self.rows) < self.most:
                    self._follow(start, max(row.branch for row in self.rows) + 1)

    def _is_met(self, point: PathPoint, met: Sequence[PathPoint]) -> bool:
        return any(self._distance(point.state, other.state) < SAME for other in met)

    def _distance(self, one: StaticStates, other: StaticStates) -> float:
        scales = np.max(self.problem.scales, initial=1.0)
        apart = without_turns(one.q - other.q, self.periodic)
        gap = np.max(np.abs(apart), initial=0.0) / scales
        return max(float(gap), abs(float(one.parameter[0] - other.parameter[0])) / self.path.unit)

    def _branches(self, point: PathPoint) -> Iterator[PathPoint]:
        """Yield starts on the other path through a branch point, to both sides."""
        both, along = self.path.null_vectors(point.state, point.closed), point.tangent
        others = [v - along * self.path.dot(v, along) for v in both]
        across = self.path.unit_length(max(others, key=lambda v: self.path.dot(v, v)))
        across = across * np.sign(across[np.argmax(np.abs(across[: self.mechanism.nv]))])
        for side in (1.0, -1.0):
            start = self.path.moved(point.state, side * 0.2 * self.longest * across)
            state, size, _ = self.path.onto(start, point.closed, across)
            if size < BALANCED and self._fits(state, point.closed):
                yield self.path.point(state, point.closed, side * across, size)

    def _fits(self, state: StaticStates, closed: Flags) -> bool:
        a, b = self.system.contact_values(state)
        return bool(np.all(np.where(closed, b, a) >= -NEAR))

    def _follow(self, point: PathPoint, branch: int) -> None:
        """Follow one path to its end."""
        self._add(point, branch)
        start, length, is_away = point, self.longest / 5, False
        while len(self.rows) < self.most:
            found = self.path.ahead(point, length)
            if found is None or found[1] > 6 or self._is_bent(point, found[0]):
                length /= 2
                if length < SHORTEST:
                    self.endings.append(f"path {branch} could not be followed any further")
                    return
                continue
            after = self._passed(point, found[0], length, branch)
            if after is None or (is_away and self._is_back(start, after, branch)):
                return
            is_away = is_away or self._distance(start.state, after.state) > 2 * self.longest
            point = after
            length = min(self.longest, length * (1.6 if found[1] <= 4 else 0.8))
        self.endings.append(f"path {branch} has as many points as are allowed")

    def _is_bent(self, point: PathPoint, after: PathPoint) -> bool:
        return self.path.dot(point.tangent, after.tangent) < BENT

    def _is_back(self, start: PathPoint, point: PathPoint, branch: int) -> bool:
        """Whether a path has come back to its beginning."""
        is_near = self._distance(start.state, point.state) < self.longest
        is_same = self.path.dot(start.tangent, point.tangent) > 0
        if is_near and is_same and np.all(start.closed == point.closed):
            self.endings.append(f"path {branch} comes back to its beginning")
            return True
        return False

    def _passed(
        self, point: PathPoint, after: PathPoint, length: float, branch: int
    ) -> PathPoint | None:
        """Note what a step passes, and return the point to go on from; None at the end."""
        change = self._contact_change(point, after, length)
        last, limit = (after, length) if change is None else change[:2]
        events = sorted(self._events(point, last, limit), key=lambda event: event[1])
        end = self._end(point, last, limit)
        for special, where, kind in events:
            if end is None or where < end[1]:
                self._add(special, branch, kind)
        if end is not None:
            self._add(end[0], branch)
            self.endings.append(f"path {branch} reaches the end of the span")
            return None
        if change is not None:
            return self._with_other_contacts(change[0], change[2], branch)
        self._add(after, branch)
        return after

    def _events(
        self, point: PathPoint, after: PathPoint, length: float
    ) -> list[tuple[PathPoint, float, float]]:
        """Return folds and branch points within a step."""
        events: list[tuple[PathPoint, float, float]] = []
        size = point.determinant[1]

        def determinant(at: PathPoint) -> float:
            return at.determinant[0] * float(np.exp(np.clip(at.determinant[1] - size, -700, 700)))

        def slope(at: PathPoint) -> float:
            return at.slope

        for test, kind in ((determinant, BRANCH), (slope, FOLD)):
            if test(point) * test(after) < 0:
                special = self.path.located(point, length, test)
                if special is None or (events and abs(special[1] - events[0][1]) < 1e-5):
                    continue
                events.append((*special, kind))
        return events

    def _end(
        self, point: PathPoint, after: PathPoint, length: float
    ) -> tuple[PathPoint, float] | None:
        """Return the point at which the parameter leaves its span."""
        for bound in self.span:

            def over(at: PathPoint, bound: float = bound) -> float:
                return float(at.state.parameter[0] - bound) / self.path.unit

            if over(point) * over(after) > 0 or over(after) == 0.0:
                continue
            if over(point) == 0.0:
                # The path begins at the first bound, and may turn back there at once.
                inside = over(after) * (sum(self.span) / 2 - bound) > 0
                if inside:
                    continue
                return point, 0.0
            return self.path.located(point, length, over)
        return None

    # --- contacts -----------------------------------------------------------------------

    def _contact_change(
        self, point: PathPoint, after: PathPoint, length: float
    ) -> tuple[PathPoint, float, int] | None:
        """Return the first point at which a contact closes or would have to pull, and which."""
        changes: list[tuple[PathPoint, float, int]] = []
        for k in range(point.closed.shape[1]):

            def room(at: PathPoint, k: int = k) -> float:
                a, b = self.system.contact_values(at.state)
                return float(b[0, k] if at.closed[0, k] else a[0, k])

            if room(after) < -BALANCED:
                found = self.path.located(point, length, room) if room(point) > 0 else (point, 0.0)
                if found is not None:
                    changes.append((*found, k))
        return min(changes, key=lambda change: change[1], default=None)

    def _with_other_contacts(self, point: PathPoint, contact: int, branch: int) -> PathPoint | None:
        """Return the point from which the path goes on after a contact opened or closed."""
        closed = point.closed.copy()
        closed[0, contact] = ~closed[0, contact]
        after = self.path.point(point.state, closed)
        # What was zero grows: the push of a contact that closes, the gap of one that opens.
        equations = self.equations
        if closed[0, contact]:
            n, count = len(self.system.columns), len(equations.contacts)
            rises = float(after.tangent[n - count + contact])
        else:
            gaps = self.path.slopes(point.state, np.ones_like(closed))[self.system.gaps]
            rises = float(gaps[contact] @ after.tangent)
        if abs(rises) < NEAR:
            name = equations.contacts[contact]
            self.endings.append(f"path {branch} ends where {name} opens or closes")
            self._add(point, branch, CONTACT)
            return None
        after = self.path.point(point.state, closed, after.tangent * np.sign(rises))
        turns = after.slope * point.slope < 0
        self._add(after, branch, FOLD if turns else CONTACT)
        return after

    def _add(self, point: PathPoint, branch: int, kind: float = POINT) -> None:
        self.rows.append(PathRow(point, self.test.of(point.state, point.closed), branch, kind))
        self.watch.tell(len(self.rows))
