"""Build a graph with ordinary arithmetic.

A `Scalar` behaves like a number: formulations add and multiply it without knowing that a
graph grows underneath. It is a sum of terms that has no name yet. Three rules decide where
one definition ends and the next begins:

- adding joins the terms of two sums, and equal monomials collect;
- multiplying two products joins their factors;
- a sum of several terms that is multiplied becomes a variable first, so that nothing is
  ever expanded. A number other than +-1 counts as a factor here; a sign does not.

Zeros and ones vanish as they are met, and a definition that occurred before is not built
again: the earlier variable is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from chainform.graph.graph import Graph
from chainform.graph.scalar import Monomial, Number, Scalar, Terms
from chainform.graph.simplify import call_of_number, is_even, is_odd
from chainform.graph.types import CALL_NUMBER, GROUPS, Block, Input, Kind

Key: TypeAlias = tuple[tuple[Monomial, Number], ...] | tuple[int, int]


Entries: TypeAlias = Sequence[tuple[str, Scalar | Number]]


class Builder:
    """A graph in the making. With `share=False` every definition stays as it is written."""

    def __init__(self, *, share: bool = True) -> None:
        self.share = share
        self.names: list[str] = []
        self.kind: list[int] = []
        self.level: list[int] = []
        self.call_of: list[int] = []
        self.argument: list[int] = []
        self.term_start: list[int] = [0]
        self.coefficient: list[int] = []
        self.factor_start: list[int] = [0]
        self.factor: list[int] = []
        self.power: list[int] = []
        self.inputs: dict[int, Input] = {}
        self.outputs: dict[str, Block] = {}
        self.quantities: dict[str, Block] = {}
        self.aliases: dict[str, int] = {}
        self._pool: dict[Number, int] = {}
        self._values: list[Number] = []
        self._known: dict[Key, int] = {}
        self._taken: dict[str, int] = {}

    def resume(self, graph: Graph) -> None:
        """Take over a whole graph, row by row, into a builder that is still empty."""
        self._values = [k.numerator if k.denominator == 1 else k for k in graph.coefficients]
        self._pool = {k: place for place, k in enumerate(self._values)}
        self.names = list(graph.names)
        self._taken = {name: v for v, name in enumerate(self.names)}
        self.kind, self.level = graph.kind.tolist(), graph.level.tolist()
        self.call_of, self.argument = graph.call.tolist(), graph.argument.tolist()
        self.term_start, self.coefficient = graph.term_start.tolist(), graph.coefficient.tolist()
        self.factor_start, self.factor = graph.factor_start.tolist(), graph.factor.tolist()
        self.power = graph.power.tolist()
        self.inputs, self.aliases = dict(graph.inputs), dict(graph.aliases)
        self.outputs, self.quantities = dict(graph.outputs), dict(graph.quantities)
        for v in range(len(self.names)):
            if self.call_of[v]:
                self._known.setdefault((self.call_of[v], self.argument[v]), v)
            elif v not in self.inputs:
                self._known.setdefault(tuple(sorted(self.definition(v).items())), v)

    # --- inputs and numbers -------------------------------------------------------------

    def number(self, value: Number) -> Scalar:
        """Return an exact number as a scalar."""
        return Scalar(self, {(): value} if value else {})

    def input(self, name: str, group: str, index: int, default: Fraction | None = None) -> Scalar:
        """Return the input of that name, declared at its first use."""
        variable = self._taken.get(name)
        if variable is None:
            variable = self._row(name, GROUPS[group], 0)
            self.inputs[variable] = Input(name, group, index, default)
        return self.scalar(variable)

    def scalar(self, variable: int) -> Scalar:
        """Return an existing variable as a scalar; a constant as its number."""
        if self.kind[variable] == Kind.CONSTANT:
            return Scalar(self, self.definition(variable))
        return Scalar(self, {(variable,): 1})

    # --- definitions --------------------------------------------------------------------

    def name(self, name: str, value: Scalar | Number) -> Scalar:
        """Give a value a name and return it; from here on it is one variable.

        A number, and a variable with or without a sign, cost nothing and stay what they are;
        the name is then one more way to ask for them.
        """
        scalar = value if isinstance(value, Scalar) else self.number(value)
        if scalar.is_number or scalar.is_signed_variable:
            variable = self.variable_of(scalar, name)
            if name not in self._taken:
                self.aliases.setdefault(name, variable)
            return scalar
        return self.scalar(self.define(name, scalar.terms))

    def define(self, name: str | None, terms: Terms) -> int:
        """Return the variable with these terms, the earlier one if the definition is known."""
        key = tuple(sorted(terms.items()))
        if self.share:
            known = self._known.get(key)
            if known is not None:
                if name is not None and name not in self._taken:
                    self.aliases.setdefault(name, known)
                return known
        if all(not monomial for monomial, _ in key):
            variable = self._row(self._constant_name(key, name), Kind.CONSTANT, 0, key)
        else:
            level = max(self.level[v] for monomial, _ in key for v in monomial) + 1
            variable = self._row(name, Kind.COMPUTED, level, key)
        self._known.setdefault(key, variable)
        return variable

    def _constant_name(self, key: tuple[tuple[Monomial, Number], ...], name: str | None) -> str:
        """Name a shared constant by its value, so that no quantity seems to own it."""
        if not self.share and name is not None:
            return name
        if name is not None and name not in self._taken:
            self.aliases.setdefault(name, len(self.names))
        value = key[0][1] if key else 0
        return {0: "zero", 1: "one", -1: "minus_one"}.get(value, f"constant_{len(self.names)}")

    def call(self, function: str, argument: Scalar | Number, name: str | None = None) -> Scalar:
        """Return a function of a scalar; a call that occurred before is not made again."""
        scalar = argument if isinstance(argument, Scalar) else self.number(argument)
        if scalar.is_number:
            exact = call_of_number(function, scalar.number)
            if exact is not None:
                return self.number(exact)
        if is_odd(function) and scalar.is_negative:
            return -self.call(function, -scalar, name)
        if is_even(function) and scalar.is_negative:
            return self.call(function, -scalar, name)
        inner = self.variable_of(scalar)
        return self.scalar(self.define_call(name, function, inner))

    def define_call(self, name: str | None, function: str, argument: int) -> int:
        """Return the variable that is `function` of a variable."""
        number = CALL_NUMBER[function]
        key = (number, argument)
        known = self._known.get(key) if self.share else None
        if known is not None:
            if name is not None and name not in self._taken:
                self.aliases.setdefault(name, known)
            return known
        label = name or f"{function}_{self.names[argument]}"
        variable = self._row(label, Kind.CALL, self.level[argument] + 1, (), number, argument)
        self._known.setdefault(key, variable)
        return variable

    def variable_of(self, value: Scalar | Number, name: str | None = None) -> int:
        """Return the variable that holds a value, defining one where there is none."""
        terms = value.terms if isinstance(value, Scalar) else ({(): value} if value else {})
        if len(terms) == 1:
            ((monomial, coefficient),) = terms.items()
            if coefficient == 1 and len(monomial) == 1:
                return monomial[0]
        return self.define(name, terms)

    def _row(
        self,
        name: str | None,
        kind: Kind,
        level: int,
        key: Iterable[tuple[Monomial, Number]] = (),
        call: int = 0,
        argument: int = -1,
    ) -> int:
        variable = len(self.names)
        self.names.append(self._free_name(name, variable))
        self.kind.append(kind)
        self.level.append(level)
        self.call_of.append(call)
        self.argument.append(argument)
        for monomial, coefficient in key:
            self.coefficient.append(self._pooled(coefficient))
            previous = -1
            for v in monomial:
                if v == previous:
                    self.power[-1] += 1
                else:
                    self.factor.append(v)
                    self.power.append(1)
                    previous = v
            self.factor_start.append(len(self.factor))
        self.term_start.append(len(self.coefficient))
        return variable

    def _pooled(self, coefficient: Number) -> int:
        place = self._pool.setdefault(coefficient, len(self._values))
        if place == len(self._values):
            self._values.append(coefficient)
        return place

    def _free_name(self, name: str | None, variable: int) -> str:
        free = name or f"x_{variable}"
        while free in self._taken:
            free += "_"
        self._taken[free] = variable
        self.aliases.pop(free, None)
        return free

    def definition(self, variable: int) -> Terms:
        """Return the terms of a variable that is already in the graph."""
        first, last = self.term_start[variable], self.term_start[variable + 1]
        terms: Terms = {}
        for t in range(first, last):
            span = range(self.factor_start[t], self.factor_start[t + 1])
            monomial = tuple(self.factor[f] for f in span for _ in range(self.power[f]))
            terms[monomial] = self._values[self.coefficient[t]]
        return terms

    # --- results ------------------------------------------------------------------------

    def block(self, name: str, shape: Sequence[int], entries: Entries) -> Block:
        """Make a named array out of (label, value) entries, in row-major order."""
        variables = tuple(self.variable_of(self.name(label, value), label) for label, value in entries)
        return Block(name, tuple(shape), variables, tuple(label for label, _ in entries))

    def output(self, name: str, shape: Sequence[int], entries: Entries) -> None:
        """Declare an output: a quantity the graph is there to compute."""
        self.outputs[name] = self.block(name, shape, entries)

    def quantity(self, name: str, shape: Sequence[int], entries: Entries) -> tuple[Scalar, ...]:
        """Declare an intermediate quantity that can be asked for, and return its scalars."""
        scalars = tuple(self.name(label, value) for label, value in entries)
        labels = tuple(label for label, _ in entries)
        variables = tuple(map(self.variable_of, scalars, labels))
        self.quantities[name] = Block(name, tuple(shape), variables, labels)
        return scalars

    def finish(self, outputs: Mapping[str, Block] | None = None) -> Graph:
        """Return the graph as built so far."""
        return Graph(
            names=tuple(self.names),
            kind=np.asarray(self.kind, dtype=np.uint8),
            level=np.asarray(self.level, dtype=np.int32),
            call=np.asarray(self.call_of, dtype=np.uint8),
            argument=np.asarray(self.argument, dtype=np.int32),
            term_start=np.asarray(self.term_start, dtype=np.int64),
            coefficient=np.asarray(self.coefficient, dtype=np.int32),
            coefficients=tuple(Fraction(value) for value in self._values),
            factor_start=np.asarray(self.factor_start, dtype=np.int64),
            factor=np.asarray(self.factor, dtype=np.int32),
            power=np.asarray(self.power, dtype=np.int16),
            inputs=dict(self.inputs),
            outputs=dict(self.outputs if outputs is None else outputs),
            quantities=dict(self.quantities),
            aliases=dict(self.aliases),
        )
