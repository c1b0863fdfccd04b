"""Splines through points, or near them, as polynomials between knots.

symbol   meaning
B_k      B-splines of degree d over knots, after de Boor; s = sum of c_k B_k
y_i      the values at times t_i

Through points: s(t_i) = y_i with the degree 5, so that acceleration and jerk are continuous; the
first and last knots are left out, so that there are as many conditions as coefficients. With fewer
than six points it is the polynomial through them.

Near points: of all s whose root mean square distance from them is the one given, the one with the
least integral of (s''')^2. It minimises

    sum of (s(t_i) - y_i)^2 + w * integral of (s''')^2

and w is found by bisection. A parabola has no s''', so that it is the limit of large w.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
DEGREE = 5
HALVINGS = 60
WEIGHTS = (-14.0, 14.0)
"""Powers of ten between which w lies, as a share of the first sum."""


@dataclass(frozen=True, eq=False)
class Spline:
    """Polynomials from knot to knot: `powers` (k, d + 1) of the time since the knot (k + 1,)."""

    knots: Array
    powers: Array
    distance: float
    """The root mean square distance from the points."""


def spline_through(t: Array, y: Array) -> Spline:
    """Return the spline through two or more points, at times that grow."""
    basis = BSplines.of(t)
    coefficients = np.asarray(np.linalg.solve(basis.at(t), y), dtype=np.float64)
    return basis.spline(coefficients, t, y)


def spline_near(t: Array, y: Array, distance: float) -> Spline:
    """Return the smoothest spline of a root mean square distance from four or more points."""
    basis = BSplines.of(t)
    B, bends = basis.at(t), basis.bends()
    A = B.T @ B
    scale = np.trace(A) / np.trace(bends)
    low, high = WEIGHTS

    def coefficients(power: float) -> Array:
        weighted = np.asarray(A + 10.0**power * scale * bends, dtype=np.float64)
        return np.asarray(np.linalg.lstsq(weighted, B.T @ y, rcond=None)[0], dtype=np.float64)

    for _ in range(HALVINGS):
        middle = (low + high) / 2
        is_near = _distance(B @ coefficients(middle), y) <= distance
        low, high = (middle, high) if is_near else (low, middle)
    return basis.spline(coefficients(low), t, y)


def _distance(values: Array, y: Array) -> float:
    return float(np.sqrt(np.mean((values - y) ** 2)))


@dataclass(frozen=True, eq=False)
class BSplines:
    """The B-splines of a degree over knots, those at the ends repeated."""

    knots: Array
    degree: int

    @staticmethod
    def of(t: Array) -> BSplines:
        """Return as many B-splines as there are times."""
        degree = min(DEGREE, len(t) - 1)
        ends = [np.repeat(end, degree + 1) for end in (t[0], t[-1])]
        return BSplines(np.concatenate([ends[0], t[3:-3], ends[1]]), degree)

    def at(self, t: Array, order: int = 0) -> Array:
        """Return the values of all of them at times, or derivatives of an order, (m, n)."""
        knots, d, x = self.knots, self.degree, t[:, None]
        if d == 0:
            last = int(np.flatnonzero(np.diff(knots))[-1])
            place = np.minimum(np.searchsorted(knots, t, side="right") - 1, last)
            return np.asarray(place[:, None] == np.arange(len(knots) - 1), dtype=np.float64)
        widths = knots[d:] - knots[:-d]
        lower = BSplines(knots, d - 1).at(t, max(order - 1, 0))
        shares = lower * np.divide(1.0, widths, out=np.zeros_like(widths), where=widths > 0)
        left, right = shares[:, :-1], shares[:, 1:]
        if order:
            return d * (left - right)
        return (x - knots[: -d - 1]) * left + (knots[d + 1 :] - x) * right

    def bends(self) -> Array:
        """Return the integrals of products of third derivatives, by three points of Gauss."""
        breaks = np.unique(self.knots)
        half, middle = np.diff(breaks) / 2, (breaks[:-1] + breaks[1:]) / 2
        places, weights = np.polynomial.legendre.leggauss(3)
        thirds = self.at((middle[:, None] + half[:, None] * places).ravel(), 3)
        return thirds.T @ (thirds * (half[:, None] * weights).reshape(-1, 1))

    def spline(self, coefficients: Array, t: Array, y: Array) -> Spline:
        """Return the sum of B-splines as polynomials, with its distance from points."""
        breaks = np.unique(self.knots)
        powers = [
            self.at(breaks[:-1], k) @ coefficients / factorial(k) for k in range(self.degree + 1)
        ]
        distance = _distance(self.at(t) @ coefficients, y)
        return Spline(breaks, np.stack(powers, axis=1), distance)
