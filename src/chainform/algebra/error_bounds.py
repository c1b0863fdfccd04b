"""How far rounding reaches: a running bound for the outputs of a graph in double precision.

Two graphs of the same values may differ in what rounding makes of them: x = 1e14 (y - z) is exact
in fractions, and has no digit left where y and z are almost equal.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.graph import FLOAT, Graph, evaluate_variables

EPSILON = 2.0**-53
STATES = 3
LOST = 100.0
"""How many times larger the bound may become by a reduction: two of sixteen digits."""


@dataclass(frozen=True, slots=True)
class Rounded:
    """A number, and a bound of its error."""

    value: float
    error: float = 0.0

    def __neg__(self) -> Rounded:
        return Rounded(-self.value, self.error)

    def __add__(self, other: Rounded) -> Rounded:
        value = self.value + other.value
        return Rounded(value, self.error + other.error + EPSILON * abs(value))

    def __mul__(self, other: Rounded) -> Rounded:
        value = self.value * other.value
        reach = abs(self.value) * other.error + abs(other.value) * self.error
        return Rounded(value, reach + EPSILON * abs(value))


class Rounding:
    """The arithmetic of such numbers."""

    def number(self, value: Fraction) -> Rounded:
        """Return a coefficient, as the nearest double."""
        nearest = FLOAT.number(value)
        return Rounded(nearest, EPSILON * abs(nearest))

    def call(self, function: str, argument: Rounded) -> Rounded:
        """Return a function of a number; its slope is a difference between two values."""
        value = FLOAT.call(function, argument.value)
        near = argument.value + max(1e-7 * abs(argument.value), 1e-7)
        slope = abs((FLOAT.call(function, near) - value) / (near - argument.value))
        return Rounded(value, slope * argument.error + EPSILON * abs(value))


def loses_digits(before: Graph, after: Graph) -> bool:
    """Tell whether rounding may spoil outputs of one graph far more than those of another.

    Both have the same outputs. Bounds are compared where both have values, each entry with the
    largest of its output.
    """
    source = random.Random(0)
    defaults = {i.name: i.default for g in (before, after) for i in g.inputs.values()}
    for _ in range(STATES):
        values = {
            name: Rounded(FLOAT.number(default) if default else source.uniform(-1.0, 1.0))
            for name, default in sorted(defaults.items())
        }
        try:
            old, new = (_errors(graph, values) for graph in (before, after))
        except RunError:
            continue
        if any(np.any(new[name] > LOST * np.max(old[name], initial=0.0)) for name in old):
            return True
    return False


def _errors(graph: Graph, values: dict[str, Rounded]) -> dict[str, NDArray[np.float64]]:
    """Return bounds for the entries of each output, none smaller than rounding of the largest."""
    known = evaluate_variables(graph, values, Rounding(), graph.output_variables())
    errors: dict[str, NDArray[np.float64]] = {}
    for name, block in graph.outputs.items():
        entries = [known[v] for v in block.variables]
        least = EPSILON * max((abs(entry.value) for entry in entries), default=0.0)
        errors[name] = np.array([max(entry.error, least) for entry in entries])
    return errors
