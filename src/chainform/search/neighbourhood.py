"""Large-neighbourhood search: undo a few definitions, find others, keep what is not worse.

A step disturbs the sums in one of three ways: definitions are written out where they are used, a
part of a sum is written by something that is computed already, or a whole sum is written by others
and a remainder. Then common parts are taken out again, with some noise. What costs more is taken
back, but for a chance that falls with the extra cost.

A remainder writes a variable as a multiple of another one: P = k q N + R. The expansions of both
are compared modulo sin^2 + cos^2 = 1, which finds what dividing sums as they are written cannot.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from decimal import Context, Decimal
from time import time

from chainform.algebra import (
    Expansions,
    Needs,
    Settler,
    Sum,
    Sums,
    SumSystem,
    Windows,
    graph_of,
    substitute,
)
from chainform.graph import Graph

_TRIALS = 120
_LONGEST_COFACTOR = 2
_CANDIDATES = 100
_BITS = 20
"""By how many bits the terms of a multiple may be larger than those of the sum it is taken from.

What is left must cancel them, and rounding stays."""


class Remainders:
    """Rewrites a variable by others that it contains, or as its expansion."""

    def __init__(self, sums: Sums, longest: int, needs: Needs) -> None:
        self.sums = sums
        self.needs = needs
        self.expansions = Expansions(sums, longest)

    def disturb(self, variable: int, rng: random.Random) -> bool:
        """Write a sum in another way; tell whether one was found."""
        own = self.expansions.of(variable)
        if own is None or len(own) < 2:
            return False
        turned = self._turned(rng)
        own = self.expansions.reduced(own, turned)
        parts: list[tuple[int, int, int]] = []
        if rng.random() < 0.65:
            candidates = self._candidates(variable, len(own) + 2, turned, rng)
            for _ in range(rng.choice((1, 1, 2, 3))):
                found = self._best(own, candidates, turned, rng)
                if found is None:
                    break
                n, q, k, own = found
                parts.append((n, q, k))
            if not parts:
                return False
        sums = self.sums
        for monomial in list(sums.sum_of(variable)):
            sums.remove(variable, monomial)
        for monomial, coefficient in own.items():
            sums.insert(variable, monomial, coefficient)
        for n, q, k in parts:
            sums.insert(variable, sums.monomials.times(q, n), k)
        return True

    def _turned(self, rng: random.Random) -> frozenset[int]:
        """Return the cosines whose squares are written by sines, at random."""
        if rng.random() < 0.3:
            return frozenset()
        cosines = sorted(set(self.sums.partner) - self.sums.sines)
        return frozenset(v for v in cosines if rng.random() < 0.5)

    def _candidates(
        self, variable: int, longest: int, turned: frozenset[int], rng: random.Random
    ) -> list[tuple[int, Sum]]:
        above = self.sums.above(variable)
        found: list[tuple[int, Sum]] = []
        choices = self.sums.defined()
        if len(choices) > _CANDIDATES:
            choices = rng.sample(choices, _CANDIDATES)
        for v in choices:
            if v in above or self.sums.is_constant[v] or not self.needs.allow(variable, v):
                continue
            terms = self.expansions.of(v)
            if terms is not None and 1 < len(terms) <= 2 * longest:
                terms = self.expansions.reduced(terms, turned)
                if 1 < len(terms) <= longest:
                    found.append((v, terms))
        return found

    def _best(
        self,
        own: Sum,
        candidates: list[tuple[int, Sum]],
        turned: frozenset[int],
        rng: random.Random,
    ) -> tuple[int, int, int, Sum] | None:
        if len(own) < 2 or not candidates:
            return None
        monomials, numbers = self.sums.monomials, self.sums.numbers
        half = numbers.ratio(0, 2)
        names, bits = list(own), numbers.bits
        most = _BITS + max(bits[k] for k in own.values())
        best: tuple[float, int, int, int, Sum] | None = None
        for _ in range(_TRIALS):
            n, terms = rng.choice(candidates)
            m, matched = rng.choice(names), rng.choice(list(terms))
            q = monomials.quotient(m, matched)
            if q is None or len(monomials.factors[q]) > _LONGEST_COFACTOR:
                continue
            k = numbers.ratio(own[m], terms[matched])
            if rng.random() < 0.3:
                k = numbers.product(k, half)
            if bits[k] + max(bits[l] for l in terms.values()) > most:
                continue
            rest = dict(own)
            self.expansions.add(
                rest, {monomials.product(x, q): numbers.product(l, k) ^ 1 for x, l in terms.items()}
            )
            rest = self.expansions.reduced(rest, turned)
            length = len(rest) + 0.9 * rng.random()
            if best is None or length < best[0]:
                best = (length, n, q, k, rest)
        if best is None or len(best[4]) > len(own):
            return None
        return best[1:]


NOISE = 0.6
REMAINDER, RESUBSTITUTION = 0.25, 0.25
"""How often a whole sum, and how often a part of one, is written by others."""
FEW, MANY = (0, 1, 1, 2, 3, 5), (0, 1, 1, 2, 3, 5, 8, 12)
PAUSE, SHORTEST_PAUSE = 0.7, 50
"""The steps between two sweeps through all windows, for each sum that there is, and the fewest."""
_DIGITS = Context(prec=20)


def portable_exp(x: float) -> float:
    """Return e^x, the same on every processor: libraries of C differ in the last digit."""
    return float(_DIGITS.exp(Decimal(x)))


@dataclass(frozen=True)
class Reach:
    """How much one step may change."""

    neighbours: tuple[int, ...]
    """How many definitions are written out besides the first; one of these at random."""
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
        system: SumSystem,
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
        self.windows = Windows(system, needs)
        self._next_sweep = self._pause()
        self.until: float | None = None
        """When to stop, by the clock (`time.time`)."""

    @property
    def is_at_best(self) -> bool:
        """Whether the sums are those of the lowest cost so far."""
        return self.sums.mark() == 0

    def go_back(self) -> None:
        """Go back to the lowest cost so far."""
        self.sums.undo(0)

    def best_graph(self) -> Graph:
        """Go back to the lowest cost so far, and return the graph."""
        self.go_back()
        return graph_of(self.system)

    def go_on(self, steps: int, changes: int, until: float | None = None) -> None:
        """Go on until so many steps, or changes of terms, were made in all, or until a time."""
        self.until = until
        while self.steps < steps and self.changes < changes:
            if until is not None and time() >= until:
                return
            self.step()

    def _pause(self) -> int:
        """Return the steps between two sweeps: more where a sweep takes longer."""
        return max(SHORTEST_PAUSE, int(PAUSE * len(self.sums.defined())))

    def sweep(self) -> None:
        """Write windows in fewer operations, as long as there are any."""
        sums = self.sums
        self.windows.sweep(self.settler.reduce, self.until)
        self._next_sweep = self.steps + self._pause()
        if sums.cost < self.best_cost - 1e-9:
            self.best_cost = sums.cost
            sums.forget()

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
        if self.steps >= self._next_sweep:
            self.sweep()

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
