"""Evaluate an expression over any scalar."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from chainform.errors import ReadError
from chainform.expressions.printer import format_expression
from chainform.expressions.types import (
    Apply,
    Binary,
    Constant,
    Expression,
    Negate,
    Number,
    Symbol,
)

T = TypeVar("T")

MAX_EXPONENT = 64
"""The greatest integer power that is written out as products."""

MAX_BITS = 20_000
"""The greatest size of numerator and denominator of a folded number."""

PI = Fraction(math.pi)
"""The double next to pi, as an exact number."""


class ExpressionArithmetic(Protocol[T]):
    """What evaluation needs from a scalar beyond its own + - * and unary minus.

    `call` receives a function of the table FUNCTIONS, or `reciprocal` (one argument), or `pow`
    (two arguments).
    """

    def number(self, value: Fraction) -> T: ...

    def call(self, function: str, arguments: Sequence[T]) -> T: ...


def evaluate_expression(
    expression: Expression, symbols: Mapping[str, T], arithmetic: ExpressionArithmetic[T]
) -> T:
    """Return the value of `expression`, each symbol standing for the scalar given in `symbols`.

    Parts without symbols are folded exactly first, so `x/2` costs one product by 1/2; `pi` is the
    double next to it. A quotient by a scalar is a product by its reciprocal. Powers by integers up
    to 64 are repeated products.
    """
    value = _Evaluation(symbols, arithmetic).value(expression)
    return arithmetic.number(value) if type(value) is Fraction else value


class _Evaluation:
    """One evaluation; its values are exact numbers as long as possible, then scalars.

    The scalar type is unknown here, so values are typed Any; the two public functions are typed.
    """

    def __init__(self, symbols: Mapping[str, Any], arithmetic: ExpressionArithmetic[Any]) -> None:
        self.symbols = symbols
        self.arithmetic = arithmetic

    def value(self, expression: Expression) -> Any:
        match expression:
            case Number(value):
                return value
            case Constant():
                return PI
            case Symbol(name):
                return self.symbol(name)
            case Negate(operand):
                return -self.value(operand)
            case Binary():
                return self.binary(expression)
            case Apply(function, arguments):
                return self.apply(function, [self.value(argument) for argument in arguments])

    def symbol(self, name: str) -> Any:
        if name in self.symbols:
            return self.symbols[name]
        raise ReadError(
            f"the name {name!r} has no value",
            element=name,
            remedy="known names: " + (", ".join(sorted(self.symbols)[:20]) or "none"),
        )

    def binary(self, expression: Binary) -> Any:
        left, right = self.value(expression.left), self.value(expression.right)
        if expression.operator == "/":
            return self.quotient(left, right, expression)
        if expression.operator == "^":
            return self.power(left, right, expression)
        if isinstance(left, Fraction) != isinstance(right, Fraction):
            left, right = self.scalar(left), self.scalar(right)
        return bounded(_PLAIN[expression.operator](left, right))

    def scalar(self, value: Any) -> Any:
        return self.arithmetic.number(value) if isinstance(value, Fraction) else value

    def quotient(self, left: Any, right: Any, expression: Expression) -> Any:
        if not isinstance(right, Fraction):
            return self.scalar(left) * self.arithmetic.call("reciprocal", [right])
        if right == 0:
            raise value_error(expression, "divides by zero")
        inverse = 1 / right
        if isinstance(left, Fraction):
            return bounded(left * inverse)
        return left * self.arithmetic.number(inverse)

    def power(self, base: Any, exponent: Any, expression: Expression) -> Any:
        is_integer = isinstance(exponent, Fraction) and exponent.denominator == 1
        if is_integer and abs(exponent) <= MAX_EXPONENT:
            return self.integer_power(base, int(exponent), expression)
        if is_integer and isinstance(base, Fraction):
            raise value_error(expression, f"has an exponent beyond {MAX_EXPONENT}")
        return self.apply("pow", [base, exponent])

    def integer_power(self, base: Any, exponent: int, expression: Expression) -> Any:
        if exponent == 0:
            return Fraction(1)
        product = _repeated_product(base, abs(exponent))
        return product if exponent > 0 else self.quotient(Fraction(1), product, expression)

    def apply(self, function: str, arguments: list[Any]) -> Any:
        if function == "sqrt" and isinstance(arguments[0], Fraction):
            root = exact_square_root(arguments[0])
            if root is not None:
                return root
        return self.arithmetic.call(function, [self.scalar(argument) for argument in arguments])


_PLAIN: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
}


def _repeated_product(base: Any, count: int) -> Any:
    """Return base^count by squaring, from the most significant digit of `count` on."""
    product = base
    for digit in bin(count)[3:]:
        product = bounded(product * product)
        if digit == "1":
            product = bounded(product * base)
    return product


def bounded(value: Any) -> Any:
    """Return `value`; refuse an exact number so long that further work with it would not end."""
    if isinstance(value, Fraction):
        bits = max(value.numerator.bit_length(), value.denominator.bit_length())
        if bits > MAX_BITS:
            raise ReadError(
                "a number of the expression grows beyond all measure",
                remedy="use smaller exponents",
            )
    return value


def exact_square_root(value: Fraction) -> Fraction | None:
    """Return the square root of `value` when it is rational, else None."""
    if value < 0:
        return None
    above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
    is_square = above**2 == value.numerator and below**2 == value.denominator
    return Fraction(above, below) if is_square else None


def value_error(expression: Expression, message: str) -> ReadError:
    """Return the error for an expression that has no value."""
    text = format_expression(expression)
    shown = text if len(text) <= 60 else text[:57] + "..."
    return ReadError(f"the expression {shown} {message}", remedy="correct the expression")
