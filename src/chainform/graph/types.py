"""The computation graph: every quantity Y = sum K prod X^E, held in a few flat arrays.

    Variable = sum of Terms;  Term = coefficient x Factors;  Factor = variable ^ power

A variable is either an input (a parameter, a coordinate, a force), or it is computed: by a
sum of terms, or by one call such as sin(x). The objects for these are views, made on demand.

In the arrays variables stand in definition order: a variable's factors come before it. Row v is
variable v; its terms are `term_start[v] : term_start[v + 1]`, and the factors of term t are
`factor_start[t] : factor_start[t + 1]`. Coefficients are exact; equal ones share one entry of
`coefficients`. A hundred thousand variables with a million factors take about twenty megabytes,
pass to numpy whole, and go to a table row by row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.errors import RunError
from chainform.given import near


class Kind(IntEnum):
    """What a variable is; the number is what the arrays and the tables hold."""

    CONSTANT = 0
    """A named exact number."""
    PARAMETER = 1
    """Constant during motion: a mass, a length, g."""
    COORDINATE = 2
    """A component of q, qd or qdd, the state x of an actuator, or time."""
    FORCE = 3
    """A component of tau, sigma, an external wrench, a signal u or a force, known from outside."""
    COMPUTED = 4
    """A sum of terms over earlier variables."""
    CALL = 5
    """A function of one earlier variable."""


CALLS: tuple[str, ...] = (
    "",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sqrt",
    "reciprocal",
    "exp",
    "log",
    "abs",
    "sign",
)
"""Functions by their number in the arrays; 0 means no call."""
CALL_NUMBER = {name: number for number, name in enumerate(CALLS) if name}
GROUPS = {
    "parameter": Kind.PARAMETER,
    "q": Kind.COORDINATE,
    "qd": Kind.COORDINATE,
    "qdd": Kind.COORDINATE,
    "tau": Kind.FORCE,
    "sigma": Kind.FORCE,
    "wrench": Kind.FORCE,
    "x": Kind.COORDINATE,
    "u": Kind.FORCE,
    "force": Kind.FORCE,
    "t": Kind.COORDINATE,
    "direction": Kind.COORDINATE,
    "weights": Kind.FORCE,
}
"""Where an input's value comes from when the graph is evaluated, and the kind that gives it."""
NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9.]*")
"""What a variable, a label or a quantity may be called, so that the text form reads back."""
BLOCK_NAME = re.compile(
    rf"{NAME.pattern}(?:\([^\x00-\x1f\x7f-\x9f\u2028\u2029]+\))?(?:\[[0-9:,]+\])?"
)
"""What an output may be called: a name, or one with what it is taken of, jacobian(tool,local).

A part of an output has its indices behind it: mass_matrix[1,:].
"""
LARGEST_POWER = 1000
"""The highest power of one factor: a few characters must not be able to fill the memory."""
LARGEST_BITS = 13_000
"""The size of numerator and denominator of a coefficient, below what Python prints and reads."""


@dataclass(frozen=True, slots=True, repr=False)
class Input(Displayed):
    """A variable whose value is given: its group, its place in the group, its default."""

    name: str
    group: str
    index: int
    default: Fraction | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Factor(Displayed):
    """One variable to a positive power."""

    variable: int
    power: int


