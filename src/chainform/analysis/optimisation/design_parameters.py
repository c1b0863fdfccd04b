"""The parameters of a design: their names, bounds, starts, and the mechanism with their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.given import Given, argument
from chainform.mechanism import Mechanism, automatic_parameters
from chainform.simulation import check_fixed, parameters_of, without_values

Array = NDArray[np.float64]
ROUNDING = 1e-12
"""A share of the range that is nothing."""
FARTHEST = 1e15
"""The largest bound of a parameter."""
WIDEST = 1e8
"""How far apart bounds may be, against the first value: a search does not see finer steps."""
UNSIZED = 1e6
"""The same without a first value, against the smaller bound, or a unit with zero in between."""
MOST = 200
"""Parameters of one design."""
FIELDS = ("lower", "upper", "start")
REMEDY = 'write {"l2": [0.2, 0.6]}, or {"l2": {"lower": 0.2, "upper": 0.6, "start": 0.3}}'


@dataclass(frozen=True, eq=False)
class DesignParameters:
    """Parameters by name, with bounds and a first value each, (n,)."""

    mechanism: Mechanism
    names: tuple[str, ...]
    lower: Array
    upper: Array
    start: Array

    @staticmethod
    def of(mechanism: Mechanism, given: object) -> DesignParameters:
        """Return the parameters that a table names; an error tells what is wrong with it."""
        table = argument("parameters", given).table(remedy=REMEDY)
        names = list(table.value)
        if not 0 < len(names) <= MOST:
            message = "no parameter may change" if not names else f"there are {len(names)}"
            raise table.error(message, REMEDY if not names else f"give at most {MOST}")
        known = _known(mechanism)
        rows: list[tuple[float, float, float]] = []
        for name, entry in table.items():
            if name not in known:
                raise argument("parameters", name).unknown("parameter", known)
            _refuse_fixed(mechanism, name)
            rows.append(_bounds(entry.at(f"parameters, {name}"), known[name]))
        lower, upper, start = np.array(rows).T
        return DesignParameters(mechanism, tuple(names), lower, upper, start)

    @property
    def range(self) -> Array:
        """How far each may go, (n,)."""
        return self.upper - self.lower

    def scaled(self, values: Array) -> Array:
        """Return values as shares of their ranges, 0 to 1."""
        return (values - self.lower) / self.range

    def values(self, shares: Array) -> Array:
        """Return the values of shares, within the bounds, and at them where rounding is between."""
        values = np.clip(self.lower + shares * self.range, self.lower, self.upper)
        values = np.where(shares < ROUNDING, self.lower, values)
        return np.where(shares > 1 - ROUNDING, self.upper, values)

    def starts(self, count: int, seed: int) -> Array:
        """Return values to start from (count, n): the first ones, then random ones."""
        drawn = np.random.default_rng(seed).random((max(count - 1, 0), len(self.names)))
        return np.vstack([self.start, self.lower + drawn * self.range])

    def bound(self, values: Array) -> Mechanism:
        """Return the mechanism with these values."""
        numbers = dict(zip(self.names, map(float, values), strict=True))
        return parameters_of(self.mechanism, numbers).mechanism

    def free(self) -> Mechanism:
        """Return the mechanism in which these parameters have no value."""
        return without_values(self.bound(self.start), self.names)


def _known(mechanism: Mechanism) -> dict[str, float | None]:
    """Return the parameters that may be chosen, with their values."""
    known: dict[str, Any] = {**automatic_parameters(mechanism)}
    known |= {p.name: p.value for p in mechanism.parameters}
    return {name: None if value is None else float(value) for name, value in known.items()}


def _refuse_fixed(mechanism: Mechanism, name: str) -> None:
    value = next((p.value for p in mechanism.parameters if p.name == name), None)
    if value is not None:
        try:
            check_fixed(mechanism, {name: float(value) + 1.0})
        except RunError as error:
            remedy = "axes, rotations, ratios and limits stay numbers: take another parameter, or "
            remedy += "make a mechanism for each value"
            raise RunError(error.message, element=f"parameters, {name}", remedy=remedy) from None


def _bounds(given: Given, known: float | None) -> tuple[float, float, float]:
    """Return the bounds and the first value of one parameter."""
    if given.is_list:
        ends: Sequence[Given] = given.entries(2, REMEDY)
        lower, upper, start = _number(ends[0]), _number(ends[1]), None
    else:
        table = given.table(FIELDS, REMEDY)
        lower = _number(table.required("lower", REMEDY))
        upper = _number(table.required("upper", REMEDY))
        start = _number(table["start"]) if table.has("start") else None
    if lower > upper:
        raise given.error(f"no value lies between {lower:g} and {upper:g}", "order the bounds")
    if lower == upper:
        raise given.error("it has no freedom: both bounds are the same", "leave it out")
    if start is None and known is not None and lower <= known <= upper:
        start = known
    if start is None:
        # The smaller bound has the size of what may come; with zero between them, a unit.
        least = min(abs(lower), abs(upper)) if lower * upper > 0 else 1.0
        if upper - lower > UNSIZED * least:
            message = f"bounds from {lower:g} to {upper:g} do not tell the size of what may come"
            raise given.error(message, "give a start, or narrower bounds")
        start = (lower + upper) / 2
    if not lower <= start <= upper:
        remedy = "give a start between its bounds"
        raise given.error(f"it starts at {start:g}, which is out of its bounds", remedy)
    if upper - lower > WIDEST * abs(start) > 0:
        message = (
            f"the bounds are {(upper - lower) / abs(start):.1g} times as far apart as its start"
        )
        raise given.error(message, "give narrower bounds, of the size of what may come")
    return lower, upper, start


def _number(given: Given) -> float:
    return given.number(-FARTHEST, FARTHEST, remedy=f"give a number within +-{FARTHEST:g}")


def named(names: Sequence[str], values: Array) -> Mapping[str, float]:
    """Return numbers by name."""
    return dict(zip(names, map(float, values), strict=True))


# --- differences ----------------------------------------------------------------------------------

STEP = 1e-4
"""The step of differences, as a share of the size of a parameter."""


def differences(
    function: Callable[[Array], Array], values: Array, parameters: DesignParameters
) -> Array:
    """Return derivatives of a function of the parameters by five points within the bounds."""
    columns: list[Array] = []
    for k, reach in enumerate(parameters.range):
        # In a wide range the value itself is the measure.
        step = STEP * min(reach, max(abs(values[k]), reach / 1000))
        below = int(min(2, np.floor((values[k] - parameters.lower[k]) / step)))
        above = int(min(2, np.floor((parameters.upper[k] - values[k]) / step)))
        places = np.arange(-below, 5 - below) if below < 2 else np.arange(above - 4, above + 1)
        weights = np.linalg.solve(np.vander(places, 5, increasing=True).T, [0, 1, 0, 0, 0]) / step
        unit = np.eye(len(values))[k]
        pairs = zip(places, weights, strict=True)
        parts = [w * function(values + p * step * unit) for p, w in pairs if w]
        columns.append(np.sum(parts, axis=0))
    return np.stack(columns, axis=-1)


def scipy_module(name: str) -> Any:
    """Return a module of scipy, or tell how to install it."""
    try:
        return import_module(f"scipy.{name}")
    except ImportError:
        raise RunError(
            "optimisation needs scipy",
            element="design",
            remedy="pip install 'chainform[analyse]'",
        ) from None
