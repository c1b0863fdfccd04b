"""The parts of an expression: numbers, names, operations and function calls; and its text.

An expression is a tree of frozen records, equal when their shapes are equal: `a + b` and `b + a`
are two expressions. Numbers are exact rationals, so that 0.1 in a file means one tenth. The text of
an expression reads back as the same expression.
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
POSITIONS = ("x", "y", "z")
"""The words for coordinates of a frame: `x(tip)` is a symbol of its own, and so is its rate."""
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

    The rate of a coordinate is a symbol as well, with the name `der(phi)`, and so are the position
    of a frame and its rate, `x(tip)` and `der(x(tip))`.
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


# --- text -----------------------------------------------------------------------------------

_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(1, 6)
_RANK = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "^": _POWER}


def format_expression(expression: Expression) -> str:
    """Return the text of `expression` with no more brackets than needed.

    `parse` gives an equal expression back for everything that `parse` made. A number put together
    in a program may have no decimal of its own (one third, minus two); it is written as the
    quotient or the sign change that has its value.
    """
    return _ranked(expression)[0]


def format_fraction(value: Fraction) -> str:
    """Return `value` as a decimal when it has a finite one, else as a quotient of integers."""
    decimal = _decimal_of(abs(value))
    text = decimal if decimal is not None else f"{abs(value).numerator}/{value.denominator}"
    return "-" + text if value < 0 else text


def _ranked(expression: Expression) -> tuple[str, int]:
    """Return the text of `expression` and the rank of its outermost operation."""
    match expression:
        case Number(value):
            return _ranked_number(value)
        case Constant(name) | Identifier(name):
            return name, _ATOM
        case Negate(operand):
            return "-" + _at_least(operand, _SIGN), _SIGN
        case Binary():
            return _ranked_binary(expression)
        case Apply(function, arguments):
            return f"{function}({', '.join(_ranked(part)[0] for part in arguments)})", _ATOM


def _ranked_number(value: Fraction) -> tuple[str, int]:
    text = format_fraction(value)
    if "/" in text:
        return text, _PRODUCT
    return text, _SIGN if value < 0 else _ATOM


def _ranked_binary(expression: Binary) -> tuple[str, int]:
    """Group from the left for + - * /, from the right for ^, whose exponent may bear a sign."""
    rank = _RANK[expression.operator]
    if expression.operator == "^":
        base, exponent = _at_least(expression.left, _ATOM), _at_least(expression.right, _SIGN)
        return f"{base}^{exponent}", rank
    left, right = _at_least(expression.left, rank), _at_least(expression.right, rank + 1)
    space = " " if rank == _SUM else ""
    return f"{left}{space}{expression.operator}{space}{right}", rank


def _at_least(expression: Expression, rank: int) -> str:
    text, own = _ranked(expression)
    return text if own >= rank else f"({text})"


def _decimal_of(value: Fraction) -> str | None:
    """Return the finite decimal of a value that is not negative, or None when it has none."""
    twos = fives = 0
    rest = value.denominator
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return None
    places = max(twos, fives)
    digits = str(value.numerator * 10**places // value.denominator)
    if places == 0:
        stripped = digits.rstrip("0")
        zeros = len(digits) - len(stripped)
        return f"{stripped}e{zeros}" if stripped and zeros > 15 else digits
    if places - len(digits) > 5:
        return f"{digits}e-{places}"
    padded = digits.rjust(places + 1, "0")
    return f"{padded[:-places]}.{padded[-places:]}"
