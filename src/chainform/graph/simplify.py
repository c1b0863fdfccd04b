"""What is known of a call before it is made: exact values, and signs that come out."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from chainform.errors import RunError

ODD = frozenset({"sin", "tan", "asin", "atan", "reciprocal", "sign"})
EVEN = frozenset({"cos", "abs"})
AT_ZERO = {"sin": 0, "cos": 1, "tan": 0, "asin": 0, "atan": 0, "exp": 1}


def is_odd(function: str) -> bool:
    """Whether f(-x) = -f(x)."""
    return function in ODD


def is_even(function: str) -> bool:
    """Whether f(-x) = f(x)."""
    return function in EVEN


def call_of_number(function: str, value: int | Fraction) -> Fraction | None:
    """Return the exact value of a call on an exact number, or None where it is not rational."""
    number = Fraction(value)
    if number == 0 and function in AT_ZERO:
        return Fraction(AT_ZERO[function])
    match function:
        case "reciprocal":
            if number == 0:
                raise RunError(
                    "the reciprocal of something that is always zero was asked for",
                    element="reciprocal",
                    remedy="look for a freedom that nothing resists, a constraint that follows "
                    "from others, or a length of zero",
                )
            return 1 / number
        case "abs":
            return abs(number)
        case "sign":
            return Fraction((number > 0) - (number < 0))
        case "log":
            return Fraction(0) if number == 1 else None
        case "sqrt":
            return square_root(number)
        case _:
            return None


def square_root(number: Fraction) -> Fraction | None:
    """Return the root of a perfect square, or None."""
    if number < 0:
        raise RunError(f"the square root of {number} was asked for")
    root = Fraction(isqrt(number.numerator), isqrt(number.denominator))
    return root if root * root == number else None
