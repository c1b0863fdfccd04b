"""Evaluation in a finite field: a proof, but for a chance of one in the size of the field.

Every input has a random value. A reciprocal is exact, and of most other functions nothing is known
but that equal arguments give equal values, and which of them are odd or even.

Sines and cosines are points of the unit circle, and those of sums, differences, multiples and
fractions of angles have to be what the addition formulas give. In the field of a prime p that is 3
modulo 4 the circle is a cyclic group of p + 1 points. The primes here are 12 r - 1 with another
prime r, so there is a point g whose powers repeat after r steps, and g^x is meant for every x of
the field of r. An angle is evaluated in that field, however it is written, and has the point g^x:
then g^(x + y) = g^x g^y are the addition formulas, and g^(x/2) is the point at half the angle. The
sine within an angle has its point in the field of r, as r is 12 s - 1 again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from types import MappingProxyType

import numpy as np
from flint import fmpz_mod_poly_ctx, fq_default, fq_default_ctx

from chainform.errors import RunError
from chainform.graph import CALLS, Graph, call_of_number, is_even, is_odd

SHORT = 2**61 - 1_046_589
LONG = 2**521 - 2_528_437_149
SPARE = 2**521 - 3_599_442_909
"""Primes 12 r - 1 with r = 12 s - 1: the first to tell values apart, the second to find a rational
number again, the third for graphs with a coefficient that has no value modulo the second."""

CURVED = frozenset({"sin", "cos", "tan"})
"""The functions of an angle."""

_COFACTOR = 12
_DEPTH = 2
"""How many fields of angles there are below a field."""
_SHORT_BITS = 12
"""Coefficients this short are taken to be meant, where a function has an exact value for them."""

_NOTHING: Mapping[str, Fraction] = MappingProxyType({})


class Field:
    """The arithmetic of residues at one random point.

    `angles` is the field of the values of angles. At the bottom it is the field itself, and there
    a point depends on the value of its angle without any law but that opposites have opposite ones.
    """

    def __init__(self, prime: int, seed: int, depth: int = _DEPTH) -> None:
        self.prime = prime
        self.seed = seed
        self._order = (prime + 1) // _COFACTOR
        self.angles = Field(self._order, seed, depth - 1) if depth else self

    def has(self, value: Fraction) -> bool:
        """Whether a number has a value here and for angles, and is not zero unless it is."""
        numerator, denominator = value.numerator, value.denominator
        if not denominator % self.prime or (numerator and not numerator % self.prime):
            return False
        return self.angles is self or self.angles.has(value)

    def number(self, value: Fraction) -> int:
        """Return the value of a coefficient; of one that has none, that of an unknown number."""
        numerator, denominator = value.numerator, value.denominator
        if denominator == 1 and -self.prime < numerator < self.prime:
            return numerator % self.prime
        if not numerator % self.prime or not denominator % self.prime:
            unknown = self._random(f"number {abs(value)}")
            return unknown if value > 0 else self.prime - unknown
        return numerator * pow(denominator, -1, self.prime) % self.prime

    def input(self, name: str) -> int:
        """Return the value of an input."""
        return self._random(f"input {name}")

    def call_of(self, function: str, value: int) -> int:
        """Return a function of a value that is no angle."""
        if function == "reciprocal" and value:
            return pow(value, -1, self.prime)
        number = rational(value, self.prime, _SHORT_BITS)
        exact = None if number is None else _exact(function, number)
        if exact is not None:
            return self.number(exact)
        if not is_odd(function) and not is_even(function):
            return self._random(f"{function} {value}")
        positive = min(value, self.prime - value)
        result = self._random(f"{function} {positive}")
        return self.prime - result if is_odd(function) and value != positive else result

    def curved(self, function: str, angle: int) -> int:
        """Return the sine, cosine or tangent of an angle, by its value in the field of angles."""
        cosine, sine = self.turn(angle)
        if function == "tan":
            return sine * self.call_of("reciprocal", cosine) % self.prime
        return sine if function == "sin" else cosine

    def turn(self, angle: int) -> tuple[int, int]:
        """Return cosine and sine of an angle, by its value in the field of angles."""
        if self.angles is not self:
            return _power(self.prime, self.seed, angle % self._order)
        positive = min(angle, self.prime - angle)
        t = self._random(f"angle {positive}") if positive else 0
        scale = pow(1 + t * t, -1, self.prime)
        sine = 2 * t * scale if angle == positive else -2 * t * scale
        return (1 - t * t) * scale % self.prime, sine % self.prime

    def _random(self, name: str) -> int:
        return _random(self.prime, self.seed, name)


def _random(prime: int, seed: int, name: str) -> int:
    """Return a number that looks like a random one but zero, the same for the same name."""
    text = f"{seed} {prime:x} {name}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.shake_256(text).digest(80), "big") % (prime - 1) + 1


@lru_cache(maxsize=64)
def _circle(prime: int, seed: int) -> fq_default:
    """Return a random point of the circle that has a root of every degree, as cos + i sin."""
    polynomial = fmpz_mod_poly_ctx(prime)
    complex_number = fq_default_ctx(modulus=polynomial([1, 0, 1]))
    t = _random(prime, seed, "circle")
    point = complex_number(polynomial([1, t])) / complex_number(polynomial([1, -t]))
    return point**_COFACTOR


@lru_cache(maxsize=1 << 12)
def _power(prime: int, seed: int, exponent: int) -> tuple[int, int]:
    cosine, sine = (_circle(prime, seed) ** exponent).to_list()
    return int(cosine), int(sine)


def _exact(function: str, number: Fraction) -> Fraction | None:
    try:
        return call_of_number(function, number)
    except RunError:
        return None


def field_for(numbers: Iterable[Fraction], seed: int = 0) -> Field:
    """Return a large field in which these numbers have a value."""
    fields = [Field(LONG, seed), Field(SPARE, seed)]
    for number in numbers:
        fields = [field for field in fields if field.has(number)] or fields
    return fields[0]


def residues(
    graph: Graph, field: Field, wanted: Sequence[int], known: Mapping[str, Fraction] = _NOTHING
) -> dict[int, int]:
    """Return the values of some variables of a graph, and of all they need.

    Inputs are worth what their names give, so that two graphs agree about them; `known` gives some
    of them numbers.
    """
    needed = np.flatnonzero(graph.cone(wanted)).tolist()
    called = {v: CALLS[int(graph.call[v])] for v in needed if graph.call[v]}
    argument = {v: int(graph.argument[v]) for v in called}
    values: dict[int, int] = {}
    curved = list({argument[v]: None for v, function in called.items() if function in CURVED})
    angles = values
    if curved and field.angles is not field:
        angles = residues(graph, field.angles, curved, known)
    sums = _Sums(graph, field)
    for v in needed:
        if v in graph.inputs:
            name = graph.inputs[v].name
            values[v] = field.number(known[name]) if name in known else field.input(name)
        elif v not in called:
            values[v] = sums.value(v, values)
        elif called[v] in CURVED:
            values[v] = field.curved(called[v], angles[argument[v]])
        else:
            values[v] = field.call_of(called[v], values[argument[v]])
    return values


class _Sums:
    """The sums of a graph, and its coefficients as far as they were met."""

    def __init__(self, graph: Graph, field: Field) -> None:
        self.field = field
        self.graph = graph
        self.term_start, self.factor_start = graph.term_start.tolist(), graph.factor_start.tolist()
        self.factor, self.power = graph.factor.tolist(), graph.power.tolist()
        self.coefficient = graph.coefficient.tolist()
        self._numbers: dict[int, int] = {}

    def value(self, variable: int, values: Mapping[int, int]) -> int:
        """Return a sum of terms, by the values of its factors."""
        prime, factor, power, factor_start = (
            self.field.prime,
            self.factor,
            self.power,
            self.factor_start,
        )
        total = 0
        for t in range(self.term_start[variable], self.term_start[variable + 1]):
            product = self._number(self.coefficient[t])
            for f in range(factor_start[t], factor_start[t + 1]):
                value = values[factor[f]]
                product *= value if power[f] == 1 else pow(value, power[f], prime)
                product %= prime
            total += product
        return total % prime

    def _number(self, coefficient: int) -> int:
        known = self._numbers.get(coefficient)
        if known is None:
            known = self.field.number(self.graph.coefficients[coefficient])
            self._numbers[coefficient] = known
        return known


def is_same(first: Graph, second: Graph, seed: int = 0) -> bool:
    """Whether two graphs have the same outputs, with the same values."""
    if list(first.outputs) != list(second.outputs):
        return False
    field = field_for(chain(first.coefficients, second.coefficients), seed)
    values = [residues(g, field, g.output_variables().tolist()) for g in (first, second)]
    for name, block in first.outputs.items():
        other = second.outputs[name]
        if block.shape != other.shape or block.labels != other.labels:
            return False
        for v, w in zip(block.variables, other.variables, strict=True):
            if values[0][v] != values[1][w]:
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
