"""A four-bar linkage with a spring, and all its equilibria as roots of a polynomial."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import chainform as cf

Array = NDArray[np.float64]
TURN = 2 * np.pi


def wrapped(angles: Any) -> Array:
    return np.mod(np.asarray(angles) + np.pi, TURN) - np.pi


def same_sets(one: Array, other: Array, margin: float = 1e-8) -> bool:
    """Whether two sets of angles (m, n) are equal, whole turns aside."""
    if len(one) != len(other):
        return False
    gaps = np.abs(wrapped(one[:, None] - other[None])).max(axis=2)
    return bool(gaps.min(axis=0).max() < margin and gaps.min(axis=1).max() < margin)


def drawn_lengths(seed: int) -> tuple[float, ...]:
    """Return lengths a, b, c, d of a linkage that closes, and has no flat pose."""
    rng = np.random.default_rng(seed)
    while True:
        lengths = rng.uniform(0.15, 0.8, 4).round(2)
        signs = np.array([[1, 1, 1, -1], [1, 1, -1, 1], [1, -1, 1, 1], [-1, 1, 1, 1]])
        signs = np.vstack([signs, [[1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]]])
        if np.abs(signs @ lengths).min() > 0.02 and 2 * lengths.max() < lengths.sum():
            return tuple(lengths.tolist())


class FourBar:
    """A linkage with weight, and a spring of no length from a coupler point to the ground.

    With x = exp(i crank), y = exp(i coupler), both absolute, the loop and the energy are sums of
    x, y, x/y and their inverses. `resultant` eliminates y, so that the equilibria are roots of a
    polynomial in x on the unit circle. Nothing of this uses the product.
    """

    def __init__(self, seed: int, lengths: tuple[float, ...] = (0.2, 0.5, 0.4, 0.6)) -> None:
        rng = np.random.default_rng(seed)
        self.a, self.b, self.c, self.d = lengths
        self.masses = rng.uniform(0.1, 1.0, 3).round(3)
        self.stiffness = round(float(rng.uniform(20, 80)), 1)
        self.point = rng.uniform(-0.3, 0.5, 2).round(3)
        self.ground = rng.uniform(-0.5, 0.8, 2).round(3)
        self.rest = 0.0

    def mechanism(self) -> cf.Mechanism:
        builder = cf.Mechanism.builder("four bar", gravity=(0, "-9.81", 0))
        builder.parameter("k", self.stiffness)
        for name, parent, position, length, mass in (
            ("crank", "ground", 0, self.a, self.masses[0]),
            ("coupler", "crank", self.a, self.b, self.masses[1]),
            ("rocker", "ground", self.d, self.c, self.masses[2]),
        ):
            builder.segment(
                name,
                parent=parent,
                axis="z",
                position=[position, 0, 0],
                mass=float(mass),
                com=[length / 2, 0, 0],
            )
        ends = (
            {"segment": "coupler", "point": [self.b, 0, 0]},
            {
                "segment": "rocker",
                "point": [self.c, 0, 0],
            },
        )
        builder.loop("pin", "point", *ends)
        places = [
            {"segment": "coupler", "point": [*self.point.tolist(), 0]},
            {"segment": "ground", "point": [*self.ground.tolist(), 0]},
        ]
        builder.spring(ends=places, stiffness="k", rest=self.rest)
        return builder.build()

    def energy(self, crank: Any, coupler: Any) -> Any:
        """The energy at absolute angles, by hand."""
        x: Any = np.exp(1j * crank)
        y: Any = np.exp(1j * coupler)
        tip = self.a * x + self.b * y
        heights = self.a * x.imag / 2, (self.a * x + self.b * y / 2).imag, tip.imag / 2
        weight = 9.81 * sum(m * h for m, h in zip(self.masses, heights, strict=True))
        stretch = np.abs(self.a * x + complex(*self.point) * y - complex(*self.ground)) - self.rest
        return weight + self.stiffness / 2 * stretch**2

    def _terms(self) -> tuple[dict[tuple[int, int], complex], dict[tuple[int, int], complex]]:
        """Loop and energy as sums of x^i y^k, without their constants where these do not matter."""
        a, b, c, d, k = self.a, self.b, self.c, self.d, self.stiffness
        loop = {(0, 0): a * a + b * b + d * d - c * c + 0j}
        p, g = complex(*self.point), complex(*self.ground)
        m1, m2, m3 = 9.81 * self.masses
        energy: dict[tuple[int, int], complex] = {}

        def add(sums: dict[tuple[int, int], complex], i: int, j: int, factor: complex) -> None:
            """Add Re(factor x^i y^j)."""
            for key, value in (((i, j), factor / 2), ((-i, -j), np.conj(factor) / 2)):
                sums[key] = sums.get(key, 0j) + value

        for i, j, factor in ((1, -1, 2 * a * b), (1, 0, -2 * a * d), (0, 1, -2 * b * d)):
            add(loop, i, j, factor)
        add(energy, 1, -1, k * a * np.conj(p))
        # Im z = Re(-i z)
        add(energy, 1, 0, -k * a * np.conj(g) - 1j * a * (m1 / 2 + m2 + m3 / 2))
        add(energy, 0, 1, -k * p * np.conj(g) - 1j * b * (m2 / 2 + m3 / 2))
        return loop, energy

    def equilibria(self) -> Array:
        """All real roots: absolute angles of crank and coupler, (m, 2)."""
        loop, energy = self._terms()
        condition: dict[tuple[int, int], complex] = {}
        for (i, j), h in loop.items():
            for (r, s), v in energy.items():
                # V_x h_y - V_y h_x, with d/d(angle) x^i = i x^i times the imaginary unit
                key = i + r, j + s
                condition[key] = condition.get(key, 0j) - (r * j - s * i) * h * v
        roots: list[tuple[float, float]] = []
        for x in np.roots(self._resultant(loop, condition)):
            if abs(abs(x) - 1) > 1e-6:
                continue
            roots += [
                self._polished(float(np.angle(x)), float(np.angle(y)), loop, condition)
                for y in np.roots(_in_y(loop, x, 1))
                if abs(abs(y) - 1) < 1e-6 and abs(_value(condition, x, y)) < 1e-5
            ]
        return np.array(roots)

    def _resultant(self, loop: Any, condition: Any) -> Any:
        """The coefficients of the resultant in y, from its values on a circle."""
        count, radius = 64, 1.0
        points = radius * np.exp(1j * TURN * np.arange(count) / count)
        values = [
            np.linalg.det(_sylvester(_in_y(loop, x, 1), _in_y(condition, x, 2)))
            * x ** (4 * 1 + 2 * 2)
            for x in points
        ]
        coefficients = np.fft.fft(values) / count
        size = np.abs(coefficients).max()
        used = np.flatnonzero(np.abs(coefficients) > 1e-10 * size)
        return coefficients[used.min() : used.max() + 1][::-1]

    def _polished(self, a: float, b: float, loop: Any, condition: Any) -> tuple[float, float]:
        z = np.array([a, b])
        for _ in range(5):
            x, y = np.exp(1j * z[0]), np.exp(1j * z[1])
            F = np.array([_value(sums, x, y).real for sums in (loop, condition)])
            J = np.array(
                [[_value(_slope(sums, k), x, y).real for k in (0, 1)] for sums in (loop, condition)]
            )
            z = z - np.linalg.solve(J, F)
        return float(z[0]), float(z[1])


def _value(sums: Any, x: complex, y: complex) -> complex:
    return sum(c * x**i * y**j for (i, j), c in sums.items())


def _slope(sums: Any, place: int) -> Any:
    return {key: 1j * key[place] * c for key, c in sums.items()}


def _in_y(sums: Any, x: complex, degree: int) -> Array:
    """Coefficients in y, the highest first, after a factor y^degree."""
    found = np.zeros(2 * degree + 1, complex)
    for (i, j), c in sums.items():
        found[degree - j] += c * x**i
    return found


def _sylvester(p: Array, q: Array) -> Array:
    m, n = len(p) - 1, len(q) - 1
    matrix = np.zeros((m + n, m + n), complex)
    for k in range(n):
        matrix[k, k : k + m + 1] = p
    for k in range(m):
        matrix[n + k, k : k + n + 1] = q
    return matrix
