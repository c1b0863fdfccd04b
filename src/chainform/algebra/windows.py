"""Compute a part of a sum in fewer operations, from anything that is computed already.

A window is a part of a sum and all that nothing but this part needs. Its value w may be had from
other variables, as one of

    k X + c,    k X + c + s,    k X + c - s,    (k X + c) s,

where s is a variable and X a variable, or the product, sum or difference of two, with any numbers k
and c. All of these are looked through for every window, by values at a random point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from time import time

import numpy as np
from numpy.typing import NDArray

from chainform.algebra.candidates import (
    DIFFERENCE,
    DIVIDED,
    ITSELF,
    LESS,
    MORE,
    POINTS,
    PRIMES,
    PRODUCT,
    SINGLE,
    Candidates,
    Hits,
    Residues,
)
from chainform.algebra.convert import SumSystem
from chainform.algebra.dependencies import Needs
from chainform.algebra.finite_field import LONG, rational
from chainform.algebra.monomials import EMPTY, MINUS_ONE, ONE
from chainform.algebra.resubstitution import Values

MOST = 800
"""The most variables of which products and sums of two are looked through."""
SUBSETS, LONGEST = 5, 24
"""Up to how many terms all parts of a sum are windows; up to how many, one, two and all terms."""

BITS = 20
"""By how many bits k and c may be larger than the numbers of a window: terms must not cancel them,
as rounding stays."""


@dataclass(frozen=True)
class Window:
    """Some terms of a sum, what it costs to have them, and the sums that are for them only."""

    variable: int
    part: tuple[int, ...]
    cost: float
    inner: frozenset[int]


@dataclass(frozen=True)
class Replacement:
    """A way to compute a window, and by how much it is cheaper."""

    window: Window
    gain: float
    kind: int
    s: int
    shape: int
    x: int
    y: int


class Windows:
    """Looks through the windows of a system of sums."""

    def __init__(self, system: SumSystem, needs: Needs) -> None:
        self.system = system
        self.sums = system.sums
        self.needs = needs
        self.values = [[Values(system, p, seed) for seed in range(POINTS)] for p in PRIMES]
        self.exact = [Values(system, LONG, seed) for seed in (3, 4)]

    def sweep(self, reduce: Callable[[], None], until: float | None = None) -> int:
        """Write windows otherwise, as long as that is cheaper and there is time; return how many.

        `reduce` settles what was touched.
        """
        count, before = 0, -1
        while count > before and (until is None or time() < until):
            before = count
            for replacement in sorted(self.replacements(1e-9), key=lambda found: -found.gain):
                count += self.use(replacement, reduce)
        return count

    # --- windows ------------------------------------------------------------------------

    def windows(self, least: float) -> Iterator[Window]:
        """Yield the windows that cost so much at least."""
        sums = self.sums
        for variable, terms in enumerate(sums.terms):
            if not terms or sums.is_constant[variable] or len(terms) > LONGEST:
                continue
            for part in _parts(list(terms)):
                window = self._window(variable, part)
                if window.cost >= least:
                    yield window

    def _window(self, variable: int, part: tuple[int, ...]) -> Window:
        """Return the cost of a part of a sum and of all that goes with it."""
        sums = self.sums
        terms = sums.sum_of(variable)
        rest = [(m, k) for m, k in terms.items() if m not in part]
        cost = self._cost(terms.items()) - self._cost(rest)
        if rest:
            cost -= sums.prices.addition
        gone: dict[int, int] = {}
        inner: set[int] = set()
        stack = list(part)
        while stack:
            for v in sums.monomials.factors[stack.pop()]:
                gone[v] = gone.get(v, 0) + 1
                if gone[v] < sum(sums.users[v].values()) or v in sums.roots:
                    continue
                cost += sums.price.get(v, 0.0)
                inside = sums.terms[v]
                if inside is not None:
                    inner.add(v)
                    cost += self._cost(inside.items()) if not sums.is_constant[v] else 0.0
                    stack += inside
        return Window(variable, part, cost, frozenset(inner))

    def _cost(self, terms: Iterable[tuple[int, int]]) -> float:
        """Return the cost of a sum; what does not move is one constant."""
        sums = self.sums
        count, still, cost = 0, False, 0.0
        for m, k in terms:
            if sums.monomials.degree[m] or not still:
                count += 1
                cost += sums.term_cost(m, k)
            still = still or not sums.monomials.degree[m]
        return cost + sums.prices.addition * max(0, count - 1)

    # --- replacements -------------------------------------------------------------------

    def replacements(self, least: float) -> list[Replacement]:
        """Return the ways to compute windows that are cheaper by so much at least."""
        used = self._used()
        if not 1 < len(used) <= MOST:
            return []
        windows = list(self.windows(least))
        if not windows:
            return []
        candidates = Candidates(self._residues(used))
        cost = np.array([window.cost for window in windows])
        allowed = self._allowed(windows, used)
        wanted = self._wanted(windows)
        is_variable = np.array([len(w.part) == len(self.sums.sum_of(w.variable)) for w in windows])
        prices = self.sums.prices
        own = (0.0, prices.addition, prices.addition, prices.multiplication)
        found: list[Replacement] = []
        for kind in (ITSELF, LESS, MORE, DIVIDED):
            rows = np.flatnonzero(cost - own[kind] >= least)
            for hits in candidates.find(wanted[:, :, rows], kind, allowed[rows], is_variable[rows]):
                gain = cost[rows[hits.w]] - own[kind] - self._cost_of(hits)
                for n in np.flatnonzero(gain >= least).tolist():
                    s, x, y = (used[int(place[n])] for place in (hits.s, hits.x, hits.y))
                    window = windows[int(rows[hits.w[n]])]
                    found.append(
                        Replacement(window, float(gain[n]), kind, s, int(hits.shape[n]), x, y)
                    )
        return found

    def _cost_of(self, hits: Hits) -> NDArray[np.float64]:
        """Return what k X + c costs."""
        prices = self.sums.prices
        own = np.array([0.0, prices.multiplication, prices.addition, prices.addition])
        scaling = np.where(hits.is_unit, 0.0, prices.multiplication)
        return own[hits.shape] + scaling + np.where(hits.has_constant, prices.addition, 0.0)

    def _used(self) -> list[int]:
        """Return the variables that there are, of those that are multiples of others the first.

        One that is zero at a point, as 1 + sign(x) may be, has no inverse there and is left out.
        """
        sums = self.sums
        found: dict[int, int] = {}
        points = [values for row in self.values for values in row]
        for v, users in enumerate(sums.users):
            if sums.is_constant[v] or not (users or v in sums.roots):
                continue
            a, b, *others = (values.of(v) for values in points)
            if a and b and all(others):
                found.setdefault(a * pow(b, -1, PRIMES[0]) % PRIMES[0], v)
        return list(found.values())

    def _residues(self, variables: list[int]) -> Residues:
        """Return the values of variables: for each prime, point and variable."""
        rows = [[[values.of(v) for v in variables] for values in row] for row in self.values]
        return np.array(rows, dtype=np.uint64)

    def _wanted(self, windows: list[Window]) -> Residues:
        """Return the values of windows."""
        terms = {(w.variable, m): 0 for w in windows for m in w.part}
        places = {term: n for n, term in enumerate(terms)}
        rows = [[_term_values(values, terms) for values in row] for row in self.values]
        known = np.array(rows, dtype=np.uint64)
        sizes = [len(w.part) for w in windows]
        used = np.array([places[w.variable, m] for w in windows for m in w.part])
        starts = np.cumsum([0, *sizes[:-1]])
        total = np.add.reduceat(known[:, :, used], starts, axis=2)
        return total % np.array(PRIMES, dtype=np.uint64)[:, None, None]

    def _allowed(self, windows: list[Window], used: list[int]) -> NDArray[np.bool_]:
        """Return for each window and variable whether the one may be written by the other."""
        sums, needs = self.sums, self.needs
        place = {v: n for n, v in enumerate(used)}
        above: dict[int, int] = {v: 1 << n for v, n in place.items()}
        for v in reversed(sums.order()):
            own = above.setdefault(v, 0)
            for u in sums.needs(v):
                above[u] = above.get(u, 0) | own
        allowed = np.ones((len(windows), len(used)), dtype=np.bool_)
        size = (len(used) + 7) // 8
        first_of = {needs.of(v): v for v in used}
        number = {bits: n for n, bits in enumerate(first_of)}
        group = np.array([number[needs.of(v)] for v in used])
        rows: dict[int, NDArray[np.bool_]] = {}
        for n, window in enumerate(windows):
            variable = window.variable
            row = rows.get(variable)
            if row is None:
                bits = np.frombuffer(above[variable].to_bytes(size, "little"), dtype=np.uint8)
                row = ~np.unpackbits(bits, count=len(used), bitorder="little").astype(np.bool_)
                row &= np.array([needs.allow(variable, v) for v in first_of.values()])[group]
                rows[variable] = row
            allowed[n] = row
            allowed[n, [place[v] for v in window.inner if v in place]] = False
        return allowed

    # --- use ----------------------------------------------------------------------------

    def use(self, replacement: Replacement, reduce: Callable[[], None]) -> bool:
        """Write a window so, and settle that; take it back unless it is cheaper."""
        sums, window = self.sums, replacement.window
        variable, terms = window.variable, sums.terms[window.variable]
        if terms is None or any(m not in terms for m in window.part):
            return False
        names = (
            {replacement.x, replacement.y}
            if replacement.kind == ITSELF
            else {replacement.x, replacement.y, replacement.s}
        )
        if any(not (sums.users[v] or v in sums.roots) for v in names):
            return False
        if not names.isdisjoint(sums.above(variable)):
            return False
        if not all(self.needs.allow(variable, v) for v in names):
            return False
        numbers = self._numbers(replacement)
        if numbers is None:
            return False
        before, mark = sums.cost, sums.mark()
        for m in window.part:
            sums.remove(variable, m)
        self._write(replacement, *numbers)
        reduce()
        if sums.cost < before - 1e-9:
            return True
        sums.undo(mark)
        return False

    def _numbers(self, replacement: Replacement) -> tuple[int, int | None] | None:
        """Return k and c by their numbers, None for a c of nothing; or None if there are none."""
        wanted: list[int] = []
        found: list[int] = []
        for values in self.exact:
            w, s = _value(values, replacement.window), values.of(replacement.s)
            x, y = values.of(replacement.x), values.of(replacement.y)
            divisor = pow(s, -1, LONG) if replacement.kind == DIVIDED else 1
            wanted.append((w, w - s, w + s, w * divisor)[replacement.kind] % LONG)
            found.append((x, x * y, x + y, x - y)[replacement.shape] % LONG)
        change = (found[0] - found[1]) % LONG
        if not change:
            return None
        scale = (wanted[0] - wanted[1]) * pow(change, -1, LONG) % LONG
        k, c = rational(scale, LONG), (wanted[0] - scale * found[0]) % LONG
        if not k:
            return None
        constant = rational(c, LONG) if c else None
        if c and constant is None:
            return None
        sums = self.sums
        numbers = [sums.numbers.of(number) for number in (k, constant) if number]
        terms, bits = sums.sum_of(replacement.window.variable), sums.numbers.bits
        if max(bits[n] for n in numbers) > BITS + max(
            bits[terms[m]] for m in replacement.window.part
        ):
            return None
        return numbers[0], numbers[1] if constant else None

    def _write(self, replacement: Replacement, scale: int, constant: int | None) -> None:
        """Insert the terms of a replacement into the sum whose window it is."""
        sums, variable = self.sums, replacement.window.variable
        terms = self._terms(replacement, scale)
        if constant is not None:
            terms.append((EMPTY, constant))
        if replacement.kind == DIVIDED:
            if len(terms) > 1:
                terms = [(sums.monomials.of((sums.define(terms),)), ONE)]
            terms = [(sums.monomials.times(m, replacement.s), k) for m, k in terms]
        elif replacement.kind != ITSELF:
            sign = ONE if replacement.kind == LESS else MINUS_ONE
            terms.append((sums.monomials.of((replacement.s,)), sign))
        for m, k in terms:
            sums.insert(variable, m, k)

    def _terms(self, replacement: Replacement, scale: int) -> list[tuple[int, int]]:
        """Return k X as terms."""
        monomials = self.sums.monomials
        x, y = monomials.of((replacement.x,)), monomials.of((replacement.y,))
        if replacement.shape == SINGLE:
            return [(x, scale)]
        if replacement.shape == PRODUCT:
            return [(monomials.product(x, y), scale)]
        second = MINUS_ONE if replacement.shape == DIFFERENCE else ONE
        if scale < 2:
            return [(x, scale), (y, scale ^ second)]
        total = self.sums.define([(x, ONE), (y, second)])
        return [(monomials.of((total,)), scale)]


def _term_values(values: Values, terms: Iterable[tuple[int, int]]) -> list[int]:
    """Return the values of terms, each given by its sum and its monomial."""
    sums, found = values.sums, list[int]()
    for variable, m in terms:
        for v in sums.monomials.factors[m]:
            values.of(v)
        found.append(values.term(m, sums.sum_of(variable)[m]))
    return found


def _value(values: Values, window: Window) -> int:
    """Return the value of the terms of a window."""
    sums = values.sums
    for m in window.part:
        for v in sums.monomials.factors[m]:
            values.of(v)
    terms = sums.sum_of(window.variable)
    return sum(values.term(m, terms[m]) for m in window.part) % values.prime


def _parts(terms: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield the parts of a sum that are looked at."""
    for size in range(1, len(terms) + 1):
        if size <= 2 or size == len(terms) or len(terms) <= SUBSETS:
            yield from combinations(terms, size)
