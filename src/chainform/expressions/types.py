"""The parts of an expression: numbers, names, operations and function calls.

An expression is a tree of frozen records, equal when their shapes are equal: `a + b` and `b + a`
are two expressions. Numbers are exact rationals, so that 0.1 in a file means one tenth.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

Operator: TypeAlias = Literal["+", "-", "*", "/", "^"]

FUNCTIONS: dict[str, tuple[int, int | None]] = {
    "sin": (1, 1),
    "cos": (1, 1),
    "tan": (1, 1),
    "asin": (1, 1),
    "acos": (1, 1),
    "atan": (1, 1),
    "atan2": (2, 2),
    "sqrt": (1, 1),
    "exp": (1, 1),
    "log": (1, 1),
    "abs": (1, 1),
    "sign": (1, 1),
    "step": (1, 1),
    "min": (2, None),
    "max": (2, None),
}
"""The functions an expression may call, each with its least and greatest number of arguments."""

CONSTANTS: frozenset[str] = frozenset({"pi"})
"""The names that stand for a fixed number and so cannot name a parameter."""

RATE = "der"
"""The word for a rate: `der(phi)` is a symbol of its own, the rate of the coordinate phi."""

MAX_DEPTH = 100
"""The greatest depth of an expression tree; it keeps every recursion over a tree short."""


@dataclass(frozen=True, slots=True)
class Number:
    """An exact rational number."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Constant:
    """A named mathematical constant, at present only `pi`."""

    name: str


@dataclass(frozen=True, slots=True)
class Identifier:
    """The name of a parameter, a coordinate or time; what it means is the reader's business.

    The rate of a coordinate is a symbol as well, with the name `der(phi)`.
    """

    name: str


@dataclass(frozen=True, slots=True)
class Negate:
    """The operand with its sign changed."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands joined by one of `+ - * / ^`."""

    operator: Operator
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Apply:
    """A function of the table `FUNCTIONS` applied to its arguments; angles are in rad."""

    function: str
    arguments: tuple[Expression, ...]


Expression: TypeAlias = Number | Constant | Identifier | Negate | Binary | Apply


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """Return the expressions directly below `expression`, from left to right."""
    match expression:
        case Negate(operand):
            return (operand,)
        case Binary(_, left, right):
            return (left, right)
        case Apply(_, arguments):
            return arguments
        case _:
            return ()


def symbols_of(expression: Expression) -> frozenset[str]:
    """Return the names of all symbols in `expression`; constants such as `pi` are not symbols."""
    return _names_of(expression, Identifier)


def constants_of(expression: Expression) -> frozenset[str]:
    """Return the names of all constants in `expression`."""
    return _names_of(expression, Constant)


def _names_of(expression: Expression, kind: type[Identifier] | type[Constant]) -> frozenset[str]:
    names: set[str] = set()
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        if isinstance(part, kind):
            names.add(part.name)
        waiting.extend(parts_of(part))
    return frozenset(names)
