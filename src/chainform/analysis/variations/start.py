"""How the state at the start changes: with what is given of it, and with parameters.

symbol   meaning
xi, v    displacements and changes of rates at the start
J_h, J   rows of loops and constraints that bind positions; those that bind rates, f their rates

    J_h xi = -g_p dp,    J v = -(f_q xi + f_p dp)

What is closed at the start stays so, contacts too. What a table q0 or qd0 names, what `fixed` names
and what the derivatives are taken by stays as it is given; the others follow by the least change,
as when a motion begins (equations/assembly.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.independent_coordinates import independent_coordinates
from chainform.analysis.variations.motion_variations import MotionVariations
from chainform.analysis.variations.variation_graph import INSTANT
from chainform.errors import RunError
from chainform.given import argument, listed
from chainform.simulation import ConstraintResiduals

Array = NDArray[np.float64]
RANK = 1e-9
MOVING = 1e-9
"""A rate (m/s, rad/s) below this is none."""
FITS = 1e-8
"""What rows leave over by a smaller share fits."""
CLOSED = 1e-9
"""A start that was moved by less (m, rad) was closed."""


class StartDeviations:
    """The start of a motion, and the deviations with which it begins.

    `names` are the entries of z by which derivatives are taken: those given, or independent ones.
    """

    def __init__(self, motion: MotionVariations, initial: Sequence[str] | None) -> None:
        self.motion, self.equations = motion, motion.equations
        equations = self.equations
        graph, system = equations.graph, equations.system
        self.nv, self.rows, self.n = graph.nv, graph.rows, len(equations.names)
        y, given = motion.begin
        self.mechanism, self.gaps = equations.mechanism, None
        self.turning = motion.seams.at_start()
        self.held: NDArray[np.bool_] = np.zeros(self.rows, dtype=bool)
        if self.rows:
            self.held = equations.mask(given)[0] > 0
            inputs = equations.inputs(np.array([motion.first]), y, given)
            found = graph.slopes(inputs, ("q", "qd", "x", "parameters"), INSTANT)
            own = equations.chosen(found)[0]
            self.positions, self.rates = own[: self.rows], own[self.rows : 2 * self.rows]
            speeds = graph.values(inputs, INSTANT)[0][0, self.rows : 2 * self.rows]
            first = system.machine.equations.row_counts.first_sticking
            resting = (np.abs(speeds) < MOVING) & ~self.held & (np.arange(self.rows) >= first)
            self.turning = np.concatenate([self.turning, self.rates[resting]])
            # Rows that bind accelerations alone say nothing of the start.
            self.held &= np.abs(self.rates[:, self.nv : 2 * self.nv]).max(axis=1) > 0
            # A contact holds the place in its plane at which it begins.
            counts = system.machine.equations.row_counts
            self.positions[counts.first_tangential : counts.first_sticking] = 0.0
            self.gaps = ConstraintResiduals(self.mechanism, motion.first)
        self.q = y[0, : system.machine.equations.nq]
        self.options = system.problem.options
        self.names = self._names(initial)
        self.deviations = self._deviations()
        self._refuse_turning(initial is None)

    @property
    def J(self) -> Array:
        """The rows that hold, by the rates."""
        return self.rates[self.held][:, self.nv : 2 * self.nv]

    @property
    def holonomic(self) -> NDArray[np.bool_]:
        """Which of the rows that hold bind positions."""
        found = self.positions[self.held][:, : self.nv]
        return np.abs(found).max(axis=1, initial=0.0) > 0

    @property
    def labels(self) -> tuple[str, ...]:
        """The entries of z at the start: q0.elbow, qd0.elbow, x0.current."""
        rates, names = self.mechanism.rates, self.equations.names
        # The integral of an objective begins with zero.
        last = self.n - (self.equations.objective.integral is not None)
        more = [f"x0.{name}" for name in names[2 * self.nv : last]]
        return (*(f"q0.{n}" for n in rates), *(f"qd0.{n}" for n in rates), *more)

    def _names(self, initial: Sequence[str] | None) -> tuple[str, ...]:
        """Return the entries of z by which derivatives are taken."""
        every = self.labels
        if initial is not None:
            found: list[str] = []
            for name in argument("initial", initial).texts('write initial=["q0.elbow", "qd0"]'):
                group = [label for label in every if label.partition(".")[0] == name]
                if not group:
                    group = [argument("initial", name).choice(every, "start value")]
                found += group
            return tuple(dict.fromkeys(found))
        if not self.held.any():
            return every
        chosen = independent_coordinates(
            self.mechanism, self.q, self.J, self.holonomic, t=self.motion.first
        )
        places = [*chosen.places, *(self.nv + k for k in chosen.rate_places)]
        return tuple(every[k] for k in (*places, *range(2 * self.nv, len(every))))

    # --- deviations -------------------------------------------------------------------------

    def _deviations(self) -> Array:
        """Return z at the start by `names`, then by parameters, (n, their number)."""
        places = [self.labels.index(name) for name in self.names]
        p = len(self.equations.parameters)
        Z = np.zeros((self.n, len(places) + p))
        Z[places, np.arange(len(places))] = 1.0
        if self.held.any():
            self._follow(Z, [k for k in places if k < self.nv], first=0)
            self._follow(Z, [k - self.nv for k in places if self.nv <= k < 2 * self.nv], first=1)
        return Z

    def _refuse_turning(self, is_default: bool) -> None:
        """Refuse what has other derivatives on both sides, or leave it out where nobody named it.

        So it is where a law jumps at the start, and for the rate of a joint that breaks loose.
        """
        p, size = len(self.equations.parameters), self.deviations.shape[1]
        moved = self.turning[:, : self.n] @ self.deviations
        moved[:, size - p :] += self.turning[:, self.n :]
        bad = np.any(np.abs(moved) > RANK, axis=0)
        if is_default:
            good = np.append(~bad[: size - p], np.ones(p, dtype=bool))
            self.names = tuple(np.array(self.names, dtype=object)[good[: size - p]])
            self.deviations, bad = self.deviations[:, good], bad[good]
        if bad.any():
            what = [*self.names, *self.equations.parameters][int(np.argmax(bad))]
            raise RunError(
                f"{what} moves the start over a jump of a law, or of dry friction at rest: "
                "the derivatives differ on both sides",
                file=self.mechanism.file,
                element="initial",
                remedy="begin a little away from it, or name other values in initial",
            )

    def _follow(self, Z: Array, chosen: list[int], *, first: int) -> None:
        """Let displacements (first 0) or rates (first 1) follow those that stay."""
        rows = (self.positions, self.rates)[first][self.held]
        rows = rows[np.abs(rows[:, first * self.nv :][:, : self.nv]).max(axis=1) > 0]
        slopes, p = rows[:, first * self.nv :][:, : self.nv], len(self.equations.parameters)
        # What the rows lack: by what is known of z already, and by parameters.
        lacking = rows[:, : self.n] @ Z
        lacking[:, Z.shape[1] - p :] += rows[:, self.n :]
        named = self._named(first)
        for held in (sorted({*chosen, *named}), chosen):
            step = self._least(slopes, lacking, held)
            left = np.abs(lacking + slopes @ step).max(axis=0, initial=0.0)
            size = np.abs(lacking).max(axis=0, initial=0.0)
            if np.all(left <= FITS * np.maximum(1.0, size)):
                Z[first * self.nv :][: self.nv] += step
                return
        raise self._bound(chosen, first, int(np.argmax(left > FITS * np.maximum(1.0, size))))

    def _least(self, slopes: Array, lacking: Array, held: Sequence[int]) -> Array:
        """Return the least changes of all but the held ones that close the rows."""
        free = np.array([k for k in range(self.nv) if k not in held], dtype=np.intp)
        step = np.zeros((self.nv, lacking.shape[1]))
        assert self.gaps is not None
        scales = self.gaps.scales()[free]
        if len(free):
            found = np.linalg.lstsq(slopes[:, free] * scales, -lacking, rcond=RANK)[0]
            step[free] = scales[:, None] * found
        return step

    def _named(self, first: int) -> list[int]:
        """Return the rates whose coordinates, or that themselves, are named in what was given."""
        key, own = ("q0", "qd0")[first], self.motion.state[first]
        given: Any = self.options[key] if own is None else own
        names = [str(name) for name in cast("Mapping[str, Any]", given)] if _is_table(given) else []
        if first == 0 and self.options["fixed"] is not None:
            fixed: Any = self.options["fixed"]
            names = [fixed] if isinstance(fixed, str) else [str(name) for name in fixed]
        if first:
            return [self.mechanism.rate_index(name) for name in names]
        places = {self.mechanism.coordinate_index(name) for name in names}
        records = self.mechanism.segments
        named: list[int] = []
        for segment in records:
            if segment.rate is None or segment.coordinate is None:
                continue
            kind = segment.joint.kind
            if places & set(range(segment.coordinate, segment.coordinate + kind.coordinates)):
                named += range(segment.rate, segment.rate + kind.rates)
        return named

    def _bound(self, chosen: Sequence[int], first: int, column: int) -> RunError:
        names = [self.labels[k + first * self.nv] for k in chosen]
        what = [*self.names, *self.equations.parameters][column]
        return RunError(
            f"the start cannot change with {what} alone: loops, constraints or closed contacts "
            f"bind it, while {listed(names) or 'nothing'} is chosen",
            file=self.mechanism.file,
            element="initial",
            remedy="choose independent coordinates and rates in initial, or leave it out",
        )


def _is_table(given: Any) -> bool:
    return isinstance(given, Mapping)
