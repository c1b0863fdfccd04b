"""Evaluation in a finite field: a proof, but for a chance of one in the size of the field.

Every input has a random value, and as an angle a random point of the unit circle; the sine of a sum
of angles is the one that the addition formulas give, a reciprocal is exact, and of any other
function nothing is known but that equal arguments give equal values.
"""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

from chainform.errors import RunError
from chainform.graph import Graph, evaluate_variables
from chainform.graph.simplify import call_of_number, is_even, is_odd

SHORT = 2**61 - 1
LONG = 2**521 - 1
"""Primes: the first to tell values apart, the second to find a rational number again."""

Linear = dict[str, Fraction]
"""A sum of multiples of inputs; the name of the constant part is empty."""

_LONGEST_TURN = 1000
_SHORT_BITS = 12
"""Numbers this short are taken to be meant, where a function has an exact value for them."""


class Residue:
    """A value modulo the prime of its field; an angle also knows what it is a sum of."""

    __slots__ = ("field", "linear", "value")

    def __init__(self, field: Field, value: int, linear: Linear | None = None) -> None:
        self.field = field
        self.value = value
        self.linear = linear

    def __neg__(self) -> Residue:
        return self.times(-1, Fraction(-1))

    def times(self, value: int, factor: Fraction) -> Residue:
        """Return the product with a number."""
        linear = None if self.linear is None else {n: k * factor for n, k in self.linear.items()}
        return Residue(self.field, self.value * value % self.field.prime, linear)

    def __add__(self, other: Residue) -> Residue:
        total = (self.value + other.value) % self.field.prime
        if self.linear is None or other.linear is None:
            return Residue(self.field, total)
        linear = dict(self.linear)
        for name, k in other.linear.items():
            linear[name] = linear.get(name, Fraction(0)) + k
        return Residue(self.field, total, {name: k for name, k in linear.items() if k})

    def __mul__(self, other: Residue) -> Residue:
        for number, factor in ((self, other), (other, self)):
            if number.linear is not None and factor.linear is not None and number.is_number:
                return factor.times(number.value, number.linear.get("", Fraction(0)))
        return Residue(self.field, self.value * other.value % self.field.prime)

    @property
    def is_number(self) -> bool:
        """Whether no input occurs."""
        return self.linear is not None and all(not name for name in self.linear)


class Field:
    """The arithmetic of residues at one random place."""

    def __init__(self, prime: int, seed: int) -> None:
        self.prime = prime
        self.seed = seed

    def number(self, value: Fraction) -> Residue:
        """Return a coefficient."""
        residue = value.numerator * pow(value.denominator, -1, self.prime) % self.prime
        return Residue(self, residue, {"": value} if value else {})

    def input(self, name: str) -> Residue:
        """Return the value of an input."""
        return Residue(self, self._random(name), {name: Fraction(1)})

    def call(self, function: str, argument: Residue) -> Residue:
        """Return a function of a residue."""
        if function in ("sin", "cos") and argument.linear is not None:
            cosine, sine = self.turn(argument.linear)
            return Residue(self, sine if function == "sin" else cosine)
        return Residue(self, self.call_of(function, argument.value))

    def call_of(self, function: str, value: int) -> int:
        """Return a function of a value that is no angle."""
        if function == "reciprocal" and value:
            return pow(value, -1, self.prime)
        number = rational(value, self.prime, _SHORT_BITS)
        exact = None if number is None else _exact(function, number)
        if exact is not None:
            return exact.numerator * pow(exact.denominator, -1, self.prime) % self.prime
        if not is_odd(function) and not is_even(function):
            return self._random(f"{function} {value}")
        positive = min(value, self.prime - value)
        result = self._random(f"{function} {positive}")
        return -result % self.prime if is_odd(function) and value != positive else result

    def turn(self, angle: Linear) -> tuple[int, int]:
        """Return cosine and sine of an angle."""
        cosine, sine = 1, 0
        for name, k in sorted(angle.items()):
            count, unit = abs(k.numerator), f"{name}/{k.denominator}"
            if count > _LONGEST_TURN:
                count, unit = 1, f"{abs(k)} {name}"
            c, s = self._circle(unit)
            s = s if k > 0 else -s
            for _ in range(count):
                cosine, sine = (
                    (cosine * c - sine * s) % self.prime,
                    (sine * c + cosine * s) % self.prime,
                )
        return cosine, sine

    def _circle(self, name: str) -> tuple[int, int]:
        t = self._random(f"circle {name}")
        inverse = pow(1 + t * t, -1, self.prime)
        return (1 - t * t) * inverse % self.prime, 2 * t * inverse % self.prime

    def _random(self, name: str) -> int:
        return random.Random(f"{self.seed} {name}").randrange(1, self.prime)


def _exact(function: str, number: Fraction) -> Fraction | None:
    try:
        return call_of_number(function, number)
    except RunError:
        return None


def residues(graph: Graph, field: Field, wanted: list[int]) -> dict[int, Residue]:
    """Return the values of some variables of a graph, and of all they need."""
    values = {given.name: field.input(given.name) for given in graph.inputs.values()}
    return evaluate_variables(graph, values, field, np.asarray(wanted, dtype=np.int32))


def is_same(first: Graph, second: Graph, seed: int = 0) -> bool:
    """Whether two graphs have the same outputs, with the same values."""
    if list(first.outputs) != list(second.outputs):
        return False
    field = Field(LONG, seed)
    values = [residues(g, field, g.output_variables().tolist()) for g in (first, second)]
    for name, block in first.outputs.items():
        other = second.outputs[name]
        if block.shape != other.shape or block.labels != other.labels:
            return False
        for v, w in zip(block.variables, other.variables, strict=True):
            if values[0][v].value != values[1][w].value:
                return False
    return True


def rational(value: int, prime: int, bits: int | None = None) -> Fraction | None:
    """Return the fraction with a short numerator and denominator that has this value."""
    limit = 1 << (prime.bit_length() // 2 - 16 if bits is None else bits)
    r, next_r = prime, value % prime
    s, next_s = 0, 1
    while next_r >= limit:
        quotient = r // next_r
        r, next_r = next_r, r - quotient * next_r
        s, next_s = next_s, s - quotient * next_s
    if abs(next_s) >= limit or (not next_r and bits is None):
        return None
    return Fraction(next_r, next_s)
