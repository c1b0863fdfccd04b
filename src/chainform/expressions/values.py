"""The number an expression stands for, exactly where the operations allow it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from chainform.errors import ReadError
from chainform.expressions.evaluate import evaluate_expression, exact_square_root
from chainform.expressions.types import (
    Apply,
    Binary,
    Constant,
    Expression,
    Negate,
    Number,
    Symbol,
)


def value_of(expression: Expression, values: Mapping[str, Fraction] | None = None) -> Fraction:
    """Return the number `expression` stands for.

    Sums, products, quotients, integer powers, abs, sign, step, min, max and roots of squares are
    exact. Every other function is computed in double precision and its result taken as an exact
    number. A division by zero, a root of a negative number or an overflow raises ReadError.
    """
    return evaluate_expression(expression, values or {}, _FRACTIONS)


def substitute(expression: Expression, values: Mapping[str, Fraction | Expression]) -> Expression:
    """Return `expression` with numbers or expressions in place of the symbols in `values`."""
    match expression:
        case Symbol(name) if name in values:
            value = values[name]
            return Number(value) if isinstance(value, Fraction) else value
        case Number() | Constant() | Symbol():
            return expression
        case Negate(operand):
            return Negate(substitute(operand, values))
        case Binary(operator, left, right):
            return Binary(operator, substitute(left, values), substitute(right, values))
        case Apply(function, arguments):
            return Apply(function, tuple(substitute(part, values) for part in arguments))


class _Fractions:
    """The arithmetic of exact numbers, with functions taken in double precision."""

    def number(self, value: Fraction) -> Fraction:
        return value

    def call(self, function: str, arguments: Sequence[Fraction]) -> Fraction:
        try:
            if function in _EXACT:
                return _EXACT[function](arguments)
            return _rounded(function, [float(argument) for argument in arguments])
        except (ValueError, OverflowError, ZeroDivisionError) as error:
            shown = ", ".join(_short(argument) for argument in arguments)
            raise ReadError(
                f"{function}({shown}) has no value",
                remedy="correct the expression or the values of its parameters",
            ) from error


_FRACTIONS = _Fractions()


def _rounded(function: str, arguments: list[float]) -> Fraction:
    value = _DOUBLE[function](*arguments)
    # Fraction refuses an infinity with OverflowError and a NaN with ValueError.
    return Fraction(value)


def _square_root(arguments: Sequence[Fraction]) -> Fraction:
    root = exact_square_root(arguments[0])
    return root if root is not None else Fraction(math.sqrt(arguments[0]))


def _power(arguments: Sequence[Fraction]) -> Fraction:
    base, exponent = arguments
    if exponent == Fraction(1, 2):
        return _square_root([base])
    return Fraction(math.pow(base, exponent))


def _sign(arguments: Sequence[Fraction]) -> Fraction:
    return Fraction((arguments[0] > 0) - (arguments[0] < 0))


_EXACT: dict[str, Callable[[Sequence[Fraction]], Fraction]] = {
    "abs": lambda arguments: abs(arguments[0]),
    "sign": _sign,
    "step": lambda arguments: Fraction(arguments[0] >= 0),
    "min": min,
    "max": max,
    "reciprocal": lambda arguments: 1 / arguments[0],
    "sqrt": _square_root,
    "pow": _power,
}

_DOUBLE: dict[str, Callable[..., float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "atan2": math.atan2,
    "exp": math.exp,
    "log": math.log,
}


def _short(value: Fraction) -> str:
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        return "a number beyond the range of doubles"
