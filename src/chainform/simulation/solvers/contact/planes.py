"""Contacts in their planes: held by friction, sliding fast, or so slowly that their way is known.

symbol   meaning
v        velocity of a contact in its plane
N, mu    its push, and the coefficient of friction
S        how easily a force in the plane moves it: an entry of J H^-1 J^T

While a contact slides, friction turns its velocity into the way in which no force acts across it.
This takes a time of about |v| / (mu N S). Where that is shorter than `SHORT`, or than a step of
fixed length, the contact is slow: its velocity is in that way at once, and is held there by holding
the contact across it. The axes of its plane are turned so that the first one is its way.

A mechanism with few freedoms may be nearly blocked in one direction of the plane: where its contact
cannot sink in, it can hardly slip. Friction in that direction changes nothing but the forces inside
the mechanism, and is left out: the first axis is then the direction that is free, and the row of
the second one becomes zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.equations.builder import RowCounts
from chainform.simulation.solvers.contact.balance_rows import Balance, BalanceRows, Gap, Terms
from chainform.simulation.solvers.contact.complementarity import depends
from chainform.simulation.solvers.contact.force_rows import least_solution

Array = NDArray[np.float64]

CREEP = 1e-6
"""A speed (m/s) in the plane of a contact at which it may stick."""
CRAWL = 1e-10
"""The same where a contact is held across its way, so that its speed is known better."""
SHORT = 1e-7
"""A time (s) that no step should have to follow."""
FOLLOWS = 1e-6
"""The share of what it takes to move a row that is left to one that follows from others."""
OFTEN, LATELY = 20, 1e-2
"""So many turns within a time (s) are followed."""
BLOCKED = 1e-4
"""How much more easily a blocked contact moves in one direction of its plane than in the other."""
FAST = 2.0
"""How many times faster a contact becomes before it is not slow any more."""


class Planes:
    """What contacts do in their planes, in parts of the array p that a loop reads.

    `axes` has cosine and sine of the angle by which the axes of each plane are turned, and 0 where
    it is blocked along the second one, else 1.
    """

    def __init__(
        self,
        row_counts: RowCounts,
        mask: Array,
        slack: Array,
        grips: Array,
        anchors: Array,
        axes: Array,
        step: float | None,
    ) -> None:
        self.first = row_counts.first_tangential
        self.mask, self.slack, self.grips = mask, slack, grips
        self.anchors, self.axes = anchors, axes.reshape(-1, 3)
        self.axes[~np.any(self.axes, axis=1)] = 1.0, 0.0, 1.0
        self.short = max(SHORT, step or 0.0)
        self.resting: list[int] = []
        """The rows of contacts that begin to slide from rest."""
        self.slow: list[Gap] = []
        self._slow: dict[Gap, tuple[Array, float]] = {}
        """The ways of contacts that slide slowly, and the speeds from which on they do not."""
        self._turned: list[int] = []
        self._history: dict[Gap, list[float]] = {}

    def unblock(self) -> None:
        """Let all directions of planes be free."""
        self.axes[:, 2] = 1.0

    def block(self, terms: Terms, lasting: Sequence[int], touching: Iterable[Gap]) -> list[int]:
        """Take directions out in which contacts are blocked; return the rows that are others now.

        All directions are free in `terms`.
        """
        changed: list[int] = []
        for gap in touching:
            if gap.tangential and (way := self._free_way(terms, lasting, gap)) is not None:
                self._turn_axes(gap, way)
                self.axes[self._number(gap), 2] = 0.0
                changed += gap.tangential
        return changed

    def _free_way(self, terms: Terms, lasting: Sequence[int], gap: Gap) -> Array | None:
        """Return the only direction in which a contact can move while it is closed, if it is so."""
        J, n = terms.J[[*lasting, gap.row, *gap.tangential]], len(lasting) + 1
        S = J @ terms.solved(J)
        left = S[n:, n:] - S[n:, :n] @ least_solution(S[:n, :n], S[:n, n:])
        ease, ways = np.linalg.eigh(left)
        if ease[0] > BLOCKED * ease[1] or ease[1] < BLOCKED**2 * np.trace(S[n:, n:]):
            return None
        return np.asarray(ways[:, 1] * (1 if ways[0, 1] >= 0 else -1), dtype=np.float64)

    def slides(self, gap: Gap) -> bool:
        """Whether a contact slides."""
        return bool(np.any(self.grips[self._places(gap)]))

    def _is_tracked(self, gap: Gap) -> bool:
        """Whether a contact slides slowly, and is held across its way."""
        return self.slides(gap) and bool(self.mask[gap.tangential[1]])

    def moving(self, terms: Terms, shut: Iterable[Gap]) -> dict[int, float]:
        """Return the ways of contacts that do not stand still, as components of unit vectors."""
        ways: dict[int, float] = {}
        for gap in shut:
            speeds = terms.speeds[list(gap.tangential)]
            speed = float(np.hypot.reduce(speeds))
            if speed > (CRAWL if self._is_tracked(gap) else CREEP):
                ways |= dict(zip(gap.tangential, (speeds / speed).tolist(), strict=True))
        return ways

    def slow_ones(self, terms: Terms, rows: BalanceRows, balance: Balance, t: float) -> list[Gap]:
        """Return the contacts that move slowly under some forces; they are remembered.

        One that turns again and again is left to the steps.
        """
        self.slow = []
        for gap in rows.gaps:
            if len(self._turns(gap, t)) > OFTEN:
                continue
            speed = float(np.hypot.reduce(terms.speeds[list(gap.tangential)]))
            was_fast = self.slides(gap) and not self._is_tracked(gap)
            limit = self._limit(terms, gap, balance) * (1.0 if was_fast else (1 + FAST) / 2)
            is_moving = any(row in rows.ways and row not in rows.loose for row in gap.tangential)
            if is_moving and speed <= limit:
                self.slow.append(gap)
        return self.slow

    def turned(self, terms: Terms, rows: BalanceRows, slow: Sequence[Gap]) -> BalanceRows:
        """Return the same rows, with slow contacts on their ways after a short time.

        Those that come to rest until then keep their ways.
        """
        tangential = [row for gap in slow for row in gap.tangential]
        more = np.zeros(len(terms.speeds))
        more[tangential] = terms.speeds[tangential] / self.short
        free = {row: way for row, way in rows.ways.items() if row not in tangential}
        grasp = Balance.of(terms, replace(rows, ways=free), more).grasp
        ways = dict(rows.ways)
        for gap in slow:
            sides = [grasp.side(row) for row in gap.tangential]
            if any(sides) and not grasp.is_jammed:
                ways |= {row: -side for row, side in zip(gap.tangential, sides, strict=True)}
        return replace(rows, ways=ways)

    def _limit(self, terms: Terms, gap: Gap, balance: Balance) -> float:
        """Return the speed below which a contact is slow."""
        J = terms.J[list(gap.tangential)]
        ease = float(np.max(np.einsum("ij,ji->i", J, terms.solved(J)), initial=0.0))
        push = max(float(balance.grasp.forces[gap.row]), 0.0)
        return max(2 * CREEP, self.short * gap.friction * push * ease)

    def let_all_go(self) -> None:
        """Let nothing hold or slide any more."""
        self.grips[:] = 0.0
        self.resting, self._turned = [], []
        self._slow = {}

    def hold(
        self, terms: Terms, gap: Gap, balance: Balance, before: Array, is_breaking: bool
    ) -> bool:
        """Hold a closed contact in its plane where friction can; tell whether it can."""
        held = [row for row in gap.tangential if row in balance.grasp.holding]
        if any(balance.grasp.side(row) for row in gap.tangential):
            is_still = all(map(balance.is_idle, gap.tangential)) and not is_breaking
            if not (is_still and held and balance.grasp.take(held)):
                return False
        else:
            held = [row for row in held if balance.sticks(row, is_breaking=is_breaking)]
        for row in held:
            self.mask[row] = 1.0
            if not before[row]:
                self.anchors[row - self.first] += terms.residuals[row]
        return True

    def let_slide(
        self, terms: Terms, gap: Gap, rows: BalanceRows, balance: Balance, idle: float
    ) -> None:
        """Let a closed contact slide, with friction against its way; `idle` is its leeway."""
        way = np.array([-balance.grasp.side(row) for row in gap.tangential])
        speeds = terms.speeds[list(gap.tangential)]
        limit = self._limit(terms, gap, balance)
        self.grips[self._places(gap)] = gap.friction * way
        is_loose = any(row in rows.loose for row in gap.tangential)
        if (
            any(row in rows.ways for row in gap.tangential)
            and not is_loose
            and gap not in self.slow
        ):
            self.slack[gap.tangential[1]] = limit if np.hypot.reduce(speeds) > limit else 0.0
            return
        if gap not in self.slow or way @ speeds <= 0:
            self.resting += gap.tangential
        if all(map(balance.is_idle, gap.tangential)):
            self.slack[gap.tangential[0]] = idle
        self._slow[gap] = (way, FAST * limit)

    def turn(self, terms: Terms, t: float) -> None:
        """Turn the axes of contacts that slide slowly into their ways, and hold them across.

        Where others keep a contact in its way already, it need not be held.
        """
        held = [terms.J[row] for row in np.flatnonzero(self.mask)]
        for gap, (way, limit) in self._slow.items():
            first, second = terms.J[list(gap.tangential)]
            J = np.array([*held, way[0] * second - way[1] * first])
            S, last = J @ terms.solved(J), len(held)
            if gap in self.slow:
                self._history[gap] = [*self._turns(gap, t), t]
            if depends(S, np.arange(last + 1) < last, last, FOLLOWS):
                continue
            held.append(J[-1])
            self._turn_axes(gap, way)
            self.grips[self._places(gap)] = gap.friction, 0.0
            self.mask[gap.tangential[1]] = 1.0
            self.slack[gap.tangential[1]] = limit
            self._turned += gap.tangential

    def _turns(self, gap: Gap, t: float) -> list[float]:
        """Return when a contact turned of late."""
        return [before for before in self._history.get(gap, []) if t - before < LATELY]

    def _turn_axes(self, gap: Gap, way: Array) -> None:
        """Turn the axes of a plane: the first one into a way, of which they have the components."""
        cosine, sine, _ = axes = self.axes[self._number(gap)]
        axes[:2] = cosine * way[0] - sine * way[1], sine * way[0] + cosine * way[1]

    def anchor(self, terms: Terms, rows: Iterable[int]) -> None:
        """Let rows be held where they are."""
        for row in rows:
            self.anchors[row - self.first] += terms.residuals[row]

    @property
    def changed(self) -> set[int]:
        """The rows whose axes were turned, or that are put to rest."""
        return {*self._turned, *self.resting}

    def give_leeway(self, terms: Terms, gap: Gap) -> None:
        """Let a contact creep that loops move in another way than the one in which it slides."""
        speeds = terms.speeds[list(gap.tangential)]
        if self.grips[self._places(gap)] @ speeds < 0:
            least = 10 * float(np.hypot.reduce(speeds))
            self.slack[gap.tangential[0]] = max(self.slack[gap.tangential[0]], least)

    def _number(self, gap: Gap) -> int:
        return (gap.tangential[0] - self.first) // 2

    def _places(self, gap: Gap) -> list[int]:
        return [row - self.first for row in gap.tangential]
