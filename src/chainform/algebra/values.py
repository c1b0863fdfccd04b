"""What a variable is worth at a random place, in a finite field.

Two variables that agree there are equal, but for a chance of one in the size of the field, however
differently they are written: sines and cosines are points of the unit circle, and the sine of a sum
of angles is the one that the addition formulas give.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction

from chainform.algebra.convert import TRIGONOMETRIC, Difference, System
from chainform.graph import CALLS, Graph, Kind

SHORT = 2**61 - 1
LONG = 2**521 - 1
"""Primes: the first to tell values apart, the second to find a rational number again."""


class Values:
    """The values of a system's variables at one random place modulo a prime."""

    def __init__(self, system: System, prime: int, seed: int) -> None:
        self.sums = system.sums
        self.prime = prime
        self._place = _Place(system.graph, prime, seed)
        self._origin = system.origin
        self._differences = system.differences
        self._known: dict[int, int] = {}
        self._numbers: list[int] = []

    def of(self, variable: int) -> int:
        """Return the value of a variable."""
        known, birth = self._known, self.sums.birth
        value = known.get(birth[variable])
        if value is not None:
            return value
        stack = [variable]
        while stack:
            v = stack[-1]
            missing = [u for u in self._names(v) if birth[u] not in known]
            if missing:
                stack += missing
                continue
            stack.pop()
            if birth[v] not in known:
                known[birth[v]] = self._computed(v)
        return known[birth[variable]]

    def _names(self, variable: int) -> list[int]:
        if variable in self.sums.argument:
            return [self.sums.argument[variable]]
        terms = self.sums.terms[variable]
        if terms is None:
            return []
        factors = self.sums.monomials.factors
        return list({v: None for m in terms for v in factors[m]})

    def _computed(self, variable: int) -> int:
        if variable in self.sums.argument:
            inner = self._known[self.sums.birth[self.sums.argument[variable]]]
            return self._place.call(self._origin[variable], inner)
        terms = self.sums.terms[variable]
        if variable in self._differences:
            return self._place.difference(self._differences[variable])
        if terms is None:
            return self._place.given(self._origin[variable])
        return sum(self.term(m, k) for m, k in terms.items()) % self.prime

    def term(self, monomial: int, coefficient: int) -> int:
        """Return the value of a coefficient times a monomial whose factors are known."""
        known, birth = self._known, self.sums.birth
        value = self.number(coefficient)
        for v in self.sums.monomials.factors[monomial]:
            value = value * known[birth[v]] % self.prime
        return value

    def number(self, coefficient: int) -> int:
        """Return a coefficient modulo the prime."""
        numbers = self._numbers
        values = self.sums.numbers.values
        while len(numbers) <= coefficient:
            value = values[len(numbers)]
            numbers.append(int(value.p) * pow(int(value.q), -1, self.prime) % self.prime)
        return numbers[coefficient]


class _Place:
    """A random value for every input, and for every angle its cosine and sine."""

    def __init__(self, graph: Graph, prime: int, seed: int) -> None:
        self.graph = graph
        self.prime = prime
        self.seed = seed
        self._angles: dict[int, dict[str, Fraction]] = {}

    def _random(self, name: str) -> int:
        return random.Random(f"{self.seed} {name}").randrange(1, self.prime)

    def given(self, v: int) -> int:
        """Return the value of a variable of the graph that the sums take as given."""
        graph = self.graph
        if graph.call[v] and CALLS[int(graph.call[v])] in TRIGONOMETRIC:
            cosine, sine = self._turn(self._angle(int(graph.argument[v])))
            return sine if CALLS[int(graph.call[v])] == "sin" else cosine
        return self._random(graph.names[v])

    def difference(self, difference: Difference) -> int:
        """Return the sine or cosine of the difference of two angles."""
        angle = dict(self._angle(difference.minuend))
        for name, k in self._angle(difference.subtrahend).items():
            angle[name] = angle.get(name, Fraction(0)) - k
        cosine, sine = self._turn({name: k for name, k in angle.items() if k})
        return sine if difference.function == "sin" else cosine

    def call(self, v: int, inner: int) -> int:
        """Return a call of a sum: a reciprocal, or a function nothing is known about."""
        function = CALLS[int(self.graph.call[v])]
        if function == "reciprocal" and inner:
            return pow(inner, -1, self.prime)
        return self._random(f"{function} {inner}")

    def _angle(self, v: int) -> dict[str, Fraction]:
        """Return an angle as a sum of multiples of inputs; what is no sum counts as an input."""
        known = self._angles.get(v)
        if known is not None:
            return known
        graph = self.graph
        total: dict[str, Fraction] = {}
        if graph.kind[v] == Kind.CONSTANT:
            total[""] = graph.number_value[v]
        elif graph.kind[v] != Kind.COMPUTED or not self._is_linear(v):
            total[graph.names[v]] = Fraction(1)
        else:
            for term in graph.terms(v):
                parts = {"": Fraction(1)}
                if term.factors:
                    parts = self._angle(term.factors[0].variable)
                for name, k in parts.items():
                    total[name] = total.get(name, Fraction(0)) + k * term.coefficient
        self._angles[v] = {name: k for name, k in total.items() if k}
        return self._angles[v]

    def _is_linear(self, v: int) -> bool:
        terms = self.graph.terms(v)
        return all(sum(factor.power for factor in term.factors) <= 1 for term in terms)

    def _turn(self, angle: Mapping[str, Fraction]) -> tuple[int, int]:
        """Return cosine and sine of an angle by the addition formulas."""
        cosine, sine = 1, 0
        for name, k in angle.items():
            # The whole part turns by steps of the input; what is left over is an angle of its own.
            c, s = self._circle(f"{name}/{k.denominator}")
            for _ in range(min(abs(k.numerator), 1000)):
                turn = s if k > 0 else -s
                cosine, sine = cosine * c - sine * turn, sine * c + cosine * turn
                cosine, sine = cosine % self.prime, sine % self.prime
        return cosine, sine

    def _circle(self, name: str) -> tuple[int, int]:
        t = self._random(f"circle {name}")
        inverse = pow(1 + t * t, -1, self.prime)
        return (1 - t * t) * inverse % self.prime, 2 * t * inverse % self.prime


def rational(value: int, prime: int) -> Fraction | None:
    """Return the fraction with a short numerator and denominator that has this value."""
    limit = 1 << (prime.bit_length() // 2 - 16)
    r, next_r = prime, value % prime
    s, next_s = 0, 1
    while next_r >= limit:
        quotient = r // next_r
        r, next_r = next_r, r - quotient * next_r
        s, next_s = next_s, s - quotient * next_s
    if not next_r or abs(next_s) >= limit:
        return None
    return Fraction(next_r, next_s)
