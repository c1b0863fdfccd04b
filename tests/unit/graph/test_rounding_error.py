"""Bounds of rounding: they hold, and they are not much larger than they need to be."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import zoo
from chainform.graph import Builder, Graph, evaluate_variables, rounding_bounds
from chainform.pipeline import derive

DIGITS = mpmath.mp.clone()
DIGITS.dps = 60


class ManyDigits:
    """An arithmetic of sixty digits."""

    def number(self, value: Fraction) -> Any:
        return DIGITS.mpf(value.numerator) / value.denominator

    def call(self, function: str, argument: Any) -> Any:
        if function == "reciprocal":
            return 1 / argument
        return getattr(DIGITS, {"abs": "fabs"}.get(function, function))(argument)


def compared(graph: Graph, values: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the errors of all variables of a graph in doubles, and their bounds."""
    every = np.arange(len(graph), dtype=np.int32)
    inputs = {v: values[given.name] for v, given in graph.inputs.items()}
    found, bounds = rounding_bounds(graph, every, inputs, 1)
    given = {name: DIGITS.mpf(value) for name, value in values.items()}
    exact = evaluate_variables(graph, given, ManyDigits(), every)
    return np.array([abs(float(found[v, 0] - exact[v])) for v in range(len(graph))]), bounds[:, 0]


@pytest.mark.parametrize("seed", range(8))
def test_no_double_is_further_off(seed: int) -> None:
    graph = derive(zoo.random_tree(seed), ["forward_dynamics", "mass_matrix"]).graph
    rng = np.random.default_rng(seed)
    errors, bounds = compared(
        graph, {given.name: float(rng.uniform(-2, 2)) for given in graph.inputs.values()}
    )
    assert (errors <= bounds).all()
    assert errors.max() > 0
    # A bound that is far too large would hide what it is to show.
    assert bounds.max() < 3000 * errors.max()


def difference(near: float) -> Graph:
    """A sum that nearly vanishes, as a factor, as an argument, and under a root."""
    builder = Builder()
    x = builder.input("x", "q", 0)
    gap = builder.keep(x * x - builder.number(Fraction(near)))
    outputs = [
        gap,
        Fraction(10**8) * gap * x,
        *(builder.call(f, gap) for f in ("sin", "sign", "reciprocal")),
    ]
    builder.output("y", (5,), [(f"y_{k}", entry) for k, entry in enumerate(outputs)])
    return builder.finish()


def test_what_cancels_has_a_large_bound() -> None:
    errors, bounds = compared(difference(2.0), {"x": 1.4142})
    assert (errors <= bounds).all()
    gap = abs(1.4142**2 - 2)
    assert bounds[-1] > 1e-16 / gap**2


def test_a_sign_that_rounding_decides_has_no_bound() -> None:
    graph = difference(2.0)
    inputs = {next(iter(graph.inputs)): 2.0**0.5}
    wanted = np.array(graph.block("y").variables)
    _, bounds = rounding_bounds(graph, wanted, inputs, 1)
    assert np.isfinite(bounds[:3]).all()
    assert np.isinf(bounds[3:]).all()
    # Far from the jump there is no doubt.
    _, bounds = rounding_bounds(graph, wanted, {next(iter(graph.inputs)): 3.0}, 1)
    assert (bounds[3:] < 1e-15).all()


def test_states_of_a_batch_are_apart() -> None:
    graph = difference(2.0)
    wanted = np.array(graph.block("y").variables)
    (x,) = graph.inputs
    at = np.array([0.5, 1.4142, 7.0])
    values, bounds = rounding_bounds(graph, wanted, {x: at}, 3)
    for k, one in enumerate(at):
        alone = rounding_bounds(graph, wanted, {x: one}, 1)
        assert np.array_equal(alone[0][:, 0], values[:, k])
        assert np.array_equal(alone[1][:, 0], bounds[:, k])
