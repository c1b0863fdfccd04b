"""What has a wanted value, up to a factor and a constant, among variables and pairs of them.

X may be a variable, or the product, sum or difference of two. For any numbers k and c the ratio

    (w1 - w2) / (w1 - w3)    of    w = k X + c

at three points is that of X. All X are sorted by this ratio, and for a wanted value w the ratios of
w, w - s, w + s and w / s are looked up among them for all variables s. Values are residues modulo
one prime; what is found is compared modulo another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Residues = NDArray[np.uint64]
Places = NDArray[np.intp]
Flags = NDArray[np.bool_]

PRIMES = (2**31 - 200_157, 2**31 - 347_037)
"""Primes 12 r - 1 with r = 12 s - 1, so small that a product of two residues is a machine word."""
POINTS = 3
BLOCK = 1 << 15
"""How many ratios are looked up at a time."""
_SPARSE = 5
"""A table with 32 places for each X tells at once that most ratios are those of none."""

ITSELF, LESS, MORE, DIVIDED = range(4)
"""What is looked up of a value w: w, w - s, w + s, w / s."""
SINGLE, PRODUCT, SUM, DIFFERENCE = range(4)
"""What X is: x, x y, x + y, x - y."""


class Hits(NamedTuple):
    """Where a ratio was found, one row for each: w and s by number, and X."""

    w: Places
    s: Places
    x: Places
    y: Places
    shape: NDArray[np.int8]
    is_unit: Flags
    """Whether k is 1 or -1."""
    has_constant: Flags
    """Whether c is not zero."""


class Candidates:
    """All X made of some variables, by the values of these: for each prime, point and variable."""

    def __init__(self, values: Residues) -> None:
        self._points = [_Points(row, prime) for row, prime in zip(values, PRIMES, strict=True)]
        self._size = values.shape[2]
        single: Places = np.arange(self._size, dtype=np.intp)
        i, j = np.triu_indices(self._size)
        k, l = np.triu_indices(self._size, 1)
        self._x = np.concatenate([single, i, k, k])
        self._y = np.concatenate([single, j, l, l])
        sizes = [len(single), len(i), len(k), len(k)]
        self._shape = np.repeat(np.arange(4, dtype=np.int8), sizes)
        ends = np.cumsum([0, *sizes])
        first = self._points[0]
        ratios = [
            first.ratios(first.formed(shape, self._x[start:end], self._y[start:end]))
            for shape in range(len(sizes))
            for start, end in _blocks(ends[shape], ends[shape + 1], BLOCK)
        ]
        self._sort(np.concatenate(ratios))

    def _sort(self, ratios: Residues) -> None:
        """Sort the X by their ratios, those with the same one by their number."""
        bits = len(ratios).bit_length()
        both = np.sort(ratios << np.uint64(bits) | np.arange(len(ratios), dtype=np.uint64))
        self._order = (both & np.uint64((1 << bits) - 1)).astype(np.intp)
        both >>= np.uint64(bits)
        self._start = np.flatnonzero(np.diff(both, prepend=~both[:1]))
        self._ratios, self._count = both[self._start], np.diff(self._start, append=len(both))
        self._slots = np.uint64((1 << bits + _SPARSE) - 1)
        self._most = np.zeros(1 << bits + _SPARSE, dtype=np.uint8)
        """How many X have a ratio, up to two; of ratios with the same last bits, the most."""
        for least in (1, 2):
            self._most[self._slot(self._ratios[self._count >= least])] = least

    def _slot(self, ratios: Residues) -> Places:
        return (ratios & self._slots).astype(np.intp)

    def find(
        self, wanted: Residues, kind: int, allowed: Flags, is_variable: Flags
    ) -> Iterator[Hits]:
        """Yield what was found of some wanted values, a number of them at a time.

        `allowed` says for each value which variables may be used. Of a variable w it is no news
        that w - s and w + s are there.
        """
        others = np.arange(1 if kind == ITSELF else self._size)
        least = np.where(is_variable & (kind in (LESS, MORE)), 2, 1)
        first = self._points[0]
        for start, end in _blocks(0, wanted.shape[2], max(1, BLOCK // len(others))):
            values = first.changed(kind, wanted[0, :, start:end, None], others)
            repeated = np.repeat(least[start:end], len(others))
            queries, found = self._match(first.ratios(values.reshape(POINTS, -1)), repeated)
            w, s = start + queries // len(others), queries % len(others)
            fine = allowed[w, self._x[found]] & allowed[w, self._y[found]]
            if kind != ITSELF:
                fine &= allowed[w, s]
            w, s, found = w[fine], s[fine], found[fine]
            yield self._hits(kind, wanted[:, :, w], w, s, found)

    def _match(self, ratios: Residues, least: NDArray[np.int64]) -> tuple[Places, Places]:
        """Return the places of ratios that so many X have at least, and all these X."""
        near = np.flatnonzero((self._most[self._slot(ratios)] >= least) & (ratios != 0))
        place = np.searchsorted(self._ratios, ratios[near])
        place[place == len(self._ratios)] = 0
        is_there = self._ratios[place] == ratios[near]
        near, place = near[is_there], place[is_there]
        count = self._count[place]
        start = np.repeat(self._start[place] - np.cumsum(count) + count, count)
        return np.repeat(near, count), self._order[start + np.arange(len(start))]

    def _hits(self, kind: int, wanted: Residues, w: Places, s: Places, found: Places) -> Hits:
        """Return what was found, as far as it is there modulo the other prime, too."""
        shapes, x, y = self._shape[found], self._x[found], self._y[found]
        fine = np.ones(len(w), dtype=np.bool_)
        is_unit, is_multiple = fine.copy(), fine.copy()
        for points, values in zip(self._points, wanted, strict=True):
            p = np.uint64(points.prime)
            a = points.changed(kind, values, s)
            b = np.empty_like(a)
            for shape in range(4):
                rows = np.flatnonzero(shapes == shape)
                b[:, rows] = points.formed(shape, x[rows], y[rows])
            change_a, change_b = (a[0] + p - a[1:]) % p, (b[0] + p - b[1:]) % p
            fine &= change_a[0] * change_b[1] % p == change_a[1] * change_b[0] % p
            is_unit &= (change_a[0] == change_b[0]) | (change_a[0] + change_b[0] == p)
            is_multiple &= a[0] * b[1] % p == a[1] * b[0] % p
        return Hits(
            w=w[fine],
            s=s[fine],
            x=x[fine],
            y=y[fine],
            shape=shapes[fine],
            is_unit=is_unit[fine],
            has_constant=~is_multiple[fine],
        )


class _Points:
    """The values of variables modulo a prime."""

    def __init__(self, values: Residues, prime: int) -> None:
        self.prime = prime
        self.values = values
        self._inverse = np.stack([_inverse(row, prime) for row in values])

    def formed(self, shape: int, x: Places, y: Places) -> Residues:
        """Return the values of some X."""
        a, b, p = self.values[:, x], self.values[:, y], np.uint64(self.prime)
        match shape:
            case 0:
                return a
            case 1:
                return _modulo(a * b, self.prime)
            case 2:
                return _folded(a + b, self.prime)
            case _:
                return _folded(a + p - b, self.prime)

    def changed(self, kind: int, w: Residues, s: Places) -> Residues:
        """Return what is looked up of values w, with the variables s."""
        p, other = np.uint64(self.prime), self.values[:, s]
        other = other.reshape(POINTS, *(1,) * (w.ndim - 2), -1)
        match kind:
            case 0:
                return w
            case 1:
                return _folded(w + p - other, self.prime)
            case 2:
                return _folded(w + other, self.prime)
            case _:
                return _modulo(w * self._inverse[:, s].reshape(other.shape), self.prime)

    def ratios(self, values: Residues) -> Residues:
        """Return the ratios of two differences; 0 where there is none."""
        p = np.uint64(self.prime)
        above, below = values[0] + p - values[1], _folded(values[0] + p - values[2], self.prime)
        is_none = below == 0
        below[is_none] = 1
        ratios = _modulo(_modulo(above, self.prime) * _inverse(below, self.prime), self.prime)
        ratios[is_none] = 0
        return ratios


# --- arithmetic -----------------------------------------------------------------------------------


def _blocks(first: int, last: int, size: int) -> Iterator[tuple[int, int]]:
    for start in range(first, last, size):
        yield start, min(start + size, last)


def _modulo(values: Residues, prime: int) -> Residues:
    """Return remainders: numpy is faster at quotients by one number."""
    quotient = values // np.uint64(prime)
    quotient *= np.uint64(prime)
    return values - quotient


def _folded(values: Residues, prime: int) -> Residues:
    """Return remainders of values below twice the prime: what is less than 0 is very large."""
    return np.minimum(values, values - np.uint64(prime), out=values)


def _inverse(values: Residues, prime: int) -> Residues:
    """Return the inverses of residues that are not zero: one is found, the others by products."""
    if len(values) == 1:
        return np.array([pow(int(values[0]), -1, prime)], dtype=np.uint64)
    half = len(values) // 2
    first, second = values[:half], values[half : 2 * half]
    both = _inverse(_modulo(first * second, prime), prime)
    parts = [_modulo(both * second, prime), _modulo(both * first, prime)]
    if len(values) % 2:
        parts.append(_inverse(values[-1:], prime))
    return np.concatenate(parts)
