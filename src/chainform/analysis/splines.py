"""Cubic splines through points: value, first and second derivative at any time between them.

The second derivative is continuous, and the third, too, at the points next to both ends. Three
points give a parabola, two a straight line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CubicSpline:
    """Polynomials between times (n,) by their coefficients (4, n - 1, k), powers growing."""

    times: Array
    coefficients: Array

    def __call__(self, t: Array) -> tuple[Array, Array, Array]:
        """Return values, rates and accelerations (m, k) at times t (m,)."""
        last = len(self.times) - 2
        place = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, last)
        s = (t - self.times[place])[:, np.newaxis]
        a, b, c, d = self.coefficients[:, place]
        return a + s * (b + s * (c + s * d)), b + s * (2 * c + 3 * s * d), 2 * c + 6 * s * d


def spline_through(times: Array, points: Array) -> CubicSpline:
    """Return the spline through points (n, k) at growing times (n,), at least two."""
    h, rise = np.diff(times)[:, np.newaxis], np.diff(points, axis=0)
    slopes = rise / h
    bends = _second_derivatives(h, slopes)
    linear = slopes - h * (2 * bends[:-1] + bends[1:]) / 6
    parts = [points[:-1], linear, bends[:-1] / 2, np.diff(bends, axis=0) / (6 * h)]
    return CubicSpline(times, np.stack(parts))


def _second_derivatives(h: Array, slopes: Array) -> Array:
    """Return the second derivatives at all points, (n, k)."""
    count = len(slopes) + 1
    if count == 2:
        return np.zeros((2, slopes.shape[1]))
    right = 6 * np.diff(slopes, axis=0)
    if count == 3:
        return np.repeat(right / (3 * (h[0] + h[1])), 3, axis=0)
    # h[i-1] m[i-1] + 2 (h[i-1] + h[i]) m[i] + h[i] m[i+1] = right[i]; both ends are eliminated by
    # the third derivative being the same on both sides of the first and the last inner point.
    below, middle, above = h[:-1].copy(), 2 * (h[:-1] + h[1:]), h[1:].copy()
    first, last = h[0] / h[1], h[-1] / h[-2]
    middle[0] += h[0] * (1 + first)
    above[0] -= h[0] * first
    middle[-1] += h[-1] * (1 + last)
    below[-1] -= h[-1] * last
    inner = _tridiagonal(below, middle, above, right)
    start = (1 + first) * inner[:1] - first * inner[1:2]
    end = (1 + last) * inner[-1:] - last * inner[-2:-1]
    return np.concatenate([start, inner, end])


def _tridiagonal(below: Array, middle: Array, above: Array, right: Array) -> Array:
    """Return the solution (n, k) of equations with three diagonals (n, 1), by elimination."""
    middle, right = middle.copy(), right.copy()
    for i in range(1, len(right)):
        share = below[i] / middle[i - 1]
        middle[i] -= share * above[i - 1]
        right[i] -= share * right[i - 1]
    right[-1] /= middle[-1]
    for i in range(len(right) - 2, -1, -1):
        right[i] = (right[i] - above[i] * right[i + 1]) / middle[i]
    return right
