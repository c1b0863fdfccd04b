"""From a graph to sums that can be changed in place, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from chainform.algebra.index import PAIR
from chainform.algebra.monomials import MINUS_ONE, ONE
from chainform.algebra.sums import STANDARD, Prices, Sums, complete
from chainform.graph import CALLS, Block, Builder, Graph, Kind, Scalar, parameter_only

TRIGONOMETRIC = ("sin", "cos")

MAX_COST_DIFFERENCE = 6.0
"""The price of a sine up to which differences of angles are worth a look."""


@dataclass(frozen=True, eq=False)
class SumSystem:
    """Sums, and which variable of the graph each of them came from."""

    graph: Graph
    sums: Sums
    to_sums: Mapping[int, int]
    """Variable of the graph -> variable of the sums."""
    origin: Mapping[int, int]
    """Variable of the sums -> variable of the graph, for those that were there at the start."""
    differences: Mapping[int, AngleDifference]
    """Given variables that the graph has not: sines and cosines of differences of its angles."""


@dataclass(frozen=True)
class AngleDifference:
    """The sine or cosine of the difference of two variables of the graph."""

    function: str
    minuend: int
    subtrahend: int


def system_of(graph: Graph, prices: Prices = STANDARD) -> SumSystem:
    """Return what the outputs of a graph need, as sums.

    Inputs, calls and whatever serves to form the argument of a sine or cosine are given; the
    arguments of other calls are sums that have to stay.
    """
    sums = Sums(prices)
    to_sums: dict[int, int] = {}
    needed = graph.cone(graph.output_variables())
    constant = parameter_only(graph)
    angles = _angles(graph, needed)
    terms = _Terms(graph, sums, to_sums)
    for v in np.flatnonzero(needed).tolist():
        if graph.kind[v] == Kind.CONSTANT:
            continue
        is_constant = bool(constant[v])
        if graph.call[v] and CALLS[int(graph.call[v])] in TRIGONOMETRIC:
            price = 0.0 if is_constant else prices.call
            to_sums[v] = sums.given(is_constant=is_constant, price=price)
        elif v in graph.inputs or angles[v] or graph.call[v]:
            to_sums[v] = sums.given(is_constant=is_constant)
            if graph.call[v]:
                _note_argument(graph, sums, v, to_sums)
        else:
            to_sums[v] = sums.define((), is_constant=is_constant)
            terms.copy(v)
    _note_partners(graph, sums, to_sums)
    for v in graph.output_variables().tolist():
        if v in to_sums and sums.terms[to_sums[v]] is not None:
            sums.roots.add(to_sums[v])
    sums.forget()
    differences = _differences(graph, sums, to_sums)
    return SumSystem(graph, sums, to_sums, {new: old for old, new in to_sums.items()}, differences)


def _differences(
    graph: Graph, sums: Sums, to_sums: Mapping[int, int]
) -> dict[int, AngleDifference]:
    """Offer sin and cos of the difference of two angles that share an input, at their price.

    cos(b - a) = cos a cos b + sin a sin b, sin(b - a) = cos a sin b - sin a cos b.
    """
    if sums.prices.call > MAX_COST_DIFFERENCE:
        return {}
    calls = graph.call_variables
    angles = sorted({argument for function, argument in calls if function in TRIGONOMETRIC})
    angles = [a for a in angles if all(calls.get((f, a)) in to_sums for f in TRIGONOMETRIC)]
    differences: dict[int, AngleDifference] = {}
    inputs = {a: set(np.flatnonzero(graph.cone([a])).tolist()) & set(graph.inputs) for a in angles}
    for a, b in combinations(angles, 2):
        if not inputs[a] & inputs[b]:
            continue
        sin_a, cos_a = to_sums[calls["sin", a]], to_sums[calls["cos", a]]
        sin_b, cos_b = to_sums[calls["sin", b]], to_sums[calls["cos", b]]
        sine = sums.given(price=sums.prices.call)
        cosine = sums.given(price=sums.prices.call)
        differences[sine] = AngleDifference("sin", b, a)
        differences[cosine] = AngleDifference("cos", b, a)
        sums.sines.add(sine)
        sums.partner[sine], sums.partner[cosine] = cosine, sine
        _note_identity(sums, (cos_a, cos_b), (sin_a, sin_b), ONE, cosine)
        _note_identity(sums, (cos_a, sin_b), (sin_a, cos_b), MINUS_ONE, sine)
    return differences


def _note_identity(
    sums: Sums, first: tuple[int, int], second: tuple[int, int], ratio: int, variable: int
) -> None:
    """Note that one product plus or minus another is a given variable."""
    m = sums.monomials.of(tuple(sorted(first)))
    n = sums.monomials.of(tuple(sorted(second)))
    if m < n:
        key, scale = (m, n, ratio), ONE
    else:
        key, scale = (n, m, ratio), ratio
    sums.identities[key] = (variable, scale)
    if key in sums.index.pairs:
        sums.index.fresh[PAIR, key] = None


def _angles(graph: Graph, needed: np.ndarray) -> np.ndarray:
    calls = [
        v
        for v in np.flatnonzero(needed & (graph.call > 0)).tolist()
        if CALLS[int(graph.call[v])] in TRIGONOMETRIC
    ]
    return graph.cone(graph.argument[calls])


def _note_argument(graph: Graph, sums: Sums, call: int, to_sums: Mapping[int, int]) -> None:
    argument = to_sums.get(int(graph.argument[call]), -1)
    if argument >= 0:
        sums.argument[to_sums[call]] = argument
        if sums.terms[argument] is not None:
            sums.roots.add(argument)


def _note_partners(graph: Graph, sums: Sums, to_sums: Mapping[int, int]) -> None:
    for (function, argument), v in graph.call_variables.items():
        cosine = graph.call_variables.get(("cos", argument))
        if function == "sin" and cosine is not None and v in to_sums and cosine in to_sums:
            sine, partner = to_sums[v], to_sums[cosine]
            sums.sines.add(sine)
            sums.partner[sine], sums.partner[partner] = partner, sine


_UNIT = Fraction(1)


class _Terms:
    """The terms of a graph, row by row, on their way into sums."""

    def __init__(self, graph: Graph, sums: Sums, to_sums: Mapping[int, int]) -> None:
        self.sums = sums
        self.to_sums = to_sums
        self.numbers = graph.number_value
        self.coefficients = graph.coefficients
        self.term_start, self.factor_start = graph.term_start.tolist(), graph.factor_start.tolist()
        self.coefficient = graph.coefficient.tolist()
        self.factor, self.power = graph.factor.tolist(), graph.power.tolist()
        self._known: dict[int, int] = {}
        """The number of each coefficient that was met."""

    def copy(self, v: int) -> None:
        """Insert the terms of a variable into its sum."""
        sums, to_sums, numbers = self.sums, self.to_sums, self.numbers
        for t in range(self.term_start[v], self.term_start[v + 1]):
            scale = _UNIT
            factors: list[int] = []
            for f in range(self.factor_start[t], self.factor_start[t + 1]):
                variable, power = self.factor[f], self.power[f]
                if variable in numbers:
                    scale *= numbers[variable] ** power
                else:
                    factors += [to_sums[variable]] * power
            coefficient = self._coefficient(self.coefficient[t], scale)
            if coefficient is not None:
                monomial = sums.monomials.of(tuple(sorted(factors)))
                sums.insert(to_sums[v], monomial, coefficient)

    def _coefficient(self, number: int, scale: Fraction) -> int | None:
        """Return a coefficient times a scale, by its number in the sums; None for zero."""
        if scale is not _UNIT:
            value = self.coefficients[number] * scale
            return self.sums.numbers.of(value) if value else None
        known = self._known.get(number)
        if known is None and self.coefficients[number]:
            known = self._known[number] = self.sums.numbers.of(self.coefficients[number])
        return known


def graph_of(system: SumSystem) -> Graph:
    """Return the graph of a system as its sums are now.

    Outputs keep names, labels and values, variables that are still there their names. Intermediate
    quantities stay where all their entries are left.
    """
    return _Writer(system).graph()


class _Writer:
    def __init__(self, system: SumSystem) -> None:
        self.old = system.graph
        self.system = system
        self.sums = system.sums
        self.builder = Builder()
        self.scalars: dict[int, Scalar] = {}
        self.copied: dict[int, Scalar] = {}

    def graph(self) -> Graph:
        old, builder = self.old, self.builder
        for v in sorted(old.inputs):
            given = old.inputs[v]
            self.copied[v] = builder.input(given.name, given.group, given.index, given.default)
        for variable in self.sums.order():
            self.scalar(variable)
        for name, block in old.outputs.items():
            builder.outputs[name] = self._block(block)
        for name, block in old.quantities.items():
            if all(self._is_there(v) for v in block.variables):
                builder.quantities[name] = self._block(block)
        return builder.finish()

    def scalar(self, variable: int) -> Scalar:
        """Return the builder's scalar of a variable of the sums, made at its first use."""
        known = self.scalars.get(variable)
        if known is None:
            if self.sums.terms[variable] is None:
                known = self._given(variable)
            else:
                known = self._sum(variable)
            self.scalars[variable] = known
        return known

    def _given(self, variable: int) -> Scalar:
        difference = self.system.differences.get(variable)
        if difference is not None:
            angle = self._copied(difference.minuend) - self._copied(difference.subtrahend)
            return self.builder.call(difference.function, angle)
        v = self.system.origin[variable]
        argument = self.sums.argument.get(variable)
        if argument is not None:
            inner = self.scalar(argument)
            return self.builder.call(CALLS[int(self.old.call[v])], inner, self.old.names[v])
        return self._copied(v)

    def _copied(self, v: int) -> Scalar:
        """Return a variable of the old graph as it was: an input, a sine, an angle."""
        return complete(self.copied, v, self._names, self._copy)

    def _names(self, v: int) -> list[int]:
        """Return what a variable of the old graph is computed from."""
        if self.old.call[v]:
            return [int(self.old.argument[v])]
        return [factor.variable for term in self.old.terms(v) for factor in term.factors]

    def _copy(self, v: int) -> Scalar:
        old, builder = self.old, self.builder
        if old.kind[v] == Kind.CONSTANT:
            return builder.number(old.number_value[v])
        if old.call[v]:
            inner = self.copied[int(old.argument[v])]
            return builder.call(CALLS[int(old.call[v])], inner, old.names[v])
        scalar = builder.number(0)
        for term in old.terms(v):
            product = builder.number(term.coefficient)
            for factor in term.factors:
                product = product * self.copied[factor.variable] ** factor.power
            scalar = scalar + product
        return builder.name(old.names[v], scalar)

    def _sum(self, variable: int) -> Scalar:
        sums, builder = self.sums, self.builder
        is_constant = sums.is_constant[variable]
        moving, still = builder.number(0), builder.number(0)
        for monomial, number in sums.sum_of(variable).items():
            coefficient = sums.numbers.fraction(number)
            factors = sums.monomials.factors[monomial]
            if is_constant or not sums.monomials.degree[monomial]:
                still = still + self._product(factors, coefficient)
                continue
            constants = tuple(v for v in factors if sums.is_constant[v])
            others = tuple(v for v in factors if not sums.is_constant[v])
            if constants:
                own = self._product(constants, coefficient)
                product = builder.keep(own) * self._product(others, Fraction(1))
            else:
                product = self._product(others, coefficient)
            moving = moving + product
        if not is_constant:
            still = builder.keep(still)
        total = moving + still
        if not self._is_original(variable):
            return builder.keep(total)
        return builder.name(self.old.names[self.system.origin[variable]], total)

    def _is_original(self, variable: int) -> bool:
        """Whether a variable was there at the start, and not another one in its place."""
        return variable in self.system.origin and self.sums.birth[variable] == variable + 1

    def _product(self, factors: tuple[int, ...], coefficient: Fraction) -> Scalar:
        product = self.builder.number(coefficient)
        for v in factors:
            product = product * self.scalar(v)
        return product

    def _is_there(self, v: int) -> bool:
        if v in self.old.inputs or v in self.copied or self.old.kind[v] == Kind.CONSTANT:
            return True
        variable = self.system.to_sums.get(v, -1)
        return variable in self.scalars and self._is_original(variable)

    def _block(self, block: Block) -> Block:
        variables = tuple(
            self.builder.variable_of(self._value(v), label)
            for v, label in zip(block.variables, block.labels, strict=True)
        )
        return Block(block.name, block.shape, variables, block.labels)

    def _value(self, v: int) -> Scalar:
        if v in self.system.to_sums:
            return self.scalar(self.system.to_sums[v])
        return self._copied(v)
