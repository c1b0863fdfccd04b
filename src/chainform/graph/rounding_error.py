"""How far rounding can take the values of a graph that is evaluated in doubles.

It is a running error analysis: each variable has, with its value, the largest error that it can
have, in units of the rounding error 2^-53. It holds for every order in which terms are added, with
and without fused products, and for functions that are right to a few last places; so it holds for
`evaluate_states`, for machine code, and for text in other languages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.graph.evaluation import FUNCTIONS, BatchPlan
from chainform.graph.types import Graph

Values = NDArray[np.float64]
UNIT = 2.0**-53
"""The relative error of one operation."""
LAST_PLACES = 4.0
"""The error of a function, in units of the rounding error, for a value of 1."""
_SCALE = 2.0**-30
"""Errors are taken so many times larger in products, where they must not drown in the values."""

SLOPES: dict[str, Callable[[Values], Values]] = {
    "sin": lambda x: np.abs(np.cos(x)),
    "cos": lambda x: np.abs(np.sin(x)),
    "tan": lambda x: 1 + np.tan(x) ** 2,
    "asin": lambda x: 1 / np.sqrt(1 - x * x),
    "acos": lambda x: 1 / np.sqrt(1 - x * x),
    "atan": lambda x: 1 / (1 + x * x),
    "sqrt": lambda x: 0.5 / np.sqrt(x),
    "exp": np.exp,
    "log": lambda x: 1 / np.abs(x),
    "reciprocal": lambda x: 1 / (x * x),
    "abs": np.ones_like,
    "sign": np.zeros_like,
}
"""By how much functions magnify an error."""
SEAMS = ("sign", "sqrt", "log", "reciprocal")
"""Functions that are another thing, or nothing, at the other side of zero."""
RELATIVE = ("sqrt", "reciprocal", "exp")
"""Functions whose error is relative to their value, however small that is."""


def rounding_bounds(
    graph: Graph, wanted: Sequence[int] | NDArray[np.int32], inputs: Mapping[int, Any], batch: int
) -> tuple[Values, Values]:
    """Return the wanted variables (rows) for a batch of states (columns), and bounds of errors.

    `inputs` gives each input variable a number, or an array with one value per state; these are
    exact. The bound is infinite where rounding may lead over a jump or to a pole, and where there
    is no finite value.
    """
    plan = BatchPlan(graph, wanted)
    values = np.empty((plan.size + 1, batch))
    errors = np.zeros((plan.size + 1, batch))
    values[plan.size], values[plan.zeros] = 1.0, 0.0
    for v in plan.inputs:
        values[v] = inputs[v]
    with np.errstate(all="ignore"):
        for step in cast("list[Any]", plan.steps):
            if hasattr(step, "function"):
                rows = step.arguments
                found = _of_call(step.function, values[rows], errors[rows])
            else:
                found = _of_sums(step, values, errors)
            values[step.variables] = found[0]
            errors[step.variables] = np.where(np.isfinite(found[0] + found[1]), found[1], np.inf)
    return values[plan.wanted], UNIT * errors[plan.wanted]


def _of_sums(step: Any, values: Values, errors: Values) -> tuple[Values, Values]:
    """Return sums of terms with their errors; a term of k factors is rounded k times at most."""
    factors, terms = step.factor_offsets, step.term_offsets
    products = np.multiply.reduceat(values[step.factors], factors, axis=0)
    products *= step.coefficients[:, None]
    sizes = np.abs(values[step.factors])
    plain = np.multiply.reduceat(sizes, factors, axis=0)
    moved = np.multiply.reduceat(sizes + _SCALE * errors[step.factors], factors, axis=0)
    share = np.abs(step.coefficients)[:, None]
    carried = share * (moved - plain) / _SCALE
    degrees = np.diff(np.append(factors, len(step.factors)))[:, None]
    counts = np.diff(np.append(terms, len(step.coefficients)))[:, None]
    own = np.add.reduceat(share * plain * (degrees + 1), terms, axis=0)
    own += np.add.reduceat(share * plain, terms, axis=0) * counts
    return np.add.reduceat(products, terms, axis=0), np.add.reduceat(carried, terms, axis=0) + own


def _of_call(function: str, x: Values, errors: Values) -> tuple[Values, Values]:
    """Return a function with its errors; infinite where an argument may be at the other side."""
    value = FUNCTIONS[function](x)
    found = np.where(errors > 0, SLOPES[function](x) * errors, 0.0)
    # An argument that may have half the size has another slope.
    if function in SEAMS:
        found = np.where((errors > 0) & (2 * UNIT * errors >= np.abs(x)), np.inf, 2 * found)
    if function in ("asin", "acos"):
        found = np.where((errors > 0) & (2 * UNIT * errors >= 1 - np.abs(x)), np.inf, 2 * found)
    least = 0.0 if function in RELATIVE else 1.0
    places = 0.0 if function in ("abs", "sign") else LAST_PLACES
    found = found + places * np.maximum(np.abs(value), least)
    return value, found
