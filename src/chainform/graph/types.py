"""The four small types a graph is made of, as seen from outside.

    Variable = sum of Terms;  Term = coefficient x Factors;  Factor = variable ^ power

A variable is either an input (a parameter, a coordinate, a force), or it is computed: by a
sum of terms, or by one call such as sin(x). The arrays that hold them are in `graph.py`; the
objects here are made on demand, for reading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction


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
}
"""Where an input's value comes from when the graph is evaluated, and the kind that gives it."""

NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9.]*")
"""What a variable, a label or a quantity may be called, so that the text form reads back."""

BLOCK_NAME = re.compile(
    rf"{NAME.pattern}(?:\([^()\x00-\x1f\x7f-\x9f\u2028\u2029]+\))?(?:\[[0-9:,]+\])?"
)
"""What an output may be called: a name, or one with what it is taken of, jacobian(tool,local).

A part of an output has its indices behind it: mass_matrix[1,:].
"""

LARGEST_POWER = 1000
"""The highest power of one factor: a few characters must not be able to fill the memory."""

LARGEST_BITS = 13_000
"""The size of numerator and denominator of a coefficient, below what Python prints and reads."""


@dataclass(frozen=True, slots=True)
class Input:
    """A variable whose value is given: its group, its place in the group, its default."""

    name: str
    group: str
    index: int
    default: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Factor:
    """One variable to a positive power."""

    variable: int
    power: int


@dataclass(frozen=True, slots=True)
class Term:
    """A coefficient times factors; without factors, a number."""

    coefficient: Fraction
    factors: tuple[Factor, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function of one variable."""

    function: str
    argument: int


@dataclass(frozen=True, slots=True)
class Variable:
    """One row of the graph, with its definition."""

    index: int
    name: str
    kind: Kind
    level: int
    terms: tuple[Term, ...] = ()
    call: Call | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A named array of variables, in row-major order: a vector, a matrix, a three-index array."""

    name: str
    shape: tuple[int, ...]
    variables: tuple[int, ...]
    labels: tuple[str, ...]
    """What each entry is called: H_1_2, even where the variable behind it is shared."""
