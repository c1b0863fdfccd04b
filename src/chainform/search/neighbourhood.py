"""Large-neighbourhood search: undo a few definitions, find others, keep what is not worse."""

from __future__ import annotations

import random
from math import exp

from chainform.algebra import System, Tidier, extract, graph_of, substitute
from chainform.graph import Graph
from chainform.search.remainder import Remainders
from chainform.search.resubstitute import Resubstitution

GROWTH = 400
"""The most terms one step may add before common parts are taken out again."""


class Walk:
    """One walk through the ways to write a system of sums."""

    def __init__(self, system: System, seed: int, temperature: float = 0.25) -> None:
        self.system = system
        self.sums = sums = system.sums
        self.resubstitution = Resubstitution(system)
        self.remainders = Remainders(sums)
        self.tidier = Tidier(sums)
        self.rng = random.Random(seed)
        self.temperature = temperature
        self.steps = 0
        self.settle()
        self.best_cost = sums.cost
        self.best = sums.snapshot()

    def best_graph(self) -> Graph:
        """Return the graph of the lowest cost so far."""
        return graph_of(self.system, self.best)

    def settle(self, noise: float = 0.0) -> None:
        """Take out common parts and tidy up until nothing is gained any more."""
        sums = self.sums
        sums.touched.update(dict.fromkeys(sums.defined()))
        self.tidier.tidy()
        self._reduce(noise)
        sums.forget()

    def _reduce(self, noise: float) -> None:
        self.tidier.tidy()
        while self.sums.index.fresh:
            extract(self.sums, noise, self.rng)
            self.tidier.tidy()

    def step(self) -> None:
        """Change something at random; take it back unless it is as good, or nearly."""
        sums, rng = self.sums, self.rng
        before = sums.cost
        mark = sums.mark()
        self._disturb()
        self._reduce(rng.random() * 0.6)
        self.steps += 1
        worse = sums.cost - before
        if worse > 1e-9 and rng.random() >= exp(-worse / self.temperature):
            sums.undo(mark)
            return
        sums.forget()
        if sums.cost < self.best_cost - 1e-9:
            self.best_cost = sums.cost
            self.best = sums.snapshot()

    def _disturb(self) -> None:
        sums, rng = self.sums, self.rng
        used = [v for v in sums.defined() if sums.users[v] and not sums.is_constant[v]]
        if not used:
            return
        move = rng.random()
        if move < 0.2:
            self.remainders.disturb(self._costly(), rng)
            if rng.random() < 0.5:
                return
        elif move < 0.4:
            self.resubstitution.disturb(rng.choice(sums.defined()), rng)
            if rng.random() < 0.5:
                return
        centre = rng.choice(used)
        picked = [centre]
        for _ in range(rng.choice((0, 1, 1, 2, 3, 5))):
            picked.append(self._near(rng.choice(picked), used))
        grown = len(sums.users)
        for v in dict.fromkeys(picked):
            if sums.terms[v] is None or not sums.users[v]:
                continue
            users = list(sums.users[v])
            if len(users) > 1 and rng.random() < 0.2:
                users = rng.sample(users, rng.randint(1, len(users) - 1))
            if self._growth(v, users) > GROWTH:
                continue
            substitute(sums, v, users)

    def _costly(self) -> int:
        """Return a sum at random, rather a long one."""
        sums = self.sums
        choices = [v for v in sums.defined() if not sums.is_constant[v]]
        return max((self.rng.choice(choices) for _ in range(3)), key=lambda v: len(sums.sum_of(v)))

    def _growth(self, v: int, users: list[int]) -> int:
        own = len(self.sums.sum_of(v))
        return sum(own * self.sums.users[v][u] + len(self.sums.sum_of(u)) for u in users)

    def _near(self, v: int, used: list[int]) -> int:
        sums, rng = self.sums, self.rng
        around = [u for u in sums.users[v] if sums.users[u]]
        if sums.terms[v] is not None:
            around += [u for u in sums.needs(v) if sums.terms[u] is not None]
        if not around or rng.random() < 0.3:
            return rng.choice(used)
        return rng.choice(around)
