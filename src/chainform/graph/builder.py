"""Build a graph with ordinary arithmetic.

A `Scalar` behaves like a number: formulations add and multiply it without knowing that a
graph grows underneath. It is a sum of terms that has no name yet. Three rules decide where
one definition ends and the next begins:

- adding joins the terms of two sums, and equal monomials collect;
- multiplying two products joins their factors;
- a sum of several terms that is multiplied becomes a variable first, so that nothing is
  ever expanded. A number other than +-1 counts as a factor here; a sign does not.

Zeros and ones vanish as they are met, and a definition that occurred before is not built again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from chainform.graph.arithmetic import call_of_number, is_even, is_odd
from chainform.graph.scalar import Matrix, Monomial, Number, Scalar, Terms, Vector, shortest_number
from chainform.graph.types import (
    CALL_NUMBER,
    GROUPS,
    LARGEST_BITS,
    LARGEST_POWER,
    Block,
    Graph,
    Input,
    Kind,
)
from chainform.graph.verification import GraphError

Definition: TypeAlias = tuple[tuple[Monomial, int], ...]
"""Terms in the order of monomials; a coefficient is its index in the pool."""
Key: TypeAlias = Definition | tuple[int, int]
"""What tells two variables apart: a definition, or a function and its argument."""

CONSTANT_NAMES: dict[Number, str] = {0: "zero", 1: "one", -1: "minus_one"}

Entries: TypeAlias = Sequence[tuple[str, Scalar | Number]]


class Builder:
    """A graph under construction: equal definitions become one row, whatever names they bear.

    Without `share` that is so for numbers and opposites only, with `verbatim` for nothing.
    """

    def __init__(self, *, share: bool = True, verbatim: bool = False) -> None:
        self.share = share and not verbatim
        self.verbatim = verbatim
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
        self._pool: dict[int | tuple[int, int], int] = {}
        """The index of each coefficient; a fraction by its two numbers, as it is slow to hash."""
        self._values: list[Number] = []
        self._known: dict[Key, int] = {}
        self._taken: dict[str, int] = {}
        self._indices: dict[str, dict[int, str]] = {}
        """The input at each index, by group."""

    def resume(self, graph: Graph) -> None:
        """Take over a whole graph, row by row, into a builder that is still empty."""
        self._values = [shortest_number(k) for k in graph.coefficients]
        self._pool = {_exact(k): index for index, k in enumerate(self._values)}
        self.names = list(graph.names)
        self._taken = {name: v for v, name in enumerate(self.names)}
        self.kind, self.level = graph.kind.tolist(), graph.level.tolist()
        self.call_of, self.argument = graph.call.tolist(), graph.argument.tolist()
        self.term_start, self.coefficient = graph.term_start.tolist(), graph.coefficient.tolist()
        self.factor_start, self.factor = graph.factor_start.tolist(), graph.factor.tolist()
        self.power = graph.power.tolist()
        self.inputs, self.aliases = dict(graph.inputs), dict(graph.aliases)
        for given in self.inputs.values():
            self._number_input(given)
        self.outputs, self.quantities = dict(graph.outputs), dict(graph.quantities)
        for v in range(len(self.names)):
            if self.call_of[v]:
                self._known.setdefault((self.call_of[v], self.argument[v]), v)
            elif v not in self.inputs:
                self._known.setdefault(self._key(self.definition(v)), v)

    def copy(self) -> Builder:
        """Return a builder with the same graph, which grows apart from this one."""
        other = Builder()
        for name, value in vars(self).items():
            setattr(other, name, value.copy() if isinstance(value, list | dict) else value)
        other._indices = {group: dict(names) for group, names in self._indices.items()}
        return other

    # --- inputs and numbers -------------------------------------------------------------

    def number(self, value: Number) -> Scalar:
        """Return an exact number as a scalar."""
        return Scalar(self, {(): value} if value else {})

    def input(self, name: str, group: str, index: int, default: Fraction | None = None) -> Scalar:
        """Return the input of that name, declared at its first use.

        An input's name belongs to the user: a computed variable that bears it is renamed.
        """
        variable = self._taken.get(name)
        given = self.inputs.get(variable) if variable is not None else None
        if variable is None or given is None:
            if variable is not None:
                self.names[variable] = self._free_name(f"{name}_", variable)
                del self._taken[name]
            given = Input(name, group, index, default)
            self._number_input(given)
            variable = self._row(name, GROUPS[group], 0)
            self.inputs[variable] = given
        if (given.group, given.index) != (group, index):
            raise GraphError(
                f"the input {name} is declared twice, as {given.group}[{given.index}] and "
                f"{group}[{index}]",
                element=name,
                remedy="give the parameter another name"
                if "parameter" in (group, given.group)
                else "give each input once",
            )
        return self.scalar(variable)

    def parameter(self, name: str, default: Fraction | None = None) -> Scalar:
        """Return the parameter of that name; at its first use it gets the next free index.

        This is the only place where parameters are numbered. What is built into one graph from
        several sides names them, and so means the same ones.
        """
        known = self.inputs.get(self._taken.get(name, -1))
        if known is not None and known.group == "parameter":
            return self.input(name, "parameter", known.index)
        index = max(self._indices.get("parameter", ()), default=-1) + 1
        return self.input(name, "parameter", index, default)

    def _number_input(self, given: Input) -> None:
        """Note an input at its index; GraphError where another one is there."""
        group = self._indices.setdefault(given.group, {})
        other = group.setdefault(given.index, given.name)
        if other != given.name:
            raise GraphError(f"{other} and {given.name} are both {given.group}[{given.index}]")

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
        return self._named(name, value)[1]

    def _named(self, name: str, value: Scalar | Number) -> tuple[int, Scalar]:
        """Return the variable that a name stands for, and the scalar to compute with."""
        scalar = value if isinstance(value, Scalar) else self.number(value)
        variable = self.variable_of(scalar, name)
        return variable, scalar if scalar.is_free else self.scalar(variable)

    def keep(self, value: Scalar | Number) -> Scalar:
        """Make a value that will be used again one variable, known or new, without a name.

        Numbers and signed variables stay what they are; so does the opposite of a variable
        that exists already.
        """
        scalar = value if isinstance(value, Scalar) else self.number(value)
        if scalar.is_free:
            return scalar
        if scalar.is_negative:
            return -self.scalar(self.define(None, (-scalar).terms))
        return self.scalar(self.define(None, scalar.terms))

    def keep_vector(self, v: Vector) -> Vector:
        """Make every component of a vector one variable."""
        return (self.keep(v[0]), self.keep(v[1]), self.keep(v[2]))

    def keep_matrix(self, m: Matrix) -> Matrix:
        """Make every entry of a 3 x 3 matrix one variable, row by row."""
        return (self.keep_vector(m[0]), self.keep_vector(m[1]), self.keep_vector(m[2]))

    def define(self, name: str | None, terms: Terms) -> int:
        """Return the variable with these terms, the earlier one if the definition is known."""
        key = self._key(terms)
        is_shared = self.share or (not self.verbatim and Scalar(self, terms).is_free)
        known = self._known.get(key) if is_shared else None
        if known is not None:
            return self._called(known, name)
        levels = [self.level[v] for monomial in terms for v in monomial]
        if not levels:
            return self._constant(key, name)
        return self._known_as(key, self._row(name, Kind.COMPUTED, max(levels) + 1, key))

    def _key(self, terms: Terms) -> Definition:
        return tuple([(monomial, self._pooled(terms[monomial])) for monomial in sorted(terms)])

    def _known_as(self, key: Key, variable: int) -> int:
        self._known[key] = variable
        return variable

    def _called(self, variable: int, name: str | None) -> int:
        """Note one more name of a variable, unless another variable has it."""
        if name is not None and name not in self._taken:
            self.aliases.setdefault(name, variable)
        return variable

    def _constant(self, key: Definition, name: str | None) -> int:
        """Make a constant; a shared one is named by its value, so that no quantity owns it."""
        own = CONSTANT_NAMES.get(self._values[key[0][1]] if key else 0)
        own = own or f"constant_{len(self.names)}"
        if self.verbatim:
            return self._row(name or own, Kind.CONSTANT, 0, key)
        return self._called(self._known_as(key, self._row(own, Kind.CONSTANT, 0, key)), name)

    def call(self, function: str, argument: Scalar | Number, name: str | None = None) -> Scalar:
        """Return a function of a scalar; a call that occurred before is not made again."""
        scalar = argument if isinstance(argument, Scalar) else self.number(argument)
        if scalar.is_number:
            exact = call_of_number(function, scalar.number)
            if exact is not None:
                return self.number(exact) if name is None else self.name(name, exact)
        if is_odd(function) and scalar.is_negative:
            opposite = -self.call(function, -scalar)
            return opposite if name is None else self.name(name, opposite)
        if is_even(function) and scalar.is_negative:
            return self.call(function, -scalar, name)
        inner = self.variable_of(scalar)
        return self.scalar(self.define_call(name, function, inner))

    def define_call(self, name: str | None, function: str, argument: int) -> int:
        """Return the variable that is `function` of a variable."""
        number = CALL_NUMBER.get(function)
        if number is None:
            raise GraphError(f"{function} is not a function that a graph can call")
        key = (number, argument)
        known = self._known.get(key) if self.share else None
        if known is not None:
            return self._called(known, name)
        label = name or f"{function}_{self.names[argument]}"
        level = self.level[argument] + 1
        return self._known_as(key, self._row(label, Kind.CALL, level, (), number, argument))

    def variable_of(self, value: Scalar | Number, name: str | None = None) -> int:
        """Return the variable that holds a value, defining one where there is none."""
        terms = value.terms if isinstance(value, Scalar) else ({(): value} if value else {})
        if len(terms) == 1:
            ((monomial, coefficient),) = terms.items()
            if coefficient == 1 and len(monomial) == 1:
                return self._called(monomial[0], name)
        return self.define(name, terms)

    def _row(
        self,
        name: str | None,
        kind: Kind,
        level: int,
        definition: Definition = (),
        call: int = 0,
        argument: int = -1,
    ) -> int:
        for monomial, _ in definition:
            if len(monomial) > LARGEST_POWER:
                self._refuse_high_powers(monomial)
        variable = len(self.names)
        self.names.append(self._free_name(name, variable))
        self.kind.append(kind)
        self.level.append(level)
        self.call_of.append(call)
        self.argument.append(argument)
        for monomial, coefficient in definition:
            self.coefficient.append(coefficient)
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

    def _refuse_high_powers(self, monomial: Monomial) -> None:
        variable, power = Counter(monomial).most_common(1)[0]
        if power > LARGEST_POWER:
            raise GraphError(
                f"{self.names[variable]}^{power} is above the power {LARGEST_POWER}",
                element=self.names[variable],
                remedy="use smaller exponents",
            )

    def _pooled(self, coefficient: Number) -> int:
        key = _exact(coefficient)
        index = self._pool.get(key)
        if index is None:
            size = max(abs(coefficient.numerator), coefficient.denominator)
            if size.bit_length() > LARGEST_BITS:
                raise GraphError(
                    f"a coefficient takes more than {LARGEST_BITS} bits",
                    element="coefficients",
                    remedy="known rotations one after the other multiply the digits of their exact "
                    "numbers: put fewer of them into one fixed part, or use right angles",
                )
            index = self._pool[key] = len(self._values)
            self._values.append(coefficient)
        return index

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

    def parts(self, variable: int) -> Sequence[int]:
        """Return the variables that a variable is made of: its argument, or those of its terms."""
        if self.argument[variable] >= 0:
            return (self.argument[variable],)
        first, last = self.term_start[variable], self.term_start[variable + 1]
        return self.factor[self.factor_start[first] : self.factor_start[last]]

    # --- results ------------------------------------------------------------------------

    def block(self, name: str, shape: Sequence[int], entries: Entries) -> Block:
        """Make a named array out of (label, value) entries, in row-major order."""
        variables = tuple(self.variable_of(value, label) for label, value in entries)
        return Block(name, tuple(shape), variables, tuple(label for label, _ in entries))

    def output(self, name: str, shape: Sequence[int], entries: Entries) -> None:
        """Declare an output: a quantity the graph is there to compute."""
        self.outputs[name] = self.block(name, shape, entries)

    def quantity(self, name: str, shape: Sequence[int], entries: Entries) -> tuple[Scalar, ...]:
        """Declare an intermediate quantity under a name, and return its scalars."""
        named = [self._named(label, value) for label, value in entries]
        labels = tuple(label for label, _ in entries)
        variables = tuple(variable for variable, _ in named)
        self.quantities[name] = Block(name, tuple(shape), variables, labels)
        return tuple(scalar for _, scalar in named)

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


def _exact(value: Number) -> int | tuple[int, int]:
    """Return what tells a number from others: itself, or its numerator and denominator."""
    if type(value) is int:
        return value
    numerator, denominator = value.as_integer_ratio()
    return numerator if denominator == 1 else (numerator, denominator)
