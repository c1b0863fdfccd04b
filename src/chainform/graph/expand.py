"""The full analytic expression of a quantity: one polynomial over inputs, sines and cosines.

Intermediate variables are multiplied out with exact rational polynomials. With `trig` every
square of a sine is written 1 - cos^2 as soon as it appears, which keeps the sums short and
makes the result canonical: two quantities are equal if and only if their expansions are.
With `split_angles` sin(q2 + q3) is written in the sines and cosines of q2 and q3 as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import numpy as np
from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from chainform.graph.graph import Graph
from chainform.graph.types import CALLS, Kind


@dataclass(frozen=True, slots=True)
class Symbol:
    """A letter of an expansion: an input (function empty), or a call on an expanded argument."""

    function: str
    argument: str

    def __str__(self) -> str:
        return f"{self.function}({self.argument})" if self.function else self.argument


@dataclass(frozen=True, slots=True)
class Expansion:
    """A sum of products of symbols; `terms` holds (coefficient, ((symbol, power), ...))."""

    symbols: tuple[Symbol, ...]
    terms: tuple[tuple[Fraction, tuple[tuple[int, int], ...]], ...]

    def __len__(self) -> int:
        return len(self.terms)

    def as_dict(self) -> dict[tuple[tuple[str, int], ...], Fraction]:
        """Return the coefficients by monomial, written with names: equal if values are."""
        return {
            tuple(sorted((str(self.symbols[s]), power) for s, power in factors)): coefficient
            for coefficient, factors in self.terms
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expansion) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash(frozenset(self.as_dict().items()))


def expand(
    graph: Graph, variables: Sequence[int], *, trig: bool = True, split_angles: bool = True
) -> list[Expansion]:
    """Return the expansions of some variables."""
    return Expander(graph, variables, trig=trig, split_angles=split_angles).expansions(variables)


class Expander:
    """The polynomials of every variable in a cone, in one ring."""

    def __init__(
        self, graph: Graph, variables: Sequence[int], *, trig: bool, split_angles: bool
    ) -> None:
        self.graph = graph
        self.split = split_angles
        self.order = [int(v) for v in np.flatnonzero(graph.cone(variables))]
        # Arguments of calls are expanded in their own right, innermost first, to name letters.
        self.letters: dict[int, Symbol] = {}
        self.angle_parts: dict[int, dict[int, int]] = {}
        self._collect_letters()
        self.symbols = tuple(dict.fromkeys([*self._angle_letters(), *self.letters.values()]))
        self.ring = fmpq_mpoly_ctx.get([f"x{i}" for i in range(len(self.symbols))], Ordering.lex)
        generators = self.ring.gens()
        self.generator = dict(zip(self.symbols, generators, strict=True))
        self.pythagoras = self._identities() if trig else []
        self.polynomials: dict[int, fmpq_mpoly] = {}
        for v in self.order:
            self.polynomials[v] = self._polynomial(v)

    def _collect_letters(self) -> None:
        graph = self.graph
        for v in self.order:
            if v in graph.inputs:
                self.letters[v] = Symbol("", graph.names[v])
            elif graph.call[v]:
                function, argument = CALLS[graph.call[v]], int(graph.argument[v])
                parts = self._whole_angles(argument) if function in ("sin", "cos") else None
                if self.split and parts:
                    self.angle_parts[v] = parts
                else:
                    self.letters[v] = Symbol(function, graph.names[argument])

    def _whole_angles(self, variable: int) -> dict[int, int] | None:
        """Return a sum of inputs with whole coefficients as input -> coefficient, or None."""
        graph = self.graph
        if variable in graph.inputs:
            return {variable: 1}
        if graph.kind[variable] != Kind.COMPUTED:
            return None
        parts: dict[int, int] = {}
        for term in graph.terms(variable):
            if len(term.factors) != 1 or term.factors[0].power != 1:
                return None
            if term.coefficient.denominator != 1:
                return None
            inner = self._whole_angles(term.factors[0].variable)
            if inner is None:
                return None
            for v, k in inner.items():
                parts[v] = parts.get(v, 0) + k * term.coefficient.numerator
        return parts

    def _angle_letters(self) -> Iterable[Symbol]:
        inputs = sorted({v for parts in self.angle_parts.values() for v in parts})
        for v in inputs:
            yield Symbol("sin", self.graph.names[v])
            yield Symbol("cos", self.graph.names[v])

    def _identities(self) -> list[fmpq_mpoly]:
        """Return s^2 + c^2 - 1 for each angle whose sine and cosine both occur."""
        pairs = [
            (s, Symbol("cos", s.argument)) for s in self.symbols if s.function == "sin"
        ]
        return [
            self.generator[s] ** 2 + self.generator[c] ** 2 - 1
            for s, c in pairs
            if c in self.generator
        ]

    def _reduced(self, polynomial: fmpq_mpoly) -> fmpq_mpoly:
        return reduce(lambda p, identity: p % identity, self.pythagoras, polynomial)

    def _polynomial(self, variable: int) -> fmpq_mpoly:
        if variable in self.letters:
            return self.generator[self.letters[variable]]
        if variable in self.angle_parts:
            cosine, sine = self._cosine_and_sine(self.angle_parts[variable])
            return sine if CALLS[self.graph.call[variable]] == "sin" else cosine
        total = self.ring.constant(0)
        for term in self.graph.terms(variable):
            k = term.coefficient
            product = self.ring.constant(fmpq(k.numerator, k.denominator))
            for factor in term.factors:
                product = self._reduced(product * self.polynomials[factor.variable] ** factor.power)
            total += product
        return total

    def _cosine_and_sine(self, parts: dict[int, int]) -> tuple[fmpq_mpoly, fmpq_mpoly]:
        """Return the cosine and sine of a sum of angles by the addition formulas."""
        cosine, sine = self.ring.constant(1), self.ring.constant(0)
        for v, count in parts.items():
            s = self.generator[Symbol("sin", self.graph.names[v])]
            c = self.generator[Symbol("cos", self.graph.names[v])]
            for _ in range(abs(count)):
                turn = s if count > 0 else -s
                cosine, sine = cosine * c - sine * turn, sine * c + cosine * turn
        return self._reduced(cosine), self._reduced(sine)

    def expansions(self, variables: Sequence[int]) -> list[Expansion]:
        """Return the polynomials of some variables as plain data."""
        return [self._expansion(self.polynomials[int(v)]) for v in variables]

    def _expansion(self, polynomial: fmpq_mpoly) -> Expansion:
        terms = tuple(
            (
                Fraction(int(k.p), int(k.q)),
                tuple((place, int(power)) for place, power in enumerate(powers) if power),
            )
            for powers, k in polynomial.terms()
        )
        return Expansion(self.symbols, terms)
