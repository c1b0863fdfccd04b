"""Splines of degree five: the motion between numbers, or near them, with its rates.

    {"t": ..., "values": ..., "smoothing": 0}                       through exact numbers
    {"t": ..., "values": ..., "smoothing": 1e-4}                    near numbers with noise
    {"t": ..., "values": ..., "rates": ..., "accelerations": ...}   numbers whose rates are known

Rates of numbers are an ill-posed problem: small errors of values become large ones of
accelerations. So `smoothing`, the standard deviation of the numbers, must be given; the spline near
them has as few knots as that distance allows (FITPACK). Acceleration and jerk are continuous; with
fewer than six numbers the spline through them is one polynomial.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib import import_module
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.given import Given, finite_array

Array = NDArray[np.float64]
DEGREE = 5
FEWEST = DEGREE + 1
"""Numbers that can be smoothed."""
FITTED = 1.01
"""How far the root mean square distance of a spline may be from the one that is required."""
ROUNDED = 1e-12
UNLIKE = 0.1
"""How far steps of values may be from those of their rates, against their size."""
MOTION_FIELDS = ("t", "values", "rates", "accelerations", "smoothing")
STATE = 'give "smoothing": the standard deviation of the numbers, 0 for exact ones'


@dataclass(frozen=True, eq=False)
class Spline:
    """Polynomials from knot to knot: `powers` (k, d + 1, ...) of the time since the knot."""

    knots: Array
    powers: Array

    @property
    def degree(self) -> int:
        """The highest power of the time."""
        return self.powers.shape[1] - 1

    def __call__(self, t: Array) -> tuple[Array, Array, Array]:
        """Return values, rates and accelerations (m, ...) at times t (m,)."""
        index = np.clip(np.searchsorted(self.knots, t, side="right") - 1, 0, len(self.powers) - 1)
        since = (t - self.knots[index]).reshape(-1, *(1,) * (self.powers.ndim - 2))
        value = rate = acceleration = np.zeros((len(t), *self.powers.shape[2:]))
        for power in range(self.degree, -1, -1):
            acceleration = acceleration * since + 2 * rate
            rate = rate * since + value
            value = value * since + self.powers[index, power]
        return value, rate, acceleration


def spline_through(t: Array, y: Array, degree: int = DEGREE) -> Spline:
    """Return the spline through two or more numbers or points, (n,) or (n, k), at growing times."""
    degree = min(degree, len(t) - 1)
    curve = _interpolate().make_interp_spline(t, y, degree)
    return _spline(curve, curve.t, degree)


def spline_near(t: Array, y: Array, distance: float) -> Spline:
    """Return a spline of few knots, of a root mean square distance from six or more numbers."""
    scipy = _interpolate()
    # No spline is further away than the numbers are from each other; a square beyond is no number.
    distance = min(distance, float(np.ptp(y)) or 1.0)
    with warnings.catch_warnings():  # The distance is checked by `table_spline`.
        warnings.simplefilter("ignore", RuntimeWarning)
        curve = scipy.make_splrep(t, y, k=DEGREE, s=len(t) * distance**2)
    return _spline(curve, curve.t, DEGREE)


def spline_with_rates(t: Array, columns: Array) -> Spline:
    """Return the spline with values, rates and accelerations (n, 3) at two or more times."""
    return _spline(_interpolate().BPoly.from_derivatives(t, columns), t, DEGREE)


def _spline(curve: Any, knots: Array, degree: int) -> Spline:
    """Return a curve of scipy by its Taylor polynomials at knots, which may repeat."""
    breaks = np.unique(knots)
    powers = [curve(breaks[:-1], nu=k) / factorial(k) for k in range(degree + 1)]
    return Spline(breaks, np.stack(powers, axis=1))


def _interpolate() -> Any:
    try:
        return import_module("scipy.interpolate")
    except ImportError as problem:
        remedy = "pip install 'chainform[analyse]'"
        raise RunError("splines need scipy", element="smoothing", remedy=remedy) from problem


# --- tables ---------------------------------------------------------------------------------------


def table_spline(
    table: Given, t: Array | None = None, smoothing: float | None = None
) -> tuple[Spline, str]:
    """Return the spline of a table of numbers, and in words what it is.

    `t` are times of a table that has none, `smoothing` that of one which does not give its own.
    """
    own, values = table_columns(table, t)
    if len(own) < 2:
        raise table.error("one number is no motion", "give two or more")
    if table.has("rates") or table.has("accelerations"):
        note = f"{len(own)} numbers with rates and accelerations, polynomials of degree 5 between"
        known = known_rates(table, own, values)
        notes = "; ".join(filter(None, (note, contradiction(own, *known))))
        return spline_with_rates(own, np.stack(known, axis=1)), notes
    wanted = table["smoothing"].number(least=0) if table.has("smoothing") else smoothing
    if wanted is None:
        raise table.error("numbers without rates must be differentiated by a spline", STATE)
    try:
        return _through_or_near(table, own, values, wanted)
    except (ValueError, np.linalg.LinAlgError):
        message = "no spline goes along these numbers"
        raise table.error(message, "give times that are not much nearer than others") from None


def table_columns(table: Given, t: Array | None = None) -> tuple[Array, Array]:
    """Return the times of a table, or `t` where it has none, and its values."""
    values = _column(table.required("values"))
    own = _column(table.required("t")) if t is None or table.has("t") else t
    if own.shape != values.shape:
        message = f"there are {len(own)} times and {len(values)} values"
        raise table.error(message, "give as many numbers as times")
    if not np.all(np.diff(own) > 0):
        raise table.error("the times do not grow", "order them, each time once")
    return own, values


def known_rates(table: Given, own: Array, values: Array) -> tuple[Array, Array, Array]:
    """Return values, rates and accelerations of a table that has them."""
    if not (table.has("rates") and table.has("accelerations")):
        remedy = 'give "rates" and "accelerations", or "smoothing" in place of them'
        raise table.error("rates and accelerations belong together", remedy)
    rates, accelerations = _column(table["rates"]), _column(table["accelerations"])
    if not rates.shape == accelerations.shape == own.shape:
        raise table.error("values, rates and accelerations are not as many", "give one each")
    return values, rates, accelerations


def contradiction(t: Array, values: Array, rates: Array, accelerations: Array) -> str:
    """Return in words that rates do not fit the values, as those of other units; else "".

    Steps of values are compared with the integral of the polynomials of degree 3 of the rates.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        h, change, size = np.diff(t), np.diff(values), np.abs(rates)
        moved = h * (rates[1:] + rates[:-1]) / 2 - h**2 * np.diff(accelerations) / 12
        terms = np.abs(change) + h * (size[1:] + size[:-1]) / 2
        fits = not len(h) or np.linalg.norm(change - moved) <= UNLIKE * np.linalg.norm(terms)
    if fits:
        return ""
    worst = int(np.argmax(np.abs(change - moved)))
    return (
        f"rates and accelerations do not fit the values, or the times are too far apart: from "
        f"t = {t[worst]:.6g} to {t[worst + 1]:.6g} s the values change by {change[worst]:.6g}, "
        f"and by their rates by {moved[worst]:.6g}"
    )


def _through_or_near(table: Given, t: Array, values: Array, smoothing: float) -> tuple[Spline, str]:
    if smoothing == 0:
        spline = spline_through(t, values)
        return spline, f"spline of degree {spline.degree} through {len(t)} numbers, no smoothing"
    if len(t) < FEWEST:
        message = f"{len(t)} numbers cannot be smoothed"
        raise table.error(message, f"give {FEWEST} or more, or no smoothing: 0")
    spline = spline_near(t, values, smoothing)
    offsets = spline(t)[0] - values
    if not np.sqrt(np.mean(offsets**2)) <= FITTED * smoothing + ROUNDED * np.max(np.abs(values)):
        message = f"no spline is as near to the numbers as {smoothing:g}"
        raise table.error(message, "give more smoothing, or 0 for exact numbers")
    return spline, (
        f"spline of degree {spline.degree} near {len(t)} numbers, smoothed by a standard "
        f"deviation of {smoothing:g}: at most {np.max(np.abs(offsets)):.3g} from them"
    )


def _column(given: Given) -> Array:
    with given.translate_errors():
        values = finite_array(given.element, given.value)
    if values.ndim != 1 or not len(values):
        raise given.error(f"it has the shape {values.shape}", "give one row of numbers")
    return values
