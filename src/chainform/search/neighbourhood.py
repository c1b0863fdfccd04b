"""Large-neighbourhood search: undo a few definitions, find others, keep what is not worse.

A step disturbs the sums in one of three ways: definitions are written out where they are used, a
part of a sum is written by something that is computed already, or a whole sum is written by others
and a remainder. Then common parts are taken out again, with some noise. What costs more is taken
back, but for a chance that falls with the extra cost.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from decimal import Context, Decimal
from time import time

from chainform.algebra import Settler, System, graph_of, substitute
from chainform.algebra.remainder import Remainders
from chainform.graph import Graph

NOISE = 0.6
REMAINDER, RESUBSTITUTION = 0.25, 0.25
"""How often a whole sum, and how often a part of one, is written by others."""
FEW, MANY = (0, 1, 1, 2, 3, 5), (0, 1, 1, 2, 3, 5, 8, 12)


_DIGITS = Context(prec=20)


def portable_exp(x: float) -> float:
    """Return e^x, the same on every processor: libraries of C differ in the last digit."""
    return float(_DIGITS.exp(Decimal(x)))


@dataclass(frozen=True)
class Reach:
    """How much one step may change."""

    neighbours: tuple[int, ...]
    """How many definitions are written out beside the first; one of these at random."""
    growth: int
    """The most terms one definition may add where it is written out."""
    terms: int
    """The longest expansion of a sum that is written by others and a remainder."""


NEAR = Reach(FEW, 200, 28)
"""For short searches."""
FARTHER, FARTHEST = Reach(FEW, 400, 48), Reach(MANY, 400, 48)
"""For long ones: steps take longer, and the end is not so near."""


class Walk:
    """One walk through the ways to write a system of sums.

    The log of the sums begins where the cost was lowest, so that this is where undoing it leads.
    """

    def __init__(
        self,
        system: System,
        seed: int,
        temperature: float = 0.5,
        reach: Reach = NEAR,
    ) -> None:
        self.system = system
        self.sums = system.sums
        self.rng = random.Random(seed)
        self.temperature = temperature
        self.reach = reach
        self.steps = 0
        self.changes = 0
        """How many terms came or went in all the steps, those of long sums several times."""
        self.settler = Settler(system, self.rng)
        needs = self.settler.resubstitution.needs
        self.remainders = Remainders(system.sums, reach.terms, needs)
        self.settler.settle(resubstitute=True)
        self.best_cost = self.sums.cost

    @property
    def is_at_best(self) -> bool:
        """Whether the sums are those of the lowest cost so far."""
        return self.sums.mark() == 0

    def best_graph(self) -> Graph:
        """Go back to the lowest cost so far, and return the graph."""
        self.sums.undo(0)
        return graph_of(self.system)

    def go_on(self, steps: int, changes: int, until: float | None = None) -> None:
        """Go on until so many steps, or changes of terms, were made in all, or until a time."""
        while self.steps < steps and self.changes < changes:
            if until is not None and time() >= until:
                return
            self.step()

    def step(self) -> None:
        """Change something at random; take it back unless it is as good, or nearly."""
        sums, rng = self.sums, self.rng
        before = sums.cost
        mark = sums.mark()
        self._disturb()
        self.settler.reduce(rng.random() * NOISE)
        self.steps += 1
        self.changes += sums.mark() - mark
        worse = sums.cost - before
        if worse > 1e-9 and rng.random() >= portable_exp(-worse / self.temperature):
            sums.undo(mark)
        elif sums.cost < self.best_cost - 1e-9:
            self.best_cost = sums.cost
            sums.forget()

    def _disturb(self) -> None:
        rng = self.rng
        choices = [v for v in self.sums.defined() if not self.sums.is_constant[v]]
        if not choices:
            return
        move = rng.random()
        if move < REMAINDER and self.sums.roots:
            found = self.remainders.disturb(self._long(sorted(self.sums.roots)), rng)
        elif move < REMAINDER + RESUBSTITUTION:
            found = self.settler.resubstitution.disturb(rng.choice(choices), rng)
        else:
            found = False
        if not found or rng.random() < 0.5:
            self._write_out(choices)

    def _long(self, choices: list[int]) -> int:
        """Return a sum at random, rather a long one."""
        three = [self.rng.choice(choices) for _ in range(3)]
        return max(three, key=lambda v: len(self.sums.sum_of(v)))

    def _write_out(self, choices: list[int]) -> None:
        """Write some definitions, near to one another, where they are used."""
        sums, rng = self.sums, self.rng
        used = [v for v in choices if sums.users[v]]
        if not used:
            return
        picked = [rng.choice(used)]
        for _ in range(rng.choice(self.reach.neighbours)):
            picked.append(self._near(rng.choice(picked), used))
        for v in dict.fromkeys(picked):
            if sums.terms[v] is None or not sums.users[v]:
                continue
            users = list(sums.users[v])
            if len(users) > 1 and rng.random() < 0.2:
                users = rng.sample(users, rng.randint(1, len(users) - 1))
            if self._growth(v, users) <= self.reach.growth:
                substitute(sums, v, users)

    def _growth(self, v: int, users: list[int]) -> int:
        own = len(self.sums.sum_of(v))
        return sum(own * self.sums.users[v][u] + len(self.sums.sum_of(u)) for u in users)

    def _near(self, v: int, used: list[int]) -> int:
        """Return a variable that uses v or that v uses, or any."""
        sums, rng = self.sums, self.rng
        around = [u for u in sums.users[v] if sums.users[u] and not sums.is_constant[u]]
        around += [u for u in sums.needs(v) if sums.terms[u] is not None]
        around = [u for u in around if not sums.is_constant[u]]
        if not around or rng.random() < 0.3:
            return rng.choice(used)
        return rng.choice(around)
