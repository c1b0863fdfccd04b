"""The arithmetics a graph can be evaluated in, and the exact values and signs of calls.

An arithmetic turns exact coefficients into its own numbers and knows the calls; sums and
products are the operators of the numbers themselves. `FLOAT` is Python's; `EXACT` stays in
fractions and takes angles as `Angle`, points of the unit circle with rational coordinates,
so that sines and cosines are exact as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, ClassVar, Protocol

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
                    "the reciprocal of something that is always zero has no value",
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
        raise RunError(
            f"the square root of {number} has no value", remedy="correct what is under the root"
        )
    root = Fraction(isqrt(number.numerator), isqrt(number.denominator))
    return root if root * root == number else None


# --- arithmetics ----------------------------------------------------------------------------------

LARGEST_MULTIPLE = 1000
"""How often an exact angle may be taken: its cosine grows longer each time."""


class Arithmetic(Protocol):
    """What evaluation needs to know of a kind of number."""

    def number(self, value: Fraction) -> Any:
        """Return a coefficient in this arithmetic."""
        ...

    def call(self, function: str, argument: Any) -> Any:
        """Return a function of a value."""
        ...


@dataclass(frozen=True, slots=True)
class Angle:
    """An angle whose cosine and sine are rational: exact under sums and whole multiples."""

    cos: Fraction
    sin: Fraction

    @staticmethod
    def from_tangent(half: Fraction | int) -> Angle:
        """Return the angle whose half has the given tangent."""
        t = Fraction(half)
        return Angle((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t))

    @property
    def value(self) -> float:
        """The angle in radians, between -pi and pi."""
        return math.atan2(self.sin, self.cos)

    def __neg__(self) -> Angle:
        return Angle(self.cos, -self.sin)

    def __add__(self, other: Angle | int | Fraction) -> Angle:
        if isinstance(other, Angle):
            return Angle(
                self.cos * other.cos - self.sin * other.sin,
                self.sin * other.cos + self.cos * other.sin,
            )
        if other == 0:
            return self
        raise RunError(
            f"the rational angle cannot be shifted by the number {other}",
            remedy="give that shift as an Angle too",
        )

    __radd__ = __add__

    def __mul__(self, other: Angle | int | Fraction) -> Angle:
        if isinstance(other, Angle):
            raise RunError("the product of two rational angles is not a rational angle")
        count = Fraction(other)
        if count.denominator != 1:
            raise RunError(f"{count} times a rational angle is not a rational angle")
        if abs(count) > LARGEST_MULTIPLE:
            raise RunError(f"a rational angle is taken more than {LARGEST_MULTIPLE} times")
        step = self if count > 0 else -self
        result = Angle(Fraction(1), Fraction(0))
        for _ in range(abs(count.numerator)):
            result = result + step
        return result

    __rmul__ = __mul__


class FloatArithmetic:
    """Double precision, one number at a time."""

    functions: ClassVar[dict[str, Callable[[float], float]]] = {
        **{
            name: getattr(math, name)
            for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sqrt", "exp", "log")
        },
        "abs": abs,
        "reciprocal": lambda x: 1.0 / x,
        "sign": lambda x: float(x > 0) - float(x < 0),
    }

    def number(self, value: Fraction) -> float:
        """Return the nearest double."""
        try:
            return float(value)
        except OverflowError:
            remedy = "use smaller numbers, or larger units"
            raise RunError("a number is too large for double precision", remedy=remedy) from None

    def call(self, function: str, argument: float) -> float:
        """Return the function of the standard library."""
        try:
            return self.functions[function](argument)
        except (ValueError, ZeroDivisionError, OverflowError):
            raise RunError(f"{function}({argument}) has no finite value") from None


class ExactArithmetic:
    """Fractions, with angles as points of the unit circle."""

    def number(self, value: Fraction) -> Fraction:
        """Return the coefficient itself."""
        return value

    def call(self, function: str, argument: Any) -> Fraction:
        """Return the exact value, or refuse with the reason."""
        if isinstance(argument, Angle) and function in ("sin", "cos"):
            return argument.sin if function == "sin" else argument.cos
        if isinstance(argument, Angle) and function == "tan" and argument.cos:
            return argument.sin / argument.cos
        exact = None if isinstance(argument, Angle) else call_of_number(function, argument)
        if exact is None:
            raise RunError(
                f"{function}({argument}) is not rational",
                remedy="give revolute coordinates as Angle for exact evaluation",
            )
        return exact


FLOAT = FloatArithmetic()
EXACT = ExactArithmetic()
