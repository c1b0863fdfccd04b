"""What events do to deviations: the time of an event changes, and so does the state after it.

symbol   meaning
g        what is zero at the event: a gap, a rate that comes to rest, the law of an event
f        rates of z along the motion, before (-) and after (+) the event
R        the state after the event by that before it, by parameters and the time
e        restitution; v speeds of rows, E = e for a gap that bounces, else 0; w = qd+ - qd-

    dt* = -(g_z z + g_p dp) / (g_t + g_z f-)
    z+ = R_z z- + R_p dp + (R_z f- + R_t - f+) dt*

An impact is M w - J^T P = 0, v+ + E v- = 0 for the rows that had an impulse or hold (impacts.py of
the solvers): it is solved again, and must give the rates that the motion had.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.variations.constrained_slopes import RowSolver
from chainform.analysis.variations.variation_graph import BLOW, INSTANT, SOLVED
from chainform.analysis.variations.variational_equations import VariationalEquations
from chainform.display import Displayed
from chainform.errors import RunError
from chainform.simulation import StateChange

Array = NDArray[np.float64]
WORDS = ("q", "qd", "x", "parameters", "t")
SAME = 1e-7
"""What differs by a smaller share is the same."""
MOVING = 1e-9
"""Relative speeds below this (m/s, rad/s) are none."""
TOUCH = 1e-8
"""A gap (m, rad) that is closed."""
GRAZING = 1e-6
"""The share of its terms that the rate of what is zero at an event must have."""


@dataclass(frozen=True, eq=False, repr=False)
class EventVariation(Displayed):
    """How the time of an event changes: by z just before it, (n,), and by parameters, (p,).

    `place` is the place of the event among the times of the transitions, the second of two.
    """

    name: str
    t: float
    place: int
    by_state: Array
    by_parameters: Array


class Jumps:
    """Makes the transitions over events of one system, each (n, n + p)."""

    def __init__(self, equations: VariationalEquations) -> None:
        self.equations = equations
        self.graph, machine = equations.graph, equations.system.machine
        self.size, self.nq = machine.equations.size, machine.equations.nq
        self.n, self.p = len(equations.names), len(equations.parameters)
        self.nv, self.rows = self.graph.nv, self.graph.rows
        self.counts = machine.equations.row_counts
        conditions = equations.system.conditions
        self.requested, self.barriers = conditions.events, conditions.barriers

    def over(self, change: StateChange) -> tuple[Array, list[tuple[str, Array]]]:
        """Return the transition over an event, and how the times of what was met change.

        The times are rows (n + p,) by z before the event and by parameters, each with its name.
        """
        identity, met = np.eye(self.n, self.n + self.p), self._requested(change)
        if np.array_equal(change.before, change.after):
            return identity, met
        self._refuse(change)
        before, after = (self._rates_of(row) for row in (change.before, change.after))
        if np.abs(after - before).max() > SAME * (1.0 + np.abs(before).max()):
            if not change.met:
                raise self.refusal(change.t, "an impact at the start has no derivatives", BEGIN)
            found, name, row = self._impact(change)
            return found, [*met, (name, row)]
        f = [self.rates(change.t, row) for row in (change.before, change.after)]
        if np.abs(f[1] - f[0]).max() <= SAME * (1.0 + np.abs(f[0]).max()) or not change.met:
            return identity, met
        row = self._stopped(change)
        speed = self._instant(change, change.before)[1][self.rows + row]
        dt = self.time_change(change.t, speed, f[0])
        identity += np.outer(f[0] - f[1], dt)
        return identity, met

    def rates(self, t: float, row: Array) -> Array:
        """Return the rates of z at a state, (n,)."""
        state, given = row[None, : self.size], row[None, self.size :]
        return self.equations.rates(np.array([t]), state, given)[0]

    def _rates_of(self, row: Array) -> Array:
        return row[self.nq : self.nq + self.nv]

    # --- what is met ------------------------------------------------------------------------

    def _requested(self, change: StateChange) -> list[tuple[str, Array]]:
        """Return how the times of events change that were requested; kinks are seams."""
        found: list[tuple[str, Array]] = []
        for number in change.met:
            if number >= len(self.requested) or self.requested[number].is_kink:
                continue
            if self.requested[number].change is not None:
                raise self.refusal(
                    change.t,
                    "a change of the state by a function of Python has no derivatives",
                    "use stops or contacts for impacts, or end the motion there",
                    f"event {self.requested[number].name!r}",
                )
            slopes = self._instant(change, change.before)[1][2 * self.rows + number]
            rates = self.rates(change.t, change.before)
            found.append((self.requested[number].name, self.time_change(change.t, slopes, rates)))
        return found

    def time_change(self, t: float, slopes: Array, rates: Array) -> Array:
        """Return dt* by z and parameters, (n + p,), from slopes of g by z, parameters and t."""
        g_z, g_t = slopes[: self.n], slopes[-1]
        rate = g_t + g_z @ rates
        if not abs(rate) > GRAZING * (abs(g_t) + np.abs(g_z) @ np.abs(rates)):
            raise self.refusal(
                t,
                "what is zero there only touches zero, so that its time has no derivative",
                "choose another start, or end the motion before",
            )
        return -slopes[:-1] / rate

    def _instant(self, change: StateChange, row: Array) -> tuple[Array, Array]:
        """Return rows, their rates and laws of events; and slopes by z, parameters and t."""
        inputs = self._inputs(change.t, row)
        own = self.equations.with_time(self.graph.slopes(inputs, WORDS, INSTANT))
        return self.graph.values(inputs, INSTANT)[0][0], own[0]

    def _inputs(self, t: float, row: Array) -> dict[str, Array]:
        return self.equations.inputs(np.array([t]), row[None], row[None, self.size :])

    def _stopped(self, change: StateChange) -> int:
        """Return the row of the joint with dry friction that comes to rest."""
        mask = self.equations.mask(change.before[None, self.size :])[0]
        rows = [self.counts.always + k - len(self.requested) for k in change.met]
        rows = [row for row in rows if row >= self.counts.first_sticking]
        if len(rows) == 1 and not mask[rows[0]]:
            return rows[0]
        raise self.refusal(
            change.t,
            "what holds changes there in a way whose derivatives are not known: a joint breaks "
            "loose at more than its sliding friction, or several change at once",
            "give the joint the same friction at rest as in motion, or end the motion before",
        )

    # --- impacts ----------------------------------------------------------------------------

    def _impact(self, change: StateChange) -> tuple[Array, str, Array]:
        values, slopes = self._instant(change, change.before)
        later, after = self._instant(change, change.after)
        m = self.rows
        gaps, v = values[:m], (values[m : 2 * m], later[m : 2 * m])
        touching = range(self.counts.always, self.counts.first_tangential)
        hit = [i for i in touching if v[0][i] < -MOVING and abs(gaps[i]) < TOUCH]
        if not hit:
            raise self.refusal(change.t, "the rates change there without an impact", REMEDY)
        E = np.zeros(m)
        for i in hit:
            law = self.barriers.rigid[i - self.counts.always].contact_law
            E[i] = law.restitution if -v[0][i] > law.rest_speed else 0.0
        w = self._rates_of(change.after) - self._rates_of(change.before)
        W = self._blow(change, w, self._struck(change, hit, v), (E, slopes, after))
        R = np.eye(self.n, self.n + self.p + 1)
        R[self.nv : 2 * self.nv] += W
        f = [self.rates(change.t, row) for row in (change.before, change.after)]
        times = [self.time_change(change.t, slopes[i], f[0]) for i in hit]
        size = np.abs(times[0]).max()
        if any(np.abs(each - times[0]).max() > SAME * size for each in times):
            raise self.refusal(
                change.t, "several gaps close at the same time, each by its own way", REMEDY
            )
        found = R[:, :-1] + np.outer(R[:, : self.n] @ f[0] + R[:, -1] - f[1], times[0])
        names = ", ".join(self.barriers.rigid[i - self.counts.always].name for i in hit)
        return found, f"{names}: impact", times[0]

    def _struck(self, change: StateChange, hit: list[int], v: tuple[Array, Array]) -> Array:
        """Return which rows may have impulses: lasting ones, those hit, and those that stay."""
        counts, mask = self.counts, self.equations.mask(change.before[None, self.size :])[0]
        still = np.abs(v[1]) <= SAME * (1.0 + np.abs(v[0]).max())
        struck = np.zeros(self.rows, dtype=bool)
        struck[: counts.always] = True
        struck[hit] = True
        for i in range(counts.always, counts.first_tangential):
            first = counts.first_tangential + 2 * (i - counts.always)
            struck[i] |= bool(mask[i] and still[i])
            if struck[i] and i - counts.always < counts.gripping:
                struck[first : first + 2] = still[first : first + 2]
        return struck

    def _blow(
        self, change: StateChange, w: Array, struck: Array, slopes: tuple[Array, Array, Array]
    ) -> Array:
        """Return how w changes by z before the impact, by parameters and t, (nv, n + p + 1)."""
        E, first, last = slopes
        n, m = self.nv, self.rows
        # Axes in planes of contact are those after the impact.
        inputs = {**self._inputs(change.t, change.after), "qdd": w[None]}
        inputs["sigma"] = np.zeros((1, m))
        M = self.graph.slopes(inputs, SOLVED, BLOW)["qdd"]
        J = last[m : 2 * m, n : 2 * n]
        bound = struck & (np.abs(J).max(axis=1, initial=0.0) > 0)
        solver, again, impulses = _impulses(M, J * bound[:, None], w)
        # What was closed before and has no impulse is not held.
        is_pushed = np.abs(impulses) > MOVING * np.abs(impulses).max()
        is_pushed[: self.counts.always] = True
        if not np.array_equal(bound, bound & is_pushed):
            bound &= is_pushed
            solver, again, impulses = _impulses(M, J * bound[:, None], w)
        is_same = np.abs(again - w).max() <= SAME * np.abs(w).max()
        values = self._speeds(change)
        after = bound * (values[1] + E * values[0])
        if not is_same or np.abs(after).max() > SAME * (1.0 + np.abs(values[0]).max()):
            raise self.refusal(
                change.t,
                "a blow that goes through several contacts, or slides with friction, has no "
                "derivatives here",
                REMEDY,
            )
        blow = self.graph.slopes({**inputs, "sigma": impulses[None]}, WORDS, BLOW)
        by = self.equations.with_time(blow)
        right = last[m : 2 * m] + E[:, None] * first[m : 2 * m]
        return solver.solve(-by, -(right * bound[:, None])[None])[0][0]

    def _speeds(self, change: StateChange) -> tuple[Array, Array]:
        """Return the rates of rows before and after."""
        m = self.rows
        rows = [self._instant(change, row)[0] for row in (change.before, change.after)]
        return rows[0][m : 2 * m], rows[1][m : 2 * m]

    # --- what is refused --------------------------------------------------------------------

    def _refuse(self, change: StateChange) -> None:
        """Refuse changes whose derivatives are not known."""
        if not change.is_regular:
            raise self.refusal(change.t, "events without end there were stepped across", REMEDY)
        if np.abs(change.after[: self.nq] - change.before[: self.nq]).max() > TOUCH:
            raise self.refusal(change.t, "the coordinates change there at once", REMEDY)
        layout = self.equations.system.machine.layout
        first = self.size + layout.place("grips") - layout.place("tau")
        if np.any(change.after[first : first + layout.length("grips")]):
            raise self.refusal(
                change.t,
                "a contact slides with friction from there on, which has no derivatives here",
                "give it more friction, so that it holds, or none",
            )

    def refusal(self, t: float, message: str, remedy: str, element: str = "events") -> RunError:
        """Return the error for what has no derivatives at a time."""
        mechanism = self.equations.mechanism
        where = f"t = {t:.9g} s: {message}"
        return RunError(where, file=mechanism.file, element=element, remedy=remedy)


def _impulses(M: Array, J: Array, w: Array) -> tuple[RowSolver, Array, Array]:
    """Return what solves M w = J^T P, J w as given; w again, and P."""
    solver = RowSolver(M, J[None])
    again, impulses = solver.solve(np.zeros((1, len(w), 1)), (J @ w)[None, :, None])
    return solver, again[0, :, 0], impulses[0, :, 0]


BEGIN = "begin before it, or with the rates after it"
REMEDY = "end the motion before, make the contact stiff, or choose another start"