@dataclass(frozen=True, slots=True, repr=False)
class Term(Displayed):
    """A coefficient times factors; without factors, a number."""

    coefficient: Fraction
    factors: tuple[Factor, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Call(Displayed):
    """A function of one variable."""

    function: str
    argument: int


@dataclass(frozen=True, slots=True, repr=False)
class Variable(Displayed):
    """One row of the graph, with its definition."""

    index: int
    name: str
    kind: Kind
    level: int
    terms: tuple[Term, ...] = ()
    call: Call | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Block(Displayed):
    """A named array of variables, in row-major order: a vector, a matrix, a three-index array."""

    name: str
    shape: tuple[int, ...]
    variables: tuple[int, ...]
    labels: tuple[str, ...]
    """What each entry is called: H_1_2, even where the variable behind it is shared."""


# --- the arrays -----------------------------------------------------------------------------------

Integers = NDArray[np.int32]
Offsets = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Graph(Displayed):
    """Inputs, variables in definition order, outputs, and named intermediate quantities."""

    names: tuple[str, ...]
    kind: NDArray[np.uint8]
    level: Integers
    call: NDArray[np.uint8]
    argument: Integers
    term_start: Offsets
    coefficient: Integers
    coefficients: tuple[Fraction, ...]
    factor_start: Offsets
    factor: Integers
    power: NDArray[np.int16]
    inputs: Mapping[int, Input]
    outputs: Mapping[str, Block]
    quantities: Mapping[str, Block] = field(default_factory=dict[str, Block])
    aliases: Mapping[str, int] = field(default_factory=dict[str, int])
    """Further names of variables that turned out to have the same definition."""

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return (
            f"Graph({len(self)} variables, {len(self.coefficient)} terms, "
            f"{len(self.factor)} factors, outputs: {', '.join(self.outputs) or 'none'})"
        )

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The variable behind each name, own names and aliases."""
        return {**self.aliases, **{name: number for number, name in enumerate(self.names)}}

    @cached_property
    def call_variables(self) -> dict[tuple[str, int], int]:
        """The variable of each call, by function and argument."""
        calls = np.flatnonzero(self.call)
        return {(CALLS[int(self.call[v])], int(self.argument[v])): int(v) for v in calls}

    def block(self, name: str) -> Block:
        """Return the output or the intermediate quantity of that name (KeyError if none)."""
        return self.outputs[name] if name in self.outputs else self.quantities[name]

    def input_variable(self, name: str) -> int:
        """Return the input of that name; RunError if there is none."""
        variable = self.numbers.get(name, -1)
        if variable not in self.inputs:
            known = [given.name for given in self.inputs.values()]
            raise RunError(
                f"{name} is not an input of the model",
                element=name,
                remedy=near(name, known, 3) + f"choose one of {', '.join(known)}"
                if known
                else "the model has no inputs",
            )
        return variable

    def terms(self, variable: int) -> tuple[Term, ...]:
        """Return the terms of a variable as objects."""
        first, last = self.term_start[variable], self.term_start[variable + 1]
        return tuple(self._term(t) for t in range(first, last))

    def _term(self, term: int) -> Term:
        span = slice(self.factor_start[term], self.factor_start[term + 1])
        pairs = zip(self.factor[span].tolist(), self.power[span].tolist(), strict=True)
        coefficient = self.coefficients[int(self.coefficient[term])]
        return Term(coefficient, tuple(Factor(v, p) for v, p in pairs))

    def variable(self, number: int) -> Variable:
        """Return one variable with its definition."""
        called = int(self.call[number])
        return Variable(
            index=number,
            name=self.names[number],
            kind=Kind(int(self.kind[number])),
            level=int(self.level[number]),
            terms=self.terms(number),
            call=Call(CALLS[called], int(self.argument[number])) if called else None,
        )

    def __iter__(self) -> Iterator[Variable]:
        return (self.variable(number) for number in range(len(self)))

    @cached_property
    def number_value(self) -> dict[int, Fraction]:
        """The value of each constant variable."""
        constants = np.flatnonzero(self.kind == Kind.CONSTANT)
        return {
            int(v): sum((t.coefficient for t in self.terms(int(v))), Fraction(0)) for v in constants
        }

    def output_variables(self, names: Iterable[str] | None = None) -> Integers:
        """Return the distinct variables of the named outputs (all by default), ascending."""
        chosen = self.outputs if names is None else names
        entries = [v for name in chosen for v in self.block(name).variables]
        # np.unique would import the masked arrays of numpy first.
        return np.asarray(sorted(set(entries)), dtype=np.int32)

    def cone(self, variables: Sequence[int] | NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Return a mask of the given variables and everything that is needed to compute them.

        ScalarFactory point backwards only, so one sweep from the last variable to the first
        finds the cone, in time proportional to its size.
        """
        needed = bytearray(len(self))
        for v in np.asarray(variables, dtype=np.int64).tolist():
            needed[v] = 1
        first_factor = self.factor_start[self.term_start].tolist()
        factor, argument = self.factor.tolist(), self.argument.tolist()
        for v in range(len(self) - 1, -1, -1):
            if not needed[v]:
                continue
            if argument[v] >= 0:
                needed[argument[v]] = 1
            for used in factor[first_factor[v] : first_factor[v + 1]]:
                needed[used] = 1
        return np.frombuffer(needed, dtype=np.bool_)

    def users(self) -> tuple[Offsets, Integers]:
        """Return, for each variable, the variables whose definition names it (offsets, rows)."""
        owner_of_term = np.repeat(np.arange(len(self)), np.diff(self.term_start))
        owner_of_factor = np.repeat(owner_of_term, np.diff(self.factor_start))
        called = np.flatnonzero(self.argument >= 0)
        used = np.concatenate([self.factor, self.argument[called]])
        user = np.concatenate([owner_of_factor, called]).astype(np.int32)
        order = np.argsort(used, kind="stable")
        counts = np.bincount(used, minlength=len(self))
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), user[order]
