"""What formulas are worth at one random place, in a finite field.

Two formulas that agree there have the same values, but for a chance of one in 2^60, however
differently they are written. A sine and a cosine are a point of the unit circle, and those of a
sum of angles follow by the addition formulas; a call of any other function is known by the value
of its argument alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from chainform.graph import CALLS, Graph

PRIME = 2**61 - 1

PARTS = 126_000
"""An angle is made of this many parts, so that most fractions of it are whole multiples."""

Angle = dict[str, Fraction]
"""A sum of inputs by name, each with its coefficient; the name of a bare number is empty."""


class Fingerprints:
    """The values of a graph's variables modulo a prime.

    Inputs are worth what their names give, so that two graphs agree about them; `known` gives
    some of them numbers.
    """

    def __init__(self, graph: Graph, known: Mapping[str, Fraction]) -> None:
        self.graph = graph
        self.known = known
        self._pool = [residue(k) for k in graph.coefficients]
        self._values: dict[int, int] = {}

    def of(self, variables: Sequence[int]) -> list[int]:
        """Return the values of some variables."""
        if not variables:
            return []
        for v in np.flatnonzero(self.graph.cone(variables)).tolist():
            if v not in self._values:
                self._values[v] = self._value(v)
        return [self._values[v] for v in variables]

    def _value(self, variable: int) -> int:
        graph = self.graph
        if variable in graph.inputs:
            name = graph.inputs[variable].name
            return residue(self.known[name]) if name in self.known else _random("value", name)
        if graph.call[variable]:
            return self._call(CALLS[int(graph.call[variable])], int(graph.argument[variable]))
        total = 0
        for t in range(int(graph.term_start[variable]), int(graph.term_start[variable + 1])):
            product = self._pool[int(graph.coefficient[t])]
            for f in range(int(graph.factor_start[t]), int(graph.factor_start[t + 1])):
                power = pow(self._values[int(graph.factor[f])], int(graph.power[f]), PRIME)
                product = product * power % PRIME
            total += product
        return total % PRIME

    def _call(self, function: str, argument: int) -> int:
        if function in ("sin", "cos", "tan"):
            cos, sin = self._point(argument)
            return {"sin": sin, "cos": cos, "tan": sin * _inverse(cos) % PRIME}[function]
        value = self._values[argument]
        if function == "reciprocal" and value:
            return _inverse(value)
        return _random(function, str(value))

    # --- angles -----------------------------------------------------------------------------

    def _point(self, argument: int) -> tuple[int, int]:
        """Return the point of the unit circle at an angle."""
        angle = self._angle(argument)
        if angle is None:
            return _point_of(f"angle {self._values[argument]}")
        point = (1, 0)
        for name, count in angle.items():
            parts = count * PARTS
            if name and parts.denominator == 1:
                turned = _turned(_point_of(name), parts.numerator)
            else:
                turned = _point_of(f"{name} {abs(count)}")
                turned = turned if count > 0 else (turned[0], -turned[1])
            point = _times(point, turned)
        return point

    def _angle(self, variable: int) -> Angle | None:
        """Return a variable as a sum of inputs, None where it is not one."""
        graph = self.graph
        if variable in graph.inputs:
            name = graph.inputs[variable].name
            return {"": self.known[name]} if name in self.known else {name: Fraction(1)}
        if graph.call[variable]:
            return None
        total: Angle = {}
        for term in graph.terms(variable):
            part: Angle | None = {"": Fraction(1)}
            if len(term.factors) == 1 and term.factors[0].power == 1:
                part = self._angle(term.factors[0].variable)
            elif term.factors:
                return None
            if part is None:
                return None
            for name, count in part.items():
                total[name] = total.get(name, Fraction(0)) + count * term.coefficient
        return {name: count for name, count in total.items() if count}


def residue(number: Fraction) -> int:
    """Return a rational number in the field."""
    return number.numerator * _inverse(number.denominator) % PRIME


def _inverse(value: int) -> int:
    return pow(value, -1, PRIME) if value % PRIME else 0


def _random(kind: str, name: str) -> int:
    """Return a number that looks like a random one, the same for the same name."""
    digest = hashlib.sha256(f"{kind} {name}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:16], "big") % PRIME


def _point_of(name: str) -> tuple[int, int]:
    """Return a point of the unit circle, by the tangent of half its angle."""
    t = _random("angle", name)
    scale = _inverse(1 + t * t)
    return (1 - t * t) * scale % PRIME, 2 * t * scale % PRIME


def _times(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """Return the point at the sum of two angles."""
    (c, s), (d, r) = one, other
    return (c * d - s * r) % PRIME, (s * d + c * r) % PRIME


def _turned(point: tuple[int, int], count: int) -> tuple[int, int]:
    """Return the point at a whole multiple of an angle."""
    step = point if count > 0 else (point[0], -point[1])
    result = (1, 0)
    for bit in f"{abs(count):b}":
        result = _times(result, result)
        if bit == "1":
            result = _times(result, step)
    return result
